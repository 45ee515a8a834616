/* SPDX-License-Identifier: MIT */
/* lib.c - what <libc.h> has of runes, words, files, dates, numbers and connections */
#include <u.h>
#include <libc.h>
#include <thread.h>

#include <errno.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <weft/io.h>

#define TEXT	"a\xc3\xa9\xe2\x98\xba\xf0\x9d\x84\x9e"	/* of 1, 2, 3 and 4 bytes */

static int bad;

#define CHECK(what)	((what) ? (void)0 : (void)(bad++,		\
			 fprint(2, "%d: not so: %s: %r\n", __LINE__, #what)))

static void is(int line, const char *got, const char *wanted)
{
	if (!got || strcmp(got, wanted) != 0) {
		fprint(2, "%d: \"%s\", not \"%s\"\n", line, got, wanted);
		bad++;
	}
}

#define IS(got, wanted)	is(__LINE__, (got), (wanted))

static void utf(void)
{
	char text[] = TEXT, buf[16], *end;
	Rune r;

	CHECK(utflen(text) == 4 && utfnlen(text, 10) == 4);
	CHECK(utfnlen(text, 9) == 3 && utfnlen(text, 2) == 1);
	CHECK(fullrune(text + 6, 4) && !fullrune(text + 6, 3) && !fullrune(text + 3, 2));
	CHECK(!fullrune(text + 1, 1) && fullrune("\xff", 1) && fullrune("\xe2x", 2));
	CHECK(!fullrune("\xe0\xa0", 2) && !fullrune("\xf0", 1) && fullrune("\xe0\x80", 2));
	CHECK(!fullrune("", 0) && fullrune("", 1));
	CHECK(utfrune(text, 0x263a) == text + 3 && utfrune(text, 'b') == nil);
	CHECK(utfrune(text, 0) == text + 10 && utfrrune(text, 0) == text + 10);
	strcpy(buf, "x/y/z");
	CHECK(utfrrune(buf, '/') == buf + 3 && utfrrune(buf, '!') == nil);
	CHECK(utfutf(text, "\xe2\x98\xba") == text + 3 && utfutf(text, "no") == nil);
	end = utfecpy(buf, buf + 6, text);
	CHECK(end == buf + 3);
	IS(buf, "a\xc3\xa9");
	CHECK(utfecpy(buf, buf + 7, text) == buf + 6 && utfecpy(buf, buf, text) == buf);
	CHECK(runelen(0x1d11e) == 4 && chartorune(&r, text + 6) == 4 && r == 0x1d11e);
}

/* Behind the text is nothing to read. */
static void utf_at_an_end(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *begin = mmap(nil, 2 * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *end = begin + page;

	CHECK(begin != MAP_FAILED && mprotect(end, page, PROT_NONE) == 0);
	memcpy(end - 2, "\xe0\x80", 2);
	CHECK(utfnlen(end - 2, 2) == 2);
	memcpy(end - 2, "\xe0\xa0", 2);
	CHECK(utfnlen(end - 2, 2) == 0);
	munmap(begin, 2 * page);
}

static void runes(void)
{
	Rune a[16] = { 'o', 'n', 'e', 0 }, b[16], all[] = { 0xe9, 0x263a, 0x1d11e, 0 };
	Rune *copy;

	CHECK(runestrlen(a) == 3 && runenlen(all, 3) == 9);
	CHECK(runestrcpy(b, a) == b && runestrcmp(a, b) == 0);
	CHECK(runestrcat(b, all) == b && runestrlen(b) == 6 && runestrcmp(a, b) < 0);
	CHECK(runestrncmp(a, b, 3) == 0 && runestrncmp(b, a, 4) > 0);
	CHECK(runestrchr(b, 0x263a) == b + 4 && runestrchr(b, 'x') == nil);
	CHECK(runestrchr(b, 0) == b + 6 && runestrrchr(b, 'o') == b);
	CHECK(runestrrchr(b, 'x') == nil && runestrstr(b, all) == b + 3);
	CHECK(runestrstr(a, all) == nil && runestrstr(a, all + 3) == a);
	runestrncpy(b, a, 5);
	CHECK(b[3] == 0 && b[4] == 0 && runestrecpy(b, b + 3, a) == b + 2);
	runestrncat(b, all, 1);
	CHECK(runestrlen(b) == 3 && b[2] == 0xe9);
	copy = runestrdup(all);
	CHECK(copy && runestrcmp(copy, all) == 0);
	free(copy);
	CHECK(toupperrune('a') == 'A' && tolowerrune('Z') == 'z' && isalpharune('q'));
	CHECK(isspacerune(' ') && isspacerune(0xa0) && !isspacerune('x') && !isalpharune('1'));
	CHECK(isupperrune('A') && !isupperrune('a') && islowerrune('a') && istitlerune('A'));
	CHECK(totitlerune(0x1c6) == 0x1c5 && istitlerune(0x1c5) && !istitlerune(0x1c4));
	CHECK(totitlerune(0x1f3) == 0x1f2 && totitlerune('a') == 'A');
}

static char *clean(const char *path)
{
	static char buf[64];

	return cleanname(strcpy(buf, path));
}

static void words(void)
{
	char buf[64], *f[5], *text;

	strcpy(buf, "::a:'b:c'::d");
	CHECK(gettokens(buf, f, 5, ":") == 3);
	IS(f[1], "b:c");
	strcpy(buf, " a  b ");
	CHECK(tokenize(buf, f, 5) == 2 && getfields(strcpy(buf, "a,,b"), f, 5, 1, ",") == 2);
	text = quotestrdup("it's");
	IS(text, "'it''s'");
	free(text);
	text = unquotestrdup("'it''s' x");
	IS(text, "it's");
	free(text);
	CHECK(cistrcmp("aB", "Ab") == 0 && cistrncmp("abX", "ABy", 2) == 0);
	CHECK(cistrcmp("a", "b") < 0 && cistrncmp("a", "b", 0) == 0);
	strcpy(buf, "Some Words");
	CHECK(cistrstr(buf, "wOR") == buf + 5 && cistrstr(buf, "words!") == nil);
	IS(clean(""), ".");
	IS(clean("/"), "/");
	IS(clean("a//b/./c/"), "a/b/c");
	IS(clean("a/../b"), "b");
	IS(clean("a/.."), ".");
	IS(clean("../a/../../b"), "../../b");
	IS(clean("/../a/b/.."), "/a");
	IS(clean("/.."), "/");
	IS(clean("./..a/.b"), "..a/.b");
}

typedef struct { int x, y; } Point;

static int pointfmt(Fmt *f)
{
	Point *p = va_arg(f->args, Point *);

	return fmtprint(f, "[%d %d]", p->x, p->y);
}

/* As wide as the flags say. */
static int runesfmt(Fmt *f)
{
	return fmtrunestrcpy(f, va_arg(f->args, Rune *));
}

static void formats(void)
{
	Rune smile[] = { 0x263a, 0 };
	Point p = { 3, 4 };
	char *text, buf[8], read_back[32] = "";
	int fd[2];
	Fmt f;

	fmtinstall('P', pointfmt);
	fmtinstall('H', encodefmt);
	fmtinstall('[', encodefmt);
	fmtinstall('<', encodefmt);
	CHECK(fmtstrinit(&f) == 0);
	for (int i = 0; i < 100; i++)
		CHECK(fmtprint(&f, "%d,", i) == 0);
	CHECK(fmtprint(&f, "%P", &p) == 0 && fmtrunestrcpy(&f, smile) == 0);
	text = fmtstrflush(&f);
	CHECK(text && strlen(text) == 290 + 5 + 3);
	IS(text + 287, "99,[3 4]\xe2\x98\xba");
	free(text);
	fmtinstall('T', runesfmt);
	text = smprint("%3T|%-3T|%.1T|%T", smile, smile, smile, smile);
	IS(text, "  \xe2\x98\xba|\xe2\x98\xba  |\xe2\x98\xba|\xe2\x98\xba");
	free(text);
	text = smprint("%.3H %.3lH %.2[ %.3[ %.1[ %.1< %.5<", "\x01\xab\xff", "\x01\xab\xff",
		       "hi", "hi!", "h", "\xff", "\x00\x00\x00\x00\x01");
	IS(text, "01ABFF 01abff aGk= aGkh aA== zw 22222223");
	free(text);
	CHECK(pipe(fd) == 0 && fmtfdinit(&f, fd[1], buf, sizeof buf) == 0);
	CHECK(fmtprint(&f, "%d ", 12345678) == 0 && fmtprint(&f, "%s", "end") == 0);
	CHECK(fmtfdflush(&f) == 12);
	CHECK(fmtprint(&f, "!") == 0 && fmtfdflush(&f) == 13);
	close(fd[1]);
	CHECK(readn(fd[0], read_back, sizeof read_back) == 13);
	IS(read_back, "12345678 end!");
	close(fd[0]);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const Dir *)a)->name, ((const Dir *)b)->name);
}

static void files(void)
{
	char folder[] = "/tmp/weft-plan9-XXXXXX", *path, *path2;
	Dir *d, all;
	int fd;
	long n;

	CHECK(mkdtemp(folder) != nil);
	path = smprint("%s/one", folder);
	path2 = smprint("%s/two", folder);
	fd = create(path, ORDWR, 0640);
	CHECK(fd >= 0 && fprint(fd, "hello") == 5);
	d = dirfstat(fd);
	CHECK(d && d->length == 5 && (d->mode & 0777) == 0640 && !(d->qid.type & QTDIR));
	IS(d->name, "one");
	free(d);
	close(fd);
	nulldir(&all);
	all.length = 2;
	all.mtime = 1000;
	all.name = "two";
	CHECK(dirwstat(path, &all) == 0 && access(path, AEXIST) < 0);
	d = dirstat(path2);
	CHECK(d && d->length == 2 && d->mtime == 1000 && (d->mode & 0777) == 0640);
	free(d);
	CHECK(dirstat(path) == nil);
	fd = create(path, OREAD, DMDIR | 0700);
	CHECK(fd >= 0 && dirreadall(fd, &d) == 0);
	close(fd);
	fd = open(folder, OREAD);
	n = dirread(fd, &d);
	CHECK(n == 2);
	qsort(d, n, sizeof *d, by_name);
	IS(d[0].name, "one");
	IS(d[1].name, "two");
	CHECK((d[0].mode & DMDIR) && d[0].qid.type == QTDIR && d[1].length == 2);
	free(d);
	CHECK(dirread(fd, &d) == 0);
	close(fd);
	CHECK(dirread(-1, &d) == -1);
	CHECK(remove(path) == 0 && remove(path2) == 0);
	free(path);
	path = smprint("%s/tempXXXXXX", folder);
	fd = opentemp(path, ORDWR);
	CHECK(fd >= 0 && fprint(fd, "x") == 1);
	close(fd);
	CHECK(remove(path) == 0 && remove(folder) == 0);
	free(path);
	free(path2);
}

static void dates(void)
{
	long t[4];
	Tm *tm = gmtime(951782400);

	CHECK(tm->year == 100 && tm->mon == 1 && tm->mday == 29 && tm->wday == 2);
	CHECK(tm2sec(tm) == 951782400);
	IS(asctime(tm), "Tue Feb 29 00:00:00 GMT 2000\n");
	CHECK(tm2sec(localtime(951782400)) == 951782400 && strlen(ctime(0)) > 20);
	CHECK(times(t) > 0 && t[0] >= 0 && cputime() >= 0);
}

static void numbers(void)
{
	srand(7);
	for (int i = 0; i < 1000; i++) {
		int v = nrand(10);

		CHECK(v >= 0 && v < 10 && rand() <= 0x7fff && lrand() >= 0);
		CHECK(frand() >= 0 && frand() < 1 && ntruerand(3) < 3 && lnrand(5) < 5);
	}
	CHECK(isInf(Inf(1), 1) && !isInf(Inf(1), -1) && isInf(Inf(-1), 0) && isNaN(NaN()));
	CHECK(truerand() <= 0xffffffff);
}

static void signals(void)
{
	CHECK(postnote(PNPROC, getpid(), "no such note") == -1);
	IS(smprint("%r"), "unknown note");
	errno = 0;
	CHECK(postnote(PNPROC, 0, "hangup") == -1);
	IS(smprint("%r"), "No such process");
	CHECK(alarm(60000) == 0);
	CHECK(alarm(0) > 50000);
	CHECK(*getuser() && *sysname() && putenv("weft_x", "y") == 0);
	IS(getenv("weft_x"), "y");
}

static void answers(void *v)
{
	char *dir = v, line[40], buf[16];
	int ctl = listen(dir, line), fd = accept(ctl, line);
	long n;

	CHECK(ctl >= 0 && fd >= 0);
	close(ctl);
	while ((n = read(fd, buf, sizeof buf)) > 0)
		CHECK(write(fd, buf, n) == n);
	close(fd);
}

/* The one that the kernel has chosen. It is at the same place in both kinds of addresses. */
static int port_of(int fd)
{
	struct sockaddr_in6 name = { .sin6_port = 0 };
	socklen_t bytes = sizeof name;

	CHECK(getsockname(fd, (struct sockaddr *)&name, &bytes) == 0);
	return ntohs(name.sin6_port);
}

static void calls(char *address, int lfd, char *dir)
{
	char buf[16] = "";
	Ioproc *io = ioproc();
	int fd;

	CHECK(lfd >= 0 && proccreate(answers, dir, 32768) > 0);
	fd = iodial(io, address, nil, nil, nil);
	CHECK(fd >= 0 && write(fd, "echo", 4) == 4 && readn(fd, buf, 4) == 4);
	IS(buf, "echo");
	CHECK(shutdown(fd, SHUT_WR) == 0 && read(fd, buf, 1) == 0);
	close(fd);
	close(lfd);
	closeioproc(io);
}

/* The number of a closed call is another file's, and weft knows nothing of the call. */
static void numbers_come_again(void)
{
	char *path = smprint("unix!/tmp/weft-plan9-%d", getpid()), dir[40], line[40], byte;
	int lfd = announce(path, dir), fd = dial(path, nil, nil, nil), ctl, ends[2];

	CHECK(lfd >= 0 && fd >= 0 && (ctl = listen(dir, line)) >= 0 && close(ctl) == 0);
	CHECK(pipe(ends) == 0);
	CHECK(weft_read_until(ends[0], &byte, 1, WEFT_NO_WAIT) == -EAGAIN);
	close(ends[0]);
	close(ends[1]);
	close(fd);
	close(lfd);
	CHECK(remove(path + 5) == 0);
	free(path);
}

static void connections(void)
{
	Dir *d, all;
	char *unix_path = smprint("unix!/tmp/weft-plan9-%d", getpid()), dir[40];
	int lfd = announce(unix_path, dir);

	calls(unix_path, lfd, dir);
	CHECK(remove(unix_path + 5) == 0);
	unix_path = smprint("unix!/tmp/weft-plan9-%d!x", getpid());
	lfd = announce(unix_path, dir);
	CHECK(lfd >= 0 && access(unix_path + 5, AEXIST) == 0);
	nulldir(&all);			/* of a file that open() refuses */
	all.mode = 0600;
	all.mtime = 1000;
	CHECK(dirwstat(unix_path + 5, &all) == 0);
	d = dirstat(unix_path + 5);
	CHECK(d && (d->mode & 0777) == 0600 && d->mtime == 1000);
	free(d);
	calls(unix_path, lfd, dir);
	CHECK(remove(unix_path + 5) == 0);
	lfd = announce("tcp!*!0", dir);
	calls(smprint("tcp!localhost!%d", port_of(lfd)), lfd, dir);
	CHECK(dial("il!localhost!7", nil, nil, nil) == -1);
	IS(smprint("%r"), "unknown network il");
	CHECK(dial(unix_path, nil, nil, nil) == -1);
	IS(netmkaddr("host", nil, "echo"), "net!host!echo");
	IS(netmkaddr("tcp!host", nil, "echo"), "tcp!host!echo");
	IS(netmkaddr("tcp!host!7", "udp", "echo"), "tcp!host!7");
	IS(netmkaddr("host:80", "tcp", "echo"), "tcp!host!80");
	IS(netmkaddr("/tmp/x", nil, "echo"), "unix!/tmp/x");
	IS(netmkaddr("/tmp/x!y", nil, "echo"), "unix!/tmp/x!y");
	IS(netmkaddr("host", "tcp", nil), "tcp!host");
}

void threadmain(int argc, char *argv[])
{
	USED(argc);
	USED(argv);
	threadsetstate("begins %d", 1);
	threadneedbackground();
	utf();
	utf_at_an_end();
	runes();
	words();
	formats();
	files();
	dates();
	numbers();
	signals();
	connections();
	numbers_come_again();
	print("%s\n", bad ? "wrong" : "all right");
	threadexitsall(bad ? "wrong" : nil);
}

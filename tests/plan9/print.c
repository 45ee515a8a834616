/* SPDX-License-Identifier: MIT */
/* print.c - what print makes of its verbs; a line for each that is wrong */
#include <u.h>
#include <libc.h>
#include <thread.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/resource.h>

static int bad;

static void is(int line, const char *got, const char *wanted)
{
	if (strcmp(got, wanted) != 0) {
		fprint(2, "%d: \"%s\", not \"%s\"\n", line, got, wanted);
		bad++;
	}
}

#define IS(wanted, ...)	(snprint(buf, sizeof buf, __VA_ARGS__), \
			 is(__LINE__, buf, wanted))

typedef struct { int x, y; } Point;

static int pointfmt(Fmt *f)
{
	Point *p = va_arg(f->args, Point *);

	return fmtprint(f, "[%d %d]", p->x, p->y);
}

/*
 * Behind the texts that precision cuts lies a page that nothing can read. Returns
 * where the page begins.
 */
static char *wall(void)
{
	long page = sysconf(_SC_PAGESIZE);
	char *at = mmap(nil, 2 * page, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || mprotect(at + page, page, PROT_NONE) != 0)
		sysfatal("wall: %r");
	return at + page;
}

static void precision(void)
{
	char buf[64], *at = wall();
	Rune *r = (Rune *)(void *)at;

	memcpy(at - 3, "ab'", 3);
	IS("ab'|ab|", "%.3s|%.*s|%.0s", at - 3, 2, at - 3, at);
	IS("'ab'''|ab|''", "%.3q|%.2q|%.0q", at - 3, at - 3, at);
	IS("   'b'''|'b'''   |", "%8.2q|%-8.*q|", at - 2, 2, at - 2);
	IS("\xe2\x98\xba", "%q", "\xe2\x98\xba");
	r[-2] = 0x263a;
	r[-1] = 'x';
	IS("\xe2\x98\xbax|\xe2\x98\xba |", "%.2S|%-2.1S|%.0S", r - 2, r - 2, r);
}

/* Numbers of more digits than libc's part of the work has room for. */
static void floats(void)
{
	char buf[64], *s;
	double none = 0;

	IS("-02.5|+02.5| 02.5|-2.5 |", "%05.1f|%+05.1f|% 05.1f|%-05.1f|", -2.5, 2.5, 2.5, -2.5);
	IS("  inf| -inf|  nan|+INF", "%05f|%05g|%05e|%+F", 1 / none, -1 / none, fabs(none / none), 1 / none);
	s = smprint("%0600f|%-600.1f|%+0600.1e", -1.5, 1.5, 1.5);
	if (strlen(s) != 1802 || s[0] != '-' || strspn(s + 1, "0") != 591)
		bad++;
	is(__LINE__, (s[605] = 0, s + 592), "1.500000|1.5 ");
	is(__LINE__, s + 1795, "1.5e+00");
	free(s);
	s = smprint("%.100f|%.200f", -1.7e308, 1.5);
	if (strlen(s) != 411 + 1 + 102 || s[411] != '|')
		bad++;
	free(s);
}

/* A text for which there is no memory is not cut. */
static void no_memory(void)
{
	struct rlimit before, none;
	char buf[8];
	int fd[2];

	if (pipe(fd) < 0 || getrlimit(RLIMIT_AS, &before) < 0)
		sysfatal("no_memory: %r");
	none = before;
	none.rlim_cur = 1 << 20;
	if (setrlimit(RLIMIT_AS, &none) < 0)
		sysfatal("setrlimit: %r");
	errno = 0;
	if (smprint("%*d", 1 << 30, 1) != nil || errno != ENOMEM)
		bad++;
	errno = 0;
	if (fprint(fd[1], "%*d", 1 << 30, 1) != -1 || errno != ENOMEM)
		bad++;
	is(__LINE__, (snprint(buf, 4, "%-*d", 1 << 30, 1), buf), "1  ");
	if (setrlimit(RLIMIT_AS, &before) < 0)
		sysfatal("setrlimit: %r");
	close(fd[1]);
	if (read(fd[0], buf, sizeof buf) != 0)
		bad++;
	close(fd[0]);
}

static void printer(void *v)
{
	Channel *c = v;
	int i;

	for (i = 0; i < 50; i++)
		print("%s\n", "0123456789012345678901234567890123456789");
	sendul(c, 1);
}

static void verbs(void)
{
	Rune wide[] = { 0x263a, 'a', 0 };
	char buf[64];

	IS("1 -2 3", "%d %d %i", 1, -2, 3);
	IS("4294967295 7 8", "%ud %lud %llud", -1, 7ul, 8ull);
	IS("4294967295", "%u", -1);
	IS("-5 6 -9223372036854775808", "%ld %lld %lld", -5l, 6ll, -0x7fffffffffffffffll - 1);
	IS("-1 255", "%hd %hhud", 0xffff, 0xff);
	IS("ff FF 17 0xff 101", "%x %X %o %#x %b", 255, 255, 15, 255, 5);
	IS("ffffffffff", "%llux", 0xffffffffffull);
	IS("   7|7   |0007|+7| 7", "%4d|%-4d|%04d|%+d|% d", 7, 7, 7, 7, 7);
	IS("   7|7   |007", "%*d|%*d|%.3d", 4, 7, -4, 7, 7);
	IS("1,234,567", "%,d", 1234567);
	IS("ab|  ab|ab  |a", "%s|%4s|%-4s|%.1s", "ab", "ab", "ab", "ab");
	IS("<nil>", "%s", (char *)nil);
	IS("x \xe2\x98\xba \xe2\x98\xba" "a", "%c %C %S", 'x', 0x263a, wide);
	IS("  \xe2\x98\xba", "%3s", "\xe2\x98\xba");
	IS("plain 'it''s one' ''", "%q %q %q", "plain", "it's one", "");
	IS("1.500000 1.50 1.5 1.5e+00", "%f %.2f %g %.1e", 1.5, 1.5, 1.5, 1.5);
	IS("  2.50|2.50  |002.50", "%6.2f|%-6.2f|%06.2f", 2.5, 2.5, 2.5);
	IS("100% %y%", "100%% %y");
	IS("0xff", "%p", (void *)255);
}

static void buffers(void)
{
	char buf[64], *s, *f[4], *end;
	Rune r;

	is(__LINE__, (snprint(buf, 5, "%s", "too long"), buf), "too ");
	is(__LINE__, (snprint(buf, 5, "%*d", INT_MIN, 7), buf), "7   ");
	end = seprint(buf, buf + 4, "%d", 123456);
	is(__LINE__, buf, "123");
	if (end != buf + 3)
		bad++;
	s = smprint("%0*d", 2000, 5);
	if (strlen(s) != 2000 || s[0] != '0' || s[1999] != '5')
		bad++;
	free(s);
	strcpy(buf, " one 'two  three' x''y ");
	if (tokenize(buf, f, 4) != 3)
		bad++;
	is(__LINE__, f[1], "two  three");
	is(__LINE__, f[2], "xy");
	strcpy(buf, "a::b");
	if (getfields(buf, f, 4, 0, ":") != 3)
		bad++;
	is(__LINE__, f[2], "b");
	if (chartorune(&r, "\xff") != 1 || r != Runeerror || utflen("\xe2\x98\xba.") != 2)
		bad++;
}

void threadmain(int argc, char *argv[])
{
	Point p = { 3, 4 };
	char buf[64];
	Channel *c;
	int i;

	ARGBEGIN{
	case 't':
		c = chancreate(sizeof(ulong), 0);
		for (i = 0; i < 4; i++)
			proccreate(printer, c, 8192);
		for (i = 0; i < 4; i++)
			recvul(c);
		threadexitsall(nil);
	default:
		sysfatal("bad option %C", ARGC());
	}ARGEND

	verbs();
	precision();
	floats();
	no_memory();
	werrstr("no %d", 7);
	IS("no 7", "%r");
	errno = ENOENT;
	IS("No such file or directory", "%r");
	fmtinstall('P', pointfmt);
	IS("at [3 4].", "at %P.", &p);
	buffers();
	print("%s\n", bad ? "wrong" : "all right");
	threadexitsall(bad ? "wrong" : nil);
}

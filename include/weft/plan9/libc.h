/* SPDX-License-Identifier: MIT */
/*
 * libc.h - what programs for Plan 9 use of its C library, compiled by weft 9c
 *
 * weft-plan9(7) lists it. Long names stand behind the short ones, so that a program can
 * be linked with libraries that have functions of the short names.
 */
#ifndef WEFT_PLAN9_LIBC_H
#define WEFT_PLAN9_LIBC_H

#include "u.h"

#ifdef __cplusplus
extern "C" {
#endif

#define nelem(x)	(sizeof(x) / sizeof((x)[0]))
#define SET(x)		((x) = 0)

enum { UTFmax = 4, Runesync = 0x80, Runeself = 0x80, Runeerror = 0xfffd,
       Runemax = 0x10ffff };
enum { OREAD = O_RDONLY, OWRITE = O_WRONLY, ORDWR = O_RDWR, OEXEC = O_RDONLY,
       OTRUNC = O_TRUNC, OCEXEC = O_CLOEXEC, OEXCL = O_EXCL, ORCLOSE = 0 };
enum { NCONT, NDFLT };
enum { RFNAMEG = 1, RFENVG = 2, RFFDG = 4, RFNOTEG = 8, RFPROC = 16, RFMEM = 32,
       RFNOWAIT = 64, RFCNAMEG = 1024, RFCENVG = 2048, RFCFDG = 4096 };
enum { PNPROC = 1, PNGROUP = 2 };
enum { ERRMAX = 128, NETPATHLEN = 40 };
enum { AEXIST = 0, AEXEC = 1, AWRITE = 2, AREAD = 4 };

/* Bits of a Qid's type, and of a Dir's mode. */
enum { QTFILE = 0, QTSYMLINK = 2, QTTMP = 4, QTAUTH = 8, QTMOUNT = 16, QTEXCL = 32,
       QTAPPEND = 64, QTDIR = 128 };
#define DMDIR		0x80000000u
#define DMAPPEND	0x40000000u
#define DMEXCL		0x20000000u
#define DMMOUNT		0x10000000u
#define DMAUTH		0x08000000u
#define DMTMP		0x04000000u
#define DMSYMLINK	0x02000000u
#define DMDEVICE	0x00800000u
#define DMNAMEDPIPE	0x00200000u
#define DMSOCKET	0x00100000u
enum { DMREAD = 4, DMWRITE = 2, DMEXEC = 1 };

#define PI	M_PI
#define PIO2	M_PI_2

/* The flags of a verb. */
enum { FmtWidth = 1, FmtLeft = 2, FmtPrec = 4, FmtSharp = 8, FmtSpace = 16,
       FmtSign = 32, FmtApost = 64, FmtZero = 128, FmtUnsigned = 256,
       FmtShort = 512, FmtLong = 1024, FmtVLong = 2048, FmtComma = 4096,
       FmtByte = 8192, FmtFlag = 1 << 15 };

typedef struct weft_plan9_fmt {
	char *start, *to, *stop;	/* of the text so far; the library's */
	int is_fixed, is_cut;		/* is_cut: for want of memory */
	void *farg;
	va_list args;
	int r;				/* the verb */
	int width, prec;
	unsigned long flags;
	char *first;			/* of fmtfdinit(): the caller's buffer */
	int first_bytes, fd, total;
} Fmt;

typedef struct weft_plan9_waitmsg {
	int pid;
	ulong time[3];			/* user, system, real: ms */
	char *msg;			/* "": it ended well */
} Waitmsg;

typedef struct weft_plan9_tm {
	int sec, min, hour, mday, mon, year, wday, yday;
	char zone[4];
	int tzoff;
} Tm;

typedef struct weft_plan9_qid {
	uvlong path;
	ulong vers;
	uchar type;
} Qid;

typedef struct weft_plan9_dir {
	ushort type;
	uint dev;
	Qid qid;
	ulong mode, atime, mtime;
	vlong length;
	char *name, *uid, *gid, *muid;
} Dir;

typedef struct weft_plan9_qlock Lock;

extern char *weft_plan9_argv0;

int remove(const char *path);	/* <stdio.h> has more names than programs expect */

int weft_plan9_print(const char *format, ...);
int weft_plan9_fprint(int fd, const char *format, ...);
int weft_plan9_vfprint(int fd, const char *format, va_list args);
int weft_plan9_sprint(char *to, const char *format, ...);
int weft_plan9_snprint(char *to, int bytes, const char *format, ...);
int weft_plan9_vsnprint(char *to, int bytes, const char *format, va_list args);
char *weft_plan9_seprint(char *to, char *end, const char *format, ...);
char *weft_plan9_vseprint(char *to, char *end, const char *format, va_list args);
char *weft_plan9_smprint(const char *format, ...);
char *weft_plan9_vsmprint(const char *format, va_list args);
int weft_plan9_fmtinstall(int verb, int (*fn)(Fmt *f));
int weft_plan9_fmtprint(Fmt *f, const char *format, ...);
int weft_plan9_fmtstrcpy(Fmt *f, const char *text);
int weft_plan9_fmtrune(Fmt *f, int rune);
int weft_plan9_fmtvprint(Fmt *f, const char *format, va_list args);
int weft_plan9_fmtrunestrcpy(Fmt *f, const Rune *text);
int weft_plan9_fmtstrinit(Fmt *f);
char *weft_plan9_fmtstrflush(Fmt *f);
int weft_plan9_fmtfdinit(Fmt *f, int fd, char *buffer, int bytes);
int weft_plan9_fmtfdflush(Fmt *f);
int weft_plan9_errfmt(Fmt *f);
int weft_plan9_encodefmt(Fmt *f);

void weft_plan9_exits(const char *status) __attribute__((noreturn));
void weft_plan9_sysfatal(const char *format, ...) __attribute__((noreturn));
void weft_plan9_werrstr(const char *format, ...);
void weft_plan9_rerrstr(char *to, uint bytes);
int weft_plan9_errstr(char *text, uint bytes);
int weft_plan9_sleep(long ms);
int weft_plan9_notify(void (*fn)(void *unused, char *note));
int weft_plan9_atnotify(int (*fn)(void *unused, char *note), int in);
int weft_plan9_noted(int what);
int weft_plan9_postnote(int to, int pid, const char *note);
int weft_plan9_rfork(int flags);
int weft_plan9_exec(const char *file, char *argv[]);
long weft_plan9_alarm(ulong ms);
char *weft_plan9_getuser(void), *weft_plan9_sysname(void);
int weft_plan9_putenv(const char *name, const char *value);

char *weft_plan9_strecpy(char *to, char *end, const char *from);
int weft_plan9_tokenize(char *text, char **to, int most);
int weft_plan9_gettokens(char *text, char **to, int most, const char *between);
int weft_plan9_getfields(char *text, char **to, int most, int merges,
			 const char *between);
char *weft_plan9_quotestrdup(const char *text);
char *weft_plan9_unquotestrdup(const char *text);
int weft_plan9_cistrcmp(const char *a, const char *b);
int weft_plan9_cistrncmp(const char *a, const char *b, int n);
char *weft_plan9_cistrstr(const char *text, const char *part);
char *weft_plan9_cleanname(char *path);
void *weft_plan9_mallocz(ulong bytes, int clears);

int weft_plan9_chartorune(Rune *rune, const char *text);
int weft_plan9_runetochar(char *text, const Rune *rune);
int weft_plan9_runelen(long rune);
int weft_plan9_runenlen(const Rune *r, int n);
int weft_plan9_fullrune(const char *text, int n);
int weft_plan9_utflen(const char *text), weft_plan9_utfnlen(const char *text, long bytes);
char *weft_plan9_utfrune(const char *text, long rune);
char *weft_plan9_utfrrune(const char *text, long rune);
char *weft_plan9_utfutf(const char *text, const char *part);
char *weft_plan9_utfecpy(char *to, char *end, const char *from);
long weft_plan9_runestrlen(const Rune *text);
Rune *weft_plan9_runestrcpy(Rune *to, const Rune *from);
Rune *weft_plan9_runestrncpy(Rune *to, const Rune *from, long n);
Rune *weft_plan9_runestrecpy(Rune *to, Rune *end, const Rune *from);
Rune *weft_plan9_runestrcat(Rune *to, const Rune *from);
Rune *weft_plan9_runestrncat(Rune *to, const Rune *from, long n);
int weft_plan9_runestrcmp(const Rune *a, const Rune *b);
int weft_plan9_runestrncmp(const Rune *a, const Rune *b, long n);
Rune *weft_plan9_runestrchr(const Rune *text, Rune rune);
Rune *weft_plan9_runestrrchr(const Rune *text, Rune rune);
Rune *weft_plan9_runestrstr(const Rune *text, const Rune *part);
Rune *weft_plan9_runestrdup(const Rune *text);
Rune weft_plan9_tolowerrune(Rune r), weft_plan9_toupperrune(Rune r);
Rune weft_plan9_totitlerune(Rune r);
int weft_plan9_isalpharune(Rune r), weft_plan9_islowerrune(Rune r);
int weft_plan9_isupperrune(Rune r), weft_plan9_istitlerune(Rune r);
int weft_plan9_isspacerune(Rune r);

void weft_plan9_srand(long seed);
int weft_plan9_rand(void), weft_plan9_nrand(int n);
long weft_plan9_lrand(void), weft_plan9_lnrand(long n);
double weft_plan9_frand(void), weft_plan9_cputime(void);
ulong weft_plan9_truerand(void), weft_plan9_ntruerand(ulong n);

Tm *weft_plan9_gmtime(long seconds), *weft_plan9_localtime(long seconds);
char *weft_plan9_asctime(const Tm *t), *weft_plan9_ctime(long seconds);
long weft_plan9_tm2sec(const Tm *t);
long weft_plan9_times(long t[4]);

long weft_plan9_readn(int fd, void *to, long n);
int weft_plan9_create(const char *path, int mode, ulong perm);
int weft_plan9_opentemp(char *path, int mode);
Dir *weft_plan9_dirstat(const char *path), *weft_plan9_dirfstat(int fd);
int weft_plan9_dirwstat(const char *path, const Dir *d);
int weft_plan9_dirfwstat(int fd, const Dir *d);
long weft_plan9_dirreadall(int fd, Dir **to);
void weft_plan9_nulldir(Dir *d);

int weft_plan9_dial(const char *address, const char *local, char *dir, int *control);
int weft_plan9_announce(const char *address, char *dir);
int weft_plan9_listen(const char *dir, char *line);
int weft_plan9_accept(int control, const char *dir);
int weft_plan9_reject(int control, const char *dir, const char *cause);
char *weft_plan9_netmkaddr(const char *address, const char *net, const char *service);

static inline __attribute__((unused)) int weft_plan9_dup(int old, int fd)
{
	return fd < 0 ? dup(old) : dup2(old, fd);
}

static inline __attribute__((unused)) vlong weft_plan9_nsec(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (vlong)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline __attribute__((unused)) double weft_plan9_inf(int sign)
{
	return sign < 0 ? -__builtin_inf() : __builtin_inf();
}

static inline __attribute__((unused)) int weft_plan9_is_inf(double v, int sign)
{
	return isinf(v) && (!sign || (v < 0) == (sign < 0));
}

/* Calls nothing of atexit(), and leaves stdio's buffers as they are. */
static inline __attribute__((unused, noreturn)) void weft_plan9_exit_now(
	const char *status)
{
	_exit(status && *status ? 1 : 0);
}

#ifdef __cplusplus
}
#endif

#ifndef WEFT_PLAN9_NO_NAMES

#define argv0		weft_plan9_argv0
#define print		weft_plan9_print
#define fprint		weft_plan9_fprint
#define vfprint		weft_plan9_vfprint
#define sprint		weft_plan9_sprint
#define snprint		weft_plan9_snprint
#define vsnprint	weft_plan9_vsnprint
#define seprint		weft_plan9_seprint
#define vseprint	weft_plan9_vseprint
#define smprint		weft_plan9_smprint
#define vsmprint	weft_plan9_vsmprint
#define fmtinstall	weft_plan9_fmtinstall
#define fmtprint	weft_plan9_fmtprint
#define fmtstrcpy	weft_plan9_fmtstrcpy
#define fmtrune		weft_plan9_fmtrune
#define quotefmtinstall()	((void)0)	/* %q is always there */
#define exits		weft_plan9_exits
#define _exits		weft_plan9_exit_now
#define sysfatal	weft_plan9_sysfatal
#define werrstr		weft_plan9_werrstr
#define rerrstr		weft_plan9_rerrstr
#define errstr		weft_plan9_errstr
#define sleep		weft_plan9_sleep
#define notify		weft_plan9_notify
#define atnotify	weft_plan9_atnotify
#define noted		weft_plan9_noted
#define rfork		weft_plan9_rfork
#define strecpy		weft_plan9_strecpy
#define tokenize	weft_plan9_tokenize
#define getfields	weft_plan9_getfields
#define mallocz		weft_plan9_mallocz
#define chartorune	weft_plan9_chartorune
#define runetochar	weft_plan9_runetochar
#define runelen		weft_plan9_runelen
#define utflen		weft_plan9_utflen
#define dup		weft_plan9_dup
#define nsec		weft_plan9_nsec
#define create		weft_plan9_create
#define accept		weft_plan9_accept
#define alarm		weft_plan9_alarm
#define announce	weft_plan9_announce
#define asctime		weft_plan9_asctime
#define cistrcmp	weft_plan9_cistrcmp
#define cistrncmp	weft_plan9_cistrncmp
#define cistrstr	weft_plan9_cistrstr
#define cleanname	weft_plan9_cleanname
#define cputime		weft_plan9_cputime
#define ctime		weft_plan9_ctime
#define dial		weft_plan9_dial
#define dirfstat	weft_plan9_dirfstat
#define dirfwstat	weft_plan9_dirfwstat
#define dirreadall	weft_plan9_dirreadall
#define dirstat		weft_plan9_dirstat
#define dirwstat	weft_plan9_dirwstat
#define encodefmt	weft_plan9_encodefmt
#define errfmt		weft_plan9_errfmt
#define exec		weft_plan9_exec
#define fmtfdflush	weft_plan9_fmtfdflush
#define fmtfdinit	weft_plan9_fmtfdinit
#define fmtrunestrcpy	weft_plan9_fmtrunestrcpy
#define fmtstrflush	weft_plan9_fmtstrflush
#define fmtstrinit	weft_plan9_fmtstrinit
#define fmtvprint	weft_plan9_fmtvprint
#define frand		weft_plan9_frand
#define fullrune	weft_plan9_fullrune
#define gettokens	weft_plan9_gettokens
#define getuser		weft_plan9_getuser
#define gmtime		weft_plan9_gmtime
#define isalpharune	weft_plan9_isalpharune
#define islowerrune	weft_plan9_islowerrune
#define isspacerune	weft_plan9_isspacerune
#define istitlerune	weft_plan9_istitlerune
#define isupperrune	weft_plan9_isupperrune
#define listen		weft_plan9_listen
#define lnrand		weft_plan9_lnrand
#define localtime	weft_plan9_localtime
#define lrand		weft_plan9_lrand
#define netmkaddr	weft_plan9_netmkaddr
#define nrand		weft_plan9_nrand
#define ntruerand	weft_plan9_ntruerand
#define nulldir		weft_plan9_nulldir
#define opentemp	weft_plan9_opentemp
#define postnote	weft_plan9_postnote
#define putenv		weft_plan9_putenv
#define quotestrdup	weft_plan9_quotestrdup
#define rand		weft_plan9_rand
#define readn		weft_plan9_readn
#define reject		weft_plan9_reject
#define runenlen	weft_plan9_runenlen
#define runestrcat	weft_plan9_runestrcat
#define runestrchr	weft_plan9_runestrchr
#define runestrcmp	weft_plan9_runestrcmp
#define runestrcpy	weft_plan9_runestrcpy
#define runestrdup	weft_plan9_runestrdup
#define runestrecpy	weft_plan9_runestrecpy
#define runestrlen	weft_plan9_runestrlen
#define runestrncat	weft_plan9_runestrncat
#define runestrncmp	weft_plan9_runestrncmp
#define runestrncpy	weft_plan9_runestrncpy
#define runestrrchr	weft_plan9_runestrrchr
#define runestrstr	weft_plan9_runestrstr
#define srand		weft_plan9_srand
#define sysname		weft_plan9_sysname
#define times		weft_plan9_times
#define tm2sec		weft_plan9_tm2sec
#define tolowerrune	weft_plan9_tolowerrune
#define totitlerune	weft_plan9_totitlerune
#define toupperrune	weft_plan9_toupperrune
#define truerand	weft_plan9_truerand
#define unquotestrdup	weft_plan9_unquotestrdup
#define utfecpy		weft_plan9_utfecpy
#define utfnlen		weft_plan9_utfnlen
#define utfrrune	weft_plan9_utfrrune
#define utfrune		weft_plan9_utfrune
#define utfutf		weft_plan9_utfutf
#define dirread		weft_plan9_dirreadall
#define Inf		weft_plan9_inf
#define isInf		weft_plan9_is_inf
#define NaN()		__builtin_nan("")
#define isNaN(v)	isnan(v)
#define needstack(n)	((void)(n))
#define getcallerpc(x)	((ulong)__builtin_return_address(0))
#define seek		lseek
#define lock		weft_plan9_lock
#define canlock		weft_plan9_canlock
#define unlock		weft_plan9_unlock

/*
 * Options: ARGBEGIN{ case 'v': ... break; default: usage(); }ARGEND. Inside, ARGC() is
 * the option's letter, ARGF() its argument or nil, and EARGF(e) does e without one.
 */
#define ARGBEGIN							\
	if (!argv0)							\
		argv0 = argv[0];					\
	for (argc--, argv++; argv[0] && argv[0][0] == '-' && argv[0][1];	\
	     argc--, argv++) {						\
		char *_args = argv[0] + 1, *_argt = nil;		\
		Rune _argc = 0;						\
		USED(_argt);						\
		if (_args[0] == '-' && !_args[1]) {			\
			argc--;						\
			argv++;						\
			break;						\
		}							\
		while (*_args && (_args += chartorune(&_argc, _args)))	\
			switch (_argc)
#define ARGEND	USED(_args); } USED(argc); USED(argv);
#define ARGC()	((int)_argc)
#define ARGF()								\
	(_argt = _args, _args = (char *)(uintptr)"",			\
	 *_argt ? _argt : argv[1] ? (argc--, *++argv) : (char *)nil)
#define EARGF(e)							\
	(_argt = _args, _args = (char *)(uintptr)"",			\
	 *_argt ? _argt : argv[1] ? (argc--, *++argv) :			\
	 ((e), abort(), (char *)nil))

#endif
#endif

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
enum { ERRMAX = 128 };

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
} Fmt;

typedef struct weft_plan9_waitmsg {
	int pid;
	ulong time[3];			/* user, system, real: ms */
	char *msg;			/* "": it ended well */
} Waitmsg;

typedef struct weft_plan9_qlock Lock;

extern char *weft_plan9_argv0;

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

void weft_plan9_exits(const char *status) __attribute__((noreturn));
void weft_plan9_sysfatal(const char *format, ...) __attribute__((noreturn));
void weft_plan9_werrstr(const char *format, ...);
void weft_plan9_rerrstr(char *to, uint bytes);
int weft_plan9_errstr(char *text, uint bytes);
int weft_plan9_sleep(long ms);
int weft_plan9_notify(void (*fn)(void *unused, char *note));
int weft_plan9_atnotify(int (*fn)(void *unused, char *note), int in);
int weft_plan9_noted(int what);
int weft_plan9_rfork(int flags);

char *weft_plan9_strecpy(char *to, char *end, const char *from);
int weft_plan9_tokenize(char *text, char **to, int most);
int weft_plan9_getfields(char *text, char **to, int most, int merges,
			 const char *between);
void *weft_plan9_mallocz(ulong bytes, int clears);
int weft_plan9_chartorune(Rune *rune, const char *text);
int weft_plan9_runetochar(char *text, const Rune *rune);
int weft_plan9_runelen(long rune);
int weft_plan9_utflen(const char *text);

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

static inline __attribute__((unused)) int weft_plan9_create(const char *path,
	int mode, ulong perm)
{
	return open(path, mode | O_CREAT | O_TRUNC, (mode_t)(perm & 0777));
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

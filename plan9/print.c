/* SPDX-License-Identifier: MIT */
/*
 * print.c - print and its kin
 *
 * The text is made as a whole and then written by one write(2), so that what several
 * threads print comes out in whole pieces. There is no buffer between the calls. A text
 * that does not fit the buffer on the stack goes to the heap. If that has no memory, the
 * call fails and writes nothing.
 */
#include "plan9.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/plan9/libc.h>

#define ROOM		512
#define VERBS		128

typedef int verb_fn(Fmt *f);

static verb_fn *_Atomic verbs[VERBS];

/* Makes room for n bytes and a 0. Returns how many of the n there is room for. */
static size_t make_room(Fmt *f, size_t n)
{
	size_t used = (size_t)(f->to - f->start);
	size_t bytes = 2 * (used + n) + ROOM;
	char *more;

	if ((size_t)(f->stop - f->to) > n)
		return n;
	more = f->is_fixed ? NULL : malloc(bytes);
	f->is_cut |= !f->is_fixed && !more;
	if (!more)
		return f->stop > f->to ? (size_t)(f->stop - f->to) - 1 : 0;
	memcpy(more, f->start, used);
	if (f->farg)
		free(f->start);
	f->farg = f->start = more;	/* the heap's */
	f->to = more + used;
	f->stop = more + bytes;
	return n;
}

static void put(Fmt *f, const char *text, size_t n)
{
	n = make_room(f, n);
	memcpy(f->to, text, n);
	f->to += n;
}

static void put_times(Fmt *f, char c, long times)
{
	size_t n = times > 0 ? make_room(f, (size_t)times) : 0;

	memset(f->to, c, n);
	f->to += n;
}

/* Blanks up to the width; side says where: FmtLeft, behind the text, or 0. */
static void put_blanks(Fmt *f, long used, ulong side)
{
	if ((f->flags & FmtWidth) && (f->flags & FmtLeft) == side)
		put_times(f, ' ', f->width - used);
}

/* Whether the precision allows one more. A text of that length need not end with a 0. */
static int has_more(const Fmt *f, long runes)
{
	return !(f->flags & FmtPrec) || runes < f->prec;
}

/* The first runes of a text, filled up to the width. */
static int put_text(Fmt *f, const char *text)
{
	const char *at = text;
	long runes = 0;
	Rune r;

	if (!text)
		text = at = "<nil>";
	for (; has_more(f, runes) && *at; runes++)
		at += weft_plan9_chartorune(&r, at);
	put_blanks(f, runes, 0);
	put(f, text, (size_t)(at - text));
	put_blanks(f, runes, FmtLeft);
	return 0;
}

int weft_plan9_fmtstrcpy(Fmt *f, const char *text)
{
	return put_text(f, text);
}

int weft_plan9_fmtrune(Fmt *f, int rune)
{
	char text[UTFmax + 1] = "";
	Rune r = (Rune)rune;

	put(f, text, (size_t)weft_plan9_runetochar(text, &r));
	return 0;
}

/* The number that the flags say: unsigned, with its sign apart. */
static uvlong next_number(Fmt *f, int *is_negative)
{
	vlong v;

	if (f->flags & FmtVLong)
		v = va_arg(f->args, vlong);
	else if (f->flags & FmtLong)
		v = va_arg(f->args, long);
	else
		v = va_arg(f->args, int);
	if (f->flags & FmtByte)
		v = f->flags & FmtUnsigned ? (uchar)v : (schar)v;
	else if (f->flags & FmtShort)
		v = f->flags & FmtUnsigned ? (ushort)v : (short)v;
	else if (f->flags & FmtUnsigned && !(f->flags & (FmtLong | FmtVLong)))
		v = (uint)v;
	*is_negative = v < 0 && !(f->flags & FmtUnsigned);
	return *is_negative ? -(uvlong)v : (uvlong)v;
}

static void put_padded(Fmt *f, const char *sign, const char *digits, long n)
{
	long least = f->flags & FmtPrec ? f->prec : 1;
	long zeros = n < least ? least - n : 0;
	long fill = f->flags & FmtWidth ?
		    f->width - (long)strlen(sign) - zeros - n : 0;

	if ((f->flags & FmtZero) && !(f->flags & (FmtLeft | FmtPrec)) && fill > 0) {
		zeros += fill;
		fill = 0;
	}
	if (!(f->flags & FmtLeft))
		put_times(f, ' ', fill);
	put(f, sign, strlen(sign));
	put_times(f, '0', zeros);
	put(f, digits, (size_t)n);
	if (f->flags & FmtLeft)
		put_times(f, ' ', fill);
}

/* In digits of this base; with commas, if that is asked for. */
static int put_number(Fmt *f, uvlong v, const char *sign, unsigned base)
{
	const char *set = f->r == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	char text[96], *at = text + sizeof(text);
	int n = 0;

	for (; v; v /= base, n++) {
		if (n && n % 3 == 0 && base == 10 && (f->flags & FmtComma))
			*--at = ',';
		*--at = set[v % base];
	}
	put_padded(f, sign, at, text + sizeof(text) - at);
	return 0;
}

static int put_integer(Fmt *f)
{
	unsigned base = f->r == 'o' ? 8 : f->r == 'b' ? 2 :
			f->r == 'x' || f->r == 'X' ? 16 : 10;
	int is_negative;
	uvlong v;
	char sign[4] = "";

	if (f->r == 'u' || base != 10)
		f->flags |= FmtUnsigned;
	v = next_number(f, &is_negative);
	if (is_negative)
		strcpy(sign, "-");
	else if ((f->flags & (FmtSign | FmtSpace)) && !(f->flags & FmtUnsigned))
		strcpy(sign, f->flags & FmtSign ? "+" : " ");
	if ((f->flags & FmtSharp) && base == 16)
		strcpy(sign, f->r == 'X' ? "0X" : "0x");
	if ((f->flags & FmtSharp) && base == 8)
		strcpy(sign, "0");
	return put_number(f, v, sign, base);
}

static int put_pointer(Fmt *f)
{
	f->r = 'x';
	return put_number(f, (uintptr)va_arg(f->args, void *), "0x", 16);
}

/*
 * libc makes the digits, at most 411 bytes with these limits; zeros come between them
 * and the sign. Infinity gets none.
 */
static int put_float(Fmt *f)
{
	char format[16], text[ROOM], sign[2] = "", *at = format;
	int prec = f->flags & FmtPrec ? f->prec : 6;

	*at++ = '%';
	if (f->flags & FmtSign)
		*at++ = '+';
	if (f->flags & FmtSpace)
		*at++ = ' ';
	if (f->flags & FmtSharp)
		*at++ = '#';
	strcpy(at, ".*");
	at[2] = (char)f->r;
	at[3] = 0;
	snprintf(text, sizeof(text), format, prec > 100 ? 100 : prec,
		 va_arg(f->args, double));
	at = text;
	if (strchr("+- ", *at))
		*sign = *at++;
	if (*at < '0' || *at > '9')
		f->flags &= ~(ulong)FmtZero;
	f->flags &= ~(ulong)FmtPrec;
	put_padded(f, sign, at, (long)strlen(at));
	return 0;
}

/* The precision counts the runes of the text, without the quotes. */
static int put_quoted(Fmt *f)
{
	const char *text = va_arg(f->args, char *), *at;
	long runes = 0, quotes = 2;
	int is_plain = 1;
	Rune r;

	if (!text)
		text = "";
	for (at = text; has_more(f, runes) && *at; runes++) {
		at += weft_plan9_chartorune(&r, at);
		quotes += r == '\'';
		is_plain &= r > ' ' && r != '\'';
	}
	if (is_plain && runes)
		return put_text(f, text);
	put_blanks(f, runes + quotes, 0);
	put(f, "'", 1);
	for (; text < at; text++) {
		if (*text == '\'')
			put(f, "'", 1);
		put(f, text, 1);
	}
	put(f, "'", 1);
	put_blanks(f, runes + quotes, FmtLeft);
	return 0;
}

static int put_rune(Fmt *f)
{
	char text[UTFmax + 1] = "";
	Rune r = (Rune)va_arg(f->args, int);

	if (f->r == 'c')
		r &= 0xff;
	(void)weft_plan9_runetochar(text, &r);
	f->flags &= ~(ulong)FmtPrec;
	if (!*text) {			/* a 0 is a byte of the text */
		put(f, text, 1);
		return 0;
	}
	return put_text(f, text);
}

static int put_runes(Fmt *f)
{
	const Rune *r = va_arg(f->args, Rune *);
	char text[UTFmax];
	long n = 0;

	if (!r)
		return put_text(f, NULL);
	while (has_more(f, n) && r[n])
		n++;
	put_blanks(f, n, 0);
	for (long i = 0; i < n; i++)
		put(f, text, (size_t)weft_plan9_runetochar(text, &r[i]));
	put_blanks(f, n, FmtLeft);
	return 0;
}

static int put_error(Fmt *f, int saved)
{
	char text[ERRMAX];

	errno = saved;
	weft_plan9_rerrstr(text, sizeof(text));
	return put_text(f, text);
}

static const char *read_flags(Fmt *f, const char *at)
{
	static const char names[] = "-+# 0,'";
	static const ulong flags[] = { FmtLeft, FmtSign, FmtSharp, FmtSpace,
				       FmtZero, FmtComma, FmtComma };
	const char *found;

	for (; *at && (found = strchr(names, *at)); at++)
		f->flags |= flags[found - names];
	return at;
}

static const char *read_count(Fmt *f, const char *at, int *to)
{
	*to = 0;
	if (*at == '*') {
		*to = va_arg(f->args, int);
		return at + 1;
	}
	for (; *at >= '0' && *at <= '9'; at++)
		*to = *to < 1000000 ? *to * 10 + *at - '0' : *to;
	return at;
}

static const char *read_sizes(Fmt *f, const char *at)
{
	for (;; at++) {
		if (*at == 'l')
			f->flags |= f->flags & FmtLong ? FmtVLong : FmtLong;
		else if (*at == 'h')
			f->flags |= f->flags & FmtShort ? FmtByte : FmtShort;
		else if (*at == 'z')
			f->flags |= FmtLong;
		else if (*at == 'u' && at[1] && strchr("dxXobhlu", at[1]))
			f->flags |= FmtUnsigned;
		else
			return at;
	}
}

/* One verb, from behind its '%'. Returns what is behind it. */
static const char *do_verb(Fmt *f, const char *at, int saved)
{
	verb_fn *own;
	Rune r;

	f->flags = 0;
	at = read_flags(f, at);
	if (*at == '*' || (*at >= '1' && *at <= '9')) {
		f->flags |= FmtWidth;
		at = read_count(f, at, &f->width);
		if (f->width < 0) {
			f->flags |= FmtLeft;
			f->width = f->width == INT_MIN ? INT_MAX : -f->width;
		}
	}
	if (*at == '.') {
		f->flags |= FmtPrec;
		at = read_count(f, at + 1, &f->prec);
		if (f->prec < 0)
			f->flags &= ~(ulong)FmtPrec;
	}
	at = read_sizes(f, at);
	if (!*at)
		return at;
	at += weft_plan9_chartorune(&r, at);
	f->r = (int)r;
	own = r < VERBS ? atomic_load(&verbs[r]) : NULL;
	if (own) {
		(void)own(f);
		return at;
	}
	switch (r) {
	case 'd': case 'i': case 'u': case 'o': case 'x': case 'X': case 'b':
		(void)put_integer(f);
		break;
	case 'e': case 'E': case 'f': case 'F': case 'g': case 'G':
		(void)put_float(f);
		break;
	case 's':
		(void)put_text(f, va_arg(f->args, char *));
		break;
	case 'q':
		(void)put_quoted(f);
		break;
	case 'S':
		(void)put_runes(f);
		break;
	case 'c': case 'C':
		(void)put_rune(f);
		break;
	case 'p':
		(void)put_pointer(f);
		break;
	case 'r':
		(void)put_error(f, saved);
		break;
	case '%':
		put(f, "%", 1);
		break;
	default:			/* shown, as Plan 9 does */
		put(f, "%", 1);
		(void)weft_plan9_fmtrune(f, f->r);
		put(f, "%", 1);
	}
	return at;
}

static void do_format(Fmt *f, const char *format)
{
	const int saved = errno;

	while (*format) {
		size_t n = strcspn(format, "%");

		put(f, format, n);
		format += n;
		if (*format)
			format = do_verb(f, format + 1, saved);
	}
	errno = saved;
}

int weft_plan9_fmtinstall(int verb, int (*fn)(Fmt *f))
{
	if (verb < 0 || verb >= VERBS)
		return -1;
	atomic_store(&verbs[verb], fn);
	return 0;
}

int weft_plan9_fmtprint(Fmt *f, const char *format, ...)
{
	Fmt inner = *f;

	va_start(inner.args, format);
	do_format(&inner, format);
	va_end(inner.args);
	f->start = inner.start;
	f->to = inner.to;
	f->stop = inner.stop;
	f->farg = inner.farg;
	f->is_cut = inner.is_cut;
	return f->is_cut ? -1 : 0;
}

int weft_plan9_vfprint(int fd, const char *format, va_list args)
{
	char room[ROOM];
	Fmt f = { .start = room, .to = room, .stop = room + sizeof(room) };
	long n, put_already = 0, one = 1;

	va_copy(f.args, args);
	do_format(&f, format);
	va_end(f.args);
	n = f.to - f.start;
	while (!f.is_cut && put_already < n && one > 0) {
		do {
			one = write(fd, f.start + put_already,
				    (size_t)(n - put_already));
		} while (one < 0 && errno == EINTR);
		put_already += one > 0 ? one : 0;
	}
	free(f.farg);
	if (f.is_cut)
		errno = ENOMEM;
	return f.is_cut || put_already < n ? -1 : (int)n;
}

char *weft_plan9_vseprint(char *to, char *end, const char *format, va_list args)
{
	Fmt f = { .start = to, .to = to, .stop = end, .is_fixed = 1 };

	if (end <= to)
		return to;
	va_copy(f.args, args);
	do_format(&f, format);
	va_end(f.args);
	*f.to = 0;
	return f.to;
}

char *weft_plan9_vsmprint(const char *format, va_list args)
{
	Fmt f = { .farg = NULL };

	f.start = f.to = f.farg = malloc(ROOM);
	if (!f.start)
		return NULL;
	f.stop = f.start + ROOM;
	va_copy(f.args, args);
	do_format(&f, format);
	va_end(f.args);
	if (f.is_cut) {
		free(f.start);
		errno = ENOMEM;
		return NULL;
	}
	*f.to = 0;
	return f.start;
}

int weft_plan9_vsnprint(char *to, int bytes, const char *format, va_list args)
{
	return bytes <= 0 ? 0 : (int)(weft_plan9_vseprint(to, to + bytes, format,
							  args) - to);
}

#define FORMATTED(result, call) do {					\
		va_list args;						\
									\
		va_start(args, format);					\
		(result) = call;					\
		va_end(args);						\
	} while (0)

int weft_plan9_print(const char *format, ...)
{
	int n;

	FORMATTED(n, weft_plan9_vfprint(1, format, args));
	return n;
}

int weft_plan9_fprint(int fd, const char *format, ...)
{
	int n;

	FORMATTED(n, weft_plan9_vfprint(fd, format, args));
	return n;
}

int weft_plan9_sprint(char *to, const char *format, ...)
{
	int n;

	FORMATTED(n, weft_plan9_vsnprint(to, 1 << 16, format, args));
	return n;
}

int weft_plan9_snprint(char *to, int bytes, const char *format, ...)
{
	int n;

	FORMATTED(n, weft_plan9_vsnprint(to, bytes, format, args));
	return n;
}

char *weft_plan9_seprint(char *to, char *end, const char *format, ...)
{
	char *at;

	FORMATTED(at, weft_plan9_vseprint(to, end, format, args));
	return at;
}

char *weft_plan9_smprint(const char *format, ...)
{
	char *text;

	FORMATTED(text, weft_plan9_vsmprint(format, args));
	return text;
}

/* SPDX-License-Identifier: MIT */
/* plan9/verbs.c - the text of each verb of a format, with its width and precision */
#include "verbs.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan9.h"

/* Makes room for n bytes and a 0. Returns how many of the n there is room for. */
static size_t make_room(Fmt *f, size_t n)
{
	size_t used = (size_t)(f->to - f->start);
	size_t bytes = 2 * (used + n) + PLAN9_ROOM;
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

void plan9_put(Fmt *f, const char *text, size_t n)
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
	plan9_put(f, text, (size_t)(at - text));
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

	plan9_put(f, text, (size_t)weft_plan9_runetochar(text, &r));
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
	plan9_put(f, sign, strlen(sign));
	put_times(f, '0', zeros);
	plan9_put(f, digits, (size_t)n);
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
	char format[16], text[PLAN9_ROOM], sign[2] = "", *at = format;
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
	plan9_put(f, "'", 1);
	for (; text < at; text++) {
		if (*text == '\'')
			plan9_put(f, "'", 1);
		plan9_put(f, text, 1);
	}
	plan9_put(f, "'", 1);
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
		plan9_put(f, text, 1);
		return 0;
	}
	return put_text(f, text);
}

int weft_plan9_fmtrunestrcpy(Fmt *f, const Rune *text)
{
	char one[UTFmax];
	long n = 0;

	if (!text)
		return put_text(f, NULL);
	while (has_more(f, n) && text[n])
		n++;
	put_blanks(f, n, 0);
	for (long i = 0; i < n; i++)
		plan9_put(f, one, (size_t)weft_plan9_runetochar(one, &text[i]));
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

void plan9_put_verb(Fmt *f, int saved)
{
	switch (f->r) {
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
		(void)weft_plan9_fmtrunestrcpy(f, va_arg(f->args, Rune *));
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
		plan9_put(f, "%", 1);
		break;
	default:			/* shown, as Plan 9 does */
		plan9_put(f, "%", 1);
		(void)weft_plan9_fmtrune(f, f->r);
		plan9_put(f, "%", 1);
	}
}

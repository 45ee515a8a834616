/* SPDX-License-Identifier: MIT */
/* plan9/fmt.c - a Fmt of the caller's: text that grows by many calls, and verbs of bytes */
#include "plan9.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <weft/plan9/libc.h>

int weft_plan9_fmtstrinit(Fmt *f)
{
	*f = (Fmt){ .fd = -1 };
	f->start = f->to = f->farg = malloc(64);
	if (!f->start)
		return -1;
	f->stop = f->start + 64;
	return 0;
}

/* The text, for free(); NULL if there was no memory for all of it. */
char *weft_plan9_fmtstrflush(Fmt *f)
{
	if (!f->start || f->is_cut) {
		free(f->farg);
		errno = ENOMEM;
		return NULL;
	}
	*f->to = 0;
	return f->start;
}

/* The buffer is the caller's; what does not fit it goes to the heap until the flush. */
int weft_plan9_fmtfdinit(Fmt *f, int fd, char *buffer, int bytes)
{
	*f = (Fmt){ .start = buffer, .to = buffer, .stop = buffer + bytes, .fd = fd,
		    .first = buffer, .first_bytes = bytes };
	return 0;
}

int weft_plan9_fmtfdflush(Fmt *f)
{
	int is_cut = f->is_cut, done = f->total;
	int n = plan9_write_all(f->fd, f->start, f->to - f->start);

	free(f->farg);
	*f = (Fmt){ .start = f->first, .to = f->first, .first = f->first,
		    .stop = f->first + f->first_bytes, .fd = f->fd,
		    .first_bytes = f->first_bytes, .total = done + (n > 0 ? n : 0) };
	if (is_cut)
		errno = ENOMEM;
	return n < 0 || is_cut ? -1 : f->total;
}

/* The verb of errstr(), for fmtinstall(). */
int weft_plan9_errfmt(Fmt *f)
{
	char text[ERRMAX];

	weft_plan9_rerrstr(text, sizeof(text));
	return weft_plan9_fmtstrcpy(f, text);
}

/* The digit of these bits that begins at bit `from` of n bytes; bits behind them are 0. */
static uint digit_at(const uchar *at, long n, long from, int bits)
{
	uint two = (uint)at[from / 8] << 8;

	if (from / 8 + 1 < n)
		two |= at[from / 8 + 1];
	return two >> (16 - from % 8 - bits) & ((1u << bits) - 1);
}

/* The first digit has the first byte's highest bits. '=' fills up the last group. */
static int put_digits(Fmt *f, int bits, long group, const char *set)
{
	const uchar *at = va_arg(f->args, uchar *);
	long from = 0, done = 0;

	if (!at)
		return weft_plan9_fmtstrcpy(f, "<nil>");
	for (; from < 8l * f->prec; from += bits, done++)
		(void)weft_plan9_fmtrune(f, set[digit_at(at, f->prec, from, bits)]);
	for (; done % group; done++)
		(void)weft_plan9_fmtrune(f, '=');
	return 0;
}

/* The verbs H, [ and <: as many bytes as the precision says, in base 16, 64 and 32. */
int weft_plan9_encodefmt(Fmt *f)
{
	f->flags &= ~(ulong)FmtWidth;
	if (!(f->flags & FmtPrec))
		return weft_plan9_fmtstrcpy(f, "<encodefmt>");
	f->flags &= ~(ulong)FmtPrec;
	switch (f->r) {
	case '[':
		return put_digits(f, 6, 4, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "abcdefghijklmnopqrstuvwxyz0123456789+/");
	case '<':
		return put_digits(f, 5, 1, "23456789abcdefghijkmnpqrstuvwxyz");
	}
	return put_digits(f, 4, 1, f->flags & FmtLong ? "0123456789abcdef" :
			  "0123456789ABCDEF");
}

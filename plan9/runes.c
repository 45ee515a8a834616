/* SPDX-License-Identifier: MIT */
/*
 * plan9/runes.c - runes in UTF-8 text, texts of runes, and kinds of runes
 *
 * A text of runes ends with a rune 0. Letters and their cases are those of glibc's
 * C.UTF-8; without that locale there are only ASCII's.
 */
#include "plan9.h"

#include <locale.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

#include <weft/plan9/libc.h>

/* Whether the first n bytes of text have a whole rune, or an error of one byte. */
int weft_plan9_fullrune(const char *text, int n)
{
	char some[UTFmax + 1] = "";
	Rune r;

	if (n <= 0)
		return 0;
	if (n >= UTFmax)
		return 1;
	memcpy(some, text, (size_t)n);
	if (weft_plan9_chartorune(&r, some) > 1 || r != Runeerror)
		return 1;
	/* More bytes make a rune of it, if the missing ones may follow. */
	memset(some + n, 0xbf, (size_t)(UTFmax - n));
	if (weft_plan9_chartorune(&r, some) > n)
		return 0;
	memset(some + n, 0x80, (size_t)(UTFmax - n));
	return weft_plan9_chartorune(&r, some) <= n;
}

int weft_plan9_runenlen(const Rune *r, int n)
{
	int bytes = 0;

	for (int i = 0; i < n; i++)
		bytes += weft_plan9_runelen((long)r[i]);
	return bytes;
}

/* The runes in the first bytes; a rune that is not there as a whole does not count. */
int weft_plan9_utfnlen(const char *text, long bytes)
{
	const char *end = text + bytes;
	int n = 0;
	Rune r;

	for (; text < end && *text; n++) {
		char some[UTFmax + 1] = "";	/* nothing behind the end is read */
		const int left = end - text > UTFmax ? UTFmax : (int)(end - text);

		if (!weft_plan9_fullrune(text, left))
			break;
		memcpy(some, text, (size_t)left);
		text += weft_plan9_chartorune(&r, some);
	}
	return n;
}

char *weft_plan9_utfrune(const char *text, long rune)
{
	Rune r = 1;

	for (; r; text += weft_plan9_chartorune(&r, text)) {
		Rune here;

		(void)weft_plan9_chartorune(&here, text);
		if (here == (Rune)rune)
			return (char *)(uintptr)text;
		if (!here)
			break;
	}
	return NULL;
}

char *weft_plan9_utfrrune(const char *text, long rune)
{
	char *last = NULL, *at = weft_plan9_utfrune(text, rune);
	Rune r;

	while (at) {
		last = at;
		if (!*at)
			break;
		at = weft_plan9_utfrune(at + weft_plan9_chartorune(&r, at), rune);
	}
	return last;
}

char *weft_plan9_utfutf(const char *text, const char *part)
{
	return (char *)(uintptr)strstr(text, part);
}

/* As strecpy(), but no rune is cut. */
char *weft_plan9_utfecpy(char *to, char *end, const char *from)
{
	Rune r;

	if (to >= end)
		return to;
	while (*from) {
		int n = weft_plan9_chartorune(&r, from);

		if (end - to <= n)
			break;
		memcpy(to, from, (size_t)n);
		to += n;
		from += n;
	}
	*to = 0;
	return to;
}

long weft_plan9_runestrlen(const Rune *text)
{
	long n = 0;

	while (text[n])
		n++;
	return n;
}

Rune *weft_plan9_runestrncpy(Rune *to, const Rune *from, long n)
{
	long i = 0;

	for (; i < n && from[i]; i++)
		to[i] = from[i];
	for (; i < n; i++)
		to[i] = 0;
	return to;
}

Rune *weft_plan9_runestrcpy(Rune *to, const Rune *from)
{
	return weft_plan9_runestrncpy(to, from, weft_plan9_runestrlen(from) + 1);
}

Rune *weft_plan9_runestrecpy(Rune *to, Rune *end, const Rune *from)
{
	if (to >= end)
		return to;
	while (*from && to < end - 1)
		*to++ = *from++;
	*to = 0;
	return to;
}

Rune *weft_plan9_runestrncat(Rune *to, const Rune *from, long n)
{
	long used = weft_plan9_runestrlen(to), i = 0;

	for (; i < n && from[i]; i++)
		to[used + i] = from[i];
	to[used + i] = 0;
	return to;
}

Rune *weft_plan9_runestrcat(Rune *to, const Rune *from)
{
	return weft_plan9_runestrncat(to, from, weft_plan9_runestrlen(from));
}

int weft_plan9_runestrncmp(const Rune *a, const Rune *b, long n)
{
	long i = 0;

	while (i < n && a[i] == b[i] && a[i])
		i++;
	return i >= n || a[i] == b[i] ? 0 : a[i] < b[i] ? -1 : 1;
}

int weft_plan9_runestrcmp(const Rune *a, const Rune *b)
{
	return weft_plan9_runestrncmp(a, b, weft_plan9_runestrlen(a) + 1);
}

Rune *weft_plan9_runestrchr(const Rune *text, Rune rune)
{
	for (; *text != rune; text++)
		if (!*text)
			return NULL;
	return (Rune *)(uintptr)text;
}

Rune *weft_plan9_runestrrchr(const Rune *text, Rune rune)
{
	const Rune *at = text + weft_plan9_runestrlen(text);

	for (; *at != rune; at--)
		if (at == text)
			return NULL;
	return (Rune *)(uintptr)at;
}

Rune *weft_plan9_runestrstr(const Rune *text, const Rune *part)
{
	long n = weft_plan9_runestrlen(part);

	for (; weft_plan9_runestrncmp(text, part, n) != 0; text++)
		if (!*text)
			return NULL;
	return (Rune *)(uintptr)text;
}

Rune *weft_plan9_runestrdup(const Rune *text)
{
	Rune *copy = calloc((size_t)weft_plan9_runestrlen(text) + 1, sizeof(*copy));

	return copy ? weft_plan9_runestrcpy(copy, text) : NULL;
}

/* The first caller makes the locale; it stays. */
static locale_t letters(void)
{
	static locale_t _Atomic made;
	locale_t mine, none = NULL;

	if (atomic_load(&made))
		return atomic_load(&made);
	mine = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
	if (!mine)
		mine = newlocale(LC_CTYPE_MASK, "C", NULL);
	if (mine && !atomic_compare_exchange_strong(&made, &none, mine))
		freelocale(mine);
	return atomic_load(&made);
}

#define OF_LETTERS(function, rune, without)				\
	(letters() ? (function)((wint_t)(rune), letters()) : (without))

Rune weft_plan9_tolowerrune(Rune r)
{
	return (Rune)OF_LETTERS(towlower_l, r, (wint_t)r);
}

Rune weft_plan9_toupperrune(Rune r)
{
	return (Rune)OF_LETTERS(towupper_l, r, (wint_t)r);
}

/* U+01C4 to U+01F3 have letters of two signs, with a title form between the cases. */
static int has_title_form(Rune r)
{
	return (r >= 0x1c4 && r <= 0x1cc) || (r >= 0x1f1 && r <= 0x1f3);
}

static Rune title_form(Rune r)
{
	return r >= 0x1f1 ? 0x1f2 : r - (r - 0x1c4) % 3 + 1;
}

Rune weft_plan9_totitlerune(Rune r)
{
	return has_title_form(r) ? title_form(r) : weft_plan9_toupperrune(r);
}

int weft_plan9_istitlerune(Rune r)
{
	return has_title_form(r) ? r == title_form(r) : weft_plan9_isupperrune(r);
}

int weft_plan9_isalpharune(Rune r)
{
	return OF_LETTERS(iswalpha_l, r, 0) != 0;
}

int weft_plan9_islowerrune(Rune r)
{
	return OF_LETTERS(iswlower_l, r, 0) != 0;
}

int weft_plan9_isupperrune(Rune r)
{
	return OF_LETTERS(iswupper_l, r, 0) != 0;
}

int weft_plan9_isspacerune(Rune r)
{
	return r == 0xa0 || r == 0x2007 || r == 0x202f ||
	       OF_LETTERS(iswspace_l, r, 0) != 0;
}

/* SPDX-License-Identifier: MIT */
/* plan9/text.c - runes and their bytes, copies of text, and memory */
#include "plan9.h"

#include <stdlib.h>
#include <string.h>

#include <weft/plan9/libc.h>

char *weft_plan9_argv0;

/* A byte that begins no rune counts as Runeerror, of one byte. */
int weft_plan9_chartorune(Rune *rune, const char *text)
{
	static const Rune least[] = { 0, 0x80, 0x800, 0x10000 };
	const uchar *at = (const uchar *)text;
	int more = at[0] < 0x80 ? 0 : at[0] < 0xc2 ? -1 : at[0] < 0xe0 ? 1 :
		   at[0] < 0xf0 ? 2 : at[0] < 0xf5 ? 3 : -1;
	Rune r = more <= 0 ? at[0] : at[0] & (0x3fu >> more);

	for (int i = 1; i <= more; i++) {
		if ((at[i] & 0xc0) != 0x80) {
			more = -1;
			break;
		}
		r = r << 6 | (at[i] & 0x3f);
	}
	if (more < 0 || r < least[more] || r > Runemax) {
		*rune = Runeerror;
		return 1;
	}
	*rune = r;
	return more + 1;
}

int weft_plan9_runelen(long rune)
{
	return rune < 0x80 ? 1 : rune < 0x800 ? 2 : rune < 0x10000 ? 3 :
	       rune <= Runemax ? 4 : 3;
}

int weft_plan9_runetochar(char *text, const Rune *rune)
{
	static const uchar first[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	Rune r = *rune > Runemax ? (Rune)Runeerror : *rune;
	int n = weft_plan9_runelen((long)r);

	for (int i = n - 1; i > 0; i--, r >>= 6)
		text[i] = (char)(0x80 | (r & 0x3f));
	text[0] = (char)(first[n] | r);
	return n;
}

int weft_plan9_utflen(const char *text)
{
	int n = 0;
	Rune r;

	for (; *text; n++)
		text += weft_plan9_chartorune(&r, text);
	return n;
}

char *weft_plan9_strecpy(char *to, char *end, const char *from)
{
	if (to >= end)
		return to;
	while (*from && to < end - 1)
		*to++ = *from++;
	*to = 0;
	return to;
}

void *weft_plan9_mallocz(ulong bytes, int clears)
{
	return clears ? calloc(1, bytes ? bytes : 1) : malloc(bytes ? bytes : 1);
}

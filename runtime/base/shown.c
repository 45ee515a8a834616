/* SPDX-License-Identifier: MIT */
/*
 * base/shown.c - text that the program chose, without what a terminal would obey
 *
 * Shown as they are: printable ASCII, and whole characters of UTF-8 that are no control
 * characters. Those of U+0080 to U+009F are, although their bytes look harmless. A byte of
 * anything else is shown by its number.
 */
#include "base/shown.h"

#include "base/format.h"

size_t wefti_shown_length(char byte)
{
	const unsigned char first = (unsigned char)byte;

	return first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 :
	       first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

size_t wefti_shown(const char *text, size_t bytes)
{
	const unsigned char *c = (const unsigned char *)text;
	const size_t length = wefti_shown_length(*text);

	if (length == 1)
		return *c >= ' ' && *c != 127;
	if (length == 0 || length > bytes)
		return 0;
	for (size_t i = 1; i < length; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	/* Controls, longer forms of shorter ones, surrogates, too large ones. */
	if ((c[0] == 0xc2 && c[1] < 0xa0) || (c[0] == 0xe0 && c[1] < 0xa0) ||
	    (c[0] == 0xed && c[1] >= 0xa0) || (c[0] == 0xf0 && c[1] < 0x90) ||
	    (c[0] == 0xf4 && c[1] >= 0x90))
		return 0;
	/* U+2028 to U+202E, U+2066 to U+2069: they end lines, and turn text around. */
	if (c[0] == 0xe2 && ((c[1] == 0x80 && c[2] >= 0xa8 && c[2] <= 0xae) ||
			     (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9)))
		return 0;
	return length;
}

const char *wefti_format_shown(char *buf, size_t size, const char *text)
{
	size_t used = 0, left = 0;

	while (text[left])
		left++;
	while (left > 0 && used + sizeof("\\x00") <= size) {
		size_t length = wefti_shown(text, left);

		for (size_t i = 0; i < length; i++)
			buf[used++] = text[i];
		if (length == 0)
			used += wefti_format(buf + used, size - used, "\\x%02x",
					     (unsigned char)*text);
		length += length == 0;
		text += length;
		left -= length;
	}
	buf[used] = 0;
	return buf;
}

/* SPDX-License-Identifier: MIT */
/* test_shown.c - base/shown: what a terminal would obey is shown by its number */
#include "base/shown.h"

#include <string.h>

#include "support.h"

static void what_is_printable_is_shown_as_it_is(void)
{
	static const char *const texts[] = {
		"", " a~", "\xc2\xa0", "\xc3\xa4", "\xdf\xbf", "\xe0\xa0\x80", "\xe2\x82\xac",
		"\xed\x9f\xbf", "\xef\xbf\xbd", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf",
	};
	char shown[32];

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		CU_ASSERT_STRING_EQUAL(wefti_format_shown(shown, 32, texts[i]), texts[i]);
}

static void other_bytes_are_shown_by_their_numbers(void)
{
	static const struct {
		const char *text, *shown;
	} rows[] = {
		{ "\n", "\\x0a" },
		{ "a\033[2J", "a\\x1b[2J" },
		{ "\x7f", "\\x7f" },
		{ "\x9b", "\\x9b" },			/* CSI */
		{ "\xc2\x9b", "\\xc2\\x9b" },	/* the same in UTF-8 */
		{ "\xc3", "\\xc3" },			/* cut off */
		{ "\xc3(", "\\xc3(" },
		{ "\xc0\x9b", "\\xc0\\x9b" },	/* longer than it need be */
		{ "\xe0\x80\x9b", "\\xe0\\x80\\x9b" },
		{ "\xf0\x80\x80\x9b", "\\xf0\\x80\\x80\\x9b" },
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },	/* a surrogate */
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" },
		{ "\xff", "\\xff" },
		{ "\xe2\x80\xa8", "\\xe2\\x80\\xa8" },	/* ends a line */
		{ "\xe2\x80\xae", "\\xe2\\x80\\xae" },	/* turns around */
		{ "\xe2\x81\xa6", "\\xe2\\x81\\xa6" },
	};
	char shown[32];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		CU_ASSERT_STRING_EQUAL(wefti_format_shown(shown, 32, rows[i].text),
				       rows[i].shown);
}

static void a_long_text_is_cut_off_between_characters(void)
{
	char shown[16];

	CU_ASSERT_STRING_EQUAL(wefti_format_shown(shown, 9, "\n\n\n\n"), "\\x0a\\x0a");
	CU_ASSERT_STRING_EQUAL(wefti_format_shown(shown, 8, "\n\n"), "\\x0a");
	CU_ASSERT_STRING_EQUAL(wefti_format_shown(shown, 7, "ab\xc3\xa4\n"), "ab\xc3\xa4");
	CU_ASSERT_STRING_EQUAL(wefti_format_shown(shown, 1, "abc"), "");
}

static const struct test_case cases[] = {
	TEST(what_is_printable_is_shown_as_it_is),
	TEST(other_bytes_are_shown_by_their_numbers),
	TEST(a_long_text_is_cut_off_between_characters),
};

TEST_MAIN("base/shown", cases)

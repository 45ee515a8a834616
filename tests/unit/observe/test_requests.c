/* SPDX-License-Identifier: MIT */
/* test_requests.c - observe/requests: a word and its arguments get their answer */
#include "threads.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "observe/asked.h"
#include "observe/requests.h"

static char text[1 << 16];

/* What is written for the request. */
static const char *answer_to(const char *request)
{
	int end[2];
	ssize_t n;

	must(pipe2(end, O_NONBLOCK) == 0);
	wefti_request_answer(request, end[1]);
	n = read(end[0], text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = 0;
	close(end[0]);
	close(end[1]);
	return text;
}

static int begins(const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static void a_word_is_known_as_a_whole(void)
{
	static const char *const wrong[] = {
		"", " ", "dum", "dumps", "Dump", " dump", "dump\n", "nothing of it",
	};

	runtime_begin();
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		CU_ASSERT_STRING_EQUAL(answer_to(wrong[i]), WEFTI_ASKED_UNKNOWN "\n");
	(void)answer_to("dump");
	CU_ASSERT(begins("weft: asked by another process\n"));
	(void)answer_to("dump and more");
	CU_ASSERT(begins("weft: asked by another process\n"));
	runtime_end();
}

static void without_a_runtime_there_is_no_dump(void)
{
	CU_ASSERT_STRING_EQUAL(answer_to("dump"), "");
	CU_ASSERT_STRING_EQUAL(answer_to("x"), WEFTI_ASKED_UNKNOWN "\n");
}

static const struct test_case cases[] = {
	TEST(without_a_runtime_there_is_no_dump),
	TEST(a_word_is_known_as_a_whole),
};

TEST_MAIN("observe/requests", cases)

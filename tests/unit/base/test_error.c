/* SPDX-License-Identifier: MIT */
/* test_error.c - base/error: each error has words of its own, that stay */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "support.h"
#include "weft/base.h"

/* What the public headers name. */
static const int documented[] = {
	EAGAIN, EALREADY, EBADF, EBUSY, ECANCELED, EDEADLK, EEXIST, EINVAL, EIO,
	EMFILE, EMSGSIZE, ENFILE, ENODATA, ENOMEM, ENOSPC, ENOSYS, ENOTSUP,
	EOPNOTSUPP, EOVERFLOW, EPERM, EPIPE, EPROTO, ESPIPE, ESRCH, ETIMEDOUT,
	EUSERS,
};

static int is_known(int error)
{
	return strcmp(weft_strerror(error), "Unknown error") != 0;
}

static void what_weft_documents_has_words(void)
{
	for (size_t i = 0; i < sizeof(documented) / sizeof(int); i++)
		CU_ASSERT(is_known(-documented[i]));
}

/* strerror() calls a number that it does not know by its number. */
static void what_libc_has_words_for_has_words(void)
{
	for (int error = 0; error < 200; error++)
		CU_ASSERT_EQUAL(is_known(-error),
				strncmp(strerror(error), "Unknown", 7) != 0);
}

static void a_closed_channel_is_no_broken_pipe(void)
{
	CU_ASSERT_PTR_NULL(strstr(weft_strerror(-EPIPE), "pipe"));
	CU_ASSERT_PTR_NULL(strstr(weft_strerror(-ECANCELED), "peration"));
	CU_ASSERT_PTR_NULL(strstr(weft_strerror(-ETIMEDOUT), "onnection"));
	CU_ASSERT_PTR_NULL(strstr(weft_strerror(-ESRCH), "process"));
}

static void the_sign_does_not_matter_and_any_number_will_do(void)
{
	for (int error = 1; error < 200; error++)
		CU_ASSERT_PTR_EQUAL(weft_strerror(error), weft_strerror(-error));
	CU_ASSERT(!is_known(INT_MAX));
	CU_ASSERT(!is_known(INT_MIN));
	CU_ASSERT(!is_known(100000));
	CU_ASSERT(is_known(0));
}

static void words_are_one_line_and_differ(void)
{
	for (int error = 0; error < 200; error++) {
		const char *words = weft_strerror(-error);

		CU_ASSERT(isupper((unsigned char)words[0]) != 0 ||
			  strchr(words, ' '));
		CU_ASSERT_PTR_NULL(strchr(words, '\n'));
		for (int other = 0; other < error; other++)
			CU_ASSERT(!is_known(error) ||
				  strcmp(words, weft_strerror(other)) != 0);
	}
}

static const struct test_case cases[] = {
	TEST(what_weft_documents_has_words),
	TEST(what_libc_has_words_for_has_words),
	TEST(a_closed_channel_is_no_broken_pipe),
	TEST(the_sign_does_not_matter_and_any_number_will_do),
	TEST(words_are_one_line_and_differ),
};

TEST_MAIN("base/error", cases)

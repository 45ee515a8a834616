/* SPDX-License-Identifier: MIT */
/*
 * test_tls_check.c - os/tls_check: what has to go wrong for threads to share
 *
 * The linker puts functions in front of those that the check uses, which refuse
 * or do half of their work.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "forked.h"
#include "../module.h"
#include "cpu.h"
#include "holdings.h"
#include "os/call/tid.h"
#include "os/call/vm.h"
#include "os/kthread/kthread_kept.h"
#include "os/tls/tls.h"
#include "os/tls/tls_layout.h"
#include "refusal.h"

static int no_memory, no_block, no_reset, no_begin;
static const char *layout_error;
static int looked;		/* how often the layout was looked for */
static int kept_tid;

void *__real_wefti_os_vm_reserve(size_t bytes);
int __real_wefti_tls_build(void *low, void *top, struct wefti_tls *out);
void __real_wefti_tls_reset(uintptr_t tp);
void __real_wefti_tls_thread_begin(void);
const char *__real_wefti_tls_layout_find(void);
void *__wrap_wefti_os_vm_reserve(size_t bytes);
int __wrap_wefti_tls_build(void *low, void *top, struct wefti_tls *out);
void __wrap_wefti_tls_reset(uintptr_t tp);
void __wrap_wefti_tls_thread_begin(void);
const char *__wrap_wefti_tls_layout_find(void);

void *__wrap_wefti_os_vm_reserve(size_t bytes)
{
	return no_memory ? NULL : __real_wefti_os_vm_reserve(bytes);
}

int __wrap_wefti_tls_build(void *low, void *top, struct wefti_tls *out)
{
	return no_block ? -ENOMEM : __real_wefti_tls_build(low, top, out);
}

void __wrap_wefti_tls_reset(uintptr_t tp)
{
	if (!no_reset)
		__real_wefti_tls_reset(tp);
}

void __wrap_wefti_tls_thread_begin(void)
{
	if (!no_begin)
		__real_wefti_tls_thread_begin();
	else
		errno = EDOM;	/* as where a block is not new */
}

const char *__wrap_wefti_tls_layout_find(void)
{
	looked++;
	return layout_error ? layout_error : __real_wefti_tls_layout_find();
}

static int reason_is(const char *expected)
{
	if (strcmp(wefti_tls_reason(), expected) == 0)
		return 1;
	fprintf(stderr, "'%s', expected '%s'\n", wefti_tls_reason(), expected);
	return 0;
}

/* Under a sanitizer that is the reason, before any other. */
static int refuses_with(const char *expected)
{
#ifdef TEST_IS_SANITIZED
	expected = "built for a sanitizer";
#endif
	return wefti_tls_init() == -ENOTSUP && reason_is(expected) &&
	       wefti_tls_init() == -ENOTSUP && reason_is(expected);
}

static void before_the_check_there_is_no_reason_yet(void)
{
	CU_ASSERT_STRING_EQUAL(wefti_tls_reason(),
			       "wefti_tls_init() has not been called");
}

static void without_a_layout(void)
{
	layout_error = "no layout in this test";
	must(refuses_with(layout_error));
#ifndef TEST_IS_SANITIZED
	must(looked == 1);
#endif
}

static void the_first_answer_is_the_answer(void)
{
	child_is_well(without_a_layout);
}

static void beside_a_sanitizer(void)
{
	char path[PATH_MAX];

	must(module_path("sanitizer_module.so", path, sizeof(path)) == 0);
	must(dlopen(path, RTLD_NOW | RTLD_GLOBAL) != NULL);
	must(wefti_tls_refusal() != NULL);
	must(refuses_with("a sanitizer is in the program"));
	must(looked == 0);
}

static void a_sanitizer_in_the_program_is_seen(void)
{
	child_is_well(beside_a_sanitizer);
}

static void note_tid(void *tid, char *stack, size_t bytes)
{
	(void)stack;
	(void)bytes;
	*(int *)tid = wefti_os_gettid();
}

/* The check fails after the layout was found, in its kernel thread. */
static void without_a_block(void)
{
	if (libc_hides_threads())
		return;		/* no layout is found */
	no_block = 1;
	must(refuses_with("no memory"));
	/* The kernel thread that was looked at has gone: there is room. */
	must(wefti_os_kthread_keep((size_t)2 << 20, note_tid, &kept_tid) == 0);
	must(kept_tid > 0);
	wefti_os_kthread_unkeep();
}

static void what_fails_keeps_no_kernel_thread_of_a_fork(void)
{
	child_is_well(without_a_block);
}

/* --- where it is well */

static int has_tls(void)
{
	int ret = wefti_tls_init();

	if (ret != 0)
		CU_ASSERT_TRUE(is_refused_rightly(wefti_tls_reason()));
	return ret == 0;
}

static int says(const char *expected)
{
	const char *error = wefti_tls_check();

	if (strcmp(error ? error : "", expected) == 0)
		return 1;
	printf("    '%s', expected '%s'\n", error ? error : "", expected);
	return 0;
}

static void what_the_block_does_not_do_is_said(void)
{
	if (!has_tls())
		return;
	CU_ASSERT_STRING_EQUAL(wefti_tls_reason(), "");
	CU_ASSERT_PTR_NULL(wefti_tls_refusal());
	no_memory = 1;
	CU_ASSERT_TRUE(says("no memory"));
	no_memory = 0;
	no_block = 1;
	CU_ASSERT_TRUE(says("no memory"));
	no_block = 0;
	no_reset = 1;
	CU_ASSERT_TRUE(says("a variable of the new block is not initialized"));
	no_reset = 0;
	no_begin = 1;
	CU_ASSERT_TRUE(says("a variable of the new block is not initialized"));
	no_begin = 0;
	CU_ASSERT_TRUE(says(""));
}

static void a_check_leaves_nothing_behind(void)
{
	uintptr_t tp = wefti_arch_tp_get();
	sigset_t before, after;
	size_t maps;

	if (!has_tls())
		return;
	sigprocmask(SIG_BLOCK, NULL, &before);
	errno = 17;
	CU_ASSERT_TRUE(says(""));
	maps = holdings_lines("/proc/self/maps");
	for (int i = 0; i < 20; i++) {
		CU_ASSERT_TRUE(says(""));
		no_reset = i % 2;
		(void)wefti_tls_check();
		no_reset = 0;
	}
	CU_ASSERT_EQUAL(holdings_lines("/proc/self/maps"), maps);
	CU_ASSERT_EQUAL(wefti_arch_tp_get(), tp);
	sigprocmask(SIG_BLOCK, NULL, &after);
	CU_ASSERT_EQUAL(memcmp(&before, &after, 8), 0);
}

static const struct test_case cases[] = {
	TEST(before_the_check_there_is_no_reason_yet),
	TEST(the_first_answer_is_the_answer),
	TEST(a_sanitizer_in_the_program_is_seen),
	TEST(what_fails_keeps_no_kernel_thread_of_a_fork),
	TEST(what_the_block_does_not_do_is_said),
	TEST(a_check_leaves_nothing_behind),
};

TEST_MAIN("os/tls_check", cases)

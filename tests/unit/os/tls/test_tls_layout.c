/* SPDX-License-Identifier: MIT */
/*
 * test_tls_layout.c - os/tls_layout: what is found, and each thing that makes
 * it refuse to guess
 *
 * The linker puts __wrap_wefti_os_real() and __wrap_dlsym() in front: they leave out what a
 * case names, or say something else in its place. And the kernel thread that libc
 * is looked at in can be refused.
 */
#include "os/tls/tls_layout.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "os/call/tid.h"
#include "os/kthread/kthread_kept.h"
#include "refusal.h"
#include "support.h"

static const char *other_name;	/* for which wefti_os_real() says ... */
static void *other_answer;
static int no_kthread;

void *__real_dlsym(void *handle, const char *name);
void *__real_wefti_os_real(const char *name);
int __real_wefti_os_kthread_keep(size_t bytes,
				 void (*first)(void *arg, char *stack,
					       size_t bytes), void *arg);
void *__wrap_dlsym(void *handle, const char *name);
void *__wrap_wefti_os_real(const char *name);
int __wrap_wefti_os_kthread_keep(size_t bytes,
				 void (*first)(void *arg, char *stack,
					       size_t bytes), void *arg);

void *__wrap_wefti_os_real(const char *name)
{
	if (other_name && strcmp(name, other_name) == 0)
		return other_answer;
	return __real_wefti_os_real(name);
}

/* For malloc(), which may be the program's. */
void *__wrap_dlsym(void *handle, const char *name)
{
	if (other_name && strcmp(name, other_name) == 0)
		return other_answer;
	return __real_dlsym(handle, name);
}

int __wrap_wefti_os_kthread_keep(size_t bytes,
				 void (*first)(void *arg, char *stack,
					       size_t bytes), void *arg)
{
	return no_kthread ? -EAGAIN :
	       __real_wefti_os_kthread_keep(bytes, first, arg);
}

/* What it says; the kernel thread that it may have looked at goes. */
static const char *find(void)
{
	const char *error = wefti_tls_layout_find();

	wefti_os_kthread_unkeep();
	return error ? error : "";
}

static int says(const char *name, void *answer, const char *expected)
{
	const char *error;

	other_name = name;
	other_answer = answer;
	error = find();
	other_name = NULL;
	if (strcmp(error, expected) == 0)
		return 1;
	printf("    %s: '%s', expected '%s'\n", name, error, expected);
	return 0;
}

static int can_find(void)
{
	/* A sanitizer has a malloc of its own, and that is what is said. */
#ifdef TEST_IS_SANITIZED
	CU_ASSERT_STRING_EQUAL(find(), "malloc is not libc's");
	return 0;
#else
	if (!libc_hides_threads())
		return 1;
	CU_ASSERT_TRUE(is_refused_rightly(find()));
	return 0;
#endif
}

static const char *not_malloc(void)
{
	return "3.34";
}

static void another_libc_is_refused(void)
{
	CU_ASSERT_TRUE(says("gnu_get_libc_version", NULL, "libc is not glibc"));
}

static void another_malloc_is_refused(void)
{
	CU_ASSERT_TRUE(says("malloc", NULL, "malloc is not libc's"));
	CU_ASSERT_TRUE(says("malloc", (void *)not_malloc,
			    "malloc is not libc's"));
	CU_ASSERT_TRUE(says("malloc", (void *)&other_name,
			    "malloc is not libc's"));
}

static void what_is_missing_is_told_of(void)
{
	static const char *const symbols[] = {
		"__resp", "_thread_db_sizeof_pthread",
		"_dl_get_tls_static_info", "_dl_allocate_tls",
		"_dl_allocate_tls_init", "_dl_deallocate_tls", "__ctype_init",
		"__call_tls_dtors", "__res_nclose", "__pthread_keys",
	};
	static const char *const descriptors[] = {
		"_rtld_global", "_thread_db_pthread_tid",
		"_thread_db_pthread_list", "_thread_db_pthread_specific",
		"_thread_db_pthread_cancelhandling",
		"_thread_db_pthread_report_events",
		"_thread_db_rtld_global__dl_stack_used",
		"_thread_db_rtld_global__dl_stack_user",
	};

	if (!can_find())
		return;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++)
		CU_ASSERT_TRUE(says(symbols[i], NULL,
				    "a private symbol of glibc is missing"));
	for (size_t i = 0; i < sizeof(descriptors) / sizeof(*descriptors); i++)
		CU_ASSERT_TRUE(says(descriptors[i], NULL, "a descriptor of "
				    "glibc's structures is missing"));
}

/* A descriptor as it is, but for the offset. */
static int says_at(const char *name, size_t offset, const char *expected)
{
	uint32_t moved[3];

	memcpy(moved, __real_wefti_os_real(name), sizeof(moved));
	moved[2] = (uint32_t)offset;
	return says(name, moved, expected);
}

static size_t offset_of(const char *name)
{
	return ((const uint32_t *)__real_wefti_os_real(name))[2];
}

static void what_is_not_where_it_is_told_is_refused(void)
{
	static const char tid[] = "_thread_db_pthread_tid";
	static const char list[] = "_thread_db_pthread_list";
	static const char specific[] = "_thread_db_pthread_specific";
	static const char cancel[] = "_thread_db_pthread_cancelhandling";
	static const char events[] = "_thread_db_pthread_report_events";
	static const char used[] = "_thread_db_rtld_global__dl_stack_used";
	static const char user[] = "_thread_db_rtld_global__dl_stack_user";

	if (!can_find())
		return;
	CU_ASSERT_TRUE(says_at(tid, offset_of(tid) + 4,
			       "struct pthread is not where expected"));
	CU_ASSERT_TRUE(says_at(list, offset_of(list) + 8,
			       "a thread is not on glibc's list"));
	CU_ASSERT_TRUE(says_at(specific, offset_of(specific) + 8,
			       "user_stack is not where expected"));
	CU_ASSERT_TRUE(says_at(events, offset_of(events) + 1,
			       "user_stack is not where expected"));
	CU_ASSERT_TRUE(says_at(cancel, offset_of(cancel) + 4,
			       "the cancellation state is not where expected"));
	CU_ASSERT_TRUE(says_at(user, offset_of(used),
			       "a thread is not on glibc's list"));
}

/* A pointer to the resolver's state that is not in the thread. */
static void a_resolver_outside_the_thread_is_refused(void)
{
	static _Thread_local void *nowhere;

	if (!can_find())
		return;
	nowhere = NULL;
	CU_ASSERT_TRUE(says("__resp", &nowhere, "the resolver's state is not "
			    "in struct pthread"));
}

static void without_a_kernel_thread_nothing_is_known(void)
{
	if (!can_find())
		return;
	no_kthread = 1;
	CU_ASSERT_STRING_EQUAL(find(), "no kernel thread could be made");
	no_kthread = 0;
}

/* --- what was found, seen in another kernel thread */

static char stack[512 << 10] __attribute__((aligned(65536)));

static void *look(void *unused)
{
	const struct wefti_tls_layout *l = &wefti_tls_layout;
	uintptr_t tp = wefti_arch_tp_get();
	const uintptr_t *block = wefti_tls_field(tp, l->pthread_stackblock);
	const struct wefti_glibc_list *e = &l->stacks->user;
	int is_listed = 0;

	CU_ASSERT_EQUAL(wefti_tls_pthread(tp), (uintptr_t)pthread_self());
	CU_ASSERT_EQUAL(*(int *)wefti_tls_field(tp, l->pthread_tid),
			wefti_os_gettid());
	CU_ASSERT_EQUAL(block[0], (uintptr_t)stack);
	CU_ASSERT_EQUAL(block[1], sizeof(stack));
	do {
		e = e->next;
		is_listed |= (void *)e == wefti_tls_field(tp, l->pthread_list);
	} while (e != &l->stacks->user);
	CU_ASSERT_TRUE(is_listed);
	CU_ASSERT_TRUE(l->malloc_words >= 1 &&
		       l->malloc_words <= MALLOC_WORDS_MAX);
	return unused;
}

/* After all that was refused before. */
static void what_is_found_is_true_of_any_thread(void)
{
	pthread_attr_t attr;
	pthread_t thread;

	if (!can_find())
		return;
	CU_ASSERT_STRING_EQUAL(find(), "");
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, sizeof(stack));
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, &attr, look, NULL), 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
}

static const struct test_case cases[] = {
	TEST(another_libc_is_refused),
	TEST(another_malloc_is_refused),
	TEST(what_is_missing_is_told_of),
	TEST(what_is_not_where_it_is_told_is_refused),
	TEST(a_resolver_outside_the_thread_is_refused),
	TEST(without_a_kernel_thread_nothing_is_known),
	TEST(what_is_found_is_true_of_any_thread),
};

TEST_MAIN("os/tls_layout", cases)

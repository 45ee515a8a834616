/* SPDX-License-Identifier: MIT */
/*
 * test_kthread_kept.c - os/kthread_kept: which caller gets the kernel thread
 * that waits, and its stack
 *
 * The linker puts functions that can fail in front of those of os/call/vm.h and
 * os/libc/real.h.
 */
#include "os/kthread/kthread_kept.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "os/call/descriptor.h"
#include "os/call/tid.h"
#include "os/call/vm.h"
#include "os/libc/real.h"
#include "support.h"

#define KEPT_BYTES	((size_t)2 << 20)	/* sanitizers want more than others */

static int no_memory, no_function, no_guard;
static int (*stand_in)(void);		/* for pthread_create() */
static char *mapping;			/* the last that was reserved */

void *__real_wefti_os_vm_reserve(size_t bytes);
int __real_wefti_os_vm_guard(void *start, size_t bytes);
void *__real_wefti_os_real(const char *name);
void *__wrap_wefti_os_vm_reserve(size_t bytes);
int __wrap_wefti_os_vm_guard(void *start, size_t bytes);
void *__wrap_wefti_os_real(const char *name);

void *__wrap_wefti_os_vm_reserve(size_t bytes)
{
	return no_memory ? NULL :
	       (mapping = __real_wefti_os_vm_reserve(bytes));
}

/* As a kernel before 6.13. */
int __wrap_wefti_os_vm_guard(void *start, size_t bytes)
{
	return no_guard ? -ENOTSUP : __real_wefti_os_vm_guard(start, bytes);
}

void *__wrap_wefti_os_real(const char *name)
{
	if (strcmp(name, "pthread_create") == 0) {
		if (no_function)
			return NULL;
		if (stand_in)
			return (void *)stand_in;
	}
	return __real_wefti_os_real(name);
}

/* The kernel tries; not by os/call/copy.h, which may read what is forbidden. */
static int can_read(const char *address)
{
	static int fd[2] = { -1, -1 };
	char byte;

	if (fd[0] < 0)
		CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
	if (wefti_os_fd_write(fd[1], address, 1) != 1)
		return 0;
	CU_ASSERT_EQUAL(wefti_os_fd_read(fd[0], &byte, 1), 1);
	return 1;
}

struct kept {
	int tid, calls;
	char *stack;
	size_t bytes;
	int is_inside, is_blocked, is_open;
};

static struct kept kept;

static void look_first(void *arg, char *stack, size_t bytes)
{
	char *here = (char *)__builtin_frame_address(0);
	struct kept *k = arg;
	sigset_t mask;

	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	k->tid = wefti_os_gettid();
	k->calls++;
	k->stack = stack;
	k->bytes = bytes;
	k->is_inside = here > stack && here < stack + bytes;
	k->is_blocked = sigismember(&mask, SIGINT);
	k->is_open = !sigismember(&mask, SIGSEGV);
}

static int keep(void)
{
	kept = (struct kept){ 0 };
	return wefti_os_kthread_keep(KEPT_BYTES, look_first, &kept);
}

static void note_tid(void *tid)
{
	*(int *)tid = wefti_os_gettid();
}

static char name_seen[32];

static void note_tid_and_name(void *tid)
{
	note_tid(tid);
	pthread_getname_np(pthread_self(), name_seen, sizeof(name_seen));
}

static int tid_of_new(size_t stack_bytes, const char *name)
{
	struct wefti_os_kthread k;
	int tid = 0;

	CU_ASSERT_EQUAL_FATAL(wefti_os_kthread_create(&k, stack_bytes,
						      note_tid_and_name, &tid,
						      name), 0);
	wefti_os_kthread_join(&k);
	return tid;
}

/* Before os/kthread/kthread.c has looked for libc's functions. */
static int says_eagain(void)
{
	return EAGAIN;
}

static int says_enomem(void)
{
	return ENOMEM;
}

static void fails_and_leaves_nothing(int error)
{
	CU_ASSERT_EQUAL(keep(), error);
	CU_ASSERT_EQUAL(kept.calls, 0);
	CU_ASSERT_TRUE(!mapping || !can_read(mapping + 2 * KEPT_BYTES / 3));
	/* There is none, and none to wait for. */
	CU_ASSERT_EQUAL(wefti_os_kthread_kept_take(NULL, 1, NULL), 0);
	wefti_os_kthread_unkeep();
}

static void one_that_cannot_be_made_leaves_nothing(void)
{
	sigset_t before, after;

	pthread_sigmask(SIG_BLOCK, NULL, &before);
	no_memory = 1;
	fails_and_leaves_nothing(-ENOMEM);
	no_memory = 0;
	no_function = 1;
	fails_and_leaves_nothing(-EAGAIN);
	no_function = 0;
	stand_in = says_eagain;
	fails_and_leaves_nothing(-EAGAIN);
	stand_in = says_enomem;
	fails_and_leaves_nothing(-EAGAIN);
	stand_in = NULL;
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	CU_ASSERT_EQUAL(memcmp(&before, &after, 8), 0);
	CU_ASSERT_EQUAL(keep(), 0);
	CU_ASSERT_EQUAL(kept.calls, 1);
	wefti_os_kthread_unkeep();
}

static void one_that_was_kept_is_the_next_to_be_wanted(void)
{
	CU_ASSERT_EQUAL(keep(), 0);
	CU_ASSERT(kept.is_inside && kept.is_blocked && kept.is_open);
	CU_ASSERT_NOT_EQUAL(tid_of_new(2 * KEPT_BYTES, "large"), kept.tid);
	CU_ASSERT_EQUAL(tid_of_new(64 * 1024, "taken"), kept.tid);
	CU_ASSERT_STRING_EQUAL(name_seen, "taken");
	CU_ASSERT_NOT_EQUAL(tid_of_new(64 * 1024, "another"), kept.tid);
	CU_ASSERT_STRING_EQUAL(name_seen, "another");
	CU_ASSERT_EQUAL(kept.calls, 1);
}

static void one_that_waits_can_be_asked_again(void)
{
	struct kept again = { 0 };

	CU_ASSERT_EQUAL(wefti_os_kthread_kept_again(look_first, &again), 0);
	CU_ASSERT_EQUAL(keep(), 0);
	for (int i = 1; i < 3; i++) {
		CU_ASSERT_EQUAL(wefti_os_kthread_kept_again(look_first, &again), 1);
		CU_ASSERT_EQUAL(again.calls, i);
		CU_ASSERT_EQUAL(again.tid, kept.tid);
		CU_ASSERT_PTR_EQUAL(again.stack, kept.stack);
		CU_ASSERT_EQUAL(again.bytes, kept.bytes);
	}
	CU_ASSERT_EQUAL(kept.calls, 1);
	CU_ASSERT_EQUAL(tid_of_new(64 * 1024, "taken"), kept.tid);
	CU_ASSERT_EQUAL(wefti_os_kthread_kept_again(look_first, &again), 0);
}

static struct wefti_os_kthread *ran_with;

static void *run_taken(void *k)
{
	ran_with = k;
	return NULL;
}

/* With the guard below it; that is no part of what was asked for. */
static void what_is_wanted_has_to_fit_its_stack(void)
{
	struct wefti_os_kthread k = { .pthread = 0 };

	for (no_guard = 0; no_guard < 2; no_guard++) {
		CU_ASSERT_EQUAL(keep(), 0);
		CU_ASSERT_EQUAL(kept.bytes, KEPT_BYTES);
		CU_ASSERT_FALSE(can_read(kept.stack - 1));
		CU_ASSERT_TRUE(can_read(kept.stack));
		CU_ASSERT_TRUE(can_read(kept.stack + KEPT_BYTES - 1));
		ran_with = NULL;
		CU_ASSERT_EQUAL(wefti_os_kthread_kept_take(&k, SIZE_MAX,
							   run_taken), 0);
		CU_ASSERT_EQUAL(wefti_os_kthread_kept_take(&k, KEPT_BYTES + 1,
							   run_taken), 0);
		CU_ASSERT_EQUAL(k.pthread, 0);
		CU_ASSERT_EQUAL(wefti_os_kthread_kept_take(&k, KEPT_BYTES,
							   run_taken), 1);
		CU_ASSERT_EQUAL(wefti_os_kthread_kept_take(&k, 1, run_taken),
				0);
		wefti_os_kthread_unkeep();	/* has its work: not ours */
		CU_ASSERT_EQUAL(pthread_join((pthread_t)k.pthread, NULL), 0);
		CU_ASSERT_PTR_EQUAL(ran_with, &k);
		/* Its stack goes with it, and not with another. */
		wefti_os_kthread_kept_joined(k.pthread + 8);
		CU_ASSERT_TRUE(can_read(kept.stack));
		wefti_os_kthread_kept_joined(k.pthread);
		CU_ASSERT_FALSE(can_read(kept.stack));
		wefti_os_kthread_kept_joined(k.pthread);
		k.pthread = 0;
	}
	no_guard = 0;
}

static void one_that_was_kept_in_vain_ends(void)
{
	CU_ASSERT_EQUAL(keep(), 0);
	CU_ASSERT_EQUAL(wefti_os_kthread_signal(kept.tid, 0), 0);
	wefti_os_kthread_unkeep();
	while (wefti_os_kthread_signal(kept.tid, 0) == 0)
		wefti_os_yield();
	CU_ASSERT_FALSE(can_read(kept.stack));
	wefti_os_kthread_unkeep();
}

/* --- several at once */

#define CREW	3

static pthread_barrier_t begins;
static struct wefti_os_kthread wanted[CREW];
static int got[CREW];

static void *take_or_unkeep(void *i)
{
	int me = (int)(intptr_t)i;

	pthread_barrier_wait(&begins);
	if (me == CREW)
		wefti_os_kthread_unkeep();
	else
		got[me] = wefti_os_kthread_kept_take(&wanted[me], 1, run_taken);
	return NULL;
}

/* Or no caller gets it, if unkeep() is first. */
static void one_of_many_gets_it(void)
{
	size_t rounds = test_scaled(200);
	struct wefti_os_kthread one;
	pthread_t crew[CREW + 1];
	int tid;

	/* The first that is created finds libc's functions. */
	CU_ASSERT_EQUAL_FATAL(wefti_os_kthread_create(&one, KEPT_BYTES, note_tid, &tid,
						      "first"), 0);
	wefti_os_kthread_join(&one);
	pthread_barrier_init(&begins, NULL, CREW + 1);
	for (size_t round = 0; round < rounds; round++) {
		int winner = -1, sum = 0;

		ran_with = NULL;
		CU_ASSERT_EQUAL_FATAL(keep(), 0);
		for (intptr_t i = 0; i <= CREW; i++)
			CU_ASSERT_EQUAL_FATAL(pthread_create(&crew[i], NULL,
							     take_or_unkeep,
							     (void *)i), 0);
		for (int i = 0; i <= CREW; i++)
			pthread_join(crew[i], NULL);
		for (int i = 0; i < CREW; i++) {
			sum += got[i];
			if (got[i])
				winner = i;
		}
		CU_ASSERT_TRUE_FATAL(sum <= 1);
		if (winner >= 0) {
			wefti_os_kthread_join(&wanted[winner]);
			CU_ASSERT_PTR_EQUAL(ran_with, &wanted[winner]);
		}
		CU_ASSERT_FALSE(can_read(kept.stack));
	}
	pthread_barrier_destroy(&begins);
}

static void make_in_child(void)
{
	struct wefti_os_kthread k;
	int seen = 0;

	/* Not the parent's, and that is not to be ended either. */
	wefti_os_kthread_unkeep();
	wefti_os_kthread_create(&k, 1, note_tid, &seen, "of the child");
	wefti_os_kthread_join(&k);
	if (seen <= 0 || keep() != 0 || tid_of_new(1, NULL) != kept.tid)
		_exit(1);
	_exit(0);
}

static void child_of_a_fork_has_not_the_one_that_is_kept(void)
{
	int status = -1;
	pid_t child;

	CU_ASSERT_EQUAL(keep(), 0);
	child = fork();
	if (child == 0)
		make_in_child();
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_EQUAL(tid_of_new(1, NULL), kept.tid);
}

static const struct test_case cases[] = {
	TEST(one_that_cannot_be_made_leaves_nothing),
	TEST(one_that_was_kept_is_the_next_to_be_wanted),
	TEST(one_that_waits_can_be_asked_again),
	TEST(what_is_wanted_has_to_fit_its_stack),
	TEST(one_that_was_kept_in_vain_ends),
	TEST(one_of_many_gets_it),
	TEST(child_of_a_fork_has_not_the_one_that_is_kept),
};

TEST_MAIN("os/kthread_kept", cases)

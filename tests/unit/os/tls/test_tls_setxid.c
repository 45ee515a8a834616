/* SPDX-License-Identifier: MIT */
/*
 * test_tls_setxid.c - os/tls_setxid: setuid() while kernel threads run on blocks that
 * are not theirs, and main on another kernel thread
 */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../mini.h"
#include "cpu.h"
#include "lockfree/atomic.h"
#include "os/call/tasks.h"
#include "os/call/tid.h"
#include "os/call/vm.h"
#include "os/kthread/kthread.h"
#include "os/tls/tls.h"
#include "os/tls/tls_setxid.h"
#include "refusal.h"
#include "support.h"

#define OTHER	65534

static int has_tls(void)
{
	int ret = wefti_tls_init();

	if (ret != 0)
		CU_ASSERT_TRUE(is_refused_rightly(wefti_tls_reason()));
	return ret == 0;
}

static _Atomic int spinning, stop;

static void spin(struct mini *self)
{
	(void)self;
	fetch_add_seq_cst(&spinning, 1);
	while (!load_seq_cst(&stop))
		wefti_os_yield();
}

static void *carry(void *mini)
{
	mini_run(mini);
	return NULL;
}

/* The watchdog finds the one that never returns. */
static void setuid_returns_while_blocks_run(void)
{
	pthread_t threads[2];
	struct mini f[2];

	if (!has_tls())
		return;
	store_seq_cst(&spinning, 0);
	store_seq_cst(&stop, 0);
	wefti_tls_wrap_setxid();
	wefti_tls_wrap_setxid();
	for (int i = 0; i < 2; i++) {
		mini_make(&f[i], (uintptr_t)i, spin);
		pthread_create(&threads[i], NULL, carry, &f[i]);
	}
	while (load_seq_cst(&spinning) < 2)
		wefti_os_yield();
	for (int i = 0; i < 10; i++) {
		CU_ASSERT_EQUAL(setuid(getuid()), 0);
		CU_ASSERT_EQUAL(setgid(getgid()), 0);
	}
	store_seq_cst(&stop, 1);
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		CU_ASSERT_EQUAL(f[i].bad, 0);
		mini_free(&f[i]);
	}
}

static void setuid_in_a_block(struct mini *self)
{
	MINI_CHECK(self, setuid(getuid()) == 0);
	MINI_CHECK(self, setgid(getgid()) == 0);
}

static void setuid_works_from_a_block(void)
{
	struct mini f;

	if (!has_tls())
		return;
	mini_make(&f, 1, setuid_in_a_block);
	mini_run(&f);
	CU_ASSERT(f.done && f.bad == 0);
	mini_free(&f);
}

/* How many kernel threads have not this effective group. */
static int count_others(gid_t gid)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *e;
	int n = 0;

	while (dir && (e = readdir(dir))) {
		char path[300], line[256];
		unsigned real, effective;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%s/status",
			 e->d_name);
		f = e->d_name[0] == '.' ? NULL : fopen(path, "r");
		while (f && fgets(line, sizeof(line), f))
			if (sscanf(line, "Gid: %u %u", &real, &effective) == 2)
				n += effective != gid;
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return n;
}

static struct wefti_context main_context, loop_context, other_loop;
static _Atomic int main_is_parked, main_is_back;
static struct wefti_tls block;
static uintptr_t main_tp;

/* Kernel thread 0 without main. */
static struct wefti_arch_next loop_0(void *value)
{
	(void)value;
	store_seq_cst(&main_is_parked, 1);
	while (!load_seq_cst(&main_is_back))
		wefti_os_yield();
	wefti_arch_tp_set(main_tp);
	return (struct wefti_arch_next){ &main_context, NULL };
}

static void *other_kernel_thread(void *arg)
{
	uintptr_t tp = wefti_arch_tp_get();

	while (!load_seq_cst(&main_is_parked))
		wefti_os_yield();
	wefti_arch_tp_set(main_tp);
	wefti_arch_switch(&other_loop, &main_context, NULL);
	wefti_arch_tp_set(tp);
	store_seq_cst(&main_is_back, 1);
	return arg;
}

__attribute__((noinline)) static void to_loop_0(void)
{
	wefti_arch_tp_set(block.tp);
	wefti_arch_switch(&main_context, &loop_context, NULL);
}

__attribute__((noinline)) static void leave_other(void)
{
	wefti_arch_switch(&main_context, &other_loop, NULL);
}

/* In a process of its own, which has root's ids no more. */
static int change_on_another(void)
{
	char *memory = wefti_os_vm_reserve(MINI_STACK);
	gid_t gid = getegid() == 0 ? OTHER : getegid();
	pthread_t other;
	int good;

	if (!memory || wefti_tls_build(memory, memory + MINI_STACK, &block))
		return 0;
	main_tp = wefti_arch_tp_get();
	wefti_tls_move_kernel_thread(block.tp);
	wefti_arch_context_init(&loop_context, block.low, loop_0);
	pthread_create(&other, NULL, other_kernel_thread, NULL);
	wefti_tls_wrap_setxid();
	to_loop_0();
	good = wefti_os_gettid() != getpid() && setegid(gid) == 0 &&
	       count_others(gid) == 0;
	leave_other();
	wefti_tls_move_kernel_thread(main_tp);
	pthread_join(other, NULL);
	/* The kernel lists it for a moment yet, with the ids that it had. */
	while (wefti_os_tasks(NULL, NULL) > 1)
		wefti_os_yield();
	/* Home again, and alone: libc's own way is enough. */
	return good && setegid(getgid()) == 0 && count_others(getgid()) == 0;
}

static void main_changes_kernel_thread_0_from_another(void)
{
	int status = 1;
	pid_t child;

	if (!has_tls())
		return;
	child = fork();
	if (child == 0)
		_exit(!change_on_another());
	waitpid(child, &status, 0);
	CU_ASSERT_EQUAL(status, 0);
}

static const struct test_case cases[] = {
	TEST(setuid_returns_while_blocks_run),
	TEST(setuid_works_from_a_block),
	TEST(main_changes_kernel_thread_0_from_another),
};

TEST_MAIN("os/tls_setxid", cases)

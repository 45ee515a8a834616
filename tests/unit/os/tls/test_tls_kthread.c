/* SPDX-License-Identifier: MIT */
/* test_tls_kthread.c - os/tls_kthread: main's block leaves kernel thread 0 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../mini.h"
#include "cpu.h"
#include "lockfree/atomic.h"
#include "os/call/tid.h"
#include "os/call/vm.h"
#include "os/kthread/kthread.h"
#include "os/tls/tls_layout.h"
#include "refusal.h"
#include "support.h"

#define RSEQ_CPU_ID	4

static char *memory;
static struct wefti_tls block;
static uintptr_t main_tp;
static struct wefti_context main_context, loop_context, other_loop;
static _Atomic int main_is_parked, main_is_back;
static _Thread_local int number = 5;

static int has_tls(void)
{
	int ret = wefti_tls_init();

	if (ret != 0)
		CU_ASSERT_TRUE(is_refused_rightly(wefti_tls_reason()));
	return ret == 0;
}

static void make_block(void)
{
	memory = wefti_os_vm_reserve(MINI_STACK);
	if (!memory || wefti_tls_build(memory, memory + MINI_STACK,
				       &block) != 0)
		abort();
}

static void free_block(void)
{
	wefti_tls_destroy(block.tp);
	wefti_os_vm_unmap(memory, MINI_STACK);
}

static int cpu_id_in(uintptr_t tp)
{
	return *(volatile int *)(tp + (uintptr_t)wefti_tls_layout.tls_rseq +
				 RSEQ_CPU_ID);
}

/* On each CPU that we may use: libc's answer is the kernel's. */
static int cpu_is_right_everywhere(void)
{
	cpu_set_t allowed, one;
	int right = 1;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		right = right && sched_getcpu() == cpu;
	}
	sched_setaffinity(0, sizeof(allowed), &allowed);
	return right;
}

static void kernel_thread_moves_and_comes_back(void)
{
	uintptr_t tp = wefti_arch_tp_get();
	int had_rseq;

	if (!has_tls())
		return;
	make_block();
	had_rseq = wefti_tls_layout.has_rseq && cpu_id_in(tp) >= 0;
	for (int i = 0; i < 3; i++) {
		wefti_tls_move_kernel_thread(block.tp);
		if (had_rseq) {
			CU_ASSERT_EQUAL(cpu_id_in(tp), -1);
			CU_ASSERT(cpu_id_in(block.tp) >= 0);
		}
		CU_ASSERT(cpu_is_right_everywhere());
		wefti_tls_move_kernel_thread(tp);
		if (had_rseq) {
			CU_ASSERT(cpu_id_in(tp) >= 0);
			CU_ASSERT_EQUAL(cpu_id_in(block.tp), -1);
		}
		CU_ASSERT(cpu_is_right_everywhere());
	}
	free_block();
}

/* Kernel thread 0 without main: on a block and a stack of its own. */
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

	(void)arg;
	while (!load_seq_cst(&main_is_parked))
		wefti_os_yield();
	wefti_arch_tp_set(main_tp);
	wefti_arch_switch(&other_loop, &main_context, NULL);
	wefti_arch_tp_set(tp);
	store_seq_cst(&main_is_back, 1);
	return NULL;
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

static void main_migrates_with_its_block(void)
{
	pthread_t self = pthread_self(), other;
	int tid = wefti_os_gettid(), *where = &number;

	if (!has_tls())
		return;
	make_block();
	main_tp = wefti_arch_tp_get();
	store_seq_cst(&main_is_parked, 0);
	store_seq_cst(&main_is_back, 0);
	wefti_tls_move_kernel_thread(block.tp);
	wefti_arch_context_init(&loop_context, block.low, loop_0);
	pthread_create(&other, NULL, other_kernel_thread, NULL);
	errno = 33;
	number = 6;
	to_loop_0();
	/* On the other kernel thread. */
	CU_ASSERT_NOT_EQUAL(wefti_os_gettid(), tid);
	CU_ASSERT_EQUAL(pthread_self(), self);
	CU_ASSERT_EQUAL(errno, 33);
	CU_ASSERT_EQUAL(number, 6);
	CU_ASSERT_PTR_EQUAL(where, &number);
	CU_ASSERT(cpu_is_right_everywhere());
	free(malloc(1000));
	leave_other();
	/* Home. */
	CU_ASSERT_EQUAL(wefti_os_gettid(), tid);
	wefti_tls_move_kernel_thread(wefti_arch_tp_get());
	CU_ASSERT(cpu_is_right_everywhere());
	pthread_join(other, NULL);
	free_block();
}

static const struct test_case cases[] = {
	TEST(kernel_thread_moves_and_comes_back),
	TEST(main_migrates_with_its_block),
};

TEST_MAIN("os/tls_kthread", cases)

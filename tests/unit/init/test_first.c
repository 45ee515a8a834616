/* SPDX-License-Identifier: MIT */
/*
 * test_first.c - init/first: what main keeps as a thread, what kernel thread 0
 * gets of its own, and a start that gets half as far
 */
#include "threads.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cpu.h"
#include "init/start.h"
#include "os/call/vm.h"
#include "os/tls/tls.h"
#include "thread/bare.h"

/* The linker puts these in the place of the real ones. */
static int no_struct, no_block, no_stack;
static void *reserved;		/* the last, until it is given back */

struct wefti_thread *__real_wefti_thread_bare(enum wefti_kind kind,
					      struct wefti_cold *cold);
struct wefti_thread *__wrap_wefti_thread_bare(enum wefti_kind kind,
					      struct wefti_cold *cold);
int __real_wefti_tls_build(void *low, void *top, struct wefti_tls *out);
int __wrap_wefti_tls_build(void *low, void *top, struct wefti_tls *out);
void *__real_wefti_os_vm_reserve(size_t bytes);
void *__wrap_wefti_os_vm_reserve(size_t bytes);
void __real_wefti_os_vm_unmap(void *start, size_t bytes);
void __wrap_wefti_os_vm_unmap(void *start, size_t bytes);

struct wefti_thread *__wrap_wefti_thread_bare(enum wefti_kind kind,
					      struct wefti_cold *cold)
{
	return no_struct && kind == WEFTI_KIND_MAIN ? NULL :
	       __real_wefti_thread_bare(kind, cold);
}

int __wrap_wefti_tls_build(void *low, void *top, struct wefti_tls *out)
{
	return no_block ? -ENOMEM : __real_wefti_tls_build(low, top, out);
}

void *__wrap_wefti_os_vm_reserve(size_t bytes)
{
	void *start = no_stack ? NULL : __real_wefti_os_vm_reserve(bytes);

	if (no_block || no_struct)
		reserved = start;
	return start;
}

void __wrap_wefti_os_vm_unmap(void *start, size_t bytes)
{
	if (start == reserved)
		reserved = NULL;
	__real_wefti_os_vm_unmap(start, bytes);
}

static _Thread_local int of_thread;

/* Is the address in the stack that is noted there? */
static int is_on(const struct wefti_cold *cold, const void *at)
{
	return (uintptr_t)at - (uintptr_t)cold->stack_low < cold->stack_bytes;
}

static void main_keeps_its_stack_and_its_block(void)
{
	uintptr_t tp = wefti_arch_tp_get();
	int local = 0, *block = &of_thread, error;

	runtime_begin();
	error = errno;
	CU_ASSERT_TRUE(is_on(wefti_rt.main->cold, &local));
	if (own_tls()) {
		CU_ASSERT_EQUAL(wefti_arch_tp_get(), tp);
		CU_ASSERT_EQUAL(wefti_rt.main->tp, tp);
		CU_ASSERT_PTR_EQUAL(&of_thread, block);
	} else {
		CU_ASSERT_EQUAL(wefti_rt.main->tp, 0);
	}
	for (int i = 0; i < 20; i++)
		CU_ASSERT_EQUAL(weft_sleep(100000), 0);
	CU_ASSERT_TRUE(is_on(wefti_rt.main->cold, &local));
	if (own_tls())
		CU_ASSERT_EQUAL(wefti_arch_tp_get(), tp);
	runtime_end();
	CU_ASSERT_EQUAL(wefti_arch_tp_get(), tp);
	CU_ASSERT_EQUAL(errno, error);
}

static void *join_main(void *id)
{
	return (void *)(intptr_t)weft_join(*(uint64_t *)id, NULL);
}

static void main_is_a_thread_that_nobody_joins(void)
{
	struct wefti_thread *t;
	uint64_t id;

	runtime_begin();
	t = wefti_rt.main;
	id = weft_self();
	CU_ASSERT_PTR_EQUAL(wefti_self(), t);
	CU_ASSERT_EQUAL(t->kind, WEFTI_KIND_MAIN);
	CU_ASSERT_EQUAL(t->light, !own_tls());
	CU_ASSERT_EQUAL(id, wefti_thread_id(t));
	CU_ASSERT_PTR_EQUAL(wefti_thread_find(id), t);
	CU_ASSERT_EQUAL((intptr_t)join(spawn(join_main, &id)), -EINVAL);
	runtime_end();
	CU_ASSERT_PTR_NULL(wefti_thread_find(id));
	CU_ASSERT_PTR_NULL(wefti_self());
	CU_ASSERT_PTR_NULL(wefti_rt.main);
}

/*
 * By the kernel: the list of robust mutexes is in libc's block. 0 under an
 * emulator that does not have the call.
 */
static uintptr_t robust_list_of(int tid)
{
	struct robust_list_head *head = NULL;
	size_t bytes;

	if (syscall(SYS_get_robust_list, tid, &head, &bytes) == 0)
		return (uintptr_t)head;
	CU_ASSERT_EQUAL(errno, ENOSYS);
	return 0;
}

/* In main's block the list lies as far from the thread pointer as in its own. */
static void kernel_thread_0_has_a_stack_and_a_block_of_its_own(void)
{
	int tid = gettid(), local = 0;
	uintptr_t list = robust_list_of(tid), tp = wefti_arch_tp_get();
	struct wefti_kthread *k;

	runtime_begin();
	k = wefti_first.k;
	CU_ASSERT_PTR_NOT_NULL_FATAL(k);
	CU_ASSERT_EQUAL(k->tid, tid);
	CU_ASSERT_FALSE(is_on(&k->cold, &local));
	CU_ASSERT_TRUE(is_on(&k->cold, wefti_first.memory));
	CU_ASSERT_TRUE(k->cold.stack_bytes >= 128 * 1024);
	CU_ASSERT_TRUE(k->cold.stack_bytes <= wefti_first.bytes);
	if (own_tls()) {
		CU_ASSERT_NOT_EQUAL(k->tp, tp);
		CU_ASSERT_TRUE(k->tp - (uintptr_t)wefti_first.memory <
			       wefti_first.bytes);
		CU_ASSERT_EQUAL(robust_list_of(tid),
				list ? k->tp + (list - tp) : 0);
	} else {
		CU_ASSERT_EQUAL(k->tp, tp);
		CU_ASSERT_EQUAL(robust_list_of(tid), list);
	}
	runtime_end();
	CU_ASSERT_EQUAL(gettid(), tid);
	CU_ASSERT_EQUAL(robust_list_of(tid), list);
	CU_ASSERT_PTR_NULL(wefti_first.k);
	CU_ASSERT_PTR_NULL(wefti_first.cold);
	CU_ASSERT_PTR_NULL(wefti_first.memory);
	CU_ASSERT_EQUAL(wefti_first.bytes, 0);
}

/* What was had until then is given back, and the next start finds nothing. */
static void expect_no_start(int *refusal)
{
	uintptr_t tp = wefti_arch_tp_get(), list = robust_list_of(gettid());

	*refusal = 1;
	CU_ASSERT_EQUAL(weft_start(NULL), -ENOMEM);
	*refusal = 0;
	CU_ASSERT_EQUAL(weft_vcpus(), 0);
	CU_ASSERT_PTR_NULL(reserved);
	CU_ASSERT_PTR_NULL(wefti_first.k);
	CU_ASSERT_PTR_NULL(wefti_rt.main);
	CU_ASSERT_PTR_NULL(wefti_self());
	CU_ASSERT_EQUAL(wefti_arch_tp_get(), tp);
	CU_ASSERT_EQUAL(robust_list_of(gettid()), list);
	runtime_begin();
	runtime_end();
}

static void without_memory_main_stays_what_it_was(void)
{
	int own = own_tls_at_start();	/* what is made once is made */

	for (int i = 0; i < 3; i++) {
		expect_no_start(&no_stack);
		expect_no_start(&no_struct);
		if (own)
			expect_no_start(&no_block);
	}
}

static const struct test_case cases[] = {
	TEST(main_keeps_its_stack_and_its_block),
	TEST(main_is_a_thread_that_nobody_joins),
	TEST(kernel_thread_0_has_a_stack_and_a_block_of_its_own),
	TEST(without_memory_main_stays_what_it_was),
};

TEST_MAIN("init/first", cases)

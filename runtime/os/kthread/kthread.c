/* SPDX-License-Identifier: MIT */
/*
 * os/kthread/kthread.c - kernel threads: make, join, signal, watch
 *
 * Writers
 *   overhead  find_real
 *   real_create  find_real
 *   real_detach  find_real
 *   real_join  find_real
 */
#include "os/kthread/kthread.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "os/call/clock.h"
#include "os/call/fatal.h"
#include "os/call/futex.h"
#include "os/call/missing.h"
#include "os/call/tasks.h"
#include "os/kthread/kthread_kept.h"
#include "os/libc/real.h"
#include "os/signal/signal.h"
#include "syscall.h"

#define STACK_BYTES_MAX	((size_t)64 << 20)
#define NAP_NS		50000

typedef int create_fn(pthread_t *t, const pthread_attr_t *attr,
		      void *(*run)(void *), void *arg);
typedef int join_fn(pthread_t t, void **ret);
typedef int detach_fn(pthread_t t);

/*
 * libc's functions. They are found at the first use; several callers may do so at once,
 * with the same result. Not later, because the search waits for a thread in dlopen().
 */
static _Atomic(create_fn *) real_create;
static _Atomic(join_fn *) real_join;
static _Atomic(detach_fn *) real_detach;
static _Atomic size_t overhead;		/* libc's own part of a stack */

static void find_real(void)
{
	create_fn *create = (create_fn *)wefti_os_real("pthread_create");
	join_fn *join = (join_fn *)wefti_os_real("pthread_join");
	detach_fn *detach = (detach_fn *)wefti_os_real("pthread_detach");

	size_t (*minimum)(const pthread_attr_t *attr) =
		(size_t (*)(const pthread_attr_t *))
		wefti_os_real("__pthread_get_minstack");
	pthread_attr_t attr;

	if (minimum && pthread_attr_init(&attr) == 0) {
		store_seq_cst(&overhead, minimum(&attr));
		pthread_attr_destroy(&attr);
	}
	store_seq_cst(&real_join, join ? join : pthread_join);
	store_seq_cst(&real_detach, detach ? detach : pthread_detach);
	store_seq_cst(&real_create, create ? create : pthread_create);
}

void wefti_os_kthread_name(char name[WEFTI_OS_KTHREAD_NAME])
{
	memset(name, 0, WEFTI_OS_KTHREAD_NAME);
	(void)wefti_arch_syscall(SYS_prctl, PR_GET_NAME, (long)name, 0, 0, 0, 0);
}

void wefti_os_kthread_rename(const char *name)
{
	(void)wefti_arch_syscall(SYS_prctl, PR_SET_NAME, (long)name, 0, 0, 0, 0);
}

static void *trampoline(void *arg)
{
	struct wefti_os_kthread *k = arg;

	wefti_os_kthread_rename(k->name);
	k->run(k->arg);
	return NULL;
}

/*
 * libc puts static TLS into the stack, so its size is added to the size asked for.
 * EINVAL: there was no room beside it, because libc did not report its size. Then the
 * size is doubled.
 */
static int create_with_room(struct wefti_os_kthread *k, size_t bytes)
{
	create_fn *create = load_seq_cst(&real_create);
	pthread_attr_t attr;
	pthread_t thread;
	int error;

	error = pthread_attr_init(&attr);
	if (error)
		return error;
	bytes += load_seq_cst(&overhead);
	do {
		error = pthread_attr_setstacksize(&attr, bytes);
		if (!error)
			error = create(&thread, &attr, trampoline, k);
		bytes *= 2;
	} while (error == EINVAL && bytes <= STACK_BYTES_MAX);
	pthread_attr_destroy(&attr);
	if (!error)
		k->pthread = (uintptr_t)thread;
	return error;
}

int wefti_os_kthread_create(struct wefti_os_kthread *k, size_t stack_bytes,
			    void (*run)(void *arg), void *arg,
			    const char *name)
{
	uint64_t mask;
	int error;

	if (!load_seq_cst(&real_create))
		find_real();
	*k = (struct wefti_os_kthread){ .run = run, .arg = arg };
	strncpy(k->name, name ? name : "weft", sizeof(k->name) - 1);
	if (wefti_os_kthread_kept_take(k, stack_bytes + load_seq_cst(&overhead),
				       trampoline))
		return 0;

	/* The new thread inherits the mask. */
	mask = wefti_os_signals_own();
	error = create_with_room(k, stack_bytes);
	wefti_os_signals_restore(mask);
	switch (error) {
	case 0:
	case EAGAIN:
	case ENOMEM:
		return -error;
	default:
		wefti_os_fatal("pthread_create", -error);
	}
}

void wefti_os_kthread_join(struct wefti_os_kthread *k)
{
	join_fn *join = load_seq_cst(&real_join);
	int error = join((pthread_t)k->pthread, NULL);

	if (error)
		wefti_os_fatal("pthread_join", -error);
	wefti_os_kthread_kept_joined(k->pthread);
}

void wefti_os_kthread_detach(struct wefti_os_kthread *k)
{
	detach_fn *detach = load_seq_cst(&real_detach);
	int error = detach((pthread_t)k->pthread);

	if (error)
		wefti_os_fatal("pthread_detach", -error);
}

void wefti_os_yield(void)
{
	(void)wefti_arch_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

void wefti_os_nap(void)
{
	_Atomic uint32_t nothing = 0;

	(void)wefti_os_futex_wait(&nothing, 0, wefti_os_now_ns() + NAP_NS);
}

/*
 * The clock id of a kernel thread's CPU time, as the kernel builds it:
 * ~tid << 3, plus 4 for one thread, plus 2 for all that the scheduler counted.
 */
int64_t wefti_os_kthread_cpu_ns(int tid)
{
	int clock = (int)(~(unsigned)tid << 3 | 6);
	struct timespec used;
	long ret = wefti_arch_syscall(SYS_clock_gettime, clock, (long)&used,
				      0, 0, 0, 0);

	if (ret != 0)
		return -1;
	return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

char wefti_os_kthread_state(int tid)
{
	char text[512];
	const char *name_end;

	if (!wefti_os_task_text(tid, "stat", text, sizeof(text)))
		return 0;

	/* "tid (name) S ...", and the name may hold brackets of its own. */
	name_end = strrchr(text, ')');
	if (!name_end || name_end[1] != ' ')
		return 0;
	return name_end[2];
}

int wefti_os_kthread_is_asleep(int tid)
{
	char state = wefti_os_kthread_state(tid);

	return state != 'R';
}

int wefti_os_kthread_has_children(int tid)
{
	char text[16];

	return wefti_os_task_text(tid, "children", text, sizeof(text));
}

/*
 * The kernel functions that take the lock of the process's mappings, as of Linux 6.18.
 * Other versions may have others.
 */
int wefti_os_kthread_wants_lock(int tid)
{
	static const char *const takers[] = {
		"vm_mmap_pgoff", "__vm_munmap", "lock_mm_and_find_vma",
		"do_mprotect_pkey", "do_madvise", "__do_sys_brk",
	};
	char text[64];

	if (!wefti_os_task_text(tid, "wchan", text, sizeof(text)))
		return 0;
	for (size_t i = 0; i < sizeof(takers) / sizeof(*takers); i++)
		if (strcmp(text, takers[i]) == 0)
			return 1;
	return 0;
}

static long membarrier(int command)
{
	return wefti_arch_syscall(SYS_membarrier, command, 0, 0, 0, 0, 0);
}

int wefti_os_membarrier_init(void)
{
	long ret = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);

	if (ret == 0)
		return 0;
	/* EINVAL: Linux before 4.14, or nohz_full. */
	if (wefti_os_is_missing(ret) || ret == -EINVAL)
		return -ENOSYS;
	wefti_os_fatal("membarrier registration", ret);
}

int wefti_os_membarrier(void)
{
	long ret = membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);

	if (unlikely(wefti_os_is_missing(ret)))
		return -ENOSYS;
	if (ret != 0)
		wefti_os_fatal("membarrier", ret);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * pthread/init/trapped.c - futex calls by a library's own instructions
 *
 * libgomp does not call syscall() for its futexes. If the kernel can trap these calls
 * (os/signal/trap.h), they are in the lot, as all others are. If not, a thread that waits
 * in one keeps its kernel thread.
 *
 * Calls are trapped on each kernel thread that carries a VCPU, from before the first
 * thread is made. They are not trapped on kernel threads that are not weft's: those that
 * libc makes for timers, say. If such a kernel thread wakes a word in the kernel, a green
 * thread sees that when it checks by itself, at the latest after as long again as it has
 * waited.
 *
 * A team with no more threads than CPUs spins at its barriers. At the end of each barrier
 * it makes a wake call that wakes no thread, and for that a trap is expensive. So after
 * VAIN wakes in a row without a waiter, the kernel no longer traps. Trapping begins again
 * when there may be a wait that we were not told of. That is so in two cases. A kernel
 * thread is given a VCPU, because another has been blocked. Or a handler of the program
 * has run between two instructions of a thread: the kernel then restarts the interrupted
 * wait, and now we are told.
 *
 *   trapping --VAIN wakes in a row, no waiters--> not trapping
 *   not trapping --a kernel thread carries, a handler has run, a wait--> trapping
 *
 * A thread counts itself as a waiter, then turns trapping on if it is off. A thread that
 * turns trapping off does so, then looks for waiters, and turns it on again if there are
 * any (both seq_cst). In between a wake may miss the lot. The waiting thread sees it as
 * above. A handler that jumps out of a wait leaves its count behind: then the kernel
 * traps for good.
 *
 * Writers
 *   vain  call, count_vain, wefti_trapped_again, wefti_trapped_begin
 *   waiters  wait_for, wefti_trapped_begin
 */
#include "pthread/init/trapped.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "base/log.h"
#include "os/signal/trap.h"
#include "pthread/core/real.h"
#include "pthread/core/self.h"
#include "pthread/core/started.h"
#include "pthread/sync/futex.h"
#include "sched/loop.h"
#include "syscall.h"

#define VAIN	250	/* so many traps cost a millisecond */

static _Atomic uint32_t waiters, vain;

static long by_kernel(long number, const long *six)
{
	return wefti_arch_syscall(number, six[0], six[1], six[2], six[3],
				  six[4], six[5]);
}

static int is_wait(const long *six)
{
	const long command = six[1] & FUTEX_CMD_MASK;

	return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
}

void wefti_trapped_again(void)
{
	store_relaxed(&vain, 0);
	if (!wefti_os_trap_is_set())
		wefti_os_trap_set(1);
}

static long wait_for(const long *six)
{
	long result;

	fetch_add_seq_cst(&waiters, 1);
	wefti_trapped_again();
	result = wefti_futex_beside_kernel(six);
	fetch_sub_seq_cst(&waiters, 1);
	return result;
}

static void count_vain(void)
{
	if (fetch_add_relaxed(&vain, 1) < VAIN || load_seq_cst(&waiters) > 0)
		return;
	wefti_os_trap_set(0);
	if (load_seq_cst(&waiters) > 0)
		wefti_os_trap_set(1);
}

static long call(long number, const long *six)
{
	long result;

	if (number != SYS_futex || !wefti_pt_is_started() || !wefti_pt_green())
		return by_kernel(number, six);
	if (is_wait(six))
		return wait_for(six);
	result = wefti_futex_beside_kernel(six);
	if (result == 0)
		count_vain();
	else
		store_relaxed(&vain, 0);
	return result;
}

/* Called before a kernel thread carries a VCPU. */
static void carries(void)
{
	wefti_os_trap_here();
	wefti_trapped_again();
}

static void tell(int error)
{
	if (error != -ENOENT)
		wefti_log(WEFTI_LOG_INFO, "weft: OpenMP's threads %s\n",
			  !error ? "park: libgomp's futexes are trapped" :
			  error == -EBUSY ? "keep kernel threads while they wait: "
					    "the program handles SIGSYS" :
			  "keep kernel threads while they wait: the kernel cannot "
			  "trap libgomp's futexes");
}

void wefti_trapped_begin(void)
{
	int error;

	store_relaxed(&vain, 0);
	store_relaxed(&waiters, 0);
	error = wefti_os_trap_begin(call);
	if (!error)
		store_seq_cst(&wefti_carry_hook, carries);
	tell(error);
}

void wefti_trapped_end(void)
{
	store_seq_cst(&wefti_carry_hook, NULL);
	(void)!wefti_os_trap_end();
}

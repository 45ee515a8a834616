/* SPDX-License-Identifier: MIT */
/*
 * pthread/thread/create.c - a thread begins and ends
 *
 * Each thread's first frame registers a buffer with libc's unwinder, as libc's own first
 * frame does. pthread_exit() unwinds to that frame, and so does cancellation. So libc and
 * libgcc run the cleanup handlers and C++ destructors. For main, a frame of ours between
 * __libc_start_main() and main does the same.
 *
 * A thread keeps its stack and its control block until it is joined
 * (pthread/thread/join.c), because its pthread_t is the block's address.
 *
 * Writers
 *   pt.ended  outlive_others, thread_ends
 *   pt.outlives  outlive_others
 *   last_mask  thread_ends
 *   pt.tid  prepare
 *   known  frame_above
 *
 * Pairs
 *   P1  prepare stores tid and mask  ->  a thread that looks through the table of threads
 *       loads them: the thread that had the block before is over
 */
#include "pthread/thread/create.h"

#include <alloca.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/settings.h"
#include "life/life.h"
#include "os/call/vm.h"
#include "os/tls/tls.h"
#include "pthread/core/go.h"
#include "pthread/core/real.h"
#include "pthread/core/started.h"
#include "pthread/kthread/proc.h"
#include "pthread/kthread/real_time.h"
#include "pthread/kthread/schedule.h"
#include "pthread/kthread/tid_address.h"
#include "pthread/process/memory_lock.h"
#include "pthread/shared/pi.h"
#include "pthread/shared/robust.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/lend.h"
#include "pthread/signal/room.h"
#include "pthread/signal/signal.h"
#include "pthread/sync/ceiling.h"
#include "pthread/thread/attr.h"
#include "pthread/thread/code_on_stack.h"
#include "pthread/thread/own_stack.h"
#include "pthread/wait/lot.h"
#include "tcb.h"
#include "thread/bare.h"
#include "weft/thread.h"

#define SMALL_STACK	(256 * 1024)	/* to a smaller stack we add what we need */
#define OUR_PART	(8 * 1024)	/* the frame of a signal, and so on */
#define LIBCS_PART	(4 * 1024)	/* of a stack, for libc's control block */
#define BESIDES		(32 * 1024)	/* our own stack for a thread with a given one */

/* What the creator passes to a new thread. It is on the creator's stack. */
struct made {
	pthread_t *thread;
	uint64_t mask;
	struct wefti_schedule schedule;
	struct wefti_begin begin;
};

static _Atomic uint64_t last_mask;	/* of the thread that ended last */

typedef int main_fn(int argc, char **argv, char **envp);

/*
 * Runs fn with a buffer to unwind to. It is a separate function, so that no value of its
 * caller is in a register that the jump would restore.
 */
static NOINLINE void *call(void *(*fn)(void *arg), void *arg)
{
	__pthread_unwind_buf_t buf;

	if (wefti_setjmp_cancel(&buf, 0) != 0)
		return wefti_cancel_landed();
	__pthread_register_cancel(&buf);
	/* The thread may have been sent a signal, or cancelled, before it first ran. */
	wefti_signals_run_any();

	void *result = fn(arg);

	__pthread_unregister_cancel(&buf);
	return result;
}

static void thread_ends(void)
{
	const uint64_t mask = load_relaxed(&wefti_pt.mask);
	int *address;

	wefti_cancel_end();
	wefti_tls_thread_exit();	/* destructors: the thread is alive for them */
	wefti_signals_run();	/* signals that were sent while it lived */
	wefti_signals_thread_ends();
	wefti_rooms_end();
	wefti_ceiling_thread_ends();
	wefti_proc_thread_ends();
	address = wefti_tid_address_end();
	if (unlikely(address != NULL))
		wefti_lot_wake(address, 1, WEFTI_LOT_ANY);
	store_seq_cst(&wefti_pt.ended, 1);	/* of join.c: P1 */
	wefti_real_time_end();
	if (load_seq_cst(&wefti_pt.joiner))	/* of join.c: P1 */
		wefti_lot_wake(&wefti_pt.ended, UINT32_MAX, WEFTI_LOT_ANY);
	store_relaxed(&last_mask, mask);	/* published by count_end() of life/exit.c */
}

static void *call_begun(void *begin)
{
	const struct wefti_begin *b = begin;

	return call(b->fn, b->arg);
}

/*
 * A thread with a small stack may use only as much as its creator asked for. So a thread
 * that would overflow the stack under libc hits the guard here too. The part that libc's
 * control block would take is used for the frame of a preemption.
 */
static NOINLINE void *call_below(const struct wefti_begin *b)
{
	const struct wefti_cold *body = wefti_self()->cold;
	size_t room = (size_t)((char *)__builtin_frame_address(0) -
			       (char *)body->stack_low);

	if (b->room && room > b->room)
		__asm__ volatile("" :: "r"(alloca(room - b->room)) : "memory");
	return call(b->fn, b->arg);
}

static _Noreturn void outlive_others(void);

/*
 * The thread's function and argument are in its own memory. If they were in memory that
 * the thread frees, libc would set up a malloc cache in each thread, which is larger than
 * the whole struct wefti_begin.
 */
static void *thread_main(void *unused)
{
	struct wefti_begin *begin = &wefti_pt.begin;
	uint32_t forks = wefti_fork_count();
	void *result;

	(void)unused;
	if (unlikely(begin->opens))
		wefti_signals_set_mask(load_relaxed(&wefti_pt.mask));
	result = begin->stack ? wefti_call_on(begin->stack, begin->stack_bytes,
					      call_begun, begin) :
				call_below(begin);
	if (unlikely(forks != wefti_fork_count())) {
		wefti_pt.result = result;
		outlive_others();	/* it is the first thread of this process */
	}
	thread_ends();
	if (unlikely(begin->more_guard))
		wefti_given_guard_end(begin);
	return result;
}

/*
 * How much a signal's frame needs beyond `bytes`, in whole pages. The reported low end of
 * the stack is that much above its guard. AMX and AArch64 have such large frames.
 */
static size_t frame_above(size_t bytes, size_t page)
{
	static _Atomic size_t known;	/* getauxval() looks through a list */
	size_t frame = load_relaxed(&known);

	if (unlikely(!frame)) {
		frame = getauxval(AT_MINSIGSTKSZ);
		store_relaxed(&known, frame);
	}
	return frame > bytes && wefti_arch_frames_are_largest() ?
	       (frame - bytes + page - 1) & ~(page - 1) : 0;
}

/* The guard size in whole pages, as in libc. Returns 0 or EINVAL. */
static int read_guard(size_t bytes, struct wefti_begin *begin)
{
	const size_t page = wefti_os_page_size();

	begin->guard_bytes = (bytes + page - 1) & ~(page - 1);
	return begin->guard_bytes < bytes ? EINVAL : 0;
}

/*
 * The size of our stack is a power of two, without the runtime's guard. If the creator asked
 * for another size, the stack that is reported has the same highest address, and a higher
 * lowest one. Returns 0 or EINVAL.
 */
static int read_stack(struct wefti_begin *begin, size_t *bytes)
{
	const size_t page = wefti_os_page_size();
	const size_t asked = *bytes & ~(size_t)(WEFTI_ARCH_TCB_ALIGNMENT - 1);
	const size_t guard = begin->guard_bytes > page ?
			     begin->guard_bytes - page : 0;

	begin->room = asked;
	if (asked < SMALL_STACK) {
		const size_t more = frame_above(LIBCS_PART, page);

		begin->room += more;
		*bytes += wefti_tls_bytes() + sizeof(struct wefti_cold) + OUR_PART +
			  more;
	}
	begin->told_bytes = asked;
	begin->more_guard = guard;
	*bytes += guard;
	return *bytes < guard ? EINVAL : 0;
}

/* Reads the attributes that were given, or else the default ones. Returns 0 or an error. */
static int read_attr(const pthread_attr_t *given, struct weft_attr *to,
		     uint64_t *mask, struct wefti_begin *begin)
{
	pthread_attr_t fallback;
	const pthread_attr_t *attr = given;
	size_t guard = 0;
	sigset_t set;
	int detach = PTHREAD_CREATE_JOINABLE, error = 0;

	if (!given && wefti_defaults_are_first(&to->stack_bytes, &guard))
		return read_guard(guard, begin) ? EINVAL :
		       read_stack(begin, &to->stack_bytes);
	if (!attr) {
		error = pthread_getattr_default_np(&fallback);
		if (error)
			return error;
		attr = &fallback;
	}
	(void)!pthread_attr_getstacksize(attr, &to->stack_bytes);
	if (!given && wefti_settings_is_given("WEFT_STACK"))	/* set by the program */
		to->stack_bytes = (size_t)wefti_rt.settings.stack;
	(void)!pthread_attr_getdetachstate(attr, &detach);
	if (detach == PTHREAD_CREATE_DETACHED)
		to->flags |= WEFT_DETACHED;
	if (pthread_attr_getsigmask_np(attr, &set) == 0)
		memcpy(mask, &set, sizeof(*mask));
	wefti_given_stack(attr, &begin->stack, &begin->stack_bytes);
	if (begin->stack)
		to->stack_bytes = BESIDES + wefti_tls_bytes() +
				  sizeof(struct wefti_cold) + OUR_PART;
	else if (pthread_attr_getguardsize(attr, &guard) != 0 || read_guard(guard, begin))
		error = EINVAL;
	else
		error = read_stack(begin, &to->stack_bytes);
	if (!given)
		pthread_attr_destroy(&fallback);
	return error;
}

/*
 * Called before the thread runs, and before others can find it: the receiver of signals
 * looks at the mask of each thread in the table. As in libc, the new thread finds its own
 * pthread_t where the creator wanted it.
 */
static void prepare(struct wefti_thread *t, void *arg)
{
	const struct made *made = arg;
	struct wefti_pt *pt = wefti_pt_of(t);

	pt->id = wefti_tls_tid(t->tp);
	store_release(&pt->tid, wefti_pt_make_tid());	/* P1 */
	memcpy(pt->name, wefti_pt.name, sizeof(pt->name));
	wefti_schedule_put(pt, &made->schedule);
	wefti_real_time_begin(t, made->schedule.priority);
	pt->begin = made->begin;
	if (unlikely(pt->begin.more_guard))
		wefti_given_guard(t, &pt->begin);
	wefti_memory_lock_stack(t);
	store_release(&pt->mask, made->mask);		/* P1 */
	wefti_tty_expect(made->mask);
	*made->thread = wefti_pt_handle(t);
}

/*
 * The new thread inherits the mask of the kernel thread that makes it. So meanwhile that is
 * the creator's own mask.
 */
static NOINLINE int create_libcs(pthread_t *thread, const pthread_attr_t *attr,
				 void *(*fn)(void *arg), void *arg)
{
	struct wefti_lent l = wefti_lend();
	int error = REAL(pthread_create)(thread, attr, fn, arg);

	wefti_take_back(l);
	return error;
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
			  void *(*fn)(void *arg), void *arg)
{
	struct weft_attr how = { .name = NULL };
	struct made made;
	struct wefti_spawn spawn = { .keep = 1, .prepare = prepare, .arg = &made };
	uint64_t mask;
	int error;

	if (wefti_pt_start() != 0)
		return REAL(pthread_create)(thread, attr, fn, arg);
	if (wefti_go_is_here())
		return create_libcs(thread, attr, fn, arg);
	wefti_code_on_stack();
	made.thread = thread;
	made.begin = (struct wefti_begin){ .fn = fn, .arg = arg };
	made.mask = mask = wefti_signals_mask();
	wefti_schedule_get(&wefti_pt, &made.schedule);
	made.schedule.timer_slack_ns = wefti_pt.schedule.timer_slack_ns;
	error = read_attr(attr, &how, &made.mask, &made.begin);
	if (!error)
		error = wefti_schedule_read(attr, &made.schedule);
	if (error)
		return error;
	made.begin.opens = (mask & ~made.mask) != 0;
	spawn.order = wefti_real_time_order(made.schedule.priority);
	error = wefti_spawn(&spawn, &how, thread_main, NULL);
	if (error)
		return EAGAIN;
	wefti_signals_run_any();	/* the new thread may have run first */
	return 0;
}

/* --- main ---------------------------------------------------------- */

/*
 * main has called pthread_exit(), or the thread that forked has ended in the child. The
 * process then ends with its last thread. With libc's threads that last thread calls
 * exit(). So signals can come while exit() runs its functions, and that thread's mask decides
 * which.
 */
static _Noreturn void outlive_others(void)
{
	wefti_tls_thread_exit();
	wefti_signals_run();
	wefti_signals_thread_ends();
	wefti_robust_thread_ends();
	wefti_pi_thread_ends();
	wefti_real_time_end();
	store_seq_cst(&wefti_pt.ended, 1);
	wefti_lot_wake(&wefti_pt.ended, UINT32_MAX, WEFTI_LOT_ANY);
	if (wefti_pt_is_started())
		wefti_exit_awaits_all();
	store_seq_cst(&wefti_pt.outlives, 1);
	wefti_signals_set_mask(load_seq_cst(&last_mask));
	exit(0);
}

void wefti_create_forget(void)
{
	wefti_pt_forget_tids();
	wefti_defaults_forget();
}

static main_fn *real_main;

static int main_frame(int argc, char **argv, char **envp)
{
	__pthread_unwind_buf_t buf;
	int status;

	if (wefti_setjmp_cancel(&buf, 0) != 0) {
		(void)wefti_cancel_landed();
		if (wefti_pt_is_started())
			outlive_others();
		__pthread_unwind_next(&buf);	/* libc's frame, then */
	}
	__pthread_register_cancel(&buf);
	status = real_main(argc, argv, envp);
	__pthread_unregister_cancel(&buf);
	return status;
}

EXPORT int __libc_start_main(main_fn *main, int argc, char **argv,
			     void (*init)(void), void (*fini)(void),
			     void (*rtld_fini)(void), void *stack_end)
{
	real_main = main;
	return REAL(__libc_start_main)(main_frame, argc, argv, init, fini,
				       rtld_fini, stack_end);
}

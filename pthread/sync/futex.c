/* SPDX-License-Identifier: MIT */
/*
 * pthread/sync/futex.c - the program's own futexes
 *
 * Rust, GLib and libstdc++ build their locks on these futexes. A private futex is a place
 * in the lot. A futex that processes share is the kernel's, and waits are in a region. A
 * futex without the private flag, as libstdc++'s are, is in the lot if its page is
 * private. These futexes come by syscall() (pthread/init/syscall.c). Futexes that come by
 * another way, and may be used in the kernel too, are in trapped.c.
 *
 * Writers
 *   *call.other  change
 */
#include "pthread/sync/futex.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "os/call/newer.h"
#include "os/call/vm.h"
#include "pthread/core/time.h"
#include "pthread/shared/shared.h"
#include "pthread/signal/cancel.h"
#include "pthread/signal/region.h"
#include "pthread/signal/signal.h"
#include "pthread/wait/lot.h"
#include "syscall.h"

struct call {
	_Atomic uint32_t *word;
	int op;
	uint32_t value;
	const struct timespec *time;	/* or a count */
	_Atomic uint32_t *other;
	uint32_t value3;
	int beside_kernel;	/* some wait and wake in the kernel, whatever op says */
};

#define LOOK_NS	50000000

static int is_value(void *arg)
{
	const struct call *c = arg;

	return load_seq_cst(c->word) == c->value;
}

static int is_value3(void *arg)
{
	const struct call *c = arg;

	return load_seq_cst(c->word) == c->value3;
}

static clockid_t clock_of(const struct call *c)
{
	return c->op & FUTEX_CLOCK_REALTIME ? CLOCK_REALTIME : CLOCK_MONOTONIC;
}

static int command_of(int op)
{
	return op & ~(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);
}

/* WAIT has a relative time, WAIT_BITSET an absolute one. */
static int64_t deadline_of(const struct call *c)
{
	if (!c->time)
		return INT64_MAX;
	return command_of(c->op) == FUTEX_WAIT ?
		       wefti_time_after(wefti_time_ns(c->time)) :
		       wefti_time_deadline(clock_of(c), c->time);
}

/*
 * As in the kernel, any handler ends a wait that has a timeout. A wait without a timeout
 * is restarted after a handler with SA_RESTART. For a kernel thread that is not the
 * runtime's, the kernel itself has decided.
 */
static int is_over(const struct call *c, uint32_t handled, uint32_t ending)
{
	return !wefti_pt_green() || wefti_pt.handled_no_restart != ending ||
	       (c->time && wefti_pt.handled != handled);
}

static long wait_until(struct call *c, int64_t deadline)
{
	const int has_bits = command_of(c->op) == FUTEX_WAIT_BITSET;
	const struct wefti_lot_wait w = {
		.key = c->word, .check = is_value, .arg = c,
		.deadline = deadline, .urgent = wefti_cancel_urgent(),
		.bits = has_bits ? c->value3 : 0, .why = WEFTI_WHY_FUTEX,
	};
	const uint32_t handled = wefti_pt.handled;
	const uint32_t ending = wefti_pt.handled_no_restart;

	for (;;) {
		const enum wefti_lot_end end = wefti_lot_wait(&w);

		wefti_signals_run_any();
		if (end == WEFTI_LOT_CHANGED)
			return -EAGAIN;
		if (end == WEFTI_LOT_TIMEDOUT)
			return -ETIMEDOUT;
		if (end != WEFTI_LOT_INTERRUPTED)
			return 0;
		wefti_cancel_point_async();
		if (is_over(c, handled, ending))
			return -EINTR;
	}
}

/*
 * A waker may have gone to the kernel only. So the waiting thread checks the word by
 * itself, each time after twice the time before.
 */
static long wait_with_checks(struct call *c, int64_t deadline)
{
	int64_t time = LOOK_NS, until;
	long result;

	do {
		until = wefti_time_after(time);
		time *= 2;
		result = wait_until(c, until < deadline ? until : deadline);
	} while (result == -ETIMEDOUT && until < deadline);
	return result;
}

static int of_12_bits(uint32_t bits)
{
	return (int32_t)(bits << 20) >> 20;
}

/* The value that FUTEX_WAKE_OP gives to the other word. */
static uint32_t changed(uint32_t now, uint32_t how)
{
	uint32_t argument = (uint32_t)of_12_bits(how >> 12);

	if (how >> 28 & FUTEX_OP_OPARG_SHIFT)
		argument = 1u << argument % 32;
	switch (how >> 28 & 7) {
	case FUTEX_OP_SET:
		return argument;
	case FUTEX_OP_ADD:
		return now + argument;
	case FUTEX_OP_OR:
		return now | argument;
	case FUTEX_OP_ANDN:
		return now & ~argument;
	default:
		return now ^ argument;
	}
}

/* Does FUTEX_WAKE_OP also wake at the other word, which held `before`? Or -ENOSYS. */
static int wakes_there(int before, uint32_t how)
{
	const int against = of_12_bits(how);

	switch (how >> 24 & 15) {
	case FUTEX_OP_CMP_EQ:
		return before == against;
	case FUTEX_OP_CMP_NE:
		return before != against;
	case FUTEX_OP_CMP_LT:
		return before < against;
	case FUTEX_OP_CMP_LE:
		return before <= against;
	case FUTEX_OP_CMP_GT:
		return before > against;
	case FUTEX_OP_CMP_GE:
		return before >= against;
	default:
		return -ENOSYS;
	}
}

/* Under the locks of both places. Returns whether to wake at the other word too. */
static int change(void *arg)
{
	const struct call *c = arg;
	uint32_t before = load_seq_cst(c->other);

	while (!cas_seq_cst(c->other, &before, changed(before, c->value3)))
		;
	return wakes_there((int)before, c->value3);
}

/* The kernel wakes one thread before it looks at the count. */
static unsigned most_of(uint32_t count)
{
	return (int32_t)count > 0 ? count : 1;
}

/* The errors that the kernel returns, checked in the kernel's order. */
static long refusal(const struct call *c)
{
	int command = command_of(c->op);
	int has_two = command == FUTEX_WAKE_OP || command == FUTEX_REQUEUE ||
		      command == FUTEX_CMP_REQUEUE;

	if ((command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) &&
	    c->time && !wefti_time_is_kernels(c->time))
		return -EINVAL;
	if ((c->op & FUTEX_CLOCK_REALTIME) && command != FUTEX_WAIT_BITSET)
		return -ENOSYS;
	if ((command == FUTEX_WAIT_BITSET || command == FUTEX_WAKE_BITSET) &&
	    c->value3 == 0)
		return -EINVAL;
	if ((command == FUTEX_REQUEUE || command == FUTEX_CMP_REQUEUE) &&
	    ((int32_t)c->value < 0 || (int32_t)(uintptr_t)c->time < 0))
		return -EINVAL;
	if ((uintptr_t)c->word % sizeof(*c->word) ||
	    (has_two && (uintptr_t)c->other % sizeof(*c->other)))
		return -EINVAL;
	return command == FUTEX_WAKE_OP &&
	       (c->value3 >> 28 & 7) > FUTEX_OP_XOR ? -ENOSYS : 0;
}

static long in_lot(struct call *c)
{
	int command = command_of(c->op);
	unsigned count = (unsigned)(uintptr_t)c->time;
	long error = refusal(c);

	if (error)
		return error;
	switch (command) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		return c->beside_kernel ? wait_with_checks(c, deadline_of(c)) :
					  wait_until(c, deadline_of(c));
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
		return wefti_lot_wake(c->word, most_of(c->value),
				      command == FUTEX_WAKE ? WEFTI_LOT_ANY :
							      c->value3);
	case FUTEX_REQUEUE:
	case FUTEX_CMP_REQUEUE:
		return wefti_lot_requeue(c->word, c->value, c->other, count,
					 command == FUTEX_REQUEUE ? NULL :
								    is_value3, c);
	case FUTEX_WAKE_OP:
		return wefti_lot_wake_two(c->word, most_of(c->value), c->other,
					  most_of(count), change, c);
	default:
		return -ENOSYS;
	}
}

static long ask_kernel(const struct call *c)
{
	return wefti_arch_syscall(SYS_futex, (long)c->word, c->op, c->value,
				  (long)c->time, (long)c->other, c->value3);
}

static long in_kernel(const struct call *c)
{
	long result;

	wefti_region_begin();
	result = ask_kernel(c);
	wefti_region_end();
	return result;
}

static long wake_in_both(struct call *c)
{
	const long woken = in_lot(c);
	long others;

	if (woken < 0 || woken >= (long)most_of(c->value))
		return woken;
	c->value = most_of(c->value) - (uint32_t)woken;
	others = ask_kernel(c);
	return woken > 0 && others < 0 ? woken : woken + others;
}

static int is_private(const _Atomic uint32_t *word)
{
	return (uintptr_t)word % sizeof(*word) == 0 &&
	       wefti_os_vm_is_private((const void *)word);
}

/*
 * A page may look shared to a waiting thread and later turn out to be private: it was not
 * in memory, or no descriptor was free to look. So a waker wakes in both places. A
 * requeue also makes the waiters in the kernel return for no reason, which a futex may.
 */
static long in_both(struct call *c)
{
	long result;

	switch (command_of(c->op)) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		return c->op & FUTEX_PRIVATE_FLAG || is_private(c->word) ?
			       in_lot(c) : in_kernel(c);
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
		return wake_in_both(c);
	}
	if (!is_private(c->word) || !is_private(c->other))
		return in_kernel(c);
	result = in_lot(c);
	if (result >= 0) {
		wefti_shared_wake_kernel(c->word, INT32_MAX);
		wefti_shared_wake_kernel(c->other, INT32_MAX);
	}
	return result;
}

static long futex(struct call *c)
{
	switch (command_of(c->op)) {
	case FUTEX_WAIT: case FUTEX_WAIT_BITSET: case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET: case FUTEX_REQUEUE: case FUTEX_CMP_REQUEUE:
	case FUTEX_WAKE_OP:
		return c->op & FUTEX_PRIVATE_FLAG && !c->beside_kernel ?
			       in_lot(c) : in_both(c);
	default:
		return in_kernel(c);
	}
}

/* The kernel would take the made-up id in the word for another thread's id. */
int wefti_futex_inherits_priority(int op)
{
	switch (command_of(op)) {
	case FUTEX_LOCK_PI: case FUTEX_LOCK_PI2: case FUTEX_TRYLOCK_PI:
	case FUTEX_UNLOCK_PI: case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_CMP_REQUEUE_PI:
		return 1;
	default:
		return 0;
	}
}

static long call(const long *a, int beside_kernel)
{
	return futex(&(struct call){
		(void *)a[0], (int)a[1], (uint32_t)a[2], (void *)a[3],
		(void *)a[4], (uint32_t)a[5], beside_kernel,
	});
}

long wefti_futex(const long *six)
{
	const long result = call(six, 0);

	wefti_signals_run_any();	/* a waker was in the runtime, too */
	return result;
}

long wefti_futex_beside_kernel(const long *six)
{
	return wefti_futex_inherits_priority((int)six[1]) ? -ENOSYS : call(six, 1);
}

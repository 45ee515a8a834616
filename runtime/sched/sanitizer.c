/* SPDX-License-Identifier: MIT */
/*
 * sched/sanitizer.c - tells ThreadSanitizer and AddressSanitizer about switches
 *
 * Without a sanitizer this file is empty. With one, all threads are light.
 *
 * ThreadSanitizer calls a weft thread a `fiber`, and keeps a clock and a shadow call
 * stack for each. The functions here are not instrumented, so that the shadow stacks of
 * the leaving and the arriving thread stay balanced. wefti_take_seat() is inlined, and
 * no function is entered or left between its end and the switch.
 *
 * What a VCPU owns (its lists, its counters, the kernel thread's own word with the
 * current thread) has no atomics. It passes from thread to thread with the seat, and
 * the switch orders it. So each switch is reported as a release of the VCPU by the
 * leaving thread and an acquire by the arriving thread. This hides a race of two
 * threads that happened to run one after the other on one VCPU; the same race is seen
 * when they run on two. Rejected: no order at all (no_sync). Each of these fields would
 * be reported; the many plain accesses would have to be exempted one by one, and real
 * races on them would be hidden too.
 *
 * A body passes from a thread that has ended to a new thread through pools that have an
 * order of their own. But the old thread's last accesses to its stack come after all
 * that it released. So drop() and make() tell ThreadSanitizer that the new thread
 * begins after the old one's end.
 *
 * ThreadSanitizer holds a signal back until the next atomic operation or call of libc,
 * and keeps it with the thread that it came to. A signal between a thread's last atomic
 * operation and the switch would wait until that thread runs again: for ever, if it has
 * ended. So signals are blocked from before the leaving thread's last atomic operation
 * until the arriving thread runs. They are also blocked while a `fiber` is made or
 * dropped, because ThreadSanitizer switches to it for that. Exempt are signals that are
 * never blocked: they are sent again or end the program at once (os/signal/signal.h).
 *
 * AddressSanitizer is told the bounds of the stack that is switched to. The handle of a
 * thread's fake stack is kept in `fiber`. A thread that ends gives none, so that its
 * fake stack is freed.
 */
#include "sched/sanitizer.h"

#if defined(WEFT_TSAN) || defined(WEFT_ASAN)

#include "sched/vcpu.h"
#include "sched/seat.h"

#define UNINSTRUMENTED \
	NOINLINE __attribute__((no_sanitize("thread", "address", "undefined")))

#endif

#if defined(WEFT_TSAN)

#include <sanitizer/tsan_interface.h>

#include "os/signal/signal.h"

#define NO_SYNC	1u

/* The kernel thread's mask during a switch. All threads are light here. */
static _Thread_local uint64_t mask;

/* Signals that have come to this thread are handled here, in instrumented code. */
static NOINLINE void hold_signals(const struct wefti_thread *t)
{
	mask = wefti_os_signals_block();
	(void)load_relaxed(&t->in_runtime);
}

/*
 * What the switch to t hands over: the VCPU; or t, if it is a loop that lost its VCPU.
 */
static ALWAYS_INLINE void *handed_to(struct wefti_thread *t)
{
	return t->vcpu ? (void *)t->vcpu : (void *)t;
}

UNINSTRUMENTED
void wefti_sanitizer_switch(struct wefti_thread *from, struct wefti_thread *to)
{
	hold_signals(from);
	__tsan_release(handed_to(to));
	__tsan_switch_to_fiber(to->cold->fiber, NO_SYNC);
}

UNINSTRUMENTED
void wefti_sanitizer_arrived(void)
{
	__tsan_acquire(handed_to(wefti_self()));
	wefti_os_signals_restore(mask);
}

UNINSTRUMENTED
void wefti_sanitizer_attach(struct wefti_thread *t)
{
	t->cold->fiber = __tsan_get_current_fiber();
}

UNINSTRUMENTED
void wefti_sanitizer_make(struct wefti_thread *t)
{
	const uint64_t before = wefti_os_signals_block();

	__tsan_acquire(t->cold);
	t->cold->fiber = __tsan_create_fiber(0);
	wefti_os_signals_restore(before);
}

UNINSTRUMENTED
void wefti_sanitizer_leave(struct wefti_thread *t)
{
	(void)t;
}

UNINSTRUMENTED
void wefti_sanitizer_drop(struct wefti_cold *body)
{
	const uint64_t before = wefti_os_signals_block();

	__tsan_destroy_fiber(body->fiber);
	wefti_os_signals_restore(before);
	body->fiber = NULL;
	__tsan_release(body);
}

void wefti_sanitizer_keep(const void *memory)
{
	(void)memory;
}

#elif defined(WEFT_ASAN)

#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>

#include "os/libc/process_stack.h"

/* The value of `fiber` of a thread on its last switch. */
static char leaving;

UNINSTRUMENTED
void wefti_sanitizer_switch(struct wefti_thread *from, struct wefti_thread *to)
{
	struct wefti_cold *out = from->cold;

	__sanitizer_start_switch_fiber(out->fiber == &leaving ? NULL :
				       &out->fiber, to->cold->stack_low,
				       to->cold->stack_bytes);
}

UNINSTRUMENTED
void wefti_sanitizer_arrived(void)
{
	__sanitizer_finish_switch_fiber(wefti_self()->cold->fiber, NULL, NULL);
}

UNINSTRUMENTED
void wefti_sanitizer_attach(struct wefti_thread *t)
{
	struct wefti_cold *cold = t->cold;

	cold->fiber = NULL;
	if (!cold->stack_bytes)
		wefti_os_process_stack(&cold->stack_low, &cold->stack_bytes);
}

UNINSTRUMENTED
void wefti_sanitizer_make(struct wefti_thread *t)
{
	t->cold->fiber = NULL;
}

UNINSTRUMENTED
void wefti_sanitizer_leave(struct wefti_thread *t)
{
	t->cold->fiber = &leaving;
}

/* Frames that were left without a return are still poisoned. */
UNINSTRUMENTED
void wefti_sanitizer_drop(struct wefti_cold *body)
{
	const char *low = body->stack.low;

	body->fiber = NULL;
	if (low)
		__asan_unpoison_memory_region(low,
				(size_t)((const char *)body - low));
}

void wefti_sanitizer_keep(const void *memory)
{
	__lsan_ignore_object(memory);
}

#endif

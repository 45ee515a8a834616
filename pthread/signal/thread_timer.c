/* SPDX-License-Identifier: MIT */
/*
 * pthread/signal/thread_timer.c - timers that send their signal to one green thread
 *
 * SIGEV_THREAD_ID names a kernel thread, and a green thread has none. So the kernel's
 * timer sends the receiver of signals the receiver's own signal
 * (pthread/signal/signal.c), with a number in the place of the program's value. By this
 * number the receiver finds the thread and the signal, and sends that. The timer could
 * not send the program's signal number, because the receiver leaves signals in the
 * kernel that all threads block.
 *
 * A timer's signal that waits for its thread counts the expirations that come meanwhile
 * (pthread/signal/signal_list.c), as the kernel's does. So timer_getoverrun() is answered
 * here, from the signal that the thread has taken last.
 *
 * Writers
 *   lock  wefti_thread_timers_forget
 */
#include "pthread/signal/thread_timer.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/signal/signal.h"
#include "pthread/core/answer.h"
#include "pthread/core/hold.h"
#include "pthread/core/real.h"
#include "pthread/core/self.h"
#include "pthread/core/started.h"
#include "pthread/core/time.h"
#include "pthread/signal/signal.h"
#include "syscall.h"

#define NO_ID	(-1)
#define SIGNALS	64	/* SIGRTMAX is a call, and a program may define that function */

struct timer {
	struct timer *next;
	uintptr_t number;	/* the kernel returns it as the signal's value */
	timer_t handle;		/* the program's; NULL: made by syscall(), has an id */
	int has_handle;
	int id;			/* the kernel's; NO_ID: not known yet */
	int overrun;		/* of the signal taken last */
	int signal;
	pid_t thread;
	union sigval value;
};

static _Atomic uint32_t lock;		/* pthread/core/hold.h */
static struct timer *timers;		/* under it */
static uintptr_t numbers;

/* --- making one ------------------------------------------------------ */

static struct wefti_thread *thread_of(pid_t id)
{
	if (!wefti_pt_is_started())
		return NULL;
	return id == getpid() ? wefti_rt.main : wefti_pt_find_made(id);
}

static int is_for_thread(const struct sigevent *event)
{
	return event && event->sigev_notify == SIGEV_THREAD_ID &&
	       thread_of(event->_sigev_un._tid);
}

static struct timer *make(const struct sigevent *event, struct sigevent *inner)
{
	struct timer *t;

	if (event->sigev_signo <= 0 || event->sigev_signo > SIGNALS) {
		errno = EINVAL;
		return NULL;
	}
	t = calloc(1, sizeof(*t));
	if (!t) {
		errno = EAGAIN;
		return NULL;
	}
	t->signal = event->sigev_signo;
	t->thread = event->_sigev_un._tid;
	t->value = event->sigev_value;
	t->id = NO_ID;
	*inner = *event;
	inner->sigev_signo = wefti_os_preempt_signal();
	inner->_sigev_un._tid = wefti_signals_receiver();
	return t;
}

/* Called before the timer is created, and so before it can be set. */
static void add(struct timer *t, struct sigevent *inner)
{
	struct wefti_hold h = wefti_hold_enter(&lock);

	t->number = ++numbers;
	t->next = timers;
	timers = t;
	wefti_hold_leave(&lock, h);
	inner->sigev_value.sival_ptr = (void *)t->number;
}

static void take_out(struct timer *t)
{
	struct wefti_hold h = wefti_hold_enter(&lock);
	struct timer **p = &timers;

	while (*p != t)
		p = &(*p)->next;
	*p = t->next;
	wefti_hold_leave(&lock, h);
}

static int is_handle(const struct timer *t, const void *handle)
{
	return t->has_handle && t->handle == handle;
}

static int is_id(const struct timer *t, const void *id)
{
	return t->id == *(const int *)id;
}

/* Under the lock. */
static struct timer *find(int (*is)(const struct timer *t, const void *what),
			  const void *what)
{
	struct timer *t = timers;

	while (t && !is(t, what))
		t = t->next;
	return t;
}

static struct timer *look_up(int (*is)(const struct timer *t, const void *what),
			     const void *what)
{
	struct wefti_hold h = wefti_hold_enter(&lock);
	struct timer *t = find(is, what);

	wefti_hold_leave(&lock, h);
	return t;
}

/* The signal may be taken meanwhile, by another thread. */
static int count_of(struct timer *t)
{
	struct wefti_hold h = wefti_hold_enter(&lock);
	int overrun = t->overrun;

	wefti_hold_leave(&lock, h);
	return overrun;
}

/* Other threads look through the list. */
static void set_handle(struct timer *t, timer_t handle)
{
	struct wefti_hold h = wefti_hold_enter(&lock);

	t->handle = handle;
	t->has_handle = 1;
	wefti_hold_leave(&lock, h);
}

static void set_id(struct timer *t, int id)
{
	struct wefti_hold h = wefti_hold_enter(&lock);

	t->id = id;
	wefti_hold_leave(&lock, h);
}

/* The kernel does not know a thread's clock. */
int wefti_timer_error(clockid_t clock)
{
	return wefti_pt_green() && wefti_pt_is_started() &&
	       (clock == CLOCK_THREAD_CPUTIME_ID ||
		wefti_clock_is_of_thread(clock)) ? ENOTSUP : 0;
}

EXPORT int timer_create(clockid_t clock, struct sigevent *event, timer_t *to)
{
	struct sigevent inner;
	int result = wefti_timer_error(clock);
	struct timer *t;

	if (result)
		return wefti_answer(result);
	if (!is_for_thread(event))
		return REAL(timer_create)(clock, event, to);
	t = make(event, &inner);
	if (!t)
		return -1;
	add(t, &inner);
	result = REAL(timer_create)(clock, &inner, to);
	if (result != 0) {
		take_out(t);
		free(t);
		return result;
	}
	set_handle(t, *to);
	return 0;
}

/* Only the caller uses the timer now: another use would be a fault of the program. */
EXPORT int timer_delete(timer_t timer)
{
	struct timer *t = look_up(is_handle, timer);
	int result = REAL(timer_delete)(timer);

	if (t && result == 0) {
		take_out(t);
		free(t);
	}
	return result;
}

EXPORT int timer_getoverrun(timer_t timer)
{
	struct timer *t = look_up(is_handle, timer);

	return t ? count_of(t) : REAL(timer_getoverrun)(timer);
}

/* --- its signal ------------------------------------------------------ */

static int is_number(const struct timer *t, const void *number)
{
	return t->number == (uintptr_t)number;
}

int wefti_thread_timer_fired(const siginfo_t *info)
{
	struct wefti_thread *to = NULL;
	siginfo_t sent = *info;
	struct wefti_hold h;
	struct timer *t;

	if (info->si_code != SI_TIMER)
		return 0;
	h = wefti_hold_enter(&lock);
	t = find(is_number, info->si_value.sival_ptr);
	if (t) {
		t->id = info->si_timerid;
		sent.si_signo = t->signal;
		sent.si_value = t->value;
		to = thread_of(t->thread);
	}
	wefti_hold_leave(&lock, h);
	if (to)
		(void)wefti_signal_send(to, &sent);
	return t != NULL;
}

void wefti_thread_timer_taken(const siginfo_t *info)
{
	struct wefti_hold h = wefti_hold_enter(&lock);
	struct timer *t = find(is_id, &info->si_timerid);

	if (t)
		t->overrun = info->si_overrun;
	wefti_hold_leave(&lock, h);
}

/* --- by syscall() ---------------------------------------------------- */

static long create(const long *a)
{
	struct sigevent inner;
	struct timer *t = make((const struct sigevent *)a[1], &inner);
	long result;

	if (!t)
		return -1;
	add(t, &inner);
	result = wefti_arch_syscall(SYS_timer_create, a[0], (long)&inner, a[2], 0, 0, 0);
	if (result == 0) {
		set_id(t, *(const int *)a[2]);
		return 0;
	}
	take_out(t);
	free(t);
	return wefti_answer((int)-result);
}

static long delete(struct timer *t)
{
	long result = wefti_arch_syscall(SYS_timer_delete, t->id, 0, 0, 0, 0, 0);

	if (result == 0) {
		take_out(t);
		free(t);
	}
	return wefti_answer((int)-result);
}

int wefti_thread_timer_syscall(long number, const long *a, long *result)
{
	const int id = (int)a[0];
	struct timer *t;

	if (number == SYS_timer_create && is_for_thread((const void *)a[1])) {
		*result = create(a);
		return 1;
	}
	if (number != SYS_timer_delete && number != SYS_timer_getoverrun)
		return 0;
	t = look_up(is_id, &id);
	if (!t)
		return 0;
	*result = number == SYS_timer_delete ? delete(t) : count_of(t);
	return 1;
}

void wefti_thread_timers_forget(void)
{
	timers = NULL;
	store_seq_cst(&lock, 0);
}

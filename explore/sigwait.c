/* SPDX-License-Identifier: MIT */
/*
 * explore/sigwait.c - a thread that waits for signals; the others have the turn meanwhile
 *
 * A signal that a thread sends to the waiting one comes as in signal.c, and stays pending
 * there. A signal of the process is seen by the thread that has the turn, if that blocks it,
 * as all threads of such a program do.
 *
 * A thread in sigsuspend() or pause() waits for its turn with the mask of that call, so a
 * signal of the process may run its handler there, without the turn. A handler that runs in
 * the microsecond between the change of the mask and the sleep is not seen.
 */
#include "explore.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "real.h"

#define NS_PER_S	INT64_C(1000000000)

struct call {
	const sigset_t *set;
	siginfo_t *info;
};

/* 0: none is pending. */
static int take_now(void *arguments)
{
	static const struct timespec at_once;
	const struct call *c = arguments;
	const int number = REAL(sigtimedwait)(c->set, c->info, &at_once);

	return number < 0 && errno == EAGAIN ? 0 : number;
}

static int wait_for(const sigset_t *set, siginfo_t *info, int64_t deadline,
		    const void *where)
{
	struct wefti_ex_thread *self = wefti_ex_self;
	struct call c = { set, info };
	sigset_t before;
	int number;

	/* In the kernel's wait no handler takes them either. */
	(void)REAL(pthread_sigmask)(SIG_BLOCK, set, &before);
	self->awaits = set;
	number = wefti_ex_wait_ready(&(struct wefti_ex_try){ take_now, &c }, NULL, 0, deadline,
				     WEFTI_EX_SIGWAIT, where);
	self->awaits = NULL;
	(void)REAL(pthread_sigmask)(SIG_SETMASK, &before, NULL);
	if (number == 0)
		errno = EAGAIN;
	return number > 0 ? number : -1;
}

/* A pending signal that the mask does not block, and that has a handler; 0: none. */
static int comes_through(const sigset_t *pending, const sigset_t *mask)
{
	struct sigaction action;

	for (int i = 1; i <= SIGRTMAX; i++)
		if (sigismember(pending, i) == 1 && sigismember(mask, i) == 0 &&
		    sigaction(i, NULL, &action) == 0 && action.sa_handler != SIG_IGN &&
		    action.sa_handler != SIG_DFL)
			return i;
	return 0;
}

int wefti_ex_is_awaited(const struct wefti_ex_thread *t)
{
	sigset_t pending, both;

	if (sigpending(&pending) != 0)
		return 0;
	if (t->suspends)
		return t->is_handled || comes_through(&pending, t->suspends);
	sigandset(&both, &pending, t->awaits);
	return !sigisemptyset(&both);
}

/* A handler ends a wait with a deadline in any case, even one with SA_RESTART. */
int wefti_ex_wait_suspended(struct wefti_ex_thread *self)
{
	static const struct timespec never = { INT64_C(1) << 40, 0 };
	sigset_t all;

	sigfillset(&all);
	(void)REAL(pthread_sigmask)(SIG_SETMASK, self->suspends, NULL);
	while (REAL(sem_clockwait)(&self->turn, CLOCK_MONOTONIC, &never) != 0)
		self->is_handled = 1;
	(void)REAL(pthread_sigmask)(SIG_SETMASK, &all, NULL);
	return 0;
}

/* With the turn: pending signals that the mask lets through. Returns 1: a handler has run. */
static int run_handlers(const sigset_t *mask)
{
	sigset_t pending, all;
	int number;

	if (sigpending(&pending) != 0)
		return 0;
	number = comes_through(&pending, mask);
	if (!number)
		return 0;
	sigfillset(&all);
	(void)REAL(pthread_sigmask)(SIG_SETMASK, mask, NULL);	/* they run here */
	(void)REAL(pthread_sigmask)(SIG_SETMASK, &all, NULL);
	return 1;
}

/*
 * All signals are blocked while the thread has the turn, and those of the mask while it waits
 * for the turn. So a signal of another thread has its handler run with the turn.
 */
static int suspend(const sigset_t *mask, const void *where)
{
	struct wefti_ex_thread *self = wefti_ex_self;
	sigset_t all, before, wanted;

	wefti_ex_point(self, WEFTI_EX_SIGWAIT, NULL, where);
	wefti_ex_cancel_point(self);
	sigfillset(&all);
	(void)REAL(pthread_sigmask)(SIG_BLOCK, &all, &before);
	wanted = mask ? *mask : before;
	wefti_ex.watches = 1;
	self->is_handled = 0;
	while (!self->is_handled && !run_handlers(&wanted)) {
		self->suspends = &wanted;
		(void)wefti_ex_block(self, &self->suspends, WEFTI_EX_NEVER);
		self->suspends = NULL;
		wefti_ex_cancel_point(self);
	}
	(void)REAL(pthread_sigmask)(SIG_SETMASK, &before, NULL);
	errno = EINTR;
	return -1;
}

EXPORT int sigsuspend(const sigset_t *mask)
{
	return wefti_ex_controlled() ? suspend(mask, CALLER) : REAL(sigsuspend)(mask);
}

EXPORT int pause(void)
{
	return wefti_ex_controlled() ? suspend(NULL, CALLER) : REAL(pause)();
}

/* What sigpause() is, by its name and by X/Open's: the header says which one is called. */
int wefti_ex_sigpause_bsd(int mask) __asm__("sigpause");
int wefti_ex_sigpause_xpg(int number) __asm__("__xpg_sigpause");

EXPORT int wefti_ex_sigpause_bsd(int mask)
{
	sigset_t set;

	sigemptyset(&set);
	for (int i = 0; i < 32; i++)
		if ((unsigned)mask >> i & 1)
			sigaddset(&set, i + 1);
	return wefti_ex_controlled() ? suspend(&set, CALLER) : REAL(sigsuspend)(&set);
}

EXPORT int wefti_ex_sigpause_xpg(int number)
{
	sigset_t set;

	if (REAL(pthread_sigmask)(SIG_BLOCK, NULL, &set) != 0 || sigdelset(&set, number) != 0)
		return -1;
	return wefti_ex_controlled() ? suspend(&set, CALLER) : REAL(sigsuspend)(&set);
}

/* A timer or the end of a child may send one. Otherwise another process has to. */
int wefti_ex_signals_may_come(void)
{
	const int kept = errno;
	struct itimerval timer;
	siginfo_t info;
	const int may = waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 ||
			(getitimer(ITIMER_REAL, &timer) == 0 &&
			 (timer.it_value.tv_sec || timer.it_value.tv_usec));

	errno = kept;
	return may;
}

EXPORT int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
	return wefti_ex_controlled() ? wait_for(set, info, WEFTI_EX_NEVER, CALLER) :
				       REAL(sigwaitinfo)(set, info);
}

EXPORT int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
			const struct timespec *restrict time)
{
	if (!wefti_ex_controlled() || (time && (time->tv_nsec < 0 || time->tv_nsec >= NS_PER_S)))
		return REAL(sigtimedwait)(set, info, time);
	return wait_for(set, info, !time ? WEFTI_EX_NEVER :
			wefti_ex_in(time->tv_sec * NS_PER_S + time->tv_nsec), CALLER);
}

/* It does not return for a handler. */
EXPORT int sigwait(const sigset_t *restrict set, int *restrict number)
{
	int got;

	if (!wefti_ex_controlled())
		return REAL(sigwait)(set, number);
	do
		got = wait_for(set, NULL, WEFTI_EX_NEVER, CALLER);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return errno;
	*number = got;
	return 0;
}

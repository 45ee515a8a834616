/* SPDX-License-Identifier: MIT */
/*
 * explore/sigwait.c - a thread that waits for signals; the others have the turn meanwhile
 *
 * A signal that a thread sends to the waiting one comes as in signal.c, and stays pending
 * there. A signal of the process is seen by the thread that has the turn, if that blocks it,
 * as all threads of such a program do.
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

int wefti_ex_is_awaited(const struct wefti_ex_thread *t)
{
	sigset_t pending, both;

	if (sigpending(&pending) != 0)
		return 0;
	sigandset(&both, &pending, t->awaits);
	return !sigisemptyset(&both);
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

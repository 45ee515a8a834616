/* SPDX-License-Identifier: MIT */
/*
 * explore/child.c - a thread that waits for a child process; the others have the turn meanwhile
 *
 * A child that has ended is looked for without a wait, and left as it is. The call itself is
 * made when there is one. If two threads wait for the same child, the one that comes later
 * waits on, or gets ECHILD.
 */
#include "explore.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "real.h"

struct call {
	idtype_t type;
	id_t id;
	int options;
};

/* 0: the child runs on. An error is the call's to tell. */
static int look_now(void *arguments)
{
	const struct call *c = arguments;
	siginfo_t info = { .si_pid = 0 };
	const int kept = errno;
	const int error = REAL(waitid)(c->type, c->id, &info,
				       c->options | WNOHANG | WNOWAIT);

	errno = kept;
	return error || info.si_pid ? 1 : 0;
}

/* Returns 0 before a call that finds a child; -1: a handler has run. */
static int wait_for(struct call *c, const void *where)
{
	return wefti_ex_wait_restarted(&(struct wefti_ex_try){ look_now, c }, NULL, 0,
				   WEFTI_EX_NEVER, WEFTI_EX_CHILD, where) < 0 ? -1 : 0;
}

/* The words of waitpid() in those of waitid(). */
static int wait_for_pid(pid_t pid, int options, const void *where)
{
	struct call c = { P_ALL, 0, WEXITED };

	if (pid > 0 || pid < -1) {
		c.type = pid > 0 ? P_PID : P_PGID;
		c.id = (id_t)(pid > 0 ? pid : -pid);
	} else if (pid == 0) {
		c.type = P_PGID;
		c.id = (id_t)getpgrp();
	}
	c.options |= (options & WUNTRACED) | (options & WCONTINUED) |
		     (options & (__WALL | __WCLONE | __WNOTHREAD));
	if (!wefti_ex_controlled())
		return 0;
	if (!(options & WNOHANG))
		return wait_for(&c, where);
	wefti_ex_asks(where);
	return 0;
}

EXPORT pid_t waitpid(pid_t pid, int *status, int options)
{
	return wait_for_pid(pid, options, CALLER) < 0 ? -1 : REAL(waitpid)(pid, status, options);
}

EXPORT pid_t wait(int *status)
{
	return wait_for_pid(-1, 0, CALLER) < 0 ? -1 : REAL(waitpid)(-1, status, 0);
}

EXPORT pid_t wait3(int *status, int options, struct rusage *usage)
{
	return wait_for_pid(-1, options, CALLER) < 0 ? -1 :
						REAL(wait4)(-1, status, options, usage);
}

EXPORT pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	return wait_for_pid(pid, options, CALLER) < 0 ? -1 :
						REAL(wait4)(pid, status, options, usage);
}

EXPORT int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	struct call c = { type, id, options };

	if (wefti_ex_controlled() && (options & WNOHANG))
		wefti_ex_asks(CALLER);
	else if (wefti_ex_controlled() && wait_for(&c, CALLER) < 0)
		return -1;
	return REAL(waitid)(type, id, info, options);
}

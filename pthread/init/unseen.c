/* SPDX-License-Identifier: MIT */
/*
 * pthread/init/unseen.c - children that libc does not see: _Fork(), clone()
 *
 * libc calls no fork handler for them, nor for those that syscall() makes. What fork()'s
 * handlers of this library do in the child is done here. It calls neither malloc nor
 * anything that waits, because _Fork() may be called in a signal handler. libc's own locks
 * stay as they were, as they do without weft.
 *
 * A child that has its parent's memory, or a thread pointer of its own, is left alone.
 */
#include "pthread/init/unseen.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include "init/fork.h"
#include "os/signal/signal.h"
#include "pthread/core/answer.h"
#include "pthread/core/real.h"
#include "pthread/core/second_names.h"
#include "pthread/core/self.h"
#include "pthread/core/started.h"
#include "pthread/init/start.h"
#include "pthread/kthread/schedule.h"
#include "pthread/signal/signal.h"

static int has_copy(uint64_t flags)
{
	return !(flags & (CLONE_VM | CLONE_SETTLS));
}

int wefti_unseen_copies(long number, const long *a)
{
	if (number == SYS_clone)
		return has_copy((uint64_t)a[0]);
	/* The first word of clone3()'s arguments; the kernel refuses such a size. */
	return a[0] && (unsigned long)a[1] >= sizeof(uint64_t) &&
	       has_copy(*(const uint64_t *)a[0]);
}

/* Signals of a green thread are blocked in its kernel thread anyway. */
struct wefti_unseen wefti_unseen_begin(void)
{
	struct wefti_unseen u = {
		.is_blocked = wefti_pt_is_started() && wefti_pt_is_libcs(),
	};

	if (u.is_blocked)
		u.mask = wefti_os_signals_block();
	u.parent = wefti_fork_unseen_begin();
	wefti_schedule_before_fork();
	return u;
}

void wefti_unseen_end(const struct wefti_unseen *u, int is_child)
{
	const int saved = errno;

	if (is_child)
		wefti_pt_child_of_fork();
	wefti_fork_unseen_end(u->parent, is_child);
	if (is_child)
		wefti_signals_child_takes();
	if (u->is_blocked)
		wefti_os_signals_restore(u->mask);
	errno = saved;
}

EXPORT pid_t _Fork(void)
{
	struct wefti_unseen u;
	pid_t pid;

	if (!REAL(_Fork))
		return wefti_answer(ENOSYS);
	u = wefti_unseen_begin();
	pid = REAL(_Fork)();
	wefti_unseen_end(&u, pid == 0);
	return pid;
}

/* What the child of clone() runs. It has a copy of this. */
struct call {
	int (*fn)(void *arg);
	void *arg;
	struct wefti_unseen unseen;
};

/*
 * When this returns, libc ends the kernel thread alone. The child may have made threads,
 * and then it has others. Threads that still run end with it; libc's would go on.
 */
static int run(void *arg)
{
	const struct call *c = arg;
	int status;

	wefti_unseen_end(&c->unseen, 1);
	status = c->fn(c->arg);
	if (wefti_pt_is_started())
		_exit(status);
	return status;
}

/* The flags say which of the last three arguments there are. libc reads all, too. */
EXPORT int clone(int (*fn)(void *arg), void *stack, int flags, void *arg, ...)
{
	struct call c = { .fn = fn, .arg = arg };
	pid_t *parents, *childs;
	va_list list;
	void *tls;
	int pid;

	va_start(list, arg);
	parents = va_arg(list, pid_t *);
	tls = va_arg(list, void *);
	childs = va_arg(list, pid_t *);
	va_end(list);
	if (!fn || !stack || !has_copy((unsigned)flags))
		return REAL(clone)(fn, stack, flags, arg, parents, tls, childs);
	c.unseen = wefti_unseen_begin();
	pid = REAL(clone)(run, stack, flags, &c, parents, tls, childs);
	wefti_unseen_end(&c.unseen, 0);
	return pid;
}
SECOND_NAME(clone, __clone);

/* SPDX-License-Identifier: MIT */
/*
 * pthread/process/ptrace.c - ptrace(): the tracing kernel thread makes every thread's
 * calls
 *
 * The kernel answers only the kernel thread that is the tracer: the one that has
 * attached, or that made a child which asked to be traced. A green thread may by now be
 * on another kernel thread. So the kernel is asked which kernel thread is the tracer
 * (TracerPid), and that kernel thread is sent on the errand. After the first such
 * request no kernel thread ends any more, because all that it traces would go on. A
 * green thread cannot ask to be traced itself: its kernel thread would be traced,
 * whichever thread that carries.
 *
 * A thread that waits for the end of one child (pthread/process/child.c) would not see
 * the child's stops: these are reported only to a wait in the kernel. So a wait checks
 * first whether the child is traced. When tracing begins, all threads that wait for a
 * child check again. The order is: tracing begins, then they are told; a wait says that
 * it waits, then checks. A child that asks to be traced tells its parent, by a word that
 * both have mapped and a signal to the parent's receiver.
 *
 * Writers
 *   shared.news  tell_parent
 *   mine  wefti_trace_begin, wefti_trace_forget
 */
#include "pthread/process/ptrace.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mem/slot.h"
#include "os/call/tasks.h"
#include "os/call/tid.h"
#include "os/call/vm.h"
#include "os/signal/errand.h"
#include "os/signal/signal.h"
#include "pthread/core/answer.h"
#include "pthread/core/real.h"
#include "pthread/core/self.h"
#include "pthread/core/started.h"
#include "pthread/signal/signal.h"
#include "sched/spare.h"
#include "syscall.h"
#include "thread/peek.h"

#define TRIES	1000	/* ten seconds: it may be stopped, or wait for a disk */

/* Shared by a process and the children that it makes by fork(). */
struct shared {
	_Atomic uint32_t news;	/* how often one of the children asked to be traced */
	pid_t pid;
	int receiver;		/* its kernel thread */
};

/* NULL: none, or out of memory. */
static _Atomic(struct shared *) mine;
static struct shared *parents;
static uint32_t seen;			/* of mine->news; only the receiver's */

void wefti_trace_begin(void)
{
	struct shared *s = wefti_os_vm_share(wefti_os_page_size());

	if (!s)
		return;
	s->pid = getpid();
	s->receiver = wefti_signals_receiver();
	store_seq_cst(&mine, s);
}

void wefti_trace_forget(void)
{
	if (parents)
		wefti_os_vm_unmap(parents, wefti_os_page_size());
	parents = load_seq_cst(&mine);
	store_seq_cst(&mine, NULL);
	seen = 0;
}

/* --- the waiting threads --------------------------------------------- */

int wefti_trace_is_ours(pid_t pid)
{
	int tracer = wefti_os_tracer(pid);

	return tracer > 0 && wefti_os_kthread_signal(tracer, 0) == 0;
}

static void urge_waiter(struct wefti_thread *t)
{
	uint32_t gen;
	const struct wefti_pt *pt = wefti_pt_peek(t, &gen);

	if (pt && load_seq_cst(&pt->awaits_child) && wefti_pt_is_same(t, gen))
		wefti_pt_urge(t, WEFTI_URGENT_LOOK);
}

static void urge_waiters(void)
{
	const uint32_t limit = wefti_slot_limit();

	urge_waiter(wefti_rt.main);
	for (uint32_t i = 1; i < limit; i++)
		urge_waiter(wefti_not_null(wefti_slot_get(i)));
}

void wefti_trace_pass_on(void)
{
	struct shared *s = load_seq_cst(&mine);
	const uint32_t news = s ? load_seq_cst(&s->news) : 0;

	if (likely(news == seen))
		return;
	seen = news;
	urge_waiters();
}

/* A parent that has ended, or has executed another program, is not told. */
static void tell_parent(void)
{
	if (!parents || getppid() != parents->pid)
		return;
	fetch_add_seq_cst(&parents->news, 1);
	(void)!wefti_arch_syscall(SYS_tgkill, parents->pid, parents->receiver,
				  wefti_os_preempt_signal(), 0, 0, 0);
}

/* --- requests -------------------------------------------------------- */

static long ask_kernel(void *four)
{
	const long *a = four;

	return wefti_arch_syscall(SYS_ptrace, a[0], a[1], a[2], a[3], 0, 0);
}

/* The caller may be the tracer. So it stays on its kernel thread, inside the runtime. */
static long ask_tracer(long *four)
{
	struct wefti_thread *self = wefti_enter();
	int tracer = wefti_os_tracer((pid_t)four[1]);
	long result;

	if (tracer == 0 || tracer == wefti_os_gettid() ||
	    wefti_os_errand(tracer, ask_kernel, four, TRIES, &result) != 0)
		result = ask_kernel(four);
	wefti_leave(self);
	return result;
}

static long trace(long *four)
{
	const int green = wefti_pt_green() && wefti_pt_is_started();
	long result;

	if (four[0] == PTRACE_TRACEME) {
		result = green ? -EPERM : ask_kernel(four);
		if (result == 0)
			tell_parent();
		return result;
	}
	if (!green)
		return ask_kernel(four);
	store_relaxed(&wefti_spares_stay, 1);
	result = ask_tracer(four);
	if (result == 0 && (four[0] == PTRACE_ATTACH || four[0] == PTRACE_SEIZE))
		urge_waiters();
	wefti_signals_run_any();
	return result;
}

/* Requests whose system call stores what it has read, and does not return it. */
static int peeks(long request)
{
	return request == PTRACE_PEEKTEXT || request == PTRACE_PEEKDATA ||
	       request == PTRACE_PEEKUSER;
}

EXPORT long ptrace(enum __ptrace_request request, ...)
{
	long four[4] = { request }, read = 0, result;
	va_list list;

	va_start(list, request);
	four[1] = va_arg(list, pid_t);
	four[2] = (long)va_arg(list, void *);
	four[3] = (long)va_arg(list, void *);
	va_end(list);
	if (peeks(request))
		four[3] = (long)&read;
	result = trace(four);
	if (result < 0)
		return wefti_answer((int)-result);
	if (!peeks(request))
		return result;
	errno = 0;
	return read;
}

int wefti_trace_syscall(long number, const long *a, long *result)
{
	long four[4] = { a[0], a[1], a[2], a[3] };

	if (number != SYS_ptrace)
		return 0;
	*result = trace(four);
	return 1;
}

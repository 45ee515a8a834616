/* SPDX-License-Identifier: MIT */
/*
 * explore/native_time.c - the clock that weft's own threads read, and the runtime for them
 *
 * Time is virtual on the VCPU, for the program and for the runtime's deadlines. It passes as for
 * pthreads, and where the VCPU would idle it jumps to the next deadline (sched/explore.c).
 * The monitor, the observer and the program's own kernel threads have the machine's clock.
 * Their times are all before the first one here, so no deadline is overdue for the monitor.
 *
 * Only readings of the program take time. How often the runtime reads the clock depends on
 * the monitor, too.
 */
#include "native.h"

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "export.h"
#include "real.h"
#include "weft.h"

#define ASKED		1000u
#define READING_NS	1000
#define CHILD_MS	1000
#define NS_PER_MS	INT64_C(1000000)

/* A variable of the kernel thread, or of a thread of weft with storage of its own. */
static __thread int is_on_vcpu;

int weft_explore_pass(int64_t until);

/* Has the process a child that runs? */
static int has_child(void)
{
	siginfo_t info = { .si_pid = 0 };

	return REAL(waitid)(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && !info.si_pid;
}

/*
 * For a child a second of real time passes before. Returns 1: it is so late now; -1: the clock is
 * the machine's, as in the child of a fork.
 */
EXPORT int weft_explore_pass(int64_t until)
{
	static int64_t waited_ms;
	const int64_t first = wefti_ex_native_ns(until);
	const int64_t ms = (first - wefti_ex.now) / NS_PER_MS;

	if (!wefti_ex.holder)
		return -1;
	wefti_ex_native_is_on_vcpu();
	if (waited_ms < CHILD_MS && waited_ms < ms && has_child()) {
		waited_ms++;
		(void)REAL(poll)(NULL, 0, 1);
		return 0;
	}
	waited_ms = 0;
	if (first > wefti_ex.now)
		wefti_ex.now = first;
	return 1;
}

void wefti_ex_native_is_on_vcpu(void)
{
	is_on_vcpu = 1;
}

/* The process's first kernel thread has the VCPU, unless a thread blocks there. */
int wefti_ex_native_has_clock(void)
{
	if (!is_on_vcpu && wefti_ex.is_on && REAL(syscall)(SYS_gettid) == getpid())
		is_on_vcpu = 1;
	return is_on_vcpu && wefti_ex.is_on;
}

void wefti_ex_native_asks(const void *where)
{
	struct wefti_ex_thread *self = wefti_ex_native_current();

	if (self && ++self->asked >= ASKED)
		(void)wefti_ex_native_point(WEFTI_EX_ASK, NULL, WEFTI_EX_NOTHING, where);
}

EXPORT int64_t weft_clock(void)
{
	if (wefti_ex.is_native && wefti_ex_native_has_clock()) {
		wefti_ex_native_asks(CALLER);
		wefti_ex.now += READING_NS;
	}
	return NEXT(weft_clock)();
}

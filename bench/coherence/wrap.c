/* SPDX-License-Identifier: MIT */
/*
 * coherence/wrap.c - the clocks and the sleeps of the library, on the virtual machine
 *
 * The linker puts them in front of the library's (--wrap).
 */
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "coherence/coherence.h"
#include "coherence/turn.h"

int __real_wefti_os_futex_wait(_Atomic uint32_t *w, uint32_t value, int64_t deadline);
int __wrap_wefti_os_futex_wait(_Atomic uint32_t *w, uint32_t value, int64_t deadline);
int __real_wefti_os_futex_wake(_Atomic uint32_t *w, int count);
int __wrap_wefti_os_futex_wake(_Atomic uint32_t *w, int count);
int64_t __wrap_wefti_os_now_ns(void);
void __real_wefti_os_yield(void);
void __wrap_wefti_os_yield(void);
int __real_wefti_os_kthread_is_asleep(int tid);
int __wrap_wefti_os_kthread_is_asleep(int tid);
int __real_clock_gettime(clockid_t id, struct timespec *t);
int __wrap_clock_gettime(clockid_t id, struct timespec *t);

int __wrap_wefti_os_futex_wait(_Atomic uint32_t *w, uint32_t value, int64_t deadline)
{
	if (turn_is_on())
		return turn_sleep(coherence_cpu(), w, value, deadline);
	return __real_wefti_os_futex_wait(w, value, deadline);
}

int __wrap_wefti_os_futex_wake(_Atomic uint32_t *w, int count)
{
	if (turn_is_on())
		return turn_wake(coherence_cpu(), w, count);
	return __real_wefti_os_futex_wake(w, count);
}

int64_t __wrap_wefti_os_now_ns(void)
{
	return turn_now(coherence_cpu());
}

void __wrap_wefti_os_yield(void)
{
	if (turn_is_on())
		turn_spend(coherence_cpu(), turn_costs.call);
	else
		__real_wefti_os_yield();
}

/* One that waits for its turn runs, as the library sees it. */
int __wrap_wefti_os_kthread_is_asleep(int tid)
{
	return turn_is_on() ? 0 : __real_wefti_os_kthread_is_asleep(tid);
}

int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	int64_t ns;

	if (!turn_is_on() && id != CLOCK_MONOTONIC)
		return __real_clock_gettime(id, t);
	if (id != CLOCK_MONOTONIC && id != CLOCK_PROCESS_CPUTIME_ID)
		return __real_clock_gettime(id, t);
	ns = turn_now(coherence_cpu());
	*t = (struct timespec){ ns / 1000000000, ns % 1000000000 };
	return 0;
}

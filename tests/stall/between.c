/* SPDX-License-Identifier: MIT */
/*
 * between.c - what a kernel thread does between threads is no step of a call
 *
 * When the victim is parked, its kernel thread does one of three things. It
 * keeps the time for all that idle (test_stall_keeper.c stops it there), looks
 * after the timers of another VCPU, or takes events of descriptors for the
 * threads that wait for them. If it is stopped in these, it holds up the thread
 * that it was to make ready (test_stall_timer.c stops it there), and
 * descriptors, by which probes go on.
 */
#include "sched/idle.h"
#include "sched/poller.h"
#include "sched/timer.h"
#include "steps.h"

int __real_wefti_idle_wait(struct wefti_vcpu *v, int searching);
int __wrap_wefti_idle_wait(struct wefti_vcpu *v, int searching);
int __real_wefti_poller_run(void);
int __wrap_wefti_poller_run(void);
void __real_wefti_timers_run(struct wefti_vcpu *v);
void __wrap_wefti_timers_run(struct wefti_vcpu *v);
void __real_wefti_timers_run_all(void);
void __wrap_wefti_timers_run_all(void);

int __wrap_wefti_idle_wait(struct wefti_vcpu *v, int searching)
{
	int searches;

	steps_hold();
	searches = __real_wefti_idle_wait(v, searching);
	steps_go_on();
	return searches;
}

int __wrap_wefti_poller_run(void)
{
	int events;

	steps_hold();
	events = __real_wefti_poller_run();
	steps_go_on();
	return events;
}

void __wrap_wefti_timers_run(struct wefti_vcpu *v)
{
	steps_hold();
	__real_wefti_timers_run(v);
	steps_go_on();
}

void __wrap_wefti_timers_run_all(void)
{
	steps_hold();
	__real_wefti_timers_run_all();
	steps_go_on();
}

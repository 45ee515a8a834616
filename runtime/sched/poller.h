/* SPDX-License-Identifier: MIT */
/*
 * sched/poller.h - finds ready descriptors: the VCPUs that look, and the one that
 * sleeps
 */
#ifndef WEFT_SCHED_POLLER_H
#define WEFT_SCHED_POLLER_H

#include <stdalign.h>

#include "os/call/epoll.h"
#include "sched/vcpu.h"

/* Events that were taken from the kernel and are not handled yet. */
struct wefti_poll_batch {
	int count;
	struct wefti_os_event event[WEFTI_OS_EVENTS];
};

/*
 * Makes the threads ready that wait for this event. Called inside the runtime, on any
 * thread's stack. data: as it was given to the kernel, or WEFTI_POLLER_OWN: one of the
 * kernel_calls may be done.
 */
typedef void wefti_poller_fn(uint64_t data, uint32_t ready);

#define WEFTI_POLLER_OWN	UINT64_MAX

struct wefti_poller {
	/* instance:16 | epoll:24 | wake:24; 0: not used yet */
	alignas(CACHE_LINE) _Atomic uint64_t word;
	_Atomic(wefti_poller_fn *) handler;
	_Atomic uint32_t instances;	/* number of pollers that were made so far */
	/* Calls that the kernel does on its own and reports by the eventfd. */
	_Atomic uint32_t kernel_calls;
	/* Threads about to wake the keeper; one may be foreign, while the VCPUs end. */
	_Atomic uint32_t starters;
	/* Index + 1 of the VCPU that sleeps in epoll or is about to. */
	alignas(CACHE_LINE) _Atomic uint32_t sleeper;
};

extern struct wefti_poller wefti_poller;

static inline int wefti_poller_is_on(void)
{
	return load_seq_cst(&wefti_poller.word) != 0;	/* P1 of poller.c */
}

/* word must not be 0. */
static inline int wefti_poller_epoll(uint64_t word)
{
	return (int)(word >> 24 & 0xffffff);
}

/* The poller's eventfd. word must not be 0. */
static inline int wefti_poller_eventfd(uint64_t word)
{
	return (int)(word & 0xffffff);
}

/* Is fd one of the poller's own descriptors? */
static inline int wefti_poller_has(int fd)
{
	uint64_t word = load_seq_cst(&wefti_poller.word);

	return word && (fd == wefti_poller_epoll(word) ||
			fd == wefti_poller_eventfd(word));
}

/* The number of this poller; two in succession never have the same. */
static inline uint32_t wefti_poller_instance(uint64_t word)
{
	return (uint32_t)(word >> 48);
}

/*
 * Starts the poller, at its first use in a runtime that is on. Returns 0, also when it
 * is on already; -EMFILE, -ENFILE or -ENOMEM.
 */
int wefti_poller_start(wefti_poller_fn *handler);

/*
 * Called when the VCPUs have ended. May wait for a foreign thread that is about to wake
 * one.
 */
void wefti_poller_stop(void);

/* Called in the child of a fork, where no other thread exists. */
void wefti_poller_forget(void);

/* Takes the events that are there and handles them; returns how many. Does not wait. */
int wefti_poller_run(void);

/* The same, unless a VCPU sleeps in the poller, or it is off. */
static inline int wefti_poller_poll(void)
{
	if (likely(!load_relaxed(&wefti_poller.word)) ||
	    load_relaxed(&wefti_poller.sleeper))
		return 0;
	return wefti_poller_run();
}

/*
 * Called by the idle VCPU v that keeps the time; the poller is on. Sleeps until there
 * are events, the time is `until`, or v is woken after v->wake was `seen`.
 */
void wefti_poller_sleep(struct wefti_vcpu *v, uint32_t seen, int64_t until,
			struct wefti_poll_batch *batch);

void wefti_poller_handle(const struct wefti_poll_batch *batch);

/*
 * Wakes the idle VCPU v, on its futex or in epoll, so that it looks around again. Its
 * idle bit may have been cleared before.
 */
void wefti_poller_wake_vcpu(struct wefti_vcpu *v);

#endif

/* SPDX-License-Identifier: MIT */
/* sched/poller.h - descriptors become ready: who looks, and who sleeps for them */
#ifndef WEFT_SCHED_POLLER_H
#define WEFT_SCHED_POLLER_H

#include <stdalign.h>

#include "os/call/epoll.h"
#include "sched/vcpu.h"

/* Events that were taken from the kernel, and not handled yet. */
struct wefti_poll_batch {
	int count;
	struct wefti_os_event event[WEFTI_OS_EVENTS];
};

/*
 * Makes ready who waits for this event. Called inside the runtime, on any
 * thread's stack. data: as watched, or WEFTI_POLLER_OWN: one of the kernel_calls may
 * be done.
 */
typedef void wefti_poller_fn(uint64_t data, uint32_t ready);

#define WEFTI_POLLER_OWN	UINT64_MAX

struct wefti_poller {
	/* instance:16 | epoll:24 | wake:24; 0: nobody has used it yet */
	alignas(CACHE_LINE) _Atomic uint64_t word;
	_Atomic(wefti_poller_fn *) handler;
	_Atomic uint32_t instances;	/* how many there have been */
	/* Calls that the kernel does on its own, and tells of by the eventfd. */
	_Atomic uint32_t kernel_calls;
	/* Who is about to wake the keeper: a foreign thread, while VCPUs go. */
	_Atomic uint32_t starters;
	/* The VCPU that sleeps in epoll, or is about to: its index + 1. */
	alignas(CACHE_LINE) _Atomic uint32_t sleeper;
};

extern struct wefti_poller wefti_poller;

static inline int wefti_poller_is_on(void)
{
	return load_seq_cst(&wefti_poller.word) != 0;	/* P1 of poller.c */
}

/* Of a word that is not 0. */
static inline int wefti_poller_epoll(uint64_t word)
{
	return (int)(word >> 24 & 0xffffff);
}

/* The same. Its eventfd. */
static inline int wefti_poller_wake(uint64_t word)
{
	return (int)(word & 0xffffff);
}

/* Is fd one of the poller's own descriptors? */
static inline int wefti_poller_has(int fd)
{
	uint64_t word = load_seq_cst(&wefti_poller.word);

	return word && (fd == wefti_poller_epoll(word) ||
			fd == wefti_poller_wake(word));
}

/* Which poller that is; no two that follow each other have the same. */
static inline uint32_t wefti_poller_instance(uint64_t word)
{
	return (uint32_t)(word >> 48);
}

/*
 * The first use in a runtime that is on. Returns 0, also when it is on already;
 * -EMFILE, -ENFILE or -ENOMEM.
 */
int wefti_poller_start(wefti_poller_fn *handler);

/* The VCPUs have ended. May wait for a foreign thread that was about to wake one. */
void wefti_poller_stop(void);

/* The child of a fork: there are no others. */
void wefti_poller_forget(void);

/* Takes what is there and handles it; returns how much. No waiting. */
int wefti_poller_look(void);

/* The same, unless a VCPU sleeps in it, or it is off. */
static inline int wefti_poller_poll(void)
{
	if (likely(!load_relaxed(&wefti_poller.word)) ||
	    load_relaxed(&wefti_poller.sleeper))
		return 0;
	return wefti_poller_look();
}

/*
 * By idle v, which keeps the time: sleeps until there are events, or `until`, or
 * a wake-up after v->wake was `seen`. The poller is on.
 */
void wefti_poller_sleep(struct wefti_vcpu *v, uint32_t seen, int64_t until,
			struct wefti_poll_batch *batch);

void wefti_poller_handle(const struct wefti_poll_batch *batch);

/*
 * v idles, and has to look around again; its idle bit may have been cleared
 * before. Wakes it where it sleeps.
 */
void wefti_poller_wake_vcpu(struct wefti_vcpu *v);

#endif

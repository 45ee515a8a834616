/* SPDX-License-Identifier: MIT */
/*
 * plan9/locked.h - a channel of uint64_t under a lock, as libthread's are
 *
 * Two locks. The one spins 1,000 times, gives way 1,000 times, and then sleeps
 * for a millisecond at a time. The "greased" one counts the threads that want
 * it, and all but the first wait in a semaphore. A thread that waits for the
 * channel has left the lock. Semaphores are weft's, for kernel threads too, so
 * that plan9-cas can count what they take.
 */
#ifndef WEFT_BENCH_PLAN9_LOCKED_H
#define WEFT_BENCH_PLAN9_LOCKED_H

#include <errno.h>
#include <time.h>
#include <weft.h>

#include "cpu.h"
#include "face.h"
#include "lockfree/atomic.h"
#include "plan9/talk.h"

struct lock {
	int greased;
	_Atomic uint32_t word;		/* taken; greased: how many want it */
	struct weft_sem sem;
};

struct waiter {
	struct waiter *next;
	uint64_t message;
	struct weft_sem sem;
};

struct queue {
	struct waiter *first, *last;
};

struct locked_chan {
	struct lock lock;		/* protects all below */
	struct queue senders, receivers;
	unsigned head, count;
	uint64_t message[CAPACITY];
};

static void nap_until(int64_t deadline)
{
#if FACE_IS_WEFT
	must(weft_sleep_until(deadline), "sleep");
#else
	const struct timespec t = {
		.tv_sec = deadline / 1000000000,
		.tv_nsec = deadline % 1000000000,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) ==
	       EINTR)
		;
#endif
}

static void lock(struct lock *l)
{
	if (l->greased) {
		if (fetch_add_seq_cst(&l->word, 1u) > 0)
			must(weft_sem_wait(&l->sem), "sem_wait");
		return;
	}
	for (unsigned i = 0; xchg_seq_cst(&l->word, 1u); i++) {
		if (i < 1000)
			wefti_arch_pause();
		else if (i < 2000)
			face_yield();
		else
			nap_until(bench_wall_now() + 1000000);
	}
}

static void unlock(struct lock *l)
{
	if (!l->greased)
		store_seq_cst(&l->word, 0u);
	else if (fetch_sub_seq_cst(&l->word, 1u) > 1)
		must(weft_sem_post(&l->sem), "sem_post");
}

static void locked_create(struct locked_chan *c, int greased)
{
	memset(c, 0, sizeof(*c));
	c->lock.greased = greased;
	must(weft_sem_init(&c->lock.sem, 0), "sem_init");
}

/* Waits with the message, or for one; gives up the lock. */
static uint64_t wait_in(struct locked_chan *c, struct queue *q, uint64_t x)
{
	struct waiter w = { .message = x };

	must(weft_sem_init(&w.sem, 0), "sem_init");
	if (q->first)
		q->last->next = &w;
	else
		q->first = &w;
	q->last = &w;
	unlock(&c->lock);
	must(weft_sem_wait(&w.sem), "sem_wait");
	return w.message;
}

static struct waiter *first_of(struct queue *q)
{
	struct waiter *w = q->first;

	if (w)
		q->first = w->next;
	return w;
}

static void put(struct locked_chan *c, uint64_t x)
{
	c->message[(c->head + c->count++) % CAPACITY] = x;
}

static void locked_send(struct locked_chan *c, uint64_t x)
{
	struct waiter *w;

	lock(&c->lock);
	if (c->count == CAPACITY) {
		(void)wait_in(c, &c->senders, x);
		return;
	}
	w = first_of(&c->receivers);
	if (w)
		w->message = x;
	else
		put(c, x);
	unlock(&c->lock);
	if (w)
		must(weft_sem_post(&w->sem), "sem_post");
}

static uint64_t locked_recv(struct locked_chan *c)
{
	struct waiter *w;
	uint64_t x;

	lock(&c->lock);
	if (!c->count)
		return wait_in(c, &c->receivers, 0);
	x = c->message[c->head];
	c->head = (c->head + 1) % CAPACITY;
	c->count--;
	w = first_of(&c->senders);
	if (w)
		put(c, w->message);
	unlock(&c->lock);
	if (w)
		must(weft_sem_post(&w->sem), "sem_post");
	return x;
}

#endif

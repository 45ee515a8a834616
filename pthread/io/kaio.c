/* SPDX-License-Identifier: MIT */
/*
 * pthread/io/kaio.c - the kernel's asynchronous I/O: io_submit(), io_getevents()
 *
 * A database has threads that wait in io_getevents() for as long as it runs. Each would
 * keep a kernel thread. So each request is submitted with an eventfd of ours, one for
 * each context. The kernel posts to it when the request ends. A waiting thread looks at
 * the context's queue whenever the poller reports the eventfd, and parks in between.
 *
 * States of a context, as far as we have seen its calls
 *   OTHERS  it was not made by a call of ours, so its requests may not be ours either. Or
 *           some requests do not post to our eventfd: they have one of the program's, or
 *           were submitted before there were green threads.
 *   OURS    made by a call of ours, and each request posts to our eventfd
 *
 *   OTHERS --io_setup()--> OURS --io_submit()--> OURS, OTHERS
 *   OURS --io_destroy()--> OTHERS
 *
 * A thread waits in a region if the context is not OURS.
 *
 * Writers
 *   place.wake  wake_of
 *   place.word  make_others, place_of, set_up
 *
 * Invariants
 *   I1  A request that does not post to our eventfd is submitted only after its context
 *       has become OTHERS.
 *   I2  A thread that makes a context OTHERS, or has destroyed it, posts to the eventfd
 *       after that. So all parked threads look again.
 *   I3  A place belongs to one context for good, and all places behind the first free
 *       one are free. The kernel reuses addresses, and there are few places. A context
 *       without a place is OTHERS.
 *
 * Progress
 *   Lock-free, as far as the kernel's calls are. When a request ends, all threads that
 *   wait for its context look.
 *
 *   No thread waits for ever. The kernel puts the event into the queue, then posts. The
 *   waiting thread takes the eventfd's edges, then looks at the queue (io/side.c: I1).
 *
 * Pairs
 *   P1  io_submit(), io_destroy(): the context is OTHERS; post.
 *       waiting thread: takes the edges; loads the context
 */
#include "pthread/io/kaio.h"

#include <errno.h>
#include <linux/aio_abi.h>
#include <sys/syscall.h>

#include "base/compiler.h"
#include "os/call/epoll.h"
#include "pthread/core/real.h"
#include "pthread/core/started.h"
#include "pthread/core/time.h"
#include "pthread/signal/region.h"
#include "pthread/wait/fd_wait.h"
#include "syscall.h"

/* word = the context (the address of a page) | OTHERS */
#define OTHERS		UINT64_C(1)
#define PLACES		64

struct place {
	_Atomic uint64_t word;	/* 0: free, as are all places after it */
	_Atomic int wake;	/* its eventfd; 0: none yet */
};

static struct place places[PLACES] TABLE;

int wefti_kaio_next(int from)
{
	int next = -1;

	for (int i = 0; i < PLACES && load_relaxed(&places[i].word); i++) {
		int fd = load_relaxed(&places[i].wake);

		if (fd > 0 && fd >= from && (next < 0 || fd < next))
			next = fd;
	}
	return next;
}

static struct place *place_of(uint64_t context, int may_take)
{
	for (int i = 0; i < PLACES; i++) {
		struct place *p = &places[i];
		uint64_t w = load_seq_cst(&p->word);

		if (w == 0 && !may_take)
			return NULL;
		if (w == 0 && cas_seq_cst(&p->word, &w, context))
			return p;
		if ((w & ~OTHERS) == context)
			return p;
	}
	return NULL;
}

static int is_ours(const struct place *p)
{
	return p && !(load_seq_cst(&p->word) & OTHERS);	/* P1 */
}

static void post(struct place *p)
{
	int fd = load_seq_cst(&p->wake);

	if (fd > 0)
		wefti_os_eventfd_post(fd);
}

/* The context's eventfd, made at the first call that needs it. -1: there is none. */
static int wake_of(struct place *p)
{
	int fd = load_seq_cst(&p->wake), none = 0;

	if (likely(fd))
		return fd;
	fd = wefti_os_eventfd_make();
	if (fd <= 0 || cas_seq_cst(&p->wake, &none, fd))
		return fd > 0 ? fd : -1;
	(void)REAL(close)(fd);
	return none;
}

/* Makes all post to fd. Returns 0 if one does not: then it matters no more which do. */
static int have_post(struct iocb **list, long n, int fd)
{
	for (long i = 0; i < n; i++) {
		struct iocb *cb = list[i];

		if (!(cb->aio_flags & IOCB_FLAG_RESFD)) {
			cb->aio_flags |= IOCB_FLAG_RESFD;
			cb->aio_resfd = (uint32_t)fd;
		}
		if (cb->aio_resfd != (uint32_t)fd)
			return 0;
	}
	return 1;
}

static void make_others(struct place *p)
{
	fetch_or_seq_cst(&p->word, OTHERS);	/* P1 */
	post(p);		/* I2 */
}

static void prepare(uint64_t context, struct iocb **list, long n)
{
	struct place *p = place_of(context, 0);
	int fd;

	if (!is_ours(p))
		return;
	fd = wefti_pt_is_started() ? wake_of(p) : -1;
	if (fd < 0 || !have_post(list, n, fd))
		make_others(p);		/* I1 */
}

static long set_up(unsigned requests, aio_context_t *context)
{
	long error = wefti_arch_syscall(SYS_io_setup, requests, (long)context,
					0, 0, 0, 0);
	struct place *p = error ? NULL : place_of(*context, 1);

	if (p)
		store_seq_cst(&p->word, *context);
	return error;
}

static long submit(uint64_t context, long n, struct iocb **list)
{
	if (n > 0)
		prepare(context, list, n);
	return wefti_arch_syscall(SYS_io_submit, (long)context, n, (long)list,
				  0, 0, 0);
}

static long destroy(uint64_t context)
{
	struct place *p = place_of(context, 0);
	long error;

	wefti_region_begin();	/* it waits until pending requests have ended */
	error = wefti_arch_syscall(SYS_io_destroy, (long)context, 0, 0, 0, 0, 0);
	wefti_region_end();
	if (!error && p)
		make_others(p);
	return error;
}

/* --- io_getevents() ------------------------------------------------ */

struct get {
	uint64_t context;
	struct place *place;	/* NULL: none */
	long min, most;
	struct io_event *events;
	long got, error;
};

/* One call of the kernel, with this timeout; NULL: for ever. */
static void get(struct get *g, long min, struct timespec *time)
{
	long n = wefti_arch_syscall(SYS_io_getevents, (long)g->context, min,
				    g->most - g->got, (long)(g->events + g->got),
				    (long)time, 0);

	if (n < 0)
		g->error = n;
	else
		g->got += n;
}

static int is_done(const struct get *g)
{
	return g->error || g->got >= g->min;
}

/*
 * Gets what is there. Returns 1 if the call is over, or cannot park. Also called when the
 * thread no longer parks.
 */
static int get_now(void *arg)
{
	struct timespec now = { 0, 0 };
	struct get *g = arg;

	get(g, 0, &now);
	return is_done(g) || !is_ours(g->place);
}

/* Returns 0 if more may come and the caller has to wait for it in a region. */
static int get_parked(struct get *g, int64_t deadline, uint32_t handled)
{
	struct pollfd fd = { .fd = wake_of(g->place), .events = POLLIN };
	int state, error;

	if (fd.fd < 0)
		return 0;

	/* It is no cancellation point. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	error = wefti_pt_ready_wait(&fd, 1, get_now, g, deadline, &handled);
	pthread_setcancelstate(state, NULL);
	if (error == EINTR)
		g->error = -EINTR;
	return error == EAGAIN || is_done(g);
}

/* A signal of the runtime's ends it too: that is none of the program's. */
static void get_in_region(struct get *g, int64_t deadline, uint32_t handled)
{
	do {
		struct timespec rest, *time = NULL;

		if (deadline != INT64_MAX) {
			rest = wefti_time_rest(deadline);
			time = &rest;
		}
		g->error = 0;
		wefti_region_begin();
		get(g, g->min - g->got, time);
		wefti_region_end();
	} while (g->error == -EINTR && wefti_pt.handled == handled);
}

/* Does it not wait, or is it nothing to us how it waits? */
static int is_at_once(const struct get *g, const struct timespec *time)
{
	return !wefti_pt_green() || !wefti_pt_is_started() || g->min <= 0 ||
	       g->min > g->most || (time && time->tv_sec == 0 &&
				    time->tv_nsec == 0);
}

/* For an invalid time: the kernel decides what it means. */
static void get_at_odd_time(struct get *g, struct timespec *time)
{
	wefti_region_begin();
	get(g, g->min, time);
	wefti_region_end();
}

static void get_in_time(struct get *g, const struct timespec *time)
{
	const uint32_t handled = wefti_pt.handled;
	int64_t deadline = time ? wefti_time_after(wefti_time_ns(time)) :
				  INT64_MAX;

	g->place = place_of(g->context, 0);
	if (!is_ours(g->place) || !get_parked(g, deadline, handled))
		get_in_region(g, deadline, handled);
}

static long get_events(struct get *g, struct timespec *time)
{
	if (is_at_once(g, time))
		get(g, g->min, time);
	else if (time && !wefti_time_is_kernels(time))
		get_at_odd_time(g, time);
	else
		get_in_time(g, time);
	return g->got ? g->got : g->error;
}

/* --- what programs call -------------------------------------------- */

int wefti_kaio_syscall(long number, const long a[6], long *result)
{
	struct get g = {
		.context = (uint64_t)a[0], .min = a[1], .most = a[2],
		.events = (void *)a[3],
	};

	switch (number) {
	case SYS_io_setup:
		*result = set_up((unsigned)a[0], (void *)a[1]);
		return 1;
	case SYS_io_submit:
		*result = submit((uint64_t)a[0], a[1], (void *)a[2]);
		return 1;
	case SYS_io_destroy:
		*result = destroy((uint64_t)a[0]);
		return 1;
	case SYS_io_getevents:
		*result = get_events(&g, (void *)a[4]);
		return 1;
	default:
		return 0;
	}
}

EXPORT int io_setup(int requests, aio_context_t *context)
{
	return (int)set_up((unsigned)requests, context);
}

EXPORT int io_submit(aio_context_t context, long n, struct iocb **list)
{
	return (int)submit(context, n, list);
}

EXPORT int io_destroy(aio_context_t context)
{
	return (int)destroy(context);
}

EXPORT int io_getevents(aio_context_t context, long min, long most,
			struct io_event *events, struct timespec *time)
{
	struct get g = {
		.context = context, .min = min, .most = most,
		.events = events,
	};

	return (int)get_events(&g, time);
}

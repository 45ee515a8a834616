/* SPDX-License-Identifier: MIT */
/* pthread/init/allocator.c - a malloc() that is not libc's, under green threads */
#include "pthread/init/allocator.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "os/libc/allocator.h"
#include "os/libc/bind.h"
#include "pthread/core/real.h"
#include "pthread/core/started.h"
#include "pthread/core/time.h"
#include "pthread/wait/lot.h"
#include "sched/seat.h"

static int is_bound;

static void give_up(void *mutex)
{
	(void)REAL(pthread_mutex_unlock)(mutex);
}

/* The mutex is locked as by a kernel thread, but outside the runtime. */
static int wait_until(pthread_cond_t *c, pthread_mutex_t *m, int64_t deadline)
{
	const struct wefti_lot_wait w = {
		.key = c, .queued = give_up, .arg = m, .deadline = deadline,
		.why = WEFTI_WHY_COND,
	};
	enum wefti_lot_end end = wefti_lot_wait(&w);
	int error = REAL(pthread_mutex_lock)(m);

	return error ? error : end == WEFTI_LOT_TIMEDOUT ? ETIMEDOUT : 0;
}

static int cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
	return wait_until(c, m, INT64_MAX);
}

/* The time is of the wall clock: the known allocators use no other. */
static int cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m,
			  const struct timespec *at)
{
	if (!wefti_time_is_valid(at))
		return EINVAL;
	return wait_until(c, m, wefti_time_deadline(CLOCK_REALTIME, at));
}

/*
 * Called from inside malloc(), maybe with its locks held, and maybe inside the runtime.
 * So the caller does not give up its VCPU.
 */
static void wake(pthread_cond_t *c, unsigned most)
{
	struct wefti_thread *self = wefti_enter_anywhere();

	wefti_lot_wake(c, most, WEFTI_LOT_ANY);
	wefti_leave_anywhere(self);
}

static int cond_signal(pthread_cond_t *c)
{
	wake(c, 1);
	return 0;
}

static int cond_broadcast(pthread_cond_t *c)
{
	wake(c, UINT32_MAX);
	return 0;
}

/*
 * jemalloc holds locks when it makes a thread. If that is the first thread, the runtime
 * cannot start: the start tries out a thread's life, and that allocates.
 */
static int create(pthread_t *thread, const pthread_attr_t *attr,
		  void *(*fn)(void *arg), void *arg)
{
	return wefti_pt_is_started() ?
		       pthread_create(thread, attr, fn, arg) :
		       REAL(pthread_create)(thread, attr, fn, arg);
}

/* The allocator looks up only the next pthread_create, once. */
static void *look_up(void *handle, const char *name)
{
	return strcmp(name, "pthread_create") == 0 ? (void *)create :
						     dlsym(handle, name);
}

#define LIBCS(name)	{ #name, (void *)REAL(name) }
#define OURS(name, fn)	{ #name, (void *)(fn) }

void wefti_allocator_bind(void)
{
	const struct wefti_os_binding bindings[] = {
		LIBCS(pthread_mutex_lock), LIBCS(pthread_mutex_trylock),
		LIBCS(pthread_mutex_timedlock), LIBCS(pthread_mutex_unlock),
		LIBCS(pthread_once), LIBCS(sched_yield), LIBCS(nanosleep),
		LIBCS(usleep), LIBCS(syscall), LIBCS(open), LIBCS(read),
		LIBCS(write), LIBCS(close), OURS(dlsym, look_up),
		OURS(pthread_cond_wait, cond_wait),
		OURS(pthread_cond_timedwait, cond_timedwait),
		OURS(pthread_cond_signal, cond_signal),
		OURS(pthread_cond_broadcast, cond_broadcast),
	};
	uintptr_t base;

	if (is_bound ||
	    wefti_settings_peek("WEFT_MALLOC") != WEFTI_MALLOC_KNOWN ||
	    wefti_os_allocator_find(&base) != WEFTI_ALLOCATOR_KNOWN)
		return;
	is_bound = wefti_os_bind(base, bindings,
				 sizeof(bindings) / sizeof(*bindings)) == 0;
}

void wefti_allocator_serve(void)
{
	wefti_os_allocator_is_served = is_bound &&
		wefti_settings_peek("WEFT_MALLOC") == WEFTI_MALLOC_KNOWN;
}

void wefti_allocator_tell(void)
{
	if (is_bound)
		wefti_log(WEFTI_LOG_INFO, "weft: malloc: a known library's, with "
			  "libc's locks\n");
}

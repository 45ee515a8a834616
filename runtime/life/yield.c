/* SPDX-License-Identifier: MIT */
/* life/yield.c - gives way, sleeps, and names threads */
#include <errno.h>
#include <string.h>

#include "os/call/clock.h"
#include "os/call/copy.h"
#include "sched/park.h"
#include "thread/bare.h"
#include "thread/name.h"
#include "thread/peek.h"
#include "weft/thread.h"

int64_t weft_clock(void)
{
	return wefti_os_now_ns();
}

int64_t weft_deadline(int64_t ns)
{
	int64_t now = wefti_os_now_ns();

	if (ns <= 0)
		return now;
	return ns > WEFT_FOREVER - now ? WEFT_FOREVER : now + ns;
}

void weft_yield(void)
{
	struct wefti_thread *self = wefti_enter();

	wefti_yield(self);
	wefti_leave(self);
}

int weft_sleep_until(int64_t deadline)
{
	struct wefti_thread *self = wefti_enter();
	enum wefti_cause cause = WEFTI_CAUSE_TIMEDOUT;

	if (wefti_is_cancelled(self)) {
		cause = WEFTI_CAUSE_CANCELLED;
	} else if (deadline > wefti_os_now_ns()) {
		uint64_t flags = wefti_cancel_flag(self);

		if (deadline != WEFT_FOREVER)
			flags |= WEFTI_WAIT_TIMED;
		wefti_park_begin(self, flags, WEFTI_WHY_SLEEP, NULL);
		cause = wefti_park(self, deadline);
	} else {
		wefti_yield(self);
	}
	wefti_leave(self);
	return cause == WEFTI_CAUSE_CANCELLED ? -ECANCELED : 0;
}

int weft_sleep(int64_t ns)
{
	int64_t now = wefti_os_now_ns();

	return weft_sleep_until(ns > INT64_MAX - 1 - now ? INT64_MAX - 1 :
							  now + ns);
}

uint64_t weft_self(void)
{
	return wefti_thread_id(wefti_known_self());
}

int weft_set_name(uint64_t id, const char *name)
{
	struct wefti_thread *t = wefti_thread_find(id);

	if (!t || !wefti_peek_cold(t))
		return -ESRCH;	/* or it has ended and waits for its join */
	name = name ? name : "";
	WEFTI_PROBE_THREAD(WEFTI_EVENT_NAME, t, name);
	if (wefti_records_any())
		wefti_record_named(NULL, id, name);
	return wefti_name_set(id, name);
}

/*
 * The name with which the thread was spawned, or which a foreign thread's maker gave
 * it. The body may pass to another thread, or be freed, during the look; then returns
 * 0.
 */
static int first_name(struct wefti_thread *t, uint64_t id,
		      char name[WEFTI_NAME_BYTES])
{
	struct wefti_cold *body = wefti_peek_cold(t);

	if (!body)
		return 0;
	memset(name, 0, WEFTI_NAME_BYTES);
	if (t == wefti_self())
		memcpy(name, body->name, WEFTI_NAME_BYTES);
	else
		(void)wefti_os_copy(name, body->name, WEFTI_NAME_BYTES);
	name[WEFTI_NAME_BYTES - 1] = 0;
	return wefti_thread_find(id) == t && wefti_peek_cold(t) == body;
}

int weft_name(uint64_t id, char *buf, size_t size)
{
	struct wefti_thread *t = wefti_thread_find(id);
	char name[WEFTI_NAME_BYTES];

	if (size == 0)
		return -EINVAL;
	if (!t || !first_name(t, id, name))
		return -ESRCH;
	(void)wefti_name_get(id, name);
	buf[0] = 0;
	strncat(buf, name, size - 1);
	return 0;
}

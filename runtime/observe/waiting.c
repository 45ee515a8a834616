/* SPDX-License-Identifier: MIT */
/*
 * observe/waiting.c - for which objects threads wait now: how many, and how long
 *
 * A table of fixed size, since the observer does not allocate. If there are more objects,
 * those that are found first are told of. The thread that has waited longest stands for
 * the others: the owner is read from its view.
 */
#include "observe/waiting.h"

#include "io/table.h"
#include "observe/view.h"
#include "os/call/clock.h"
#include "thread/peek.h"

#define OBJECTS	512u
#define PROBES	16u

static struct {
	const void *object;	/* NULL: not used */
	unsigned why;
	uint64_t count;
	int64_t since;		/* of the oldest wait; INT64_MAX: not known */
	uint32_t slot;		/* the thread of that wait, or any */
} table[OBJECTS] TABLE;

void wefti_waiting_clear(void)
{
	for (unsigned i = 0; i < OBJECTS; i++)
		table[i].object = NULL;
}

/* A foreign thread's cold part may be gone. */
static int64_t since_of(struct wefti_thread *t)
{
	struct wefti_cold *body = wefti_peek_cold(t);
	int64_t since = body && wefti_peek_kind(t) != WEFTI_KIND_FOREIGN ?
			wefti_peek_since(body) : 0;

	return since > 0 ? since : INT64_MAX;
}

static void put(unsigned at, struct wefti_thread *t)
{
	const int64_t since = since_of(t);

	if (table[at].count++ == 0 || since < table[at].since) {
		table[at].since = since;
		table[at].slot = (uint32_t)wefti_peek_id(t);
	}
}

void wefti_waiting_add(struct wefti_thread *t, unsigned why)
{
	const void *object = load_relaxed(&t->waits_for);
	const unsigned first = (unsigned)
		(((uintptr_t)object ^ why) * UINT64_C(0x9e3779b97f4a7c15) >> 48);

	for (unsigned i = 0; object && i < PROBES; i++) {
		const unsigned at = (first + i) % OBJECTS;

		if (!table[at].object) {
			table[at].object = object;
			table[at].why = why;
			table[at].count = 0;
		}
		if (table[at].object == object && table[at].why == why) {
			put(at, t);
			return;
		}
	}
}

static void tell_one(struct wefti_out *o, unsigned at, int64_t now)
{
	const int64_t since = table[at].since;
	const int fd = table[at].why == WEFTI_WHY_DESCRIPTOR ?
		       wefti_fd_number(table[at].object) : -1;
	struct wefti_view view, owner;

	wefti_view_slot(table[at].slot, &view);
	if (view.object != table[at].object)
		view.state = WEFTI_VIEW_NONE;	/* it has gone on */
	wefti_view_thread(wefti_view_holder(&view), &owner);
	wefti_out(o, "object %s ", wefti_figures_kind(table[at].why));
	if (fd >= 0)
		wefti_out(o, "%d", fd);
	else
		wefti_out(o, "%p", table[at].object);
	wefti_out(o, " %lu %lu %lu ", table[at].count,
		  since < now ? (unsigned long)(now - since) : 0, owner.id);
	wefti_figures_name(o, owner.name);
}

void wefti_waiting_tell(struct wefti_out *o)
{
	const int64_t now = wefti_os_now_ns();

	for (unsigned i = 0; i < OBJECTS && !o->failed; i++)
		if (table[i].object)
			tell_one(o, i, now);
}

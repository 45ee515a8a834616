/* SPDX-License-Identifier: MIT */
/*
 * sched/record.c - what the recorder is told
 *
 * Writers
 *   vcpu.records  wefti_record_all, wefti_record_disown_all, wefti_record_show_names
 *
 * Pairs
 *   P1  records is set  ->  the VCPU's owner loads it: where the VCPU's ring is
 */
#include "sched/record.h"

#include <string.h>

#include "base/format.h"
#include "os/call/tasks.h"
#include "os/kthread/kthread.h"
#include "sched/stacks.h"
#include "thread/name.h"
#include "thread/peek.h"
#include "thread/wait.h"

/* A child that only the kernel knows of has found that the memory is its parent's. */
COLD void wefti_record_disown_all(void)
{
	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++) {
		struct wefti_vcpu *v = wefti_vcpu_at(i);

		store_relaxed(&v->records, load_relaxed(&v->records) & WEFTI_RECORDS_NAMES);
		v->recorder = (struct wefti_record_writer){ .ring = NULL };
	}
	wefti_record_disown();
}

/* A hook has just found that something is recorded. Is it so, and by this process? */
static ALWAYS_INLINE int may_write(void)
{
	if (likely(!wefti_record_is_parents()))
		return 1;
	wefti_record_disown_all();
	return 0;
}

static ALWAYS_INLINE int has_ring(const struct wefti_vcpu *v)
{
	return (load_acquire(&v->records) & WEFTI_RECORDS_EVENTS) != 0;	/* P1 */
}

/* Where v's owner writes. NULL: it records no events. */
static ALWAYS_INLINE struct wefti_record_writer *writer(struct wefti_vcpu *v)
{
	return has_ring(v) && may_write() ? &v->recorder : NULL;
}

/* For tools that know kernel threads only: v's has the name of the thread that it runs. */
static COLD void show_name(const struct wefti_vcpu *v, const struct wefti_thread *to)
{
	char name[WEFTI_NAME_BYTES];

	if (to->kind == WEFTI_KIND_SCHED) {
		wefti_format(name, sizeof(name), "weft-vcpu%u", v->index);
	} else {
		memcpy(name, to->cold->name, sizeof(name));
		(void)wefti_name_get(wefti_thread_id(to), name);
		if (!*name && to->kind == WEFTI_KIND_MAIN)
			memcpy(name, wefti_rt.process_name,
			       sizeof(wefti_rt.process_name));
		else if (!*name)
			wefti_format(name, sizeof(name), "thread-%u", to->slot);
	}
	wefti_os_kthread_rename(name);
}

/*
 * Is it as it mostly is: v records events, by the CPU's counter, and shows no names? Then
 * a hook calls no other function up to its end, and so saves no registers.
 */
static ALWAYS_INLINE int is_plain(const struct wefti_vcpu *v)
{
	return likely(load_acquire(&v->records) == WEFTI_RECORDS_EVENTS) &&	/* P1 */
	       likely(!wefti_recorder.is_ns) && likely(!wefti_record_is_parents());
}

static ALWAYS_INLINE void put_run(struct wefti_vcpu *v, const struct wefti_thread *to,
				  uint32_t left, const void *object, uint64_t time)
{
	wefti_record_put(&v->recorder, wefti_record_what(WEFTI_EVENT_RUN, left), time,
			 wefti_recorder_id(to), (uintptr_t)object);
	if (wefti_stacks_are_wanted())
		wefti_stacks_of_wait(v, to);
}

static COLD void run_otherwise(struct wefti_vcpu *v, const struct wefti_thread *to,
			       uint32_t left, const void *object)
{
	if (load_relaxed(&v->records) & WEFTI_RECORDS_NAMES)
		show_name(v, to);
	if (writer(v))
		put_run(v, to, left, object, wefti_record_now());
}

static ALWAYS_INLINE void run(struct wefti_vcpu *v, const struct wefti_thread *to,
			      uint32_t left, const void *object)
{
	if (is_plain(v))
		put_run(v, to, left, object, wefti_arch_cycles());
	else
		run_otherwise(v, to, left, object);
}

void wefti_recorded_run(struct wefti_vcpu *v, const struct wefti_thread *to,
			enum wefti_event_left left)
{
	run(v, to, left, NULL);
}

/* A thread that yields may have begun a wait before. */
static uint32_t how_left(const struct wefti_vcpu *v, const struct wefti_thread *from)
{
	const unsigned why = wefti_peek_why(from);	/* a waker may change it */

	if (from->kind == WEFTI_KIND_SCHED)
		return WEFTI_LEFT_NONE;
	if (why == WEFTI_WHY_NOTHING || from->post == v->post_yield)
		return WEFTI_LEFT_YIELDED;
	return (uint32_t)WEFTI_LEFT_WAITS + why;
}

void wefti_recorded_switch(struct wefti_vcpu *v, const struct wefti_thread *from,
			   const struct wefti_thread *to)
{
	const uint32_t left = how_left(v, from);

	run(v, to, left, left >= WEFTI_LEFT_WAITS ? load_relaxed(&from->waits_for) : NULL);
}

/* Where the monitor writes, if it is the caller. No handler writes events on it. */
static COLD struct wefti_record_writer *monitors(void)
{
	const struct wefti_thread *self = wefti_self();

	return self && self == load_relaxed(&wefti_rt.monitor) &&
	       load_acquire(&wefti_recorder.on) && may_write() ?	/* of memory.c: P1 */
	       &wefti_recorder.monitor : NULL;
}

/*
 * v may be NULL, or record nothing yet: into the monitor's or the common ring, then. text
 * may be NULL.
 */
static COLD void put(struct wefti_vcpu *v, uint64_t what, uint64_t thread, uint64_t arg,
		     const char *text)
{
	struct wefti_record_writer *w = v ? writer(v) : monitors();

	if (w && text)
		wefti_record_put_text(w, what, wefti_record_now(), thread, arg, text);
	else if (w)
		wefti_record_put(w, what, wefti_record_now(), thread, arg);
	else if (load_acquire(&wefti_recorder.on) && may_write())	/* of memory.c: P1 */
		wefti_record_put_common(&wefti_recorder.common, what, wefti_record_now(),
					thread, arg, text);
}

static ALWAYS_INLINE void put_event(struct wefti_vcpu *v, enum wefti_event_kind kind,
				    uint32_t detail, uint64_t thread, uint64_t arg)
{
	const uint64_t what = wefti_record_what(kind, detail);

	if (v && is_plain(v))
		wefti_record_put(&v->recorder, what, wefti_arch_cycles(), thread, arg);
	else
		put(v, what, thread, arg, NULL);
}

void wefti_recorded(struct wefti_vcpu *v, enum wefti_event_kind kind,
		    uint32_t detail, uint64_t thread, uint64_t arg)
{
	put_event(v, kind, detail, thread, arg);
}

void wefti_recorded_spawn(struct wefti_vcpu *v, uint64_t id, uintptr_t fn)
{
	struct wefti_record_writer *w = v ? writer(v) : NULL;

	wefti_recorded(v, WEFTI_EVENT_SPAWN, 0, id, fn);
	if (w && wefti_stacks_are_wanted())
		wefti_stacks_of_spawn(v);
}

/* A wait that was resolved says how; a thread that did not wait is new. */
static enum wefti_event_ready why_ready(const struct wefti_thread *t)
{
	const unsigned why = wefti_peek_why(t);

	if (why == WEFTI_WHY_NOTHING)
		return WEFTI_READY_SPAWNED;
	if (why == WEFTI_WHY_SEAT)
		return WEFTI_READY_SEAT;
	switch ((enum wefti_cause)(load_relaxed(&t->wait) >> WEFTI_WAIT_CAUSE_SHIFT & 15)) {
	case WEFTI_CAUSE_HANDED:
		return WEFTI_READY_HANDED;
	case WEFTI_CAUSE_TIMEDOUT:
		return WEFTI_READY_TIMEDOUT;
	case WEFTI_CAUSE_CANCELLED:
		return WEFTI_READY_CANCELLED;
	default:
		return WEFTI_READY_WOKEN;
	}
}

uint64_t wefti_recorder_self(void)
{
	return wefti_recorder_id(wefti_self());
}

void wefti_recorded_ready(struct wefti_vcpu *v, const struct wefti_thread *t, uint64_t by)
{
	put_event(v, WEFTI_EVENT_READY, why_ready(t), wefti_thread_id(t), by);
}

void wefti_recorded_injected(struct wefti_vcpu *v, const struct wefti_thread *t,
			     uint64_t by)
{
	put_event(v, WEFTI_EVENT_READY, why_ready(t) | WEFTI_READY_INJECTED,
		  wefti_thread_id(t), by);
}

/* The number of the system call that a kernel thread is in; UINT64_MAX: none. */
static uint64_t call_of(int tid)
{
	char call[128];
	uint64_t n = 0;

	wefti_os_task_line(tid, "syscall", call, sizeof(call));
	if (*call < '0' || *call > '9')
		return UINT64_MAX;
	for (const char *c = call; *c >= '0' && *c <= '9'; c++)
		n = n * 10 + (uint64_t)(*c - '0');
	return n;
}

void wefti_recorded_taken(const struct wefti_vcpu *v, const struct wefti_thread *t,
			  int tid)
{
	wefti_recorded(NULL, WEFTI_EVENT_TAKEN, v->index, wefti_thread_id(t),
		       call_of(tid));
}

/* Another thread may be the owner by now. */
void wefti_recorded_owner(struct wefti_vcpu *v, const struct wefti_thread *owner,
			  const void *lock)
{
	if (owner)
		wefti_recorded(v, WEFTI_EVENT_OWNER, 0, wefti_thread_id(owner),
			       (uintptr_t)lock);
}

void wefti_record_text(struct wefti_vcpu *v, enum wefti_event_kind kind,
		       uint64_t thread, uint64_t arg, const char *text)
{
	put(v, wefti_record_what(kind, 0), thread, arg, text);
}

void wefti_record_named(struct wefti_vcpu *v, uint64_t id, const char *name)
{
	wefti_record_name(id, name);
	wefti_record_text(v, WEFTI_EVENT_NAME, id, 0, name);
}

void wefti_record_all(unsigned vcpus, int on)
{
	for (unsigned i = 0; i < vcpus; i++) {
		struct wefti_vcpu *v = wefti_vcpu_at(i);

		if (on && !v->recorder.ring)
			v->recorder = wefti_record_writer_of(i);
		store_release(&v->records, (load_relaxed(&v->records) &	/* P1 */
				WEFTI_RECORDS_NAMES) | (on ? WEFTI_RECORDS_EVENTS : 0));
	}
}

void wefti_record_show_names(unsigned vcpus)
{
	for (unsigned i = 0; i < vcpus; i++)
		store_relaxed(&wefti_vcpu_at(i)->records, WEFTI_RECORDS_NAMES);
}

/* Else the process would go on with a name that the loop or a thread has had. */
void wefti_record_hide_names(void)
{
	wefti_os_kthread_rename(wefti_rt.process_name);
}

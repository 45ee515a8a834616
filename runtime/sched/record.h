/* SPDX-License-Identifier: MIT */
/*
 * sched/record.h - what the recorder is told, by one call at each place
 *
 * While nothing is recorded, a call costs a comparison with memory and a branch. The rest
 * is out of line, in record.c. record/format.h says what each event means. A thread or a
 * VCPU's owner calls these inside the runtime, so it alone writes to the VCPU's ring. The
 * monitor writes to its own, and any other caller without a VCPU to the common ring.
 *
 * The models of the scheduler leave all of this out: it changes nothing that the
 * scheduler reads. The recorder has a model of its own (record/events.h).
 */
#ifndef WEFT_SCHED_RECORD_H
#define WEFT_SCHED_RECORD_H

#include "base/probe.h"
#include "cpu.h"
#include "record/memory.h"
#include "sched/vcpu.h"
#include "thread/bare.h"

/* The id by which events name t; 0: t is NULL, or a scheduler loop. */
static inline uint64_t wefti_recorder_id(const struct wefti_thread *t)
{
	return !t || t->kind == WEFTI_KIND_SCHED ? 0 : wefti_thread_id(t);
}

/* Bits of vcpu.records: what its owner does at a switch. */
#define WEFTI_RECORDS_EVENTS	1u	/* writes events into its ring */
#define WEFTI_RECORDS_NAMES	2u	/* names its kernel thread */

#if defined(WEFT_MODEL)
#define wefti_recorded_switch(v, from, to)	((void)0)
#define wefti_recorded_run(v, to, left)		((void)0)
#define wefti_recorded(v, kind, detail, id, arg)	((void)0)
#define wefti_recorded_ready(v, t, by)		((void)0)
#define wefti_recorded_injected(v, t, by)	((void)0)
#define wefti_recorded_spawn(v, id, fn)		((void)0)
#define wefti_recorded_taken(v, t, tid)		((void)0)
#define wefti_recorded_owner(v, owner, lock)	((void)0)
#define wefti_recorder_self()			((uint64_t)0)
#define wefti_record_named(v, id, name)		((void)0)
#else
/*
 * v's owner, or a thread in v. These are not COLD: while events are recorded they run at
 * each switch, and code for size takes three times the instructions.
 */
NOINLINE void wefti_recorded_switch(struct wefti_vcpu *v, const struct wefti_thread *from,
				    const struct wefti_thread *to);
NOINLINE void wefti_recorded_run(struct wefti_vcpu *v, const struct wefti_thread *to,
				 enum wefti_event_left left);
NOINLINE void wefti_recorded(struct wefti_vcpu *v, enum wefti_event_kind kind,
			     uint32_t detail, uint64_t thread, uint64_t arg);

/* v may be NULL. by: the id of the thread that made t ready; 0: none, or not known. */
NOINLINE void wefti_recorded_ready(struct wefti_vcpu *v, const struct wefti_thread *t,
				   uint64_t by);

/* The same through the injection queue. */
NOINLINE void wefti_recorded_injected(struct wefti_vcpu *v, const struct wefti_thread *t,
				      uint64_t by);

/* The thread in v, or a kernel thread without one, spawns a thread. v may be NULL. */
NOINLINE void wefti_recorded_spawn(struct wefti_vcpu *v, uint64_t id, uintptr_t fn);

/* By the monitor: v was taken from t. tid: the id of the kernel thread that carries t. */
COLD void wefti_recorded_taken(const struct wefti_vcpu *v, const struct wefti_thread *t,
			       int tid);

/* The thread in v is about to wait for the lock. owner may be NULL. */
COLD void wefti_recorded_owner(struct wefti_vcpu *v, const struct wefti_thread *owner,
			       const void *lock);

/* The id of the calling thread; 0: a scheduler loop. */
uint64_t wefti_recorder_self(void);

/* A thread gets a name. v may be NULL. */
void wefti_record_named(struct wefti_vcpu *v, uint64_t id, const char *name);
#endif

static ALWAYS_INLINE int wefti_records(const struct wefti_vcpu *v)
{
#if defined(WEFT_MODEL)
	(void)v;
	return 0;
#else
	return unlikely(wefti_arch_is_set(&v->records));
#endif
}

/* For callers that may have no VCPU: is anything recorded at all? */
static ALWAYS_INLINE int wefti_records_any(void)
{
#if defined(WEFT_MODEL)
	return 0;
#else
	return unlikely(load_relaxed(&wefti_recorder.on));
#endif
}

/* v goes from one thread to another, which was ready, or to its loop. */
static ALWAYS_INLINE void wefti_record_switch(struct wefti_vcpu *v,
		const struct wefti_thread *from, const struct wefti_thread *to)
{
	WEFTI_PROBE_THREAD(WEFTI_EVENT_RUN, to, v->index);
	if (wefti_records(v))
		wefti_recorded_switch(v, from, to);
}

/* The same, where the caller knows how the thread leaves. */
static ALWAYS_INLINE void wefti_record_run(struct wefti_vcpu *v,
		const struct wefti_thread *to, enum wefti_event_left left)
{
	WEFTI_PROBE_THREAD(WEFTI_EVENT_RUN, to, v->index);
	if (wefti_records(v))
		wefti_recorded_run(v, to, left);
}

/* The thread on v, or v's loop, is about to make t ready. */
static ALWAYS_INLINE void wefti_record_ready(struct wefti_vcpu *v,
					     const struct wefti_thread *t)
{
	WEFTI_PROBE_THREAD(WEFTI_EVENT_READY, t, v);
	if (wefti_records(v))
		wefti_recorded_ready(v, t, wefti_recorder_self());
}

/*
 * The caller's VCPU; NULL: it has none. A kernel thread that weft does not know has not
 * even a struct, and may wake threads.
 */
static ALWAYS_INLINE struct wefti_vcpu *wefti_recorder_vcpu(void)
{
	const struct wefti_thread *self = wefti_self();

	return self ? self->vcpu : NULL;
}

/* The same for a caller that may have no VCPU. */
static ALWAYS_INLINE void wefti_record_ready_by_any(struct wefti_vcpu *v,
						    const struct wefti_thread *t)
{
	WEFTI_PROBE_THREAD(WEFTI_EVENT_READY, t, v);
	if (wefti_records_any())
		wefti_recorded_ready(v, t, wefti_recorder_self());
}

static ALWAYS_INLINE void wefti_record_injected(struct wefti_vcpu *v,
						const struct wefti_thread *t)
{
	WEFTI_PROBE_THREAD(WEFTI_EVENT_READY, t, v);
	if (wefti_records_any())
		wefti_recorded_injected(v, t, wefti_recorder_self());
}

/*
 * An event of thread t, by v's owner, and one of no thread. These are macros because each
 * kind has a probe of its own. The id is looked up only for the recorder.
 */
#define wefti_record(v, kind, detail, t, arg) do {				\
	WEFTI_PROBE_THREAD(kind, t, arg);					\
	if (wefti_records(v))							\
		wefti_recorded(v, kind, detail, wefti_thread_id(t), arg);	\
} while (0)

#define wefti_record_vcpu(v, kind, detail, arg) do {				\
	WEFTI_PROBE(kind, detail, arg);						\
	if (wefti_records(v))							\
		wefti_recorded(v, kind, detail, 0, arg);			\
} while (0)

static ALWAYS_INLINE void wefti_record_taken(const struct wefti_vcpu *v,
		const struct wefti_thread *t, int tid)
{
	WEFTI_PROBE_THREAD(WEFTI_EVENT_TAKEN, t, v->index);
	if (wefti_records_any())
		wefti_recorded_taken(v, t, tid);
	(void)v, (void)t, (void)tid;
}

/* The same without a VCPU, or about another one. */
#define wefti_record_outside(kind, detail, t, arg) do {				\
	WEFTI_PROBE_THREAD(kind, t, arg);					\
	if (wefti_records_any())						\
		wefti_recorded(NULL, kind, detail, wefti_thread_id(t), arg);	\
} while (0)

#define wefti_record_kthread(kind, number, tid) do {				\
	WEFTI_PROBE(kind, number, tid);						\
	if (wefti_records_any())						\
		wefti_recorded(NULL, kind, number, 0, (uint64_t)(tid));		\
} while (0)

static ALWAYS_INLINE void wefti_record_preempt(struct wefti_vcpu *v,
		const struct wefti_thread *self, uintptr_t pc)
{
	wefti_record(v, WEFTI_EVENT_PREEMPT, 0, self, pc);
}

/* signal: 0 if the handler is only ours. */
static ALWAYS_INLINE void wefti_record_signal(const struct wefti_thread *self, int signal)
{
	if (!signal)
		return;
	WEFTI_PROBE_THREAD(WEFTI_EVENT_SIGNAL, self, signal);
	if (wefti_records_any())
		wefti_recorded(NULL, WEFTI_EVENT_SIGNAL, (uint32_t)signal,
			       wefti_thread_id(self), 0);
}

/* An event with a text, by the calling thread. v may be NULL. */
void wefti_record_text(struct wefti_vcpu *v, enum wefti_event_kind kind,
		       uint64_t thread, uint64_t arg, const char *text);

/* In a child that only the kernel knows of: nothing is recorded in it any more. */
void wefti_record_disown_all(void);

/*
 * WEFT_PERF_NAMES: from now on each kernel thread has the name of the thread that it runs.
 * Called before the VCPUs have kernel threads, by the first thread.
 */
void wefti_record_show_names(unsigned vcpus);

/* At the stop, on the first kernel thread, which has the process's name again. */
void wefti_record_hide_names(void);

/* All VCPUs record from now on, or stop. The memory must have been made. */
void wefti_record_all(unsigned vcpus, int on);

#if defined(WEFT_MODEL)
/* Nor do they look at the arguments: each load of an atomic object is a step of theirs. */
#undef wefti_record
#undef wefti_record_vcpu
#undef wefti_record_outside
#undef wefti_record_kthread
#define wefti_record(v, kind, detail, t, arg)		((void)(t), (void)sizeof(arg))
#define wefti_record_vcpu(v, kind, detail, arg)		((void)sizeof(arg))
#define wefti_record_outside(kind, detail, t, arg)	((void)(t), (void)sizeof(arg))
#define wefti_record_kthread(kind, number, tid)		((void)sizeof(tid))
#endif

#endif

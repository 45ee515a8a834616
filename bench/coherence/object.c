/* SPDX-License-Identifier: MIT */
/* coherence/object.c - the name of the object that has a line */
#include <stddef.h>

#include "coherence/coherence.h"
#include "sched/vcpu.h"

struct part {
	size_t begin;
	const char *name;
};

/* Each reaches to the next one. */
static const struct part of_runtime[] = {
	{ 0, "runtime: state, fence_on_entry, settings" },
	{ offsetof(struct wefti_runtime, vcpu), "runtime: vcpu[]" },
	{ offsetof(struct wefti_runtime, settings), "runtime: settings" },
	{ offsetof(struct wefti_runtime, idle_count),
	  "runtime: idle_count, searching, announcer, idle, timekeeper" },
	{ offsetof(struct wefti_runtime, inject), "runtime: inject" },
	{ offsetof(struct wefti_runtime, coarse_now),
	  "runtime: coarse_now, the monitor's words" },
};

static const struct part of_vcpu[] = {
	{ offsetof(struct wefti_vcpu, ring), "VCPU: ring" },
	{ offsetof(struct wefti_vcpu, parents), "VCPU: parents" },
	{ offsetof(struct wefti_vcpu, next), "VCPU: next" },
	{ offsetof(struct wefti_vcpu, current), "VCPU: its owner's fields" },
	{ offsetof(struct wefti_vcpu, wake), "VCPU: wake" },
	{ offsetof(struct wefti_vcpu, timers), "VCPU: timers" },
	{ offsetof(struct wefti_vcpu, seen_ticks), "VCPU: the monitor's notes" },
};

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

static const char *part_at(const struct part *part, size_t count, size_t at)
{
	const char *name = part[0].name;

	/* By the line: a field may begin in the middle of one. */
	for (size_t i = 1; i < count; i++)
		if (part[i].begin / MESI_LINE <= at / MESI_LINE)
			name = part[i].name;
	return name;
}

static const char *thread_line(uintptr_t at)
{
	for (unsigned i = 0; i < WEFTI_DENSE_CHUNKS; i++) {
		/* Plain: lockfree/atomic.h would call us. */
		uintptr_t chunk = (uintptr_t)atomic_load_explicit(
			&wefti_slots.chunk[i], memory_order_relaxed);

		if (!chunk)
			return NULL;
		if (at - chunk < (uintptr_t)WEFTI_DENSE_CHUNK * WEFTI_THREAD_SIZE)
			return (at - chunk) % WEFTI_THREAD_SIZE < MESI_LINE ?
				"thread: in_runtime, wait" : "thread: node, join";
	}
	return NULL;
}

const char *coherence_object(const volatile void *p)
{
	uintptr_t at = (uintptr_t)p;

	if (at - (uintptr_t)&wefti_rt < sizeof(wefti_rt))
		return part_at(of_runtime, COUNT(of_runtime),
			       at - (uintptr_t)&wefti_rt);
	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++) {
		size_t in = at - (uintptr_t)wefti_rt.vcpu[i];

		if (wefti_rt.vcpu[i] && in < sizeof(struct wefti_vcpu))
			return part_at(of_vcpu, COUNT(of_vcpu), in);
	}
	return thread_line(at);
}

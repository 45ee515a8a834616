/* SPDX-License-Identifier: MIT */
/*
 * coherence/touch.c - counts what each access costs, by place and object
 *
 * In plain C11: lockfree/atomic.h would call us.
 */
#include "coherence/coherence.h"

#include <stdatomic.h>
#include <string.h>

#include "coherence/turn.h"
#include "sched/vcpu.h"
#include "thread/name.h"

#define TALLIES		(1u << 14)

/* A CPU is a VCPU, or a kernel thread that has none. */
#define FOREIGN_FROM	WEFTI_VCPUS_MAX
#define FOREIGN		(MESI_CPUS - FOREIGN_FROM)

struct slot {
	_Atomic(const struct wefti_coherence_site *) site;
	_Atomic(const char *) object;	/* written once, after site */
	atomic_uint_fast64_t count[MESI_EVENTS], invalidated;
};

static struct slot slots[TALLIES];
static atomic_int counts;		/* between begin and end */
static atomic_uint foreigners;

static _Thread_local unsigned foreign;	/* 1 + its number */

/* Not inlined: the address of a thread-local must not be kept. */
static __attribute__((noinline)) unsigned foreign_cpu(void)
{
	if (foreign == 0)
		foreign = 1 + atomic_fetch_add(&foreigners, 1) % FOREIGN;
	return FOREIGN_FROM + foreign - 1;
}

unsigned coherence_cpu(void)
{
	struct wefti_thread *self = wefti_self();

	if (self && self->kind != WEFTI_KIND_FOREIGN && self->vcpu)
		return self->vcpu->index;
	return foreign_cpu();
}

static const char no_object[] = "";

static struct slot *find(const struct wefti_coherence_site *site,
			 const char *object)
{
	uint64_t at = ((uintptr_t)site ^ (uintptr_t)object << 20) *
		      UINT64_C(0x9e3779b97f4a7c15) >> 40;

	object = object ? object : no_object;
	for (unsigned i = 0; i < TALLIES; i++) {
		struct slot *s = &slots[(at + i) % TALLIES];
		const struct wefti_coherence_site *found = atomic_load(&s->site);
		const char *its;

		if (!found && (atomic_compare_exchange_strong(&s->site, &found,
							      site))) {
			atomic_store(&s->object, object);
			return s;
		}
		if (found != site)
			continue;
		while (!(its = atomic_load(&s->object)))
			;
		if (its == object)
			return s;
	}
	bench_fail("coherence: too many places");
}

void *wefti_coherence_touch(const struct wefti_coherence_site *site,
			    const volatile void *p)
{
	unsigned cpu = coherence_cpu();
	struct mesi_result r;

	turn_spend(cpu, turn_costs.hit);
	r = mesi_access(p, cpu, (int)site->is_write, turn_costs.socket);

	if (atomic_load_explicit(&counts, memory_order_relaxed)) {
		struct slot *s = find(site, r.event >= MESI_FETCH ?
					    coherence_object(p) : NULL);

		atomic_fetch_add_explicit(&s->count[r.event], 1,
					  memory_order_relaxed);
		atomic_fetch_add_explicit(&s->invalidated, r.invalidated,
					  memory_order_relaxed);
	}
	if (r.event >= MESI_FETCH && r.line)
		turn_transfer(cpu, &r.line->free_at,
			      r.is_far ? turn_costs.far : turn_costs.near);
	return (void *)(uintptr_t)p;
}

static _Atomic uint32_t *wake_word(unsigned cpu)
{
	return &wefti_rt.vcpu[cpu]->wake;
}

void coherence_gather(void)
{
	/* As on a machine with a CPU for each VCPU. */
	wefti_rt.crowding = 0;
	turn_begin();
	turn_gather(coherence_cpu(), wefti_rt.vcpu_count, wake_word);
}

void coherence_count(int on)
{
	for (unsigned i = 0; on && i < TALLIES; i++) {
		for (unsigned k = 0; k < MESI_EVENTS; k++)
			atomic_store(&slots[i].count[k], 0);
		atomic_store(&slots[i].invalidated, 0);
	}
	atomic_store(&counts, on);
}

void coherence_begin(void)
{
	coherence_gather();
	coherence_count(1);
}

void coherence_end(void)
{
	coherence_count(0);
	turn_end();
}

const struct coherence_tally *coherence_tally(unsigned n)
{
	static struct coherence_tally t;

	for (unsigned i = 0; i < TALLIES; i++) {
		struct slot *s = &slots[i];

		if (!atomic_load(&s->site) || n-- > 0)
			continue;
		t.site = atomic_load(&s->site);
		t.object = atomic_load(&s->object);
		if (t.object == no_object)
			t.object = NULL;
		for (unsigned k = 0; k < MESI_EVENTS; k++)
			t.count[k] = atomic_load(&s->count[k]);
		t.invalidated = atomic_load(&s->invalidated);
		return &t;
	}
	return NULL;
}

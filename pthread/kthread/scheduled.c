/* SPDX-License-Identifier: MIT */
/*
 * pthread/kthread/scheduled.c - a thread's policy, priority and nice value, as kept
 *
 * Any thread may set the policy of any other, while that thread's own mutexes raise its
 * priority. So what belongs together is one word, which changes by CAS: no change is
 * lost, and a reader never sees the policy of one call with the priority of another.
 * What stands beside the word is relaxed, as each of its fields has a meaning by itself.
 *
 * Rejected: a lock for each thread, as libc and the kernel have one. A ceiling's lock and
 * unlock would take it too.
 *
 * Writers
 *   scheduled.word  wefti_schedule_change, wefti_schedule_put
 */
#include <stddef.h>
#include <string.h>

#include "pthread/kthread/real_time.h"
#include "pthread/kthread/schedule.h"

_Static_assert(offsetof(struct wefti_schedule, io_priority) == sizeof(uint64_t),
	       "policy to raised are the word");

static uint64_t word_of(const struct wefti_schedule *s)
{
	uint64_t word;

	memcpy(&word, s, sizeof(word));
	return word;
}

void wefti_schedule_get(const struct wefti_pt *pt, struct wefti_schedule *to)
{
	const struct wefti_scheduled *from = &pt->schedule;
	const uint64_t word = load_seq_cst(&from->word);

	memcpy(to, &word, sizeof(word));
	to->io_priority = load_relaxed(&from->io_priority);
	to->slice_ns = load_relaxed(&from->slice_ns);
	to->cpus = load_relaxed(&from->cpus);
	to->memory = load_relaxed(&from->memory);
	to->timer_slack_ns = 0;
	to->is_own = from->is_own;
}

struct wefti_schedule wefti_schedule_of(const struct wefti_pt *pt)
{
	struct wefti_schedule s;

	wefti_schedule_get(pt, &s);
	return s;
}

void wefti_schedule_put(struct wefti_pt *pt, const struct wefti_schedule *s)
{
	struct wefti_scheduled *to = &pt->schedule;

	store_relaxed(&to->word, word_of(s));
	store_relaxed(&to->io_priority, s->io_priority);
	store_relaxed(&to->slice_ns, s->slice_ns);
	store_relaxed(&to->cpus, s->cpus);
	store_relaxed(&to->memory, s->memory);
	to->timer_slack_ns = s->timer_slack_ns;
	to->is_own = s->is_own;
}

/*
 * Several threads may change the word at once. Each looks at the word again after it has
 * counted, so the last count is that of the word.
 */
static void count(struct wefti_thread *t)
{
	struct wefti_schedule s = wefti_schedule_of(wefti_pt_of(t));
	int8_t counted;

	do {
		counted = wefti_schedule_priority(&s);
		wefti_real_time_count(t, counted);
		s = wefti_schedule_of(wefti_pt_of(t));
	} while (wefti_schedule_priority(&s) != counted);
}

int wefti_schedule_change(struct wefti_thread *t, struct wefti_schedule *now,
			  const struct wefti_schedule *to)
{
	uint64_t before = word_of(now);

	if (!cas_seq_cst(&wefti_pt_of(t)->schedule.word, &before, word_of(to))) {
		*now = wefti_schedule_of(wefti_pt_of(t));
		return 0;
	}
	count(t);
	return 1;
}

/* SPDX-License-Identifier: MIT */
/*
 * observe/profile.c - another process asks for stacks among the recorder's events
 *
 * Writers
 *   asked  wefti_profile_answer, wefti_profile_forget, wefti_profile_note,
 *       wefti_profile_stop
 *   record_head.stacks  set
 */
#include "observe/profile.h"

#include "observe/recording.h"
#include "os/call/clock.h"
#include "sched/on_cpu.h"
#include "sched/stacks.h"

#define MS		INT64_C(1000000)
#define LOOK_NS		(100 * MS)	/* VCPUs get other kernel threads */

/* What is wanted, + 1; 0: nothing new. */
static _Atomic uint64_t asked;

/* The observer's. */
static uint32_t wanted;
static int64_t until;

int wefti_profile_note(const siginfo_t *info)
{
	const uint64_t value = (uint64_t)(uintptr_t)info->si_value.sival_ptr;

	if (info->si_code != SI_QUEUE || value >> 32 != WEFTI_PROFILE_MARK)
		return 0;
	store_seq_cst(&asked, (uint64_t)(uint32_t)value + 1);
	return 1;
}

static void apply(uint32_t stacks)
{
	if (WEFTI_RECORD_STACKS_HZ(stacks) == 0)
		wefti_on_cpu_end();
	store_relaxed(&wefti_stacks.bytes, WEFTI_RECORD_STACKS_KIB(stacks) * 1024);
	store_relaxed(&wefti_stacks.every, WEFTI_RECORD_STACKS_EVERY(stacks));
	wanted = stacks;
}

/* Without a memory yet, the reader asks again. */
static void set(uint32_t stacks)
{
	struct wefti_record_head *head = wefti_record_head();

	apply(head ? stacks : 0);
	if (head)
		store_relaxed(&head->stacks, stacks);
}

int64_t wefti_profile_answer(void)
{
	const uint64_t request = xchg_seq_cst(&asked, (uint64_t)0);
	int64_t now;

	if (!request && !wanted)
		return INT64_MAX;
	now = wefti_os_now_ns();
	if (request) {
		set((uint32_t)(request - 1));
		until = now + WEFTI_RECORDING_LEASE_MS * MS;
	}
	if (now >= until)
		set(0);
	if (!wanted)
		return INT64_MAX;
	if (WEFTI_RECORD_STACKS_HZ(wanted))
		(void)wefti_on_cpu_sample(WEFTI_RECORD_STACKS_HZ(wanted));
	return now + LOOK_NS;
}

void wefti_profile_stop(void)
{
	store_seq_cst(&asked, (uint64_t)0);
	set(0);
}

/* The memory is the parent's, so its head stays as it is. */
void wefti_profile_forget(void)
{
	wefti_on_cpu_forget();
	store_seq_cst(&asked, (uint64_t)0);
	apply(0);
}

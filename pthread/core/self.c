/* SPDX-License-Identifier: MIT */
/*
 * pthread/core/self.c - what this layer knows about each thread
 *
 * As in glibc, a pthread_t is the address of the thread's control block. The runtime's
 * own variable in that block says whether it is a green thread or a kernel thread.
 *
 * Writers
 *   pt.wait_seq  wefti_pt_wait_begins, wefti_pt_wait_ends
 *   made  take_tids
 *
 * Pairs
 *   P1  a thread stores wait_seq; light fence; it loads urgent. Another one changes
 *       urgent; heavy fence; it loads wait_seq. One of the two sees the other
 */
#include "pthread/core/self.h"

#include <stdalign.h>
#include <string.h>
#include <unistd.h>

#include "mem/slot.h"
#include "os/call/tid.h"
#include "os/tls/tls.h"
#include "os/tls/tls_layout.h"
#include "pthread/core/started.h"
#include "sched/park.h"
#include "sched/preempt.h"
#include "thread/bare.h"
#include "thread/peek.h"

#define BATCH	64

_Thread_local struct wefti_pt wefti_pt;

int wefti_pt_make_id(void)
{
	return wefti_pt.id = wefti_os_gettid();
}

/* Numbers that a VCPU has in stock, so that two VCPUs do not change one line. */
static struct tids {
	alignas(CACHE_LINE) uint32_t next;
	uint32_t left;
} stock[WEFTI_VCPUS_MAX] TABLE;

/* BATCH numbers of the whole, fewer at the end of their range. */
static struct tids take_tids(void)
{
	static _Atomic uint32_t made;
	const uint32_t first = wefti_tls_first_of(wefti_pt_pid());
	const uint32_t next = (first + fetch_add_relaxed(&made, BATCH)) % WEFTI_TLS_TIDS;
	const uint32_t left = WEFTI_TLS_TIDS - next;

	return (struct tids){ .next = WEFTI_TLS_FIRST_TID + next,
			      .left = left < BATCH ? left : BATCH };
}

/* Not the id in the thread's block, because a block is reused at once. */
int wefti_pt_make_tid(void)
{
	const struct wefti_vcpu *v = wefti_self()->vcpu;
	struct tids *t;

	if (unlikely(!v))
		return (int)take_tids().next;
	t = &stock[v->index];
	if (unlikely(t->left == 0))
		*t = take_tids();
	t->left--;
	return (int)t->next++;
}

void wefti_pt_forget_tids(void)
{
	memset(stock, 0, sizeof(stock));
}

/*
 * A thread that runs, or blocks in a region, is interrupted by the runtime, which knows
 * its kernel thread (sched/preempt.c). weft_block_begin() gives nothing away: the thread
 * keeps its VCPU until the monitor takes it, and is marked from then on. A reason may
 * come after the thread has looked at the beginning of a region, and before its system
 * call. Then the hook runs the handlers there, as if the reason had come before the
 * look.
 */
void wefti_pt_urge(struct wefti_thread *t, uint32_t why)
{
	struct wefti_pt *pt = wefti_pt_of(t);
	uint64_t seq;

	fetch_or_seq_cst(&pt->urgent, why);
	wefti_membarrier_heavy();	/* P1 */
	wefti_preempt_insist(t);
	seq = load_seq_cst(&pt->wait_seq);
	if (seq) {
		struct wefti_thread *self = wefti_enter();

		wefti_unpark(t, seq, WEFTI_CAUSE_WOKEN);
		wefti_leave(self);
	}
}

struct wefti_thread *wefti_pt_was_thread(pthread_t thread)
{
	uintptr_t pthread = (uintptr_t)thread;
	uintptr_t tp = wefti_arch_pthread_to_tp(pthread,
						&wefti_tls_layout.sizes);
	struct wefti_thread *t;

	if (!wefti_pt_is_started())
		return NULL;
	if (wefti_rt.main && tp == wefti_rt.main->tp)
		return wefti_rt.main;
	/* Uses our own word in its block: libc's id there is made up, or already gone. */
	t = *(struct wefti_thread **)(tp + wefti_self_offset());
	return t && (t->kind == WEFTI_KIND_GREEN ||
		     t->kind == WEFTI_KIND_FREE) ? t : NULL;
}

struct wefti_thread *wefti_pt_thread(pthread_t thread)
{
	struct wefti_thread *t = wefti_pt_was_thread(thread);

	return t && t->kind != WEFTI_KIND_FREE ? t : NULL;
}

pthread_t wefti_pt_handle(const struct wefti_thread *t)
{
	return (pthread_t)wefti_arch_tp_to_pthread(t->tp,
						   &wefti_tls_layout.sizes);
}

struct wefti_pt *wefti_pt_peek(const struct wefti_thread *t, uint32_t *gen)
{
	enum wefti_kind kind;
	uintptr_t tp;

	*gen = t ? load_acquire(&t->gen) : 0;	/* of bare.h: P1 */
	if (!(*gen & 1))
		return NULL;
	tp = wefti_peek_tp(t);
	kind = wefti_peek_kind(t);
	if (!tp || (kind != WEFTI_KIND_GREEN && kind != WEFTI_KIND_MAIN))
		return NULL;
	return wefti_pt_at(tp);
}

/* The first thread of a child may have the id that it had in the parent. */
static int has_id(const struct wefti_thread *t, pid_t id)
{
	uint32_t gen;
	const struct wefti_pt *pt = wefti_pt_peek(t, &gen);

	return pt && t != wefti_rt.main &&
	       load_seq_cst(&pt->tid) == id &&	/* of create.c: P1 */
	       !load_seq_cst(&pt->ended) && wefti_pt_is_same(t, gen);
}

struct wefti_thread *wefti_pt_find_made(pid_t id)
{
	for (uint32_t i = 0; i < wefti_slot_limit(); i++)
		if (has_id(wefti_slot_get(i), id))
			return wefti_slot_get(i);
	return NULL;
}

struct wefti_thread *wefti_pt_find(pid_t id)
{
	struct wefti_thread *self = wefti_pt_green();

	if (!self || !wefti_pt_is_started())
		return NULL;
	if (id == 0 || (self->kind == WEFTI_KIND_GREEN && id == load_relaxed(&wefti_pt.tid)))
		return self;
	return wefti_thread_by_id(id);
}

struct wefti_thread *wefti_thread_by_id(pid_t id)
{
	if (!wefti_pt_is_started() || id <= 0)
		return NULL;
	if (id == getpid())
		return wefti_rt.main;
	return id < WEFTI_KERNEL_IDS ? NULL : wefti_pt_find_made(id);
}

pid_t wefti_thread_id_process(pid_t id)
{
	return wefti_thread_by_id(id) ? getpid() : id;
}

/* SPDX-License-Identifier: MIT */
/*
 * sched/kthread.c - makes and frees the kernel threads that carry VCPUs
 *
 * Writers
 *   kthread.all_next  wefti_kthread_start, wefti_kthread_unlist
 *   runtime.all  wefti_kthread_start, wefti_kthread_unlist;
 *       init/start.c: reset; stop.c: join_kthreads
 *   runtime.kthread_count  wefti_kthread_start, wefti_kthread_unlist;
 *       first.c: wefti_first_make
 *   runtime.kthreads_made  wefti_kthread_start; init/start.c: reset
 */
#include "sched/loop.h"

#include <errno.h>
#include <stdlib.h>

#include "base/format.h"
#include "os/call/copy.h"
#include "os/call/futex.h"
#include "os/call/tid.h"
#include "os/kthread/quiescent.h"
#include "os/signal/signal.h"
#include "cpu.h"
#include "sched/record.h"
#include "sched/seat.h"
#include "sched/sanitizer.h"
#include "thread/bare.h"

#define CARRIER_STACK	(128 * 1024)	/* for the loop, and for signals on it */

struct wefti_runtime wefti_rt = { .fence_on_entry = 1 };

struct wefti_kthread *wefti_kthread_new(void)
{
	struct wefti_kthread *k = aligned_alloc(CACHE_LINE,
		(sizeof(*k) + CACHE_LINE - 1) & ~(size_t)(CACHE_LINE - 1));

	if (!k)
		return NULL;
	*k = (struct wefti_kthread){ .number = 0 };
	k->sched = wefti_thread_bare(WEFTI_KIND_SCHED, &k->cold);
	if (!k->sched) {
		free(k);
		return NULL;
	}
	store_relaxed(&k->sched->in_runtime, 1);
	return k;
}

void wefti_kthread_free(struct wefti_kthread *k)
{
	wefti_thread_bare_free(k->sched);
	free(k);
}

int wefti_kthread_carrier(const struct wefti_vcpu *v)
{
	struct wefti_kthread *k = NULL;
	int tid = 0;

	if (wefti_os_copy(&k, &v->kthread, sizeof(k)) < sizeof(k) || !k ||
	    wefti_os_copy(&tid, &k->tid, sizeof(tid)) < sizeof(tid))
		return 0;
	return tid;
}

static void kthread_main(void *arg)
{
	struct wefti_kthread *k = arg;

	k->tp = wefti_arch_tp_get();
	wefti_self_set(k->sched);
	k->self_slot = (struct wefti_thread **)(k->tp + wefti_self_offset());
	k->tid = wefti_os_gettid();
	wefti_os_signals_carry();
	k->mask = wefti_os_signal_mask();
	wefti_os_altstack_install(&k->alt_stack);
	wefti_sanitizer_attach(k->sched);
	wefti_record_kthread(WEFTI_EVENT_KTHREAD_MADE, k->number, k->tid);
	wefti_os_quiescent_register(&k->reader);
	wefti_loop(k);
	wefti_os_quiescent_unregister(&k->reader);
	wefti_os_retry_end(&k->retry);
	wefti_os_altstack_remove(k->alt_stack);
	wefti_self_set(NULL);
}

void wefti_kthread_unlist(struct wefti_kthread *k)
{
	_Atomic(struct wefti_kthread *) *link = &wefti_rt.all;

	while (load_relaxed(link) != k)
		link = &load_relaxed(link)->all_next;
	store_seq_cst(link, load_relaxed(&k->all_next));
	fetch_sub_relaxed(&wefti_rt.kthread_count, 1);
}

int wefti_kthread_start(struct wefti_vcpu *v, struct wefti_kthread **out)
{
	struct wefti_kthread *k = wefti_kthread_new();
	char name[16];
	int error;

	if (!k)
		return -ENOMEM;
	k->number = fetch_add_relaxed(&wefti_rt.kthreads_made, 1);
	fetch_add_relaxed(&wefti_rt.kthread_count, 1);
	k->vcpu = v;
	if (v)
		v->kthread = k;
	else
		store_relaxed(&k->reserved, 1);
	store_relaxed(&k->all_next, load_relaxed(&wefti_rt.all));
	store_seq_cst(&wefti_rt.all, k);
	wefti_format(name, sizeof(name), "weft-%u", k->number);
	error = wefti_os_kthread_create(&k->handle, CARRIER_STACK, kthread_main,
					k, name);
	if (error) {
		wefti_kthread_unlist(k);
		if (wefti_os_quiescent_wait() == 0)
			wefti_kthread_free(k);
		return error;
	}
	if (out)
		*out = k;
	return 0;
}

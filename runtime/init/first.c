/* SPDX-License-Identifier: MIT */
/*
 * init/first.c - the process's first kernel thread, and main
 *
 * main keeps its stack and its thread control block, and becomes a thread that may
 * migrate. Kernel thread 0 gets a stack and a TLS block of its own. What the kernel
 * knows by address (rseq, robust list, tid word) moves to the new block.
 */
#include "init/start.h"

#include <errno.h>
#include <stdlib.h>

#include "os/call/tid.h"
#include "os/kthread/quiescent.h"
#include "os/libc/process_stack.h"
#include "os/signal/signal.h"
#include "os/call/vm.h"
#include "sched/loop.h"
#include "sched/switch.h"
#include "sched/timer.h"
#include "thread/bare.h"

#define LOOP_STACK	(128 * 1024)

struct wefti_first wefti_first;

static struct wefti_arch_next loop_begins(void *prev)
{
	wefti_sanitizer_arrived();

	struct wefti_kthread *k = wefti_first.k;

	wefti_os_quiescent_register(&k->reader);
	((struct wefti_thread *)prev)->post(prev);
	wefti_loop(k);
	__builtin_trap();	/* the first loop never returns */
}

static int make_main(void)
{
	struct wefti_cold *cold = calloc(1, sizeof(*cold));
	struct wefti_thread *t = cold ?
		wefti_thread_bare(WEFTI_KIND_MAIN, cold) : NULL;

	if (!t) {
		free(cold);
		return -ENOMEM;
	}
	wefti_timer_init(&cold->timer);
	wefti_os_process_stack(&cold->stack_low, &cold->stack_bytes);
	t->tp = wefti_rt.own_tls ? wefti_arch_tp_get() : 0;
	t->light = !wefti_rt.own_tls;
	store_relaxed(&t->in_runtime, 1);
	wefti_thread_begins(t, WEFTI_JOIN_DETACHED);
	wefti_first.cold = cold;
	wefti_rt.main = t;
	return 0;
}

/* Makes a stack for the loop and, with own TLS, a block above it. */
static int make_kthread(struct wefti_kthread *k)
{
	size_t bytes = LOOP_STACK + (wefti_rt.own_tls ? wefti_tls_bytes() : 0);
	char *low = wefti_os_vm_reserve(bytes), *top;

	if (!low)
		return -ENOMEM;
	top = low + bytes;
	k->tp = wefti_arch_tp_get();
	if (wefti_rt.own_tls) {
		struct wefti_tls tls;

		int error = wefti_tls_build(low, top, &tls);

		if (error) {
			wefti_os_vm_unmap(low, bytes);
			return error;
		}
		k->tp = tls.tp;
		top = tls.low;
	}
	k->cold.stack_low = low;
	k->cold.stack_bytes = (size_t)(top - low);
	k->self_slot = (struct wefti_thread **)(k->tp + wefti_self_offset());
	k->tid = wefti_os_gettid();
	k->mask = wefti_os_signal_mask();
	wefti_arch_context_init(&k->sched->ctx, top, loop_begins);
	wefti_sanitizer_make(k->sched);
	wefti_first.memory = low;
	wefti_first.bytes = bytes;
	return 0;
}

int wefti_first_make(void)
{
	struct wefti_kthread *k = wefti_kthread_new();
	int error;

	if (!k)
		return -ENOMEM;
	error = make_kthread(k);
	if (error)
		goto kthread;
	error = make_main();
	if (error)
		goto block;
	wefti_first.k = k;
	store_relaxed(&wefti_rt.kthread_count, 1);
	if (wefti_rt.own_tls) {
		*k->self_slot = k->sched;
		wefti_tls_move_kernel_thread(k->tp);
	}
	wefti_os_altstack_install(&k->alt_stack);
	wefti_self_set(wefti_rt.main);
	wefti_sanitizer_attach(wefti_rt.main);
	return 0;
block:
	if (wefti_rt.own_tls)
		wefti_tls_destroy(k->tp);
	wefti_os_vm_unmap(wefti_first.memory, wefti_first.bytes);
kthread:
	wefti_kthread_free(k);
	return error;
}

void wefti_first_undo(void)
{
	struct wefti_kthread *k = wefti_first.k;
	struct wefti_thread *main = wefti_rt.main;

	wefti_os_retry_end(&k->retry);
	wefti_os_altstack_remove(k->alt_stack);
	if (wefti_rt.own_tls) {
		wefti_tls_move_kernel_thread(main->tp);
		wefti_tls_destroy(k->tp);
	}
	wefti_sanitizer_drop(&k->cold);
	wefti_os_vm_unmap(wefti_first.memory, wefti_first.bytes);
	wefti_kthread_free(k);
	wefti_self_set(NULL);
	wefti_thread_turn(main);
	free(wefti_first.cold->keys);
	wefti_thread_bare_free(main);
	free(wefti_first.cold);
	wefti_rt.main = NULL;
	wefti_first = (struct wefti_first){ NULL, NULL, NULL, 0 };
}

/* SPDX-License-Identifier: MIT */
/* pthread/mutex_lend.c - libc's own condition variables use a mutex of ours */
#include "pthread/mutex.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include "os/kthread.h"
#include "os/signal.h"
#include "os/tls_layout.h"
#include "pthread/real.h"
#include "pthread/region.h"
#include "pthread/robust.h"
#include "pthread/shared.h"
#include "pthread/signal.h"
#include "syscall.h"

static int is_special(const pthread_mutex_t *m)
{
	return m->__data.__kind & (WEFTI_MUTEX_ROBUST | WEFTI_MUTEX_SHARED);
}

static int is_robust(const pthread_mutex_t *m)
{
	return m->__data.__kind & WEFTI_MUTEX_ROBUST;
}

static int *libcs_tid(void)
{
	return wefti_tls_field(wefti_arch_tp_get(),
			       wefti_tls_layout.pthread_tid);
}

static void set_list(void *head)
{
	(void)wefti_arch_syscall(SYS_set_robust_list, (long)head,
				 sizeof(struct robust_list_head), 0, 0, 0, 0);
}

/* The kernel thread's list is the one in the caller's control block. */
static void move_list(struct wefti_mutex_lent *l)
{
	size_t bytes;

	if (wefti_arch_syscall(SYS_get_robust_list, 0, (long)&l->list_before,
			       (long)&bytes, 0, 0, 0) == 0)
		set_list(wefti_tls_field(wefti_arch_tp_get(),
					 wefti_tls_layout.pthread_robust));
}

struct wefti_mutex_lent wefti_mutex_lend(pthread_mutex_t *m)
{
	struct wefti_mutex_lent l = { .tid = 0 };
	sigset_t preempt;

	wefti_region_begin();
	if (!is_special(m) || !wefti_guard())
		return l;
	l.tid_before = *libcs_tid();
	l.tid = l.tid_before;
	if (wefti_pt_green()) {
		sigemptyset(&preempt);
		sigaddset(&preempt, wefti_os_preempt_signal());
		l.mask_before = wefti_os_signal_mask();
		REAL(pthread_sigmask)(SIG_BLOCK, &preempt, NULL);
		l.tid = *libcs_tid() = wefti_os_gettid();
		move_list(&l);
	}
	if (is_robust(m)) {
		wefti_robust_lend(m, l.tid);
	} else {
		*wefti_mutex_holder(m) = 0;
		m->__data.__owner = l.tid;
	}
	return l;
}

void wefti_mutex_take_back(pthread_mutex_t *m, struct wefti_mutex_lent l)
{
	if (l.tid && is_robust(m)) {
		wefti_robust_take_back(m, l.tid);
	} else if (l.tid && m->__data.__owner == l.tid) {
		m->__data.__owner = wefti_guard();
		*wefti_mutex_holder(m) = wefti_shared_me();
	}
	if (l.tid && wefti_pt_green()) {
		if (l.list_before)
			set_list(l.list_before);
		*libcs_tid() = l.tid_before;
		wefti_os_signals_restore(l.mask_before);
	}
	wefti_region_end();
	wefti_signals_look();
}

/* SPDX-License-Identifier: MIT */
/*
 * pthread/kthread/tid_address.c - the word that is cleared when a thread has ended
 *
 * set_tid_address() exists only as a system call. At the thread's end the kernel stores 0
 * in the word and wakes one futex waiter. libc uses its own word for pthread_join(). A
 * green thread's join does not need it, so nothing is done for libc's word.
 */
#include "pthread/kthread/tid_address.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/tls/tls_layout.h"
#include "pthread/core/self.h"
#include "syscall.h"

/* The word where libc would have the thread's id. */
static int *libcs_own(void)
{
	const struct wefti_thread *self = wefti_self();

	if (self && self->kind == WEFTI_KIND_GREEN)
		return (int *)(uintptr_t)&wefti_pt.tid;
	return wefti_tls_field(wefti_arch_tp_get(),
			       wefti_tls_layout.pthread_tid);
}

int *wefti_tid_address(void)
{
	return wefti_pt.tid_address ? wefti_pt.tid_address : libcs_own();
}

void wefti_tid_address_set(int *address)
{
	wefti_pt.tid_address = address == libcs_own() ? NULL : address;
}

/* The kernel stores the 0, and only fails if the word is no longer mapped. */
int *wefti_tid_address_end(void)
{
	int *address = wefti_pt.tid_address;

	if (likely(!address))
		return NULL;
	return wefti_arch_syscall(SYS_futex, (long)address, FUTEX_WAKE_OP, 1, 0,
				  (long)address,
				  FUTEX_OP(FUTEX_OP_SET, 0, FUTEX_OP_CMP_LT, 0))
		       >= 0 ? address : NULL;
}

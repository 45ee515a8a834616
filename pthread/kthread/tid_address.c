/* SPDX-License-Identifier: MIT */
/*
 * pthread/kthread/tid_address.c - the word that is emptied when a thread has ended
 *
 * set_tid_address() is by system call only: the kernel stores 0 there and wakes
 * one who waits by futex. libc's own word is what it has for pthread_join(); a
 * green thread's join does without, so nothing is done for that one.
 */
#include "pthread/kthread/tid_address.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/tls/tls_layout.h"
#include "pthread/core/self.h"
#include "syscall.h"

/* As if libc had the thread's id there. */
static int *libcs_own(void)
{
	const struct wefti_thread *self = wefti_self();

	if (self && self->kind == WEFTI_KIND_GREEN)
		return &wefti_pt.tid;
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

/* The kernel stores, and bears it if the word is no more. */
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

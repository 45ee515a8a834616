/* SPDX-License-Identifier: MIT */
/*
 * os/kthread/quiescent.c - grace periods, by liburcu's quiescent states
 *
 * liburcu's list of readers is under liburcu's own locks, and a fork may come while
 * another kernel thread holds one. The child gets the memory as it is at one moment. If
 * no kernel thread was at work in liburcu then, the locks are free. Then the child
 * removes from the list the readers whose kernel threads do not exist in it. If one was
 * at work, the child does without grace periods, and keeps what it would have freed
 * after one: kernel threads' records, of a kilobyte each. So that the child knows of all
 * readers in the list, each reader is noted before it goes in and forgotten when it is
 * out.
 *
 * Rejected: to keep all other kernel threads out of liburcu during a fork. A fork waits
 * for libc's locks. Their owners may need a VCPU, and so a new kernel thread.
 *
 * Writers
 *   at_work  wefti_os_quiescent_register, wefti_os_quiescent_unregister,
 *       wefti_os_quiescent_wait
 */
#include "os/kthread/quiescent.h"

#include <errno.h>
#include <sys/syscall.h>	/* liburcu 0.12 asks for <syscall.h>, and gets arch's */

#include <urcu/urcu-qsbr.h>
#include <urcu/static/urcu-qsbr.h>

#include "base/compiler.h"
#include "lockfree/atomic.h"
#include "os/libc/bind.h"

static _Atomic uint32_t at_work;	/* calls that take liburcu's locks */
static int broken;			/* set in the child of a fork */

void wefti_os_quiescent_bind(const struct wefti_os_binding *bindings,
			     size_t count)
{
#if !defined(WEFT_TSAN) && !defined(WEFT_ASAN)
	static int done;

	if (!done)
		(void)!wefti_os_bind_apart("liburcu-qsbr.so", bindings, count);
	done = 1;
#else
	(void)bindings;
	(void)count;
#endif
}

void wefti_os_quiescent_register(void **reader)
{
	if (unlikely(broken))
		return;
	*reader = &URCU_TLS(urcu_qsbr_reader);
	fetch_add_seq_cst(&at_work, 1);
	urcu_qsbr_register_thread();
	fetch_sub_seq_cst(&at_work, 1);
}

void wefti_os_quiescent_unregister(void **reader)
{
	if (unlikely(broken))
		return;
	fetch_add_seq_cst(&at_work, 1);
	urcu_qsbr_unregister_thread();
	fetch_sub_seq_cst(&at_work, 1);
	*reader = NULL;
}

void wefti_os_quiescent(void)
{
	if (likely(!broken))
		urcu_qsbr_quiescent_state();
}

void wefti_os_quiescent_offline(void)
{
	if (likely(!broken))
		urcu_qsbr_thread_offline();
}

void wefti_os_quiescent_online(void)
{
	if (likely(!broken))
		urcu_qsbr_thread_online();
}

int wefti_os_quiescent_wait(void)
{
	if (unlikely(broken))
		return -ENOTSUP;
	fetch_add_seq_cst(&at_work, 1);
	urcu_qsbr_synchronize_rcu();
	fetch_sub_seq_cst(&at_work, 1);
	return 0;
}

void wefti_os_quiescent_after_fork(void)
{
	broken |= load_seq_cst(&at_work) != 0;
}

/* What urcu_qsbr_unregister_thread() does, for a thread that cannot call it. */
void wefti_os_quiescent_forget(void *reader)
{
	struct urcu_qsbr_reader *r = reader;

	if (broken || !r->registered)
		return;
	cds_list_del(&r->node);
	r->ctr = 0;
	r->waiting = 0;
	r->registered = 0;
}

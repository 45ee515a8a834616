/* SPDX-License-Identifier: MIT */
/*
 * pthread/kthread/prctl.c - prctl(): options of the thread, and of the process
 *
 * Most options are of the process, and the kernel sets them. An option that the kernel
 * keeps for each kernel thread is treated in one of three ways. It is kept here for the
 * thread (its name; its timer slack, which has no effect). Or it is made the process's
 * (no new privileges, the signal at the parent's death). Or it is refused.
 *
 * Writers
 *   death_asked  set_death_signal, wefti_prctl_forget
 *   death_done  wefti_death_signal_serve, wefti_prctl_forget
 *   no_new_privs  set_no_new_privs
 */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "os/call/futex.h"
#include "os/call/newer.h"
#include "pthread/core/answer.h"
#include "pthread/core/real.h"
#include "pthread/core/started.h"
#include "pthread/kthread/filter.h"
#include "pthread/kthread/proc.h"
#include "pthread/kthread/tid_address.h"
#include "pthread/kthread/tied.h"
#include "pthread/signal/signal.h"

#ifndef PR_PAC_SET_ENABLED_KEYS
#define PR_PAC_SET_ENABLED_KEYS	60
#endif
#ifndef PR_SME_SET_VL
#define PR_SME_SET_VL		63
#endif
#define MOST_SIGNAL	64u
#define SIGNAL_BITS	8

/*
 * The death signal is set for the receiver of signals, because that kernel thread lives
 * as long as the process. Both words hold a count of requests, and the signal.
 */
static _Atomic uint32_t death_asked, death_done;

static _Atomic uint32_t no_new_privs;	/* once set, it stays set */

void wefti_death_signal_serve(void)
{
	uint32_t asked = load_seq_cst(&death_asked);

	if (asked == load_seq_cst(&death_done))
		return;
	(void)!REAL(prctl)(PR_SET_PDEATHSIG,
			   (unsigned long)asked % (1u << SIGNAL_BITS));
	store_seq_cst(&death_done, asked);
	wefti_os_futex_wake(&death_done, INT32_MAX);
}

/* Returns when it is set. So if the caller finds no new parent then, none is missed. */
static int set_death_signal(unsigned long signal)
{
	uint32_t asked = load_seq_cst(&death_asked), done, mine;

	if (signal > MOST_SIGNAL)
		return EINVAL;
	do {
		mine = ((asked >> SIGNAL_BITS) + 1) << SIGNAL_BITS |
		       (uint32_t)signal;
	} while (!cas_seq_cst(&death_asked, &asked, mine));
	wefti_signals_wake_receiver();
	while (done = load_seq_cst(&death_done),
	       (int32_t)((done >> SIGNAL_BITS << SIGNAL_BITS) -
			 (mine >> SIGNAL_BITS << SIGNAL_BITS)) < 0)
		wefti_os_futex_wait(&death_done, done, INT64_MAX);
	return 0;
}

static unsigned death_signal(void)
{
	return load_seq_cst(&death_asked) % (1u << SIGNAL_BITS);
}

static int set_no_new_privs(const unsigned long *a)
{
	int result = REAL(prctl)(PR_SET_NO_NEW_PRIVS, a[0], a[1], a[2], a[3]);

	if (result == 0)
		store_seq_cst(&no_new_privs, 1);
	return result;
}

void wefti_privileges_hand_on(void)
{
	if (load_seq_cst(&no_new_privs))
		(void)!REAL(prctl)(PR_SET_NO_NEW_PRIVS, 1ul, 0ul, 0ul, 0ul);
}

/* Is it an option of credentials? Each kernel thread has its own. */
static int is_of_credentials(int option, unsigned long what)
{
	switch (option) {
	case PR_SET_KEEPCAPS: case PR_SET_SECUREBITS: case PR_CAPBSET_DROP:
		return 1;
	case PR_CAP_AMBIENT:
		return what != PR_CAP_AMBIENT_IS_SET;
	default:
		return 0;
	}
}

/* Options of a kernel thread. Kernels and processors without them return EINVAL. */
static int is_of_kernel_thread(int option)
{
	switch (option) {
	case PR_SET_SECCOMP: case PR_SET_TSC: case PR_MCE_KILL:
	case PR_SET_SPECULATION_CTRL: case PR_SET_IO_FLUSHER:
	case PR_SET_SYSCALL_USER_DISPATCH: case PR_SCHED_CORE:
	case PR_SVE_SET_VL: case PR_SME_SET_VL: case PR_PAC_RESET_KEYS:
	case PR_PAC_SET_ENABLED_KEYS: case PR_SET_TAGGED_ADDR_CTRL:
		return 1;
	default:
		return 0;
	}
}

static int set_name(const char *from)
{
	char name[sizeof(wefti_pt.name)] = "";

	strncpy(name, from, sizeof(name) - 1);	/* a longer name is cut */
	return wefti_answer(pthread_setname_np(pthread_self(), name));
}

/* prctl() of a green thread. */
static int control(int option, const unsigned long *a)
{
	switch (option) {
	case PR_SET_NAME:
		return set_name((const char *)a[0]);
	case PR_GET_NAME:
		wefti_proc_refresh_name(wefti_self());
		memcpy((void *)a[0], wefti_pt.name, sizeof(wefti_pt.name));
		return 0;
	case PR_SET_PDEATHSIG:
		return wefti_answer(set_death_signal(a[0]));
	case PR_GET_PDEATHSIG:
		*(int *)a[0] = (int)death_signal();
		return 0;
	case PR_SET_NO_NEW_PRIVS:
		return set_no_new_privs(a);
	case PR_GET_NO_NEW_PRIVS:
		wefti_privileges_hand_on();
		break;
	case PR_GET_TID_ADDRESS:
		*(int **)a[0] = wefti_tid_address();
		return 0;
	case PR_SET_TIMERSLACK:
		wefti_pt.schedule.timer_slack_ns = a[0];
		return 0;
	case PR_GET_TIMERSLACK:
		if (!wefti_pt.schedule.timer_slack_ns)
			break;
		return (int)wefti_pt.schedule.timer_slack_ns;
	}
	if (is_of_credentials(option, a[0]))
		return wefti_answer(EPERM);
	if (is_of_kernel_thread(option))
		return wefti_answer(EINVAL);
	return REAL(prctl)(option, a[0], a[1], a[2], a[3]);
}

/* Not by a green thread: the kernel's. */
static int pass(int option, const unsigned long *a)
{
	const long call[] = { option, (long)a[0], (long)a[1] };
	const void *filter = wefti_filter_of_call(SYS_prctl, call);
	struct wefti_filter f;
	int result;

	if (likely(!filter))
		return REAL(prctl)(option, a[0], a[1], a[2], a[3]);
	wefti_filter_look(filter, &f);
	result = REAL(prctl)(option, a[0], a[1], a[2], a[3]);
	if (wefti_filter_is_done(SYS_prctl, call, result))
		wefti_filter_is_set(&f);
	return result;
}

EXPORT int prctl(int option, ...)
{
	unsigned long a[4];
	va_list list;

	va_start(list, option);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(list, unsigned long);
	va_end(list);
	if (!wefti_pt_green() || !wefti_pt_is_started())
		return pass(option, a);
	return control(option, a);
}

/* Called on the first kernel thread, which had these options before. */
void wefti_prctl_begin(void)
{
	int signal = 0;

	(void)!REAL(prctl)(PR_GET_NAME, wefti_pt.name);
	(void)!REAL(prctl)(PR_GET_PDEATHSIG, &signal);
	if (!signal)
		return;
	(void)set_death_signal((unsigned long)signal);
	(void)!REAL(prctl)(PR_SET_PDEATHSIG, 0ul);
}

/* In the child of a fork. The kernel has dropped the signal. */
void wefti_prctl_forget(void)
{
	store_seq_cst(&death_asked, 0u);
	store_seq_cst(&death_done, 0u);
	wefti_privileges_hand_on();
	if (wefti_pt.name[0])
		(void)!REAL(prctl)(PR_SET_NAME, wefti_pt.name);
}

/* SPDX-License-Identifier: MIT */
/*
 * pthread/io/owner.c - descriptors that send their signal to a green thread
 *
 * F_SETOWN_EX with F_OWNER_TID names a kernel thread. If the program names a green
 * thread, the receiver of signals becomes the file's owner, and F_SETSIG sets a signal
 * that is used for nothing else. The signal carries the descriptor, and so identifies
 * the thread. The thread is sent the signal that the program has set by F_SETSIG (0:
 * SIGIO). When the program asks for the owner or the signal, the answer comes from here,
 * as long as the kernel still has what was set here.
 *
 * The signal is a real-time signal, so that with several descriptors none is lost.
 *
 * Writers
 *   any  note, wefti_owners_forget
 *   lock  wefti_owners_forget
 */
#include "pthread/io/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pthread/core/answer.h"
#include "pthread/core/hold.h"
#include "pthread/core/real.h"
#include "pthread/core/self.h"
#include "pthread/signal/signal.h"

#define SIGNALS	64

struct owner {
	struct owner *next;
	int fd;
	int signal;		/* what F_SETSIG has set; F_OWNER_TID only */
	struct f_owner_ex told;	/* what the program has set */
};

static _Atomic uint32_t lock;		/* pthread/core/hold.h */
static struct owner *owners;		/* under the lock; an entry stays, for its fd */
static _Atomic uint32_t any;		/* there has been an entry */

/* Under the lock. */
static struct owner *find(int fd)
{
	struct owner *o = owners;

	while (o && o->fd != fd)
		o = o->next;
	return o;
}

/* Returns 0: no owner is noted, or the file has been given another owner since. */
static int look_up(int fd, struct owner *to)
{
	struct f_owner_ex now;
	struct wefti_hold h;
	struct owner *o;

	if (!load_seq_cst(&any))
		return 0;
	h = wefti_hold_enter(&lock);
	o = find(fd);
	if (o)
		*to = *o;
	wefti_hold_leave(&lock, h);
	if (!o || REAL(fcntl)(fd, F_GETOWN_EX, &now) != 0 ||
	    now.type != to->told.type)
		return 0;
	return now.pid == (now.type == F_OWNER_TID ? wefti_signals_receiver() :
						     getpid());
}

/* Returns 0, or ENOMEM. */
static int note(int fd, const struct f_owner_ex *told, int signal)
{
	struct owner *more = malloc(sizeof(*more)), *o;
	struct wefti_hold h = wefti_hold_enter(&lock);

	o = find(fd);
	if (!o && more) {
		o = more;
		more = NULL;
		o->next = owners;
		owners = o;
	}
	if (o) {
		o->fd = fd;
		o->told = *told;
		o->signal = signal;
	}
	store_seq_cst(&any, 1);
	wefti_hold_leave(&lock, h);
	free(more);
	return o ? 0 : ENOMEM;
}

/* --- fcntl() --------------------------------------------------------- */

/* The signal that the program has set. */
static int signal_of(int fd)
{
	struct owner o;

	return look_up(fd, &o) && o.told.type == F_OWNER_TID ?
	       o.signal : REAL(fcntl)(fd, F_GETSIG);
}

static int own_by_thread(int fd, const struct f_owner_ex *told)
{
	struct f_owner_ex kernels = { F_OWNER_TID, wefti_signals_receiver() };
	int signal = signal_of(fd), error;

	if (signal < 0 || REAL(fcntl)(fd, F_SETOWN_EX, &kernels) != 0)
		return -1;
	error = note(fd, told, signal);
	if (error)
		return wefti_answer(error);
	return REAL(fcntl)(fd, F_SETSIG, WEFTI_SIGNAL_OWNER);
}

/*
 * For F_OWNER_PID the id of any thread stands for its process, but the kernel then
 * reports no id. For F_OWNER_PGRP only the first thread's id can name a group: with
 * another id no process is sent anything.
 */
static int own_by_process(int fd, const struct f_owner_ex *told)
{
	const struct f_owner_ex none = { told->type, 0 };
	struct f_owner_ex kernels = { told->type, getpid() };

	if (told->type == F_OWNER_PGRP)
		return REAL(fcntl)(fd, F_SETOWN, 0);
	if (REAL(fcntl)(fd, F_SETOWN_EX, &kernels) != 0)
		return -1;
	return wefti_answer(note(fd, &none, 0));
}

static int set_owner(int fd, const struct f_owner_ex *told, int *result)
{
	const struct wefti_thread *t = wefti_thread_by_id(told->pid);
	int signal = signal_of(fd);

	if (told->type == F_OWNER_TID && t) {
		*result = own_by_thread(fd, told);
		return 1;
	}
	if (signal >= 0 && signal != REAL(fcntl)(fd, F_GETSIG))
		(void)!REAL(fcntl)(fd, F_SETSIG, signal);
	if ((told->type != F_OWNER_PID && told->type != F_OWNER_PGRP) || !t ||
	    told->pid == getpid())
		return 0;
	*result = own_by_process(fd, told);
	return 1;
}

static int tell_owner(int fd, int command, struct f_owner_ex *to, int *result)
{
	struct owner o;

	if (!look_up(fd, &o))
		return 0;
	*result = command == F_GETOWN ? o.told.pid : 0;
	if (command == F_GETOWN_EX)
		*to = o.told;
	return 1;
}

static int control_signal(int fd, int command, long signal, int *result)
{
	struct owner o;

	if (!look_up(fd, &o) || o.told.type != F_OWNER_TID)
		return 0;
	if (command == F_GETSIG)
		*result = o.signal;
	else if (signal < 0 || signal > SIGNALS)
		*result = wefti_answer(EINVAL);
	else
		*result = wefti_answer(note(fd, &o.told, (int)signal));
	return 1;
}

int wefti_owner_control(int fd, int command, void *arg, int *result)
{
	const pid_t id = (pid_t)(intptr_t)arg;
	const struct f_owner_ex process = { id < 0 ? F_OWNER_PGRP : F_OWNER_PID,
					    id < 0 && id != INT32_MIN ? -id : id };

	switch (command) {
	case F_SETOWN:
		return set_owner(fd, &process, result);
	case F_SETOWN_EX:
		return set_owner(fd, arg, result);
	case F_GETOWN: case F_GETOWN_EX:
		return tell_owner(fd, command, arg, result);
	case F_SETSIG: case F_GETSIG:
		return control_signal(fd, command, (long)arg, result);
	default:
		return 0;
	}
}

/* --- its signal ------------------------------------------------------ */

/* The noted descriptor may be another one of the same file. */
void wefti_owner_signalled(const siginfo_t *info)
{
	siginfo_t sent = *info;
	struct wefti_thread *to;
	struct wefti_hold h = wefti_hold_enter(&lock);
	struct owner *o = find(info->si_fd);
	pid_t id = 0;

	if (!o)
		o = owners;
	if (o) {
		id = o->told.pid;
		sent.si_signo = o->signal;
	}
	wefti_hold_leave(&lock, h);
	to = id ? wefti_thread_by_id(id) : NULL;
	if (!to)
		return;
	if (!sent.si_signo) {
		memset(&sent, 0, sizeof(sent));
		sent.si_signo = SIGIO;
		sent.si_code = SI_KERNEL;
	}
	(void)wefti_signal_send(to, &sent);
}

void wefti_owners_forget(void)
{
	owners = NULL;
	store_seq_cst(&any, 0);
	store_seq_cst(&lock, 0);
}

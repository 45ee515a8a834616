/* SPDX-License-Identifier: MIT */
/*
 * pthread/signal/signal_tty.c - SIGTTIN and SIGTTOU, by which a terminal stops the
 * background
 *
 * When a kernel thread reads from the process's terminal, or writes to it, the kernel
 * looks at its mask. If the signal is blocked, the call fails or is let through. If not,
 * the process is stopped. So the kernel threads that carry threads let the two in. Once a
 * thread blocks one of them, each kernel thread follows the mask of the thread that it
 * carries, and blocks both between threads. All this is done only if the process has a
 * terminal when threads become green. Else no call is stopped, and no switch has to look.
 *
 * Writers
 *   wefti_take_hook  begin_to_follow, wefti_tty_forget
 */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "os/signal/signal.h"
#include "pthread/core/self.h"
#include "pthread/signal/signal.h"
#include "sched/switch.h"
#include "syscall.h"

#define BOTH	WEFTI_SIGNALS_TTY

static int has_terminal;	/* written while there is one thread */

static int is_terminal(int fd)
{
	pid_t session;

	return wefti_arch_syscall(SYS_ioctl, fd, TIOCGSID, (long)&session, 0, 0,
				  0) == 0;
}

/* The terminal need not be open. */
static int find_terminal(void)
{
	long fd;

	for (fd = 0; fd < 3; fd++)
		if (is_terminal((int)fd))
			return 1;
	fd = wefti_arch_syscall(SYS_openat, AT_FDCWD, (long)"/dev/tty",
				O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC, 0,
				0, 0);
	if (fd < 0)
		return 0;
	wefti_arch_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	return 1;
}

uint64_t wefti_tty_begin(void)
{
	has_terminal = find_terminal();
	return has_terminal ? BOTH : 0;
}

/* Changes only these two signals in the kernel thread's mask. */
static void block(struct wefti_kthread *k, uint64_t signals)
{
	const uint64_t now = k->mask & BOTH;

	if (now == signals)
		return;
	k->mask = (k->mask & ~BOTH) | signals;
	wefti_os_signals_change(signals & ~now, now & ~signals);
}

static void takes(struct wefti_kthread *k, const struct wefti_thread *to)
{
	const int is_programs = to->tp && (to->kind == WEFTI_KIND_GREEN ||
					   to->kind == WEFTI_KIND_MAIN);

	block(k, is_programs ? load_relaxed(&wefti_pt_of(to)->mask) & BOTH : BOTH);
}

static void begin_to_follow(void)
{
	store_seq_cst(&wefti_take_hook, takes);
}

void wefti_tty_expect(uint64_t mask)
{
	if (unlikely(has_terminal && (mask & BOTH)))
		begin_to_follow();
}

void wefti_tty_follow(uint64_t mask)
{
	struct wefti_thread *self;

	wefti_tty_expect(mask);
	if (likely(!load_relaxed(&wefti_take_hook)) || !wefti_pt_green())
		return;
	self = wefti_enter();
	block(self->vcpu->kthread, mask & BOTH);
	wefti_leave(self);
}

void wefti_tty_forget(void)
{
	store_seq_cst(&wefti_take_hook, NULL);
}

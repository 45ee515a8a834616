/* SPDX-License-Identifier: MIT */
/*
 * os/signal/trap.c - system calls that a library makes by its own instructions
 *
 * States of the word. The kernel reads its first byte at each such call.
 *   0			trapping has not begun, or has ended
 *   HAS_BEGUN		calls go to the kernel
 *   HAS_BEGUN | TRAPS	the kernel sends SIGSYS for each call
 *
 *   0 --begin--> HAS_BEGUN | TRAPS <--set--> HAS_BEGUN, and from both --end--> 0
 *
 * Writers
 *   state  wefti_os_trap_begin, wefti_os_trap_end, wefti_os_trap_set
 *
 * Invariants
 *   I1  SIGSYS has our handler from before HAS_BEGUN until no kernel thread is on its
 *       way to it.
 *   I2  Only begin leaves 0: set is a CAS from HAS_BEGUN.
 *
 * Linearization points: the store of begin, the CAS of set, the exchange of end. After
 * the exchange, end sends an errand to each other kernel thread, for I1: a kernel thread
 * that read the byte before has its signal by then, and that signal is delivered before
 * the errand's.
 *
 * Progress: set is lock-free. end waits for other kernel threads, and is rare. begin has
 * one caller. There is one word and nothing is freed, so there is no ABA. Pairs (all
 * seq_cst): end's exchange, then the errand; the kernel's read, then the signal that it
 * sends.
 */
#include "os/signal/trap.h"

#include <errno.h>
#include <link.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "interrupted.h"
#include "lockfree/atomic.h"
#include "os/call/newer.h"
#include "os/call/tasks.h"
#include "os/call/tid.h"
#include "os/libc/named.h"
#include "os/signal/errand.h"
#include "syscall.h"

#define DISPATCH_OFF		0
#define DISPATCH_INCLUSIVE_ON	2	/* traps calls from the range only */
#define CODE_DISPATCH		2	/* of a SIGSYS: SYS_USER_DISPATCH */

/* The first byte is the kernel's selector: 1: trap, 0: do not. */
#define TRAPS			1u
#define HAS_BEGUN		0x100u

#define TRIES			1000	/* ten seconds: see os/signal/errand.h */

static const char *const names[] = { "libgomp.so", "libgomp-" };

static wefti_os_trap_fn *trap_fn;
static struct sigaction before;
static uintptr_t text;			/* where it begins; and bytes */
static size_t text_bytes;
static _Atomic uint32_t state;

static int find_text(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size;
	(void)unused;
	if (!wefti_os_is_named(info->dlpi_name, names,
			       sizeof(names) / sizeof(*names)))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		text = info->dlpi_addr + p->p_vaddr;
		text_bytes = p->p_memsz;
		return 1;
	}
	return 0;
}

static long dispatch(long mode)
{
	return wefti_arch_syscall(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, mode,
				  mode ? (long)text : 0,
				  mode ? (long)text_bytes : 0,
				  mode ? (long)&state : 0, 0);
}

/* A SIGSYS that is not ours: a process sent it, or a filter of system calls. */
static void leave(int signal, siginfo_t *info, void *context)
{
	if (before.sa_handler == SIG_DFL ||
	    (before.sa_handler == SIG_IGN && info->si_code > 0))
		wefti_os_raise_default(signal);
	wefti_os_signal_forward(signal, info, context, &before);
}

/*
 * While fn waits, an interruption finds the thread as in any call. At the end sigreturn
 * would restore the state of the kernel thread on which fn was called. That state is
 * corrected first, and from then on the thread stays on its kernel thread.
 */
__attribute__((section("weft_preempt"), noinline))
static void on_trap(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	int saved = errno, tid = wefti_os_gettid(), held;
	long six[6];

	if (info->si_code != CODE_DISPATCH) {
		leave(signal, info, context);
		return;
	}
	wefti_arch_ucontext_args(uc, six);
	wefti_arch_ucontext_answer(uc, trap_fn(info->si_syscall, six));
	held = wefti_os_signal_preempt_hold();
	compiler_barrier();
	if (wefti_os_gettid() != tid)
		wefti_os_altstack_patch(uc, NULL);
	errno = saved;
	compiler_barrier();
	wefti_os_signal_preempt_let(held);
}

void wefti_os_trap_set(int on)
{
	uint32_t seen = load_seq_cst(&state);

	while (seen & HAS_BEGUN &&
	       !cas_seq_cst(&state, &seen, on ? seen | TRAPS : seen & ~TRAPS))
		;
}

int wefti_os_trap_is_set(void)
{
	return load_seq_cst(&state) & TRAPS ? 1 : 0;
}

int wefti_os_trap_begin(wefti_os_trap_fn *fn)
{
	long error;

	if (!dl_iterate_phdr(find_text, NULL))
		return -ENOENT;
	if (wefti_os_signal_has_handler(SIGSYS, on_trap))
		return -EBUSY;
	error = dispatch(DISPATCH_INCLUSIVE_ON);
	if (error)
		return (int)error;
	trap_fn = fn;
	/* NODEFER: a thread that waits in fn does not block the signal for the next. */
	wefti_os_signal_install(SIGSYS, on_trap, SA_NODEFER, &before);
	store_seq_cst(&state, HAS_BEGUN | TRAPS);
	return 0;
}

void wefti_os_trap_here(void)
{
	if (load_relaxed(&state) & HAS_BEGUN)
		(void)!dispatch(DISPATCH_INCLUSIVE_ON);
}

int wefti_os_trap_action(struct sigaction *old)
{
	if (!(load_seq_cst(&state) & HAS_BEGUN))
		return 0;
	*old = before;
	return 1;
}

static long nothing(void *unused)
{
	(void)unused;
	return 0;
}

/*
 * The kernel may have decided to trap and not yet sent the signal. It has sent it when
 * this later errand comes, and signals of that kind are delivered first.
 */
static void wait_for_handler(int tid, void *unused)
{
	long result;

	(void)unused;
	if (tid != wefti_os_gettid() &&
	    !wefti_os_task_blocks(tid, wefti_os_preempt_signal()))
		(void)!wefti_os_errand(tid, nothing, NULL, TRIES, &result);
}

int wefti_os_trap_end(void)
{
	if (!(xchg_seq_cst(&state, 0) & HAS_BEGUN))
		return 0;
	(void)!dispatch(DISPATCH_OFF);
	(void)!wefti_os_tasks(wait_for_handler, NULL);
	wefti_os_signal_remove(SIGSYS, on_trap, &before);
	return 1;
}

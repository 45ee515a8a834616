/* SPDX-License-Identifier: MIT */
/*
 * os/tls/tls_setxid.c - setuid() and similar calls reach every kernel thread
 *
 * libc takes the lock of its lists. It marks each block on them, except the caller's and
 * those that are EXITING, as all blocks built here are. It sends SIGSETXID to the id in
 * each marked block, waits until all handlers have run, and then makes the call itself.
 * The handler clears the mark in its own block. This fails in two ways once blocks run
 * on other kernel threads than their own.
 *
 * First, the handler takes the running block for its own. The signal was sent to the id
 * of another block, and libc waits for that block for ever. So our handler runs before
 * libc's, and changes to the block that libc has marked.
 *
 * Second, libc takes the caller's block for the caller's kernel thread. The kernel thread
 * that carries main is then reached twice. Kernel thread 0, which has the id of main's
 * block, is not reached, and keeps the old ids: root stays root there. The same holds in
 * the child of a fork, if its first kernel thread runs on a block with a made-up id. So
 * libc's list has an entry that stands only for kernel thread 0: a block on which no
 * thread runs, with kernel thread 0's id. If main's block is marked as well, kernel
 * thread 0 gets two signals, and the handler runs once on each block.
 *
 * A kernel thread that is reached twice makes the call twice. All these calls may be made
 * twice, but for setuid() without privileges to a saved id that is root's. The first call
 * makes that id the effective one. The second call then has the privilege, and sets all
 * three ids. So the handler sets the ids back if the kernel thread makes the call again.
 *
 * Rejected: to have the first handler copy the new ids to kernel thread 0. libc's handler
 * tells the caller at its end that it is done, so the call would return too early.
 */
#include "os/tls/tls_setxid.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cpu.h"
#include "interrupted.h"
#include "lockfree/atomic.h"
#include "os/call/fatal.h"
#include "os/call/tid.h"
#include "os/call/vm.h"
#include "os/tls/tls.h"
#include "os/tls/tls_layout.h"
#include "syscall.h"

#define SIGSETXID	33

/* Only kernel thread 0 writes it. Other kernel threads read only libc's lists. */
static struct {
	struct wefti_tls tls;
	pid_t linked_in;	/* the process that has it on its list */
} entry;

const char *wefti_tls_setxid_make(void)
{
	size_t page = wefti_os_page_size();
	size_t bytes = (wefti_tls_bytes() + page - 1) & ~(page - 1);
	char *memory = wefti_os_vm_reserve(bytes);

	if (!memory)
		return "no memory";
	if (wefti_tls_build(memory, memory + bytes, &entry.tls) != 0) {
		wefti_os_vm_unmap(memory, bytes);
		return "no memory";
	}
	entry.linked_in = getpid();
	return NULL;
}

static void change(int tid, int cancel)
{
	const struct wefti_tls_layout *l = &wefti_tls_layout;

	wefti_tls_lock_stacks();
	*(int *)wefti_tls_field(entry.tls.tp, l->pthread_tid) = tid;
	*(int *)wefti_tls_field(entry.tls.tp, l->pthread_cancelhandling) = cancel;
	wefti_tls_unlock_stacks();
}

const int *wefti_tls_setxid_include(void)
{
	pid_t pid = getpid();

	/* The child of a fork() begins with empty lists. */
	if (entry.linked_in != pid)
		wefti_tls_relink(entry.tls.tp);
	entry.linked_in = pid;
	change(wefti_os_gettid(), 0);
	return wefti_tls_field(entry.tls.tp, wefti_tls_layout.pthread_tid);
}

void wefti_tls_setxid_exclude(void)
{
	change(wefti_tls_tid(entry.tls.tp), WEFTI_TLS_EXITING);
}

void wefti_tls_setxid_inherit(int parent)
{
	if (entry.linked_in == parent)
		entry.linked_in = getpid();
}

/* The kernel's struct sigaction. It has no restorer on riscv64: there the mask is first. */
struct kernel_action {
	void (*handler)(int signal, siginfo_t *info, void *context);
	unsigned long flags;
	uint64_t restorer_and_mask[2];
};

static struct kernel_action libc_setxid;

/* Counts marked blocks with that id. The caller of setuid() holds the lists' lock. */
static void look_at_list(const struct wefti_glibc_list *head, int tid, uintptr_t *first,
			 unsigned *count)
{
	const struct wefti_tls_layout *l = &wefti_tls_layout;

	for (const struct wefti_glibc_list *e = head->next; e != head;
	     e = e->next) {
		uintptr_t pthread = (uintptr_t)e - l->pthread_list;
		int cancel = *(const volatile int *)
			     (pthread + l->pthread_cancelhandling);

		if (*(const int *)(pthread + l->pthread_tid) != tid ||
		    !(cancel & WEFTI_TLS_SETXID))
			continue;
		if ((*count)++ == 0)
			*first = wefti_arch_pthread_to_tp(pthread, &l->sizes);
	}
}

/*
 * Has the calling kernel thread sent itself this signal? Then it also makes the call that
 * all make. The signal has come before tgkill() has returned.
 */
static int is_own(const siginfo_t *info, const ucontext_t *uc, int tid)
{
	long arg[6];

	wefti_arch_ucontext_args(uc, arg);
	return info->si_code == SI_TKILL && info->si_pid == getpid() &&
	       wefti_arch_ucontext_is_behind_call(uc) && (int)arg[1] == tid &&
	       (int)arg[2] == SIGSETXID;
}

struct ids {
	uid_t real, effective, saved;
};

static int get_ids(struct ids *to)
{
	return wefti_arch_syscall(SYS_getresuid, (long)&to->real, (long)&to->effective,
				  (long)&to->saved, 0, 0, 0) == 0;
}

static void set_back(const struct ids *to)
{
	struct ids now;

	if (get_ids(&now) && (now.real != to->real || now.effective != to->effective ||
			      now.saved != to->saved))
		(void)wefti_arch_syscall(SYS_setresuid, (long)to->real,
					 (long)to->effective, (long)to->saved, 0, 0, 0);
}

/*
 * Two blocks with the id of kernel thread 0 may be marked. Each causes a signal, and
 * libc's handler clears the mark, so the next signal finds the other block. The stack
 * guard is the same in all blocks, so the compiler's checks hold across the switch. Once
 * libc's handler has been called, its caller may go on: the lists are not ours any more.
 */
static void on_setxid(int signal, siginfo_t *info, void *context)
{
	const uintptr_t here = wefti_arch_tp_get();
	const int tid = wefti_os_gettid();
	unsigned marked = 0;
	uintptr_t own = 0;
	struct ids before;
	int has_before;

	look_at_list(wefti_tls_layout.stacks_used, tid, &own, &marked);
	look_at_list(&wefti_tls_layout.stacks->user, tid, &own, &marked);
	has_before = (marked > 1 || is_own(info, context, tid)) && get_ids(&before);
	if (own && own != here)
		wefti_arch_tp_set(own);
	libc_setxid.handler(signal, info, context);
	if (own && own != here)
		wefti_arch_tp_set(here);
	if (has_before)
		set_back(&before);
}

static long kernel_sigaction(const struct kernel_action *new,
			     struct kernel_action *old)
{
	return wefti_arch_syscall(SYS_rt_sigaction, SIGSETXID, (long)new,
				  (long)old, sizeof(uint64_t), 0, 0);
}

void wefti_tls_wrap_setxid(void)
{
	struct kernel_action now;
	long ret = kernel_sigaction(NULL, &now);

	if (ret == 0 && (uintptr_t)now.handler > 1 &&
	    now.handler != on_setxid) {
		libc_setxid = now;
		now.handler = on_setxid;
		ret = kernel_sigaction(&now, NULL);
	}
	if (ret != 0)
		wefti_os_fatal("rt_sigaction for setuid", ret);
}

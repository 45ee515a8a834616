/* SPDX-License-Identifier: MIT */
/* test_signal.c - os/signal: handlers before ours, masks, alternate stacks */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/call/tid.h"
#include "os/call/vm.h"
#include "os/kthread/kthread.h"
#include "os/signal/signal.h"
#include "signal_frame.h"
#include "support.h"

static volatile sig_atomic_t ours, theirs, on_altstack;
static void *altstack;

static void their_handler(int signal)
{
	(void)signal;
	theirs++;
}

static void their_siginfo(int signal, siginfo_t *info, void *context)
{
	theirs += signal == info->si_signo && context != NULL;
}

static struct sigaction before_ours;

static void our_handler(int signal, siginfo_t *info, void *context)
{
	ours++;
	wefti_os_signal_forward(signal, info, context, &before_ours);
}

static void handler_before_ours_is_called_by_forward(void)
{
	struct sigaction plain = { .sa_handler = their_handler };
	struct sigaction full = { .sa_sigaction = their_siginfo,
				  .sa_flags = SA_SIGINFO };
	struct sigaction ignored = { .sa_handler = SIG_IGN }, now;

	ours = theirs = 0;
	sigaction(SIGUSR1, &plain, NULL);
	wefti_os_signal_install(SIGUSR1, our_handler, 0, &before_ours);
	raise(SIGUSR1);
	CU_ASSERT(ours == 1 && theirs == 1);
	wefti_os_signal_restore(SIGUSR1, &before_ours);
	sigaction(SIGUSR1, &full, NULL);
	wefti_os_signal_install(SIGUSR1, our_handler, 0, &before_ours);
	raise(SIGUSR1);
	CU_ASSERT(ours == 2 && theirs == 2);
	wefti_os_signal_restore(SIGUSR1, &before_ours);
	sigaction(SIGUSR1, &ignored, NULL);
	wefti_os_signal_install(SIGUSR1, our_handler, 0, &before_ours);
	raise(SIGUSR1);
	CU_ASSERT(ours == 3 && theirs == 2);
	wefti_os_signal_restore(SIGUSR1, &before_ours);
	sigaction(SIGUSR1, NULL, &now);
	CU_ASSERT(now.sa_handler == SIG_IGN);
}

/* How a child that runs f() ends; -1000 when not by a signal. */
static int ends_by(void (*f)(void))
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		f();
		_exit(0);
	}
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -1000;
}

static void fault_and_forward(void)
{
	char *p = wefti_os_vm_reserve_inaccessible(wefti_os_page_size());

	signal(SIGSEGV, SIG_DFL);
	wefti_os_signal_install(SIGSEGV, our_handler, 0, &before_ours);
	*(volatile char *)p = 1;
}

static void fault_ends_the_program_after_forward(void)
{
	CU_ASSERT_EQUAL(ends_by(fault_and_forward), SIGSEGV);
}

static void raise_quit(void)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	signal(SIGTERM, their_handler);
	wefti_os_raise_default(SIGTERM);
}

static void raise_default_passes_handlers_and_masks(void)
{
	CU_ASSERT_EQUAL(ends_by(raise_quit), SIGTERM);
}

static void mask_is_restored_and_essential_signals_stay(void)
{
	sigset_t before, during, after;
	uint64_t mask;

	pthread_sigmask(SIG_BLOCK, NULL, &before);
	mask = wefti_os_signals_block();
	pthread_sigmask(SIG_BLOCK, NULL, &during);
	CU_ASSERT(sigismember(&during, SIGTERM));
	CU_ASSERT(!sigismember(&during, SIGSEGV));
	CU_ASSERT(!sigismember(&during, wefti_os_preempt_signal()));
	wefti_os_signal_unblock(SIGTERM);
	pthread_sigmask(SIG_BLOCK, NULL, &during);
	CU_ASSERT(!sigismember(&during, SIGTERM));
	wefti_os_signals_restore(mask);
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	CU_ASSERT_EQUAL(memcmp(&before, &after, 8), 0);
}

/* By libc's own sleep, in which ThreadSanitizer runs handlers. */
static void wait_while(volatile sig_atomic_t *word, int value)
{
	while (*word == value)
		usleep(10);
}

static void where_am_i(int signal, siginfo_t *info, void *context)
{
	stack_t now;

	(void)signal;
	(void)info;
	(void)context;
	sigaltstack(NULL, &now);
	on_altstack = (now.ss_flags & SS_ONSTACK) != 0;
}

static void use_altstack(void *arg)
{
	struct sigaction old;
	void *second;

	wefti_os_altstack_install(&altstack);
	wefti_os_altstack_install(&second);
	*(int *)arg = altstack != NULL && second == NULL;
	wefti_os_signal_install(SIGUSR2, where_am_i, SA_ONSTACK, &old);
	wefti_os_signal_unblock(SIGUSR2);
	wefti_os_kthread_signal(wefti_os_gettid(), SIGUSR2);
	wait_while(&on_altstack, -1);
	wefti_os_signal_restore(SIGUSR2, &old);
	wefti_os_altstack_remove(altstack);
}

/*
 * AddressSanitizer installs alternate stacks of its own, ThreadSanitizer runs
 * handlers later and elsewhere.
 */
static void handler_runs_on_the_alternate_stack(void)
{
	struct wefti_os_kthread k;
	int installed = 0;

	on_altstack = -1;
	wefti_os_kthread_create(&k, 64 * 1024, use_altstack, &installed, NULL);
	wefti_os_kthread_join(&k);
#if !defined(WEFT_TSAN) && !defined(WEFT_ASAN)
	CU_ASSERT(installed);
	CU_ASSERT_EQUAL(on_altstack, 1);
#endif
}

/* --- a frame behind one that is about to return ----------------------- */

static ucontext_t first, second;	/* the second signal came at the first's end */
static volatile uintptr_t trampoline;

struct frames {
	int are_found, have_stack, have_mask, stay_apart, are_kept;
};

static void keep_frame(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	memcpy(&first, context, sizeof(first));
	trampoline = (uintptr_t)__builtin_return_address(0);
}

/* As if the kernel had laid the second frame at the trampoline of the first. */
static void nest(uint64_t first_mask, uint64_t second_mask)
{
	second = first;
#if defined(__x86_64__)
	second.uc_mcontext.gregs[REG_RIP] = (greg_t)trampoline;
	second.uc_mcontext.gregs[REG_RSP] = (greg_t)&first;
#elif defined(__riscv)
	second.uc_mcontext.__gregs[REG_PC] = trampoline;
	second.uc_mcontext.__gregs[2] = (uintptr_t)&first - sizeof(siginfo_t);
#else
	second.uc_mcontext.pc = trampoline;
	second.uc_mcontext.sp = (uintptr_t)&first - sizeof(siginfo_t);
#endif
	first.uc_stack = second.uc_stack = (stack_t){ .ss_size = 1 };
	wefti_os_ucontext_set_mask(&first, first_mask);
	wefti_os_ucontext_set_mask(&second, second_mask);
}

static int masks_are(uint64_t first_mask, uint64_t second_mask)
{
	return wefti_os_ucontext_mask(&first) == first_mask &&
	       wefti_os_ucontext_mask(&second) == second_mask;
}

static void patch_frames(void *arg)
{
	struct frames *f = arg;
	struct sigaction old;
	uint64_t own;

	wefti_os_altstack_install(&altstack);
	wefti_os_signal_install(SIGUSR2, keep_frame, 0, &old);
	wefti_os_signal_unblock(SIGUSR2);
	wefti_os_kthread_signal(wefti_os_gettid(), SIGUSR2);
	while (!trampoline)
		usleep(10);
	wefti_os_signal_restore(SIGUSR2, &old);
	own = wefti_os_signal_mask();
	nest(5, 5);
	f->are_found = wefti_arch_frame_returns(&second) == &first;
	wefti_os_altstack_patch_all(&second, 0);
	f->have_stack = first.uc_stack.ss_sp == altstack &&
			second.uc_stack.ss_sp == altstack;
	f->have_mask = masks_are(own, own);
	nest(6, 5);
	wefti_os_altstack_patch_all(&second, 0);
	f->stay_apart = masks_are(6, own);
	nest(5, 5);
	wefti_os_altstack_patch_all(&second, 1);
	f->are_kept = masks_are(5, 5);
	wefti_os_altstack_remove(altstack);
}

/* Sanitizers call handlers by their own, so there is no frame of the kernel's to find. */
#if defined(WEFT_TSAN) || defined(WEFT_ASAN)
#define FRAMES_ARE_THE_KERNELS	0
#else
#define FRAMES_ARE_THE_KERNELS	1
#endif

static void the_frame_behind_a_returning_one_is_patched_too(void)
{
	struct wefti_os_kthread k;
	struct frames f = { 0 };

	if (!FRAMES_ARE_THE_KERNELS)
		return;
	wefti_os_kthread_create(&k, 64 * 1024, patch_frames, &f, NULL);
	wefti_os_kthread_join(&k);
	CU_ASSERT_TRUE(f.are_found);
	CU_ASSERT_TRUE(f.have_stack);
	CU_ASSERT_TRUE(f.have_mask);
	CU_ASSERT_TRUE(f.stay_apart);
	CU_ASSERT_TRUE(f.are_kept);
}

static const struct test_case cases[] = {
	TEST(handler_before_ours_is_called_by_forward),
	TEST(fault_ends_the_program_after_forward),
	TEST(raise_default_passes_handlers_and_masks),
	TEST(mask_is_restored_and_essential_signals_stay),
	TEST(handler_runs_on_the_alternate_stack),
	TEST(the_frame_behind_a_returning_one_is_patched_too),
};

TEST_MAIN("os/signal", cases)

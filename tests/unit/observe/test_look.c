/* SPDX-License-Identifier: MIT */
/*
 * test_look.c - observe/look: kernel threads that answer, late or never, and
 * contexts that are not there
 */
#include "observe/look.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu.h"
#include "interrupted.h"
#include "os/call/copy.h"
#include "os/call/tid.h"
#include "os/signal/signal.h"
#include "support.h"

#define STACK	(256 * 1024)

static _Atomic int answers_late, is_copying, is_over;
static _Atomic int tid, is_blocked;

/* In the place of the real one: the handler can be held there. */
size_t __real_wefti_os_copy(void *to, const void *from, size_t bytes);
size_t __wrap_wefti_os_copy(void *to, const void *from, size_t bytes);

size_t __wrap_wefti_os_copy(void *to, const void *from, size_t bytes)
{
	if (wefti_os_gettid() == load_seq_cst(&tid)) {
		store_seq_cst(&is_copying, 1);
		while (load_seq_cst(&answers_late))
			wefti_arch_pause();
	}
	return __real_wefti_os_copy(to, from, bytes);
}

static void preempted(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
}

static struct wefti_thread fake;
static _Atomic uintptr_t marker_at;

/* Computes until it is over. */
static void *spin(void *unused)
{
	volatile uint64_t marker = UINT64_C(0x1122334455667788);

	wefti_self_set(&fake);
	store_seq_cst(&marker_at, (uintptr_t)&marker);
	store_seq_cst(&tid, wefti_os_gettid());
	while (!load_seq_cst(&is_over))
		wefti_arch_pause();
	wefti_self_set(NULL);
	return unused;
}

static pthread_t spinner;

static void begin(void)
{
	wefti_os_signal_preempt(preempted, NULL);
	wefti_look_init();
	store_seq_cst(&is_over, 0);
	store_seq_cst(&tid, 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&spinner, NULL, spin, NULL), 0);
	while (!load_seq_cst(&tid))
		sched_yield();
}

static void end(void)
{
	store_seq_cst(&is_over, 1);
	pthread_join(spinner, NULL);
}

/*
 * A busy machine may be late as well, so without an answer the test asks again.
 */
static void must_answer(void)
{
	int error;

	while ((error = wefti_look_copy_kthread(load_seq_cst(&tid))) ==
	       -ETIMEDOUT)
		CU_ASSERT_EQUAL(wefti_look.answered, 0);
	CU_ASSERT_EQUAL(error, 0);
	CU_ASSERT_EQUAL(wefti_look.answered, 1);
}

static void a_kernel_thread_shows_what_it_ran_and_its_stack(void)
{
	const struct wefti_stack_copy *s = &wefti_look.stack;
	uintptr_t marker;
	uint64_t seen;

	begin();
	for (int i = 0; i < 10; i++) {
		memset(&wefti_look, 0, sizeof(wefti_look));
		must_answer();
		marker = load_seq_cst(&marker_at);
		CU_ASSERT_PTR_EQUAL(wefti_look.self, &fake);
		CU_ASSERT_EQUAL(s->from,
				wefti_arch_ucontext_sp(&wefti_look.context));
		CU_ASSERT_FATAL(marker >= s->from &&
				marker + 8 <= s->from + s->bytes);
		memcpy(&seen, s->text + (marker - s->from), 8);
		CU_ASSERT_EQUAL(seen, UINT64_C(0x1122334455667788));
	}
	end();
}

static void a_thread_that_is_not_there_does_not_answer(void)
{
	begin();
	CU_ASSERT_EQUAL(wefti_look_copy_kthread(1 << 30), -ETIMEDOUT);
	CU_ASSERT_EQUAL(wefti_look.answered, 0);
	must_answer();		/* the next is not disturbed by that */
	end();
}

/* Its handler runs when nobody waits any more: it writes nothing. */
static void *answer_too_late(void *unused)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, wefti_os_preempt_signal());
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	store_seq_cst(&tid, wefti_os_gettid());
	store_seq_cst(&is_blocked, 1);
	while (load_seq_cst(&is_blocked))
		sched_yield();
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);	/* here it comes */
	return unused;
}

static void an_answer_that_nobody_waits_for_is_none(void)
{
	pthread_t thread;

	wefti_os_signal_preempt(preempted, NULL);
	wefti_look_init();
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, answer_too_late,
					     NULL), 0);
	while (!load_seq_cst(&is_blocked))
		sched_yield();
	CU_ASSERT_EQUAL(wefti_look_copy_kthread(load_seq_cst(&tid)), -ETIMEDOUT);
	memset(&wefti_look, 0x5a, sizeof(wefti_look));
	store_seq_cst(&is_copying, 0);
	store_seq_cst(&is_blocked, 0);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(load_seq_cst(&is_copying), 0);
	CU_ASSERT_EQUAL(wefti_look.stack.bytes, 0x5a5a5a5a5a5a5a5a);
	begin();
	must_answer();
	end();
}

static struct wefti_arch_next entry(void *unused)
{
	(void)unused;
	return (struct wefti_arch_next){ NULL, NULL };
}

static char *stack;
static struct wefti_context ctx;

static char *make_context(void)
{
	char *page = mmap(NULL, STACK + 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CU_ASSERT_FATAL((void *)page != MAP_FAILED);
	CU_ASSERT_EQUAL(mprotect(page + STACK, 4096, PROT_NONE), 0);
	stack = page;
	wefti_arch_context_init(&ctx, page + STACK, entry);
	return page + STACK;
}

/* I2: until it is done the struct is its, whoever wants to look. */
static void the_copier_has_the_struct_until_it_is_done(void)
{
	char *top = make_context();
	int status;
	pid_t pid;

	begin();
	store_seq_cst(&is_copying, 0);
	store_seq_cst(&answers_late, 1);
	while (!load_seq_cst(&is_copying))
		CU_ASSERT_EQUAL(wefti_look_copy_kthread(load_seq_cst(&tid)),
				-ETIMEDOUT);
	wefti_look.stack.from = 77;
	wefti_look_copy_context(&ctx, (uintptr_t)top);
	CU_ASSERT_EQUAL(wefti_look.answered, 0);
	CU_ASSERT_EQUAL(wefti_look.stack.from, 77);
	CU_ASSERT_EQUAL(wefti_look_copy_kthread(wefti_os_gettid()), -ETIMEDOUT);
	CU_ASSERT_EQUAL(wefti_look.stack.from, 77);

	/* In the child of a fork it will never be done. */
	pid = fork();
	if (pid == 0) {
		wefti_look_forget();
		wefti_look_copy_context(&ctx, (uintptr_t)top);
		_exit(wefti_look.answered != 1);
	}
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_EQUAL(status, 0);

	store_seq_cst(&answers_late, 0);
	must_answer();
	wefti_look_copy_context(&ctx, (uintptr_t)top);
	CU_ASSERT_EQUAL(wefti_look.answered, 1);
	end();
	munmap(stack, STACK + 4096);
}

static int answers(uintptr_t top)
{
	memset(&wefti_look, 0, sizeof(wefti_look));
	wefti_look_copy_context(&ctx, top);
	return wefti_look.answered;
}

static void a_context_is_shown_if_its_frame_is_there(void)
{
	char *top = make_context();
	uintptr_t sp = (uintptr_t)ctx.sp;
	struct wefti_arch_regs regs;

	CU_ASSERT_TRUE(answers((uintptr_t)top));
	wefti_arch_context_regs(&ctx, &regs);
	CU_ASSERT_EQUAL(wefti_arch_ucontext_pc(&wefti_look.context), regs.pc);
	CU_ASSERT_EQUAL(wefti_arch_ucontext_sp(&wefti_look.context), regs.sp);
	CU_ASSERT_EQUAL(wefti_look.stack.from, sp);
	CU_ASSERT_EQUAL(wefti_look.stack.bytes, (uintptr_t)top - sp);
	CU_ASSERT_TRUE(answers(sp + FRAME_BYTES));
	CU_ASSERT_FALSE(answers(sp + FRAME_BYTES - 1));
	CU_ASSERT_FALSE(answers(sp));
	CU_ASSERT_FALSE(answers(sp - 1));
	CU_ASSERT_FALSE(answers(0));

	/* As far as it can be read, and as there is room for. */
	CU_ASSERT_TRUE(answers((uintptr_t)top + 4096));
	CU_ASSERT_EQUAL(wefti_look.stack.bytes, (uintptr_t)top - sp);
	wefti_arch_context_init(&ctx, stack + 4096, entry);
	CU_ASSERT_TRUE(answers((uintptr_t)top));
	CU_ASSERT_EQUAL(wefti_look.stack.bytes, sizeof(wefti_look.stack.text));
	ctx.sp = top;
	CU_ASSERT_FALSE(answers((uintptr_t)top + 4096));
	ctx.sp = NULL;
	CU_ASSERT_FALSE(answers((uintptr_t)top));
	munmap(stack, STACK + 4096);
}

static const struct test_case cases[] = {
	TEST(a_kernel_thread_shows_what_it_ran_and_its_stack),
	TEST(a_thread_that_is_not_there_does_not_answer),
	TEST(an_answer_that_nobody_waits_for_is_none),
	TEST(the_copier_has_the_struct_until_it_is_done),
	TEST(a_context_is_shown_if_its_frame_is_there),
};

TEST_MAIN("observe/look", cases)

/* SPDX-License-Identifier: MIT */
/* test_unwind.c - os/unwind: stacks of copies, of nonsense, and of handlers */
#include "os/object/unwind.h"

#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compiler.h"
#include "interrupted.h"
#include "os/call/copy.h"
#include "os/object/objects.h"
#include "os/object/symbols.h"
#include "support.h"

#define MOST	64

static ucontext_t context;
static struct wefti_stack_copy copy, nothing;
static uintptr_t pcs[MOST];

static void copy_stack(void)
{
	copy.from = wefti_arch_ucontext_sp(&context);
	copy.bytes = wefti_os_copy(copy.text, (void *)copy.from,
				   sizeof(copy.text));
}

static size_t unwind(const struct wefti_stack_copy *stack, size_t most)
{
	memset(pcs, 0, sizeof(pcs));
	return wefti_os_unwind(&context, stack, pcs, most);
}

static int is_in_function(uintptr_t pc, const char *function)
{
	const struct wefti_object *o;
	char name[64] = "";

	pc &= ~WEFTI_PC_EXACT;
	o = wefti_os_object_of(pc);
	if (o)
		wefti_os_symbol(o, pc, name, sizeof(name));
	return strncmp(name, function, strlen(function)) == 0;
}

/* The number of the first of the frames in it, or -1. */
static int where(const char *function, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_in_function(pcs[i], function))
			return (int)i;
	return -1;
}

NOINLINE static void take_inner(void)
{
	CU_ASSERT_EQUAL(getcontext(&context), 0);
	copy_stack();
	__asm__ volatile("" ::: "memory");
}

NOINLINE static void take_outer(void)
{
	take_inner();
	__asm__ volatile("" ::: "memory");
}

/* In their order, from the innermost on, and what called all of them. */
static int is_all_there(size_t n)
{
	int inner = where("take_inner", n), outer = where("take_outer", n);

	if (inner == 0 && outer == 1 && where("test_main", n) > outer &&
	    where("_start", n) == (int)n - 1)
		return 1;
	printf("    of %zu: inner %d, outer %d, test_main %d, _start %d\n", n,
	       inner, outer, where("test_main", n), where("_start", n));
	return 0;
}

static void begin(void)
{
	wefti_os_symbols_forget();
	wefti_os_objects_read();
	wefti_os_unwind_begin();
}

static size_t in_handler;

static void as_many_frames_as_are_wanted(void)
{
	size_t all;

	begin();
	take_outer();
	all = unwind(&copy, MOST);
	CU_ASSERT_TRUE(is_all_there(all));
	CU_ASSERT_TRUE(all < MOST);
	CU_ASSERT_EQUAL(pcs[0], wefti_arch_ucontext_pc(&context));
	for (size_t most = 0; most <= all; most++) {
		CU_ASSERT_EQUAL(unwind(&copy, most), most);
		CU_ASSERT_EQUAL(pcs[most], 0);
	}
}

NOINLINE static void overwrite_the_stack(void)
{
	volatile char room[4096];

	for (size_t i = 0; i < sizeof(room); i++)
		room[i] = 0x55;
}

/* It was there when it was copied, and is not any more. */
static void the_copy_is_what_is_read(void)
{
	begin();
	take_outer();
	overwrite_the_stack();
	CU_ASSERT_TRUE(is_all_there(unwind(&copy, MOST)));
	CU_ASSERT_FALSE(where("take_outer", unwind(&nothing, MOST)) == 1);
}

NOINLINE static size_t unwind_without_copy(void)
{
	CU_ASSERT_EQUAL(getcontext(&context), 0);
	return unwind(&nothing, MOST);
}

NOINLINE static int without_copy_is_right(void)
{
	size_t n = unwind_without_copy();
	int right = where("unwind_without_copy", n) == 0 &&
		    where("without_copy_is_right", n) == 1 &&
		    where("_start", n) == (int)n - 1;

	if (!right)
		printf("    of %zu: %d, %d, %d\n", n,
		       where("unwind_without_copy", n),
		       where("without_copy_is_right", n), where("_start", n));
	return right;
}

NOINLINE static int deeper(int depth)
{
	int right = depth ? deeper(depth - 1) : without_copy_is_right();

	__asm__ volatile("" : "+r" (right));
	return right;
}

/* And what was read of it before has to be forgotten: it is another one now. */
static void what_is_not_in_the_copy_is_read_where_it_is(void)
{
	for (int depth = 0; depth < 20; depth++) {
		begin();
		CU_ASSERT_TRUE(deeper(depth));
	}
	overwrite_the_stack();
	begin();
	CU_ASSERT_TRUE(deeper(0));
}

/* --- nonsense: any answer, and no fault */

static void fill(void *p, size_t bytes, uint64_t *random)
{
	for (size_t i = 0; i + 8 <= bytes; i += 8) {
		uint64_t word = test_random(random);

		/* Small, like an address of ours, or anything. */
		if (word % 4 == 0)
			word %= 4096;
		else if (word % 4 == 1)
			word = copy.from + word % 65536;
		else if (word % 4 == 2)
			word = (uintptr_t)take_outer + word % 65536;
		memcpy((char *)p + i, &word, 8);
	}
}

static void nonsense_is_no_fault(void)
{
	size_t rounds = test_scaled(300);
	uint64_t random = test_seed(1);
	ucontext_t right;
	size_t n;

	begin();
	take_outer();
	right = context;
	for (size_t i = 0; i < rounds; i++) {
		fill(copy.text, sizeof(copy.text), &random);
		CU_ASSERT_TRUE(unwind(&copy, MOST) <= MOST);
		CU_ASSERT_EQUAL(pcs[0], wefti_arch_ucontext_pc(&right));
		fill(&context.uc_mcontext, sizeof(context.uc_mcontext),
		     &random);
		n = unwind(i % 2 ? &copy : &nothing, MOST);
		CU_ASSERT_TRUE(n <= MOST);
		context = right;
	}
	memset(&context.uc_mcontext, 0, sizeof(context.uc_mcontext));
	CU_ASSERT_TRUE(unwind(&nothing, MOST) <= 1);
	/* What it keeps of tables is as good as before. */
	take_outer();
	CU_ASSERT_TRUE(is_all_there(unwind(&copy, MOST)));
}

/* --- a signal's handler, and below it what was interrupted */

static void on_signal(int number)
{
	(void)number;
	getcontext(&context);
	copy_stack();
	in_handler = unwind(&copy, MOST);
}

NOINLINE static void interrupted(void)
{
	pthread_kill(pthread_self(), SIGUSR1);
	__asm__ volatile("" ::: "memory");
}

static void a_return_address_is_told_from_where_one_was_stopped(void)
{
	size_t exact = 0, first = 0;

#ifdef WEFT_TSAN
	return;		/* it calls the handler itself */
#endif
	signal(SIGUSR1, on_signal);
	begin();
	interrupted();
	signal(SIGUSR1, SIG_DFL);
	CU_ASSERT_EQUAL(where("on_signal", in_handler), 0);
	CU_ASSERT_TRUE(where("interrupted", in_handler) > 1);
	for (size_t i = 0; i < in_handler; i++)
		if (pcs[i] & WEFTI_PC_EXACT) {
			first = exact++ ? first : i;
			CU_ASSERT_TRUE(i <= first + 1);
		}
	CU_ASSERT_EQUAL(exact, 2);
	CU_ASSERT_TRUE(first >= 1);
}

/* --- a call that does not return may be the last instruction */

static sigjmp_buf back;

NOINLINE __attribute__((noreturn)) static void leave(void)
{
	CU_ASSERT_EQUAL(getcontext(&context), 0);
	copy_stack();
	siglongjmp(back, 1);
}

NOINLINE __attribute__((noreturn)) static void ends_with_a_call(volatile int *in_frame)
{
	volatile int room[100] = { 0 };

	room[*in_frame] = 1;
	(void)room[0];
	leave();
}

static void its_return_address_is_behind_the_function(void)
{
	int zero = 0;
	size_t n;

	begin();
	if (sigsetjmp(back, 0) == 0)
		ends_with_a_call(&zero);
	n = unwind(&copy, MOST);
	CU_ASSERT_EQUAL(where("leave", n), 0);
	CU_ASSERT_TRUE(where("test_main", n) > 2);
	CU_ASSERT_EQUAL(where("_start", n), (int)n - 1);
}

/* --- libgcc's unwinder, from a handler, beside ours */

#define HANDLERS	64

static int compared;

/* Its frames from the interrupted one on, the first of which is ours as well. */
static void compare(int number, siginfo_t *info, void *interrupted)
{
	void *its[HANDLERS];
	const int n = backtrace(its, HANDLERS);
	const uintptr_t pc = wefti_arch_ucontext_pc(interrupted);
	size_t ours, same = 0;
	int from = 0;

	(void)number, (void)info;
	context = *(const ucontext_t *)interrupted;
	wefti_os_unwind_begin();	/* the stack is another one now */
	ours = unwind(&nothing, MOST);
	while (from < n && (uintptr_t)its[from] != pc)
		from++;
	while (from + (int)same < n && same < ours &&
	       (pcs[same] & ~WEFTI_PC_EXACT) == (uintptr_t)its[from + (int)same])
		same++;
	compared += from < n && from + (int)same == n && same == ours;
	if (from + (int)same != n || same != ours)
		printf("    ours %zu, its %d, same %zu\n", ours, n - from, same);
}

static int order(const void *a, const void *b)
{
	raise(SIGUSR1);
	return *(const int *)a - *(const int *)b;
}

/* Through functions of libc's, a frame of the kernel's, and their tables. */
static void it_agrees_with_the_unwinder_of_exceptions(void)
{
	struct sigaction action = { .sa_sigaction = compare, .sa_flags = SA_SIGINFO };
	int numbers[] = { 3, 1, 2 };
	void *loads[1];

#ifdef WEFT_TSAN
	return;		/* it calls the handler itself */
#endif
	(void)backtrace(loads, 1);
	sigaction(SIGUSR1, &action, NULL);
	begin();
	compared = 0;
	qsort(numbers, 3, sizeof(numbers[0]), order);
	raise(SIGUSR1);
	signal(SIGUSR1, SIG_DFL);
	CU_ASSERT_TRUE(compared >= 3);
}

#ifdef __x86_64__
#define TRAP_FLAG	256

static int steps;
static char formatted[64];

static void on_step(int number, siginfo_t *info, void *interrupted)
{
	steps++;
	if (steps % 8 == 0)
		compare(number, info, interrupted);
	else
		compared++;
}

static void each_instruction(int on)
{
	__asm__ volatile("sub $128,%%rsp\n\tpushf\n\torq %0,(%%rsp)\n\t"
			 "xorq %1,(%%rsp)\n\tpopf\n\tadd $128,%%rsp"
			 : : "r" ((long)TRAP_FLAG), "r" (on ? 0L : (long)TRAP_FLAG)
			 : "memory", "cc");
}

/* In the middle of prologues, of epilogues, and of the procedure linkage table. */
static void at_each_instruction(void)
{
	struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };
	void *loads[1];

#if defined(WEFT_TSAN) || defined(WEFT_ASAN)
	return;		/* their own calls are many */
#endif
	(void)backtrace(loads, 1);
	sigaction(SIGTRAP, &action, NULL);
	begin();
	compared = steps = 0;
	each_instruction(1);
	snprintf(formatted, sizeof(formatted), "%s, %d", "text", compared);
	each_instruction(0);
	signal(SIGTRAP, SIG_DFL);
	CU_ASSERT_TRUE(steps > 100);
	CU_ASSERT_EQUAL(compared, steps);
}
#endif

static const struct test_case cases[] = {
	TEST(as_many_frames_as_are_wanted),
	TEST(the_copy_is_what_is_read),
	TEST(what_is_not_in_the_copy_is_read_where_it_is),
	TEST(nonsense_is_no_fault),
	TEST(a_return_address_is_told_from_where_one_was_stopped),
	TEST(its_return_address_is_behind_the_function),
	TEST(it_agrees_with_the_unwinder_of_exceptions),
#ifdef __x86_64__
	TEST(at_each_instruction),
#endif
};

TEST_MAIN("os/unwind", cases)

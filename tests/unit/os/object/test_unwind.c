/* SPDX-License-Identifier: MIT */
/*
 * test_unwind.c - os/unwind: stacks of copies, of nonsense, and of handlers
 *
 * The cases build on one another: libunwind is loaded once a process, and
 * forgotten in the last.
 */
#include "os/object/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
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

static void only_the_pc(void)
{
	begin();
	take_outer();
	CU_ASSERT_FALSE(wefti_os_unwind_is_loaded());
	CU_ASSERT_EQUAL(unwind(&copy, 0), 0);
	CU_ASSERT_EQUAL(pcs[0], 0);
	CU_ASSERT_EQUAL(unwind(&copy, MOST), 1);
	CU_ASSERT_EQUAL(pcs[0], wefti_arch_ucontext_pc(&context));
	CU_ASSERT_EQUAL(pcs[1], 0);
}

static void before_it_is_loaded_there_is_the_program_counter(void)
{
	only_the_pc();
}

static size_t in_handler;

static void take_interrupted(int number, siginfo_t *info, void *interrupted)
{
	(void)number;
	(void)info;
	context = *(const ucontext_t *)interrupted;
	in_handler = unwind(&nothing, MOST);
}

/* There the last call has returned to elsewhere. */
static void where_a_signal_came_it_is_so_too(void)
{
	struct sigaction action = {
		.sa_sigaction = take_interrupted, .sa_flags = SA_SIGINFO,
	};

	CU_ASSERT_EQUAL(sigaction(SIGUSR1, &action, NULL), 0);
	pthread_kill(pthread_self(), SIGUSR1);
	signal(SIGUSR1, SIG_DFL);
	CU_ASSERT_EQUAL(in_handler, 1);
	CU_ASSERT_EQUAL(pcs[0], wefti_arch_ucontext_pc(&context));
}

static int is_loaded(void)
{
	int error = wefti_os_unwind_load();

	CU_ASSERT_EQUAL(wefti_os_unwind_is_loaded(), error == 0);
	CU_ASSERT_EQUAL(wefti_os_unwind_load(), error);
	CU_ASSERT_TRUE(error == 0 || error == -ENOENT);
	if (error)
		printf("    there is no libunwind here\n");
	return error == 0;
}

/* The number that the next file would have. */
static int lowest_free(void)
{
	int fd = dup(STDERR_FILENO);

	close(fd);
	return fd;
}

static int count_open(void)
{
	int count = 0;

	for (int fd = 0; fd < 4096; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

/* Neither the file nor a pipe of its own is a descriptor of the program's afterwards. */
static void it_is_loaded_once_and_opens_nothing(void)
{
	const int lowest = lowest_free(), count = count_open();

	if (!is_loaded())
		return;
	begin();
	take_outer();
	CU_ASSERT_TRUE(is_all_there(unwind(&copy, MOST)));
	CU_ASSERT_EQUAL(lowest_free(), lowest);
	CU_ASSERT_EQUAL(count_open(), count);
}

static void as_many_frames_as_are_wanted(void)
{
	size_t all;

	if (!is_loaded())
		return;
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
	if (!is_loaded())
		return;
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
	if (!is_loaded())
		return;
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

	if (!is_loaded())
		return;
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
	if (!is_loaded())
		return;
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

static void one_that_was_forgotten_is_not_loaded_again(void)
{
	wefti_os_unwind_forget();
	CU_ASSERT_EQUAL(wefti_os_unwind_load(), -ENOENT);
	only_the_pc();
}

static const struct test_case cases[] = {
	TEST(before_it_is_loaded_there_is_the_program_counter),
	TEST(where_a_signal_came_it_is_so_too),
	TEST(it_is_loaded_once_and_opens_nothing),
	TEST(as_many_frames_as_are_wanted),
	TEST(the_copy_is_what_is_read),
	TEST(what_is_not_in_the_copy_is_read_where_it_is),
	TEST(nonsense_is_no_fault),
	TEST(a_return_address_is_told_from_where_one_was_stopped),
	TEST(one_that_was_forgotten_is_not_loaded_again),
};

TEST_MAIN("os/unwind", cases)

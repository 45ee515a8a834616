/* SPDX-License-Identifier: MIT */
/* test_stack_told.c - the stack and the guard that a thread is told are those it asked for */
#include "compare.h"

#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define NONE	SIZE_MAX	/* leaves what is in the attributes */
#define TIMES	20

struct told {
	char *low;
	size_t bytes, guard;
};

static struct told ask(pthread_t t)
{
	pthread_attr_t attr;
	struct told told;
	void *low;

	if (pthread_getattr_np(t, &attr) != 0)
		abort();
	pthread_attr_getguardsize(&attr, &told.guard);
	pthread_attr_getstack(&attr, &low, &told.bytes);
	told.low = low;
	pthread_attr_destroy(&attr);
	return told;
}

static void *tell(void *arg)
{
	const struct told told = ask(pthread_self());
	const char here = 0;

	printf("%zu, guard of %zu, %s\n", told.bytes, told.guard,
	       &here > told.low && &here < told.low + told.bytes ?
	       "it is there" : "it is elsewhere");
	return arg;
}

static int run(size_t bytes, size_t guard, void *stack, void *(*fn)(void *arg))
{
	pthread_attr_t attr;
	pthread_t t;
	int error;

	pthread_attr_init(&attr);
	if (bytes != NONE && pthread_attr_setstacksize(&attr, bytes) != 0)
		abort();
	if (guard != NONE)
		pthread_attr_setguardsize(&attr, guard);
	if (stack)
		pthread_attr_setstack(&attr, stack, bytes);
	error = pthread_create(&t, &attr, fn, NULL);
	pthread_attr_destroy(&attr);
	if (!error)
		finish(t);
	return error;
}

/* The size of a stack, from the least that libc takes: 16 KiB, on AArch64 128. */
static size_t least(size_t times)
{
	return times * (size_t)sysconf(_SC_THREAD_STACK_MIN);
}

/* libc does not round the size of a stack down to a multiple of this. */
static _Thread_local _Alignas(256) char aligned[256];

/* In a process that has kept no stack yet: libc has one that is large enough be used again. */
static void run_first(const char *name, size_t bytes, size_t guard)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		show(name, run(bytes, guard, NULL, tell));
		exit(0);
	}
	waitpid(child, NULL, 0);
}

static void it_is_what_was_asked_for(void)
{
	/*
	 * libc takes what is odd away: by 64, on AArch64 by 16. It does so by 128 beside
	 * a library of which thread-local variables are aligned so, as weft's are.
	 */
	const size_t odd = threads_are_libcs() ? 64 : 0;
	const size_t sizes[] = { least(1) + 3616, least(1), least(4), least(6) + 1696,
				 262144, 1 << 20, 8 << 20, (1 << 20) + 68 + odd };

	aligned[0] = 1;
	run_first("default", NONE, NONE);
	run_first("no guard", NONE, 0);
	run_first("odd guard", NONE, 4097);
	run_first("odd size", ((size_t)9 << 20) + 80 + odd, NONE);
	run_first("odd size", ((size_t)9 << 20) + 336 + odd, NONE);
	run_first("large guard", ((size_t)10 << 20) + 4096, 65536);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		run_first("size", sizes[i], NONE);
		run_first("larger", sizes[i] + ((size_t)16 << 20), 1 << 20);
	}
	show("too large", run(1 << 20, SIZE_MAX - 5000, NULL, tell));
	show("much too large", run(1 << 20, SIZE_MAX - 1, NULL, tell));
}

/* Sizes of the default attributes, which are for a thread without attributes. */
static void set_default(size_t bytes, size_t guard)
{
	pthread_attr_t attr;

	pthread_getattr_default_np(&attr);
	pthread_attr_setstacksize(&attr, bytes);
	pthread_attr_setguardsize(&attr, guard);
	show("set", pthread_setattr_default_np(&attr));
	pthread_attr_destroy(&attr);
}

static void run_by_default(void)
{
	pthread_t t;

	int error = pthread_create(&t, NULL, tell, NULL);

	finish(t);
	show("created", error);
}

/*
 * They are in force for the next thread, whatever the last one had. They grow: libc has a
 * stack that is large enough be used again as it is.
 */
static void the_default_is_as_it_was_set_last(void)
{
	pthread_attr_t first;
	char no_attr[sizeof(pthread_attr_t)] = { 0 };

	pthread_getattr_default_np(&first);
	run_by_default();
	run_by_default();
	set_default(16 << 20, 8192);
	run_by_default();
	set_default(40 << 20, 0);
	run_by_default();
	show("no stack size", pthread_setattr_default_np((pthread_attr_t *)no_attr));
	run_by_default();
	show("set", pthread_setattr_default_np(&first));
	run_by_default();
	pthread_attr_destroy(&first);
}

static void a_given_one_has_no_guard(void)
{
	const size_t bytes = least(4);
	void *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	run(bytes, NONE, stack, tell);
	run(bytes, 65536, stack, tell);
	run(bytes, 0, stack, tell);
}

static int ends[2];

/* The kernel reads it for us, or says EFAULT. */
static int is_there(const char *at)
{
	char c;

	return write(ends[1], at, 1) == 1 && read(ends[0], &c, 1) == 1;
}

static void *look(void *arg)
{
	const struct told told = ask(pthread_self());

	printf("%d %d %d\n", is_there(told.low), is_there(told.low - 1),
	       is_there(told.low - told.guard));
	return arg;
}

/* All of it, as far down as it goes. */
static void *fill(void *arg)
{
	const struct told told = ask(pthread_self());
	volatile char *down = __builtin_frame_address(0);

	for (down -= 8192; down > told.low; down -= 4096)
		*down = 1;
	*told.low = 1;
	return arg;
}

static void the_guard_is_there(void)
{
	if (pipe(ends) != 0)
		abort();
	run((1 << 20) + 4096, 65536, NULL, look);
	run(least(4), 4096, NULL, look);
	run(least(4), 131072, NULL, look);
	run(20 << 20, 8192, NULL, look);
}

/* The stacks of 256 KiB, 512 KiB ... are as large as the runtime's own. */
static void all_of_a_power_of_two_is_stack(void)
{
	if (pipe(ends) != 0)
		abort();
	run(NONE, NONE, NULL, look);
	for (size_t bytes = 64 << 20; bytes >= 262144; bytes /= 2) {
		run(bytes, 4096, NULL, look);
		run(bytes, 4096, NULL, fill);
		run(bytes - 4096, 4096, NULL, look);
		run(bytes + 32, 4096, NULL, look);
	}
	printf("all of it\n");
}

static void what_was_a_guard_is_stack_again(void)
{
	for (int i = 0; i < scaled(TIMES); i++) {
		run(((size_t)1 << 20) - 65536, 65536, NULL, fill);
		run((1 << 20) - 4096, 4096, NULL, fill);
		run(least(4) - 5536, 40000, NULL, fill);
		run(least(6) + 1696, 0, NULL, fill);
	}
	printf("all of it\n");
}

static const struct compare_case cases[] = {
	COMPARE(it_is_what_was_asked_for),
	COMPARE(the_default_is_as_it_was_set_last),
	COMPARE(a_given_one_has_no_guard),
	COMPARE(the_guard_is_there),
	COMPARE(all_of_a_power_of_two_is_stack),
	COMPARE(what_was_a_guard_is_stack_again),
};

COMPARE_MAIN(cases)

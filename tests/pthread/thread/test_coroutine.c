/* SPDX-License-Identifier: MIT */
/*
 * test_coroutine.c - threads that run on stacks of which nobody knows
 *
 * As coroutines do, and machines that make code (Erlang's, Go's): the stack has no room
 * for a signal, and what is below it is the program's.
 */
#include "compare.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>

#define THREADS		3
#define ROUNDS		8
#define SIGNALS		20
#define BELOW		16384	/* bytes, more than a signal takes */
#define STACK		1024
#define ALTERNATE	65536
#define BYTE		0x5a
#define CLEARED		1000000

static struct place {
	ucontext_t back, there;
	char below[BELOW], stack[STACK] __attribute__((aligned(64)));
	char gap[64];	/* the end of one stack is not the beginning of the next */
	char alternate[ALTERNATE] __attribute__((aligned(64)));
	char *top;		/* of another stack; NULL: that one */
	void (*fn)(void);
	double sum;
	int has_alternate;
} places[THREADS];

static __thread int number;
static _Atomic long turn;
static _Atomic int caught, caught_there, go_on;

static void *visit(void *of)
{
	struct place *p = &places[(long)of];
	const stack_t s = { .ss_sp = p->alternate, .ss_size = ALTERNATE };
	long bad = 0;

	number = (int)(long)of;
	if (p->has_alternate)
		show_errno("alternate", sigaltstack(&s, NULL));
	memset(p->below, BYTE, BELOW);
	getcontext(&p->there);
	p->there.uc_stack.ss_sp = p->top ? p->top - STACK : p->stack;
	p->there.uc_stack.ss_size = STACK;
	p->there.uc_link = &p->back;
	makecontext(&p->there, p->fn, 0);
	swapcontext(&p->back, &p->there);
	for (int i = 0; i < BELOW; i++)
		bad += p->below[i] != BYTE;
	return (void *)bad;
}

static pthread_t begin(int i, void (*fn)(void), int has_alternate)
{
	places[i].fn = fn;
	places[i].has_alternate = has_alternate;
	return start(visit, (void *)(long)i);
}

static void all_visit(void (*fn)(void), int has_alternate)
{
	pthread_t t[THREADS];
	long bad = 0;

	turn = 0;
	for (int i = 0; i < THREADS; i++)
		t[i] = begin(i, fn, has_alternate);
	for (int i = 0; i < THREADS; i++)
		bad += (long)finish(t[i]);
	printf("written below the stacks: %ld\n", bad);
}

/* Each spins for the one before, which has to run for that. */
static void take_turns(void)
{
	const int mine = number;

	for (int i = 0; i < ROUNDS; i++) {
		while (turn % THREADS != mine)
			;
		turn++;
	}
}

static void they_go_on_together(void)
{
	all_visit(take_turns, 1);
	printf("%ld turns\n", turn);
}

static void without_an_alternate_stack_too(void)
{
	all_visit(take_turns, 0);
	printf("%ld turns\n", turn);
}

static char cleared[THREADS][CLEARED];
static long steps;

/* The registers for that are a part of the frame. Calls nothing: there is no room. */
static void compute(void)
{
	const long count = steps;
	double sum[4] = { 0, 1, 2, 3 };

	for (long i = 1; i <= count; i++)
		for (int k = 0; k < 4; k++)
			sum[k] = sum[k] * 0.999 + (double)(i % 1000 + k);
	places[number].sum = sum[0] + sum[1] + sum[2] + sum[3];
}

static void they_compute_the_same(void)
{
	steps = scaled(30000000);
	for (int i = 0; i < 2; i++) {
		all_visit(compute, i);
		for (int k = 0; k < THREADS; k++)
			printf("%.9f\n", places[k].sum);
	}
}

/* Where no thread is stopped at first, nor if it may have a lock of malloc's. */
static void clear(void)
{
	for (long i = 0; i < steps; i++)
		memset(cleared[number], (int)i, CLEARED);
}

/* What is behind the stack cannot be read. */
static void they_are_in_libc_for_long(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	steps = scaled(8000);
	for (int i = 0; i < THREADS; i++) {
		char *low = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (low == MAP_FAILED || mprotect(low + page, page, PROT_NONE) != 0)
			abort();
		places[i].top = low + page;
	}
	all_visit(clear, 1);
	for (int i = 0; i < THREADS; i++)
		printf("%d\n", cleared[i][CLEARED - 1] == (char)(steps - 1));
}

static void catch(int signal)
{
	const struct place *p = &places[number];
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	(void)signal;
	caught_there += here - (uintptr_t)p->alternate < ALTERNATE;
	caught++;
}

static void wait_for_signals(void)
{
	while (caught < SIGNALS)
		go_on = caught + 1;
}

static void signals_come_to_the_alternate_stack(void)
{
	const struct sigaction action = {
		.sa_handler = catch, .sa_flags = SA_ONSTACK,
	};
	pthread_t t;

	sigaction(SIGUSR1, &action, NULL);
	t = begin(0, wait_for_signals, 1);
	for (int i = 0; i < SIGNALS; i++) {
		while (go_on != i + 1)
			sched_yield();
		pthread_kill(t, SIGUSR1);
	}
	printf("written below the stack: %ld\n", (long)finish(t));
	printf("%d, %d there\n", caught, caught_there);
}

static const struct compare_case cases[] = {
	COMPARE(they_go_on_together),
	COMPARE(without_an_alternate_stack_too),
	COMPARE(they_compute_the_same),
	COMPARE(they_are_in_libc_for_long),
	COMPARE(signals_come_to_the_alternate_stack),
};

COMPARE_MAIN(cases)

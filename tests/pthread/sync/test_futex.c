/* SPDX-License-Identifier: MIT */
/*
 * test_futex.c - futexes by syscall(), as other languages use them; and, as
 * test_futex_inline, by instructions of a library's own
 */
#include "compare.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "futex_call.h"
#include "futex_handlers.h"
#include "tasks.h"

#define THREADS	8
#define ALL	0x7fffffff

static _Atomic unsigned word, other, nobodys, woken;

/* Wakes so many in all; each may be on its way into the wait. */
static void wake_in_all(_Atomic unsigned *at, int op, unsigned bits, long all)
{
	for (long n = 0; n < all; sched_yield())
		n += futex(at, op, (unsigned)(all - n), NULL, &other, bits);
}

static void check_errors(void)
{
	const struct timespec bad = { 0, 1000000000 }, short_time = { 0, 1000 };
	struct timespec past;

	word = 1;
	show_errno("not so", futex(&word, FUTEX_WAIT, 0, NULL, NULL, 0));
	show_errno("no such time", futex(&word, FUTEX_WAIT, 1, &bad, NULL, 0));
	show_errno("over", futex(&word, FUTEX_WAIT, 1, &short_time, NULL,
				 0));
	clock_gettime(CLOCK_MONOTONIC, &past);
	show_errno("past", futex(&word, FUTEX_WAIT_BITSET, 1, &past, NULL, 1));
	past = soon(CLOCK_MONOTONIC, 2);
	show_errno("at a time", futex(&word, FUTEX_WAIT_BITSET, 1, &past,
				      NULL, 1));
	past = soon(CLOCK_REALTIME, 2);
	show_errno("of day", futex(&word,
				   FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME,
				   1, &past, NULL, 1));
	show_errno("no bits", futex(&word, FUTEX_WAIT_BITSET, 1, NULL, NULL,
				    0));
	show_errno("wake no bits", futex(&word, FUTEX_WAKE_BITSET, 1, NULL,
					 NULL, 0));
	printf("nobody: %ld\n", futex(&word, FUTEX_WAKE, ALL, NULL, NULL,
				      0));
	show_errno("other value", futex(&word, FUTEX_CMP_REQUEUE, 1, NULL,
					&other, 2));
	printf("none to move: %ld\n", futex(&word, FUTEX_CMP_REQUEUE, 1,
					    NULL, &other, 1));
	show_errno("no such call", futex(&word, 77, 0, NULL, NULL, 0));
	show_errno("no such change", futex(&word, FUTEX_WAKE_OP, 1, NULL,
					   &other, FUTEX_OP(7, 0, 0, 0)));
	show_errno("no such question", futex(&word, FUTEX_WAKE_OP, 1, NULL,
					     &other, FUTEX_OP(0, 0, 9, 0)));
}

static void *check_errors_in_thread(void *arg)
{
	check_errors();
	return arg;
}

static void errors_are_the_kernels(void)
{
	check_errors();
	finish(start(check_errors_in_thread, NULL));
}

/* Its place, or its bit. */
static void *wait_here(void *bit)
{
	const unsigned bits = bit ? 1u << ((long)bit - 1) : 0;
	long r;

	do {
		r = bits ? futex(&word, FUTEX_WAIT_BITSET, 5, NULL, NULL,
				 bits) :
			   futex(&word, FUTEX_WAIT, 5, NULL, NULL, 0);
	} while (r != 0 && errno == EINTR);
	if (r == 0)
		woken++;
	return (void *)(r == 0 ? 1L : 0L);
}

static long wait_for_all(pthread_t *t)
{
	long sum = 0;

	for (int i = 0; i < THREADS; i++)
		sum += (long)finish(t[i]);
	return sum;
}

static void those_who_wait_are_woken(void)
{
	pthread_t t[THREADS];

	word = 5;
	woken = 0;
	for (long i = 0; i < THREADS; i++)
		t[i] = start(wait_here, NULL);
	for (unsigned n = 1; n <= THREADS / 2; n++) {
		wake_in_all(&word, FUTEX_WAKE, 0, 1);
		while (woken < n)
			sched_yield();
	}
	wake_in_all(&word, FUTEX_WAKE, 0, THREADS / 2);
	printf("%ld\n", wait_for_all(t));
	printf("nobody: %ld\n", futex(&word, FUTEX_WAKE, ALL, NULL, NULL,
				      0));
}

/* The bits choose; whoever waits without any has all. */
static void bits_choose_who_is_woken(void)
{
	pthread_t t[THREADS];

	word = 5;
	woken = 0;
	for (long i = 0; i < THREADS; i++)
		t[i] = start(wait_here, (void *)(i % 4 + 1));
	wake_in_all(&word, FUTEX_WAKE_BITSET, 1u << 2, THREADS / 4);
	while (woken < THREADS / 4)
		sched_yield();
	printf("%d %d\n", (long)finish(t[2]) == 1, (long)finish(t[6]) == 1);
	t[2] = start(wait_here, NULL);
	t[6] = start(wait_here, (void *)20L);
	wake_in_all(&word, FUTEX_WAKE_BITSET, 1u << 19, 2);
	printf("%d %d\n", (long)finish(t[2]) == 1, (long)finish(t[6]) == 1);
	t[2] = start(wait_here, (void *)1L);
	t[6] = start(wait_here, (void *)2L);
	wake_in_all(&word, FUTEX_WAKE_BITSET, ~0u, THREADS);
	printf("%ld\n", wait_for_all(t));
}

/*
 * Until as many have been moved as wait. The kernel lets one that wakes for no
 * reason wait where it began; so it may be there again when all are woken.
 */
static void those_who_wait_are_moved(int op, unsigned value3)
{
	pthread_t t[THREADS];
	long moved = 0, there, here = 0;

	if (!FUTEX_MOVES && puts("not counted"))
		return;
	word = 5;
	woken = 0;
	for (long i = 0; i < THREADS; i++)
		t[i] = start(wait_here, NULL);
	for (; moved < THREADS; sched_yield())
		moved += futex(&word, op, 0, (void *)(long)(THREADS - moved),
			       &other, value3);
	printf("moved %ld, woken %u\n", moved, woken);
	there = futex(&other, FUTEX_WAKE, ALL, NULL, NULL, 0);
	printf("at the new: %d\n", there > 0);
	for (; there + here < THREADS; sched_yield())
		here += futex(&word, FUTEX_WAKE, ALL, NULL, NULL, 0);
	printf("%ld\n", wait_for_all(t));
}

static void those_who_wait_go_elsewhere(void)
{
	those_who_wait_are_moved(FUTEX_REQUEUE, 0);
	those_who_wait_are_moved(FUTEX_CMP_REQUEUE, 5);
}

struct change {
	int op, argument;
	int compare, against;
};

/*
 * A thread that waits at the word which is changed; it was 6. Returns -1 if it
 * turns out to have gone back to where it began, as the kernel lets it.
 */
static long try_to_change_and_wake(unsigned how)
{
	pthread_t t;
	long n = 0, there = 1;

	word = 5;
	other = 6;
	t = start(wait_here, NULL);
	for (; n == 0; sched_yield())
		n = futex(&word, FUTEX_REQUEUE, 0, (void *)1L, &other, 0);
	n = futex(&nobodys, FUTEX_WAKE_OP, 1, (void *)1L, &other, how);
	if (n == 0)
		there = futex(&other, FUTEX_WAKE, 1, NULL, NULL, 0);
	if (there == 0)
		wake_in_all(&word, FUTEX_WAKE, 0, 1);
	finish(t);
	return there ? n : -1;
}

static void change_and_wake(const struct change *c)
{
	long n;

	do {
		n = try_to_change_and_wake((unsigned)FUTEX_OP(
			c->op, c->argument, c->compare, c->against));
	} while (n < 0);
	printf("%ld, %d\n", n, (int)other);
}

static void one_call_changes_and_wakes(void)
{
	static const struct change changes[] = {
		{ FUTEX_OP_SET, 7, FUTEX_OP_CMP_EQ, 6 },
		{ FUTEX_OP_ADD, -8, FUTEX_OP_CMP_EQ, 7 },
		{ FUTEX_OP_OR, 8, FUTEX_OP_CMP_NE, 5 },
		{ FUTEX_OP_ANDN, 2, FUTEX_OP_CMP_NE, 6 },
		{ FUTEX_OP_XOR, 3, FUTEX_OP_CMP_LT, 7 },
		{ FUTEX_OP_SET, -1, FUTEX_OP_CMP_LT, 6 },
		{ FUTEX_OP_ADD | FUTEX_OP_OPARG_SHIFT, 4, FUTEX_OP_CMP_LE, 6 },
		{ FUTEX_OP_ADD, 0, FUTEX_OP_CMP_LE, -7 },
		{ FUTEX_OP_ADD, 0, FUTEX_OP_CMP_GT, -7 },
		{ FUTEX_OP_ADD, 0, FUTEX_OP_CMP_GT, 6 },
		{ FUTEX_OP_ADD, 0, FUTEX_OP_CMP_GE, 6 },
		{ FUTEX_OP_ADD, 0, FUTEX_OP_CMP_GE, 7 },
	};
	pthread_t t;

	if (!FUTEX_MOVES && puts("not counted"))
		return;
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		change_and_wake(&changes[i]);
	word = 5;
	t = start(wait_here, NULL);
	wake_in_all(&word, FUTEX_WAKE_OP,
		    FUTEX_OP(FUTEX_OP_SET, 1, FUTEX_OP_CMP_EQ, 0), 1);
	finish(t);
}

/* A mutex of three states, as in libraries. */
static _Atomic unsigned lock_word;

static void lock(void)
{
	unsigned c = 0;

	if (atomic_compare_exchange_strong(&lock_word, &c, 1))
		return;
	if (c != 2)
		c = atomic_exchange(&lock_word, 2);
	while (c != 0) {
		futex(&lock_word, FUTEX_WAIT, 2, NULL, NULL, 0);
		c = atomic_exchange(&lock_word, 2);
	}
}

static void unlock(void)
{
	if (atomic_exchange(&lock_word, 0) == 2)
		futex(&lock_word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static long count;

static void *count_up(void *arg)
{
	for (long i = 0; i < scaled(2000); i++) {
		long now;

		lock();
		now = count;
		if (i % 64 == 0)
			sched_yield();
		count = now + 1;
		unlock();
	}
	return arg;
}

static void a_lock_made_of_it_excludes(void)
{
	pthread_t t[THREADS];

	count = 0;
	for (int i = 0; i < THREADS; i++)
		t[i] = start(count_up, NULL);
	for (int i = 0; i < THREADS; i++)
		finish(t[i]);
	printf("%d\n", count == THREADS * scaled(2000));
}

/* --- not said to be private --------------------------------------- */

static void the_flag_may_be_left_out(void)
{
	futex_flag = 0;
	errors_are_the_kernels();
	those_who_wait_are_woken();
	bits_choose_who_is_woken();
	those_who_wait_go_elsewhere();
	one_call_changes_and_wakes();
	a_handler_ends_the_wait();
	a_lock_made_of_it_excludes();
}

static void *try_bad_places(void *arg)
{
	char *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	_Atomic unsigned *bad[] = { NULL, (void *)((char *)&word + 1),
				    (void *)page };

	for (int i = 0; i < 3; i++) {
		show_errno("wait", futex(bad[i], FUTEX_WAIT, 5, NULL, NULL, 0));
		show_errno("move", futex(bad[i], FUTEX_REQUEUE, 1, (void *)1L,
					 &other, 0));
		show_errno("wake", futex(bad[i], FUTEX_WAKE, 1, NULL, NULL, 0));
	}
	return arg;
}

static void bad_places_are_the_kernels_to_judge(void)
{
	futex_flag = 0;
	finish(start(try_bad_places, NULL));
}

struct common {
	_Atomic unsigned word, waiting;
};

static void *wait_for_other_process(void *common)
{
	struct common *c = common;

	c->waiting++;
	while (c->word == 5)
		futex(&c->word, FUTEX_WAIT, 5, NULL, NULL, 0);
	return (void *)1L;
}

static void in_shared_memory_another_process_wakes(void)
{
	struct common *c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_t t[THREADS];
	pid_t child;

	futex_flag = 0;
	c->word = 5;
	for (int i = 0; i < THREADS; i++)
		t[i] = start(wait_for_other_process, c);
	while (c->waiting < THREADS)
		sched_yield();
	usleep(20000);
	child = fork();
	if (child == 0) {
		c->word = 6;
		futex(&c->word, FUTEX_WAKE, ALL, NULL, NULL, 0);
		_exit(0);
	}
	printf("%ld\n", wait_for_all(t));
	waitpid(child, NULL, 0);
}

/*
 * If a thread cannot look up the page, it waits in the kernel. A call that
 * wakes or moves threads may look again.
 */
static void let_look(int may)
{
	static struct rlimit limit;

	if (!limit.rlim_cur)
		getrlimit(RLIMIT_NOFILE, &limit);
	setrlimit(RLIMIT_NOFILE, may ? &limit : &(struct rlimit){
		0, limit.rlim_max });
}

static void a_waiter_that_could_not_look_is_woken(void)
{
	pthread_t t;

	futex_flag = 0;
	word = 5;
	let_look(0);
	t = start(wait_here, NULL);
	wake_in_all(&word, FUTEX_WAKE, 0, 1);
	printf("%ld\n", (long)finish(t));
	t = start(wait_here, NULL);
	usleep(20000);
	let_look(1);
	for (woken = 0; !woken; sched_yield()) {
		futex(&word, FUTEX_REQUEUE, 0, (void *)1L, &other, 0);
		futex(&other, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
	printf("%ld\n", (long)finish(t));
}

#define MANY	40
#define FEW	16

static _Atomic int waiting;

static void *wait_while_5(void *arg)
{
	waiting++;
	while (word == 5)
		futex(&word, FUTEX_WAIT, 5, NULL, NULL, 0);
	return arg;
}

static void they_need_no_kernel_threads(void)
{
	pthread_t t[MANY];

	futex_flag = 0;
	word = 5;
	for (int i = 0; i < MANY; i++)
		t[i] = start(wait_while_5, NULL);
	while (waiting < MANY)
		sched_yield();
	usleep(100000);		/* time for the monitor to see the blocked
				 * threads */
	await_few_tasks(FEW);
	word = 6;
	futex(&word, FUTEX_WAKE, ALL, NULL, NULL, 0);
	for (int i = 0; i < MANY; i++)
		finish(t[i]);
	printf("few: 1\n");
}

static const struct compare_case cases[] = {
	COMPARE(errors_are_the_kernels),
	COMPARE(those_who_wait_are_woken),
	COMPARE(bits_choose_who_is_woken),
	COMPARE(those_who_wait_go_elsewhere),
	COMPARE(one_call_changes_and_wakes),
	COMPARE(a_handler_ends_the_wait),
	COMPARE(any_handler_ends_a_wait_in_time),
	COMPARE(others_go_on_after_some_handlers),
	COMPARE(also_after_many_wakes_of_nobody),
	COMPARE(a_lock_made_of_it_excludes),
	COMPARE(the_flag_may_be_left_out),
	COMPARE(bad_places_are_the_kernels_to_judge),
	COMPARE(in_shared_memory_another_process_wakes),
	COMPARE(a_waiter_that_could_not_look_is_woken),
	WEFT_ONLY(they_need_no_kernel_threads, "few: 1\n"),
};

COMPARE_MAIN(cases)

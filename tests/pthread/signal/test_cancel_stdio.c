/* SPDX-License-Identifier: MIT */
/* test_cancel_stdio.c - the cancellation points that libc has inside: stdio, and others */
#include "compare.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define THREADS	8
#define TIMES	30

static int file, ends[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void note(void *what)
{
	printf("cleanup of %s, ", (const char *)what);
}

static FILE *open_null(void)
{
	FILE *f = fopen("/dev/null", "w");

	if (!f)
		abort();
	return f;
}

/* --- loops --------------------------------------------------------- */

static _Noreturn void print_and_flush(void)
{
	FILE *f = open_null();

	for (;;) {
		fprintf(f, "%d", 1);
		fflush(f);
	}
}

static _Noreturn void put_bytes(void)
{
	FILE *f = fdopen(file, "w");

	for (;;)
		putc('x', f);
}

static _Noreturn void write_unbuffered(void)
{
	FILE *f = open_null();

	setvbuf(f, NULL, _IONBF, 0);
	for (;;)
		fputs("x", f);
}

static _Noreturn void read_zeros(void)
{
	FILE *f = fopen("/dev/zero", "r");

	for (;;)
		getc(f);
}

static _Noreturn void compute_and_print_seldom(void)
{
	FILE *f = open_null();

	for (volatile unsigned i = 0;; i++)
		if (i % 1000000 == 0) {
			fprintf(f, "x");
			fflush(f);
		}
}

static const struct loop {
	const char *name;
	void (*run)(void);
} loops[] = {
	{ "fprintf and fflush", print_and_flush },
	{ "putc", put_bytes },
	{ "fputs", write_unbuffered },
	{ "getc", read_zeros },
	{ "one that computes", compute_and_print_seldom },
};

static void *run_loop(void *loop)
{
	const struct loop *l = loop;

	pthread_cleanup_push(note, (void *)(uintptr_t)l->name);
	l->run();
	pthread_cleanup_pop(0);
	return NULL;
}

static void a_loop_that_only_uses_stdio_ends(void)
{
	file = memfd_create("file", 0);
	for (size_t i = 0; i < sizeof(loops) / sizeof(*loops); i++) {
		pthread_t t = start(run_loop, (void *)(uintptr_t)&loops[i]);

		usleep(5000);
		pthread_cancel(t);
		printf("cancelled %d\n", finish(t) == PTHREAD_CANCELED);
		if (ftruncate(file, 0) != 0)
			abort();
		if (i == 1)
			file = memfd_create("file", 0);
	}
}

/* --- the very next point ------------------------------------------- */

static void *print_once(void *arg)
{
	FILE *f = open_null();

	pthread_cleanup_push(note, "a flush");
	pthread_cancel(pthread_self());
	fprintf(f, "x");
	printf("is buffered, ");
	fflush(f);
	printf("is flushed, ");
	pthread_cleanup_pop(0);
	return arg;
}

static void *open_once(void *arg)
{
	pthread_cleanup_push(note, "an open");
	pthread_cancel(pthread_self());
	open_null();
	printf("is open, ");
	pthread_cleanup_pop(0);
	return arg;
}

static void *list_once(void *arg)
{
	pthread_cleanup_push(note, "a folder");
	pthread_cancel(pthread_self());
	opendir("/proc/self");
	printf("is open, ");
	pthread_cleanup_pop(0);
	return arg;
}

static void *hold_off(void *arg)
{
	FILE *f = open_null();

	pthread_cleanup_push(note, "what follows");
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cancel(pthread_self());
	fprintf(f, "x");
	printf("%d, ", fflush(f));
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	fprintf(f, "x");
	fflush(f);
	pthread_cleanup_pop(0);
	return arg;
}

/* They are none, whatever is inside of them. */
static void *do_what_is_none(void *arg)
{
	struct timespec now;

	pthread_cancel(pthread_self());
	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
		sched_yield();
		free(malloc((size_t)i * 100));
		clock_gettime(CLOCK_MONOTONIC, &now);
		(void)!fcntl(ends[0], F_GETFL);
	}
	printf("none of them, ");
	return arg;
}

static void *wait_first(void *arg)
{
	pthread_cleanup_push(note, "a wait");
	pthread_cancel(pthread_self());
	poll(NULL, 0, 1);
	pthread_cleanup_pop(0);
	return arg;
}

static void the_next_point_acts(void)
{
	void *(*const fns[])(void *) = {
		print_once, open_once, list_once, hold_off, do_what_is_none,
		wait_first,
	};

	if (pipe(ends) != 0)
		abort();
	for (size_t i = 0; i < sizeof(fns) / sizeof(*fns); i++)
		printf("cancelled %d\n",
		       finish(start(fns[i], NULL)) == PTHREAD_CANCELED);
}

/* --- the next point behind a wait ---------------------------------- */

static pthread_barrier_t barrier;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static _Atomic int waits, goes_on;

static void meet(void)
{
	pthread_barrier_wait(&barrier);
}

static void take_lock(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
}

static void take_to_read(void)
{
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
}

static void take_to_write(void)
{
	pthread_rwlock_wrlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
}

static void yield(void)
{
	while (!goes_on)
		sched_yield();
}

static const struct loop ends_of_waits[] = {
	{ "a barrier", meet },
	{ "a mutex", take_lock },
	{ "a lock to read", take_to_read },
	{ "a lock to write", take_to_write },
	{ "yields", yield },
};

static void *wait_and_print(void *wait)
{
	const struct loop *w = wait;
	FILE *f = open_null();

	setvbuf(f, NULL, _IONBF, 0);
	pthread_cleanup_push(note, (void *)(uintptr_t)w->name);
	waits = 1;
	w->run();
	fputs("x", f);
	printf("is printed, ");
	pthread_cleanup_pop(0);
	return NULL;
}

/* The waits themselves are no points. */
static void the_next_point_behind_a_wait_acts(void)
{
	pthread_barrier_init(&barrier, NULL, 2);
	for (size_t i = 0; i < sizeof(ends_of_waits) / sizeof(*ends_of_waits); i++) {
		pthread_t t;

		waits = goes_on = 0;
		pthread_mutex_lock(&lock);
		pthread_rwlock_wrlock(&rwlock);
		t = start(wait_and_print, (void *)(uintptr_t)&ends_of_waits[i]);
		while (!waits)
			sched_yield();
		usleep(2000);
		pthread_cancel(t);
		goes_on = 1;
		pthread_mutex_unlock(&lock);
		pthread_rwlock_unlock(&rwlock);
		if (i == 0)
			pthread_barrier_wait(&barrier);
		printf("cancelled %d\n", finish(t) == PTHREAD_CANCELED);
	}
}

/* --- a point in what is ours --------------------------------------- */

static _Atomic int cleaned;

static void count(void *arg)
{
	(void)arg;
	cleaned++;
}

static void *mix(void *number)
{
	struct pollfd p = { .fd = ends[0], .events = POLLIN };
	FILE *f;
	char c;

	pthread_cleanup_push(count, NULL);
	f = open_null();
	for (size_t i = (size_t)number;; i++) {
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
		if (i % 3 == 0)
			fprintf(f, "x");
		if (i % 5 == 0)
			poll(&p, 1, 0);
		if (i % 7 == 0 && write(ends[1], "x", 1) == 1)
			(void)!read(ends[0], &c, 1);
		if (i % 11 == 0)
			usleep(1);
	}
	pthread_cleanup_pop(0);
	return NULL;
}

static void no_moment_is_wrong(void)
{
	pthread_t t[THREADS];
	int cancelled = 0;

	if (pipe(ends) != 0)
		abort();
	for (int i = 0; i < scaled(TIMES); i++) {
		for (size_t k = 0; k < THREADS; k++)
			t[k] = start(mix, (void *)k);
		usleep((useconds_t)(i * 100));
		for (int k = 0; k < THREADS; k++)
			pthread_cancel(t[k]);
		for (int k = 0; k < THREADS; k++)
			cancelled += finish(t[k]) == PTHREAD_CANCELED;
	}
	printf("%d not cancelled, %d not cleaned\n",
	       (int)scaled(TIMES) * THREADS - cancelled, cancelled - cleaned);
}

/* --- main ---------------------------------------------------------- */

static void *join_first(void *main_thread)
{
	void *result;

	pthread_join(*(pthread_t *)main_thread, &result);
	printf("cancelled %d\n", result == PTHREAD_CANCELED);
	return NULL;
}

static void main_is_cancelled_there(void)
{
	static pthread_t self;
	FILE *f = open_null();

	self = pthread_self();
	start(join_first, &self);
	pthread_cancel(self);
	fprintf(f, "x");
	fflush(f);
	printf("not there\n");
}

/* --- a thread alone ------------------------------------------------ */

static void main_alone_is_cancelled_there(void)
{
	print_once(NULL);
	printf("not there\n");
}

static void main_alone_holds_it_off(void)
{
	hold_off(NULL);
	printf("not there\n");
}

/* Before there is another thread, libc alone knows it. */
static void what_main_had_set_is_over(void)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	finish(start(do_what_is_none, NULL));
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, NULL);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	print_once(NULL);
	printf("not there\n");
}

/* ... and main has been cancelled by then. */
static void main_holds_it_off_meanwhile(void)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cancel(pthread_self());
	finish(start(open_once, NULL));
	open_once(NULL);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	print_once(NULL);
	printf("not there\n");
}

static void *fork_and_cancel(void *what)
{
	void *(*const *fn)(void *) = what;
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	if (child == 0)
		return (*fn)(NULL);
	waitpid(child, &status, 0);
	printf("%x\n", (unsigned)status);
	return NULL;
}

static void a_child_alone_is_cancelled_there(void)
{
	static void *(*fns[])(void *) = { print_once, hold_off };

	for (int i = 0; i < 2; i++) {
		finish(start(fork_and_cancel, &fns[i]));
		fork_and_cancel(&fns[i]);
	}
}

static const struct compare_case cases[] = {
	COMPARE(a_loop_that_only_uses_stdio_ends),
	COMPARE(the_next_point_acts),
	COMPARE(the_next_point_behind_a_wait_acts),
	COMPARE(no_moment_is_wrong),
	COMPARE(main_is_cancelled_there),
	COMPARE(main_alone_is_cancelled_there),
	COMPARE(main_alone_holds_it_off),
	COMPARE(what_main_had_set_is_over),
	COMPARE(main_holds_it_off_meanwhile),
	COMPARE(a_child_alone_is_cancelled_there),
};

COMPARE_MAIN(cases)

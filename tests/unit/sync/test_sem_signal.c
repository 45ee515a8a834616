/* SPDX-License-Identifier: MIT */
/* test_sem_signal.c - weft_sem_post() in a handler, whatever that interrupted */
#include "threads.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lockfree/atomic.h"

#define CONSUMERS	4
#define WORKERS		8

static struct weft_sem sem;
static _Atomic size_t posted, consumed;

struct storm {
	size_t signals;		/* at least so many handlers */
	_Atomic int over;
	struct weft_mutex mutex;
	struct weft_sem nobody;
};

struct worker {
	struct storm *storm;
	uint64_t random;
};

static void post_from_handler(int signal)
{
	(void)signal;
	fetch_add_seq_cst(&posted, 1);
	if (weft_sem_post(&sem) != 0)
		abort();
}

static void pass_over(int signal)
{
	(void)signal;
}

/* The kernel thread that carries the caller takes the signal from now on. */
static void let_signal_in(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	must(pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
}

static void *consume(void *arg)
{
	struct storm *storm = arg;

	for (;;) {
		must(weft_sem_wait(&sem) == 0);
		if (load_seq_cst(&storm->over))
			return NULL;
		fetch_add_seq_cst(&consumed, 1);
	}
}

static void *nothing(void *arg)
{
	return arg;
}

static volatile unsigned sink;

/* Is in each part of the runtime now and then, and in none. */
static void *work(void *arg)
{
	struct worker *w = arg;
	struct storm *storm = w->storm;

	while (!load_seq_cst(&storm->over)) {
		let_signal_in();
		switch (test_random_below(&w->random, 8)) {
		case 0:
			must(weft_sleep((int64_t)test_random_below(&w->random,
							100000)) == 0);
			break;
		case 1:
			must(weft_sem_wait_until(&storm->nobody, weft_clock() +
						 5000) == -ETIMEDOUT);
			break;
		case 2:
			for (unsigned i = 0; i < 100000; i++)
				sink++;
			break;
		case 3:
			for (int i = 0; i < 50; i++) {
				must(weft_mutex_lock(&storm->mutex) == 0);
				weft_yield();
				must(weft_mutex_unlock(&storm->mutex) == 0);
			}
			break;
		case 4:
			must(weft_sem_post(&sem) == 0);
			fetch_add_seq_cst(&posted, 1);
			break;
		default:
			for (int i = 0; i < 50; i++)
				join(spawn_with(i % 2 ? WEFT_LIGHT : 0,
						nothing, NULL));
		}
	}
	return NULL;
}

/* One signal to each kernel thread; those of the harness block it. */
static void signal_all(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *e;

	must(tasks != NULL);
	while ((e = readdir(tasks))) {
		long tid = atol(e->d_name);

		if (tid > 0 && tid != syscall(SYS_gettid))
			syscall(SYS_tgkill, getpid(), tid, SIGUSR1);
	}
	closedir(tasks);
}

static void *send_signals(void *arg)
{
	struct storm *storm = arg;
	sigset_t all;

	sigfillset(&all);
	must(pthread_sigmask(SIG_BLOCK, &all, NULL) == 0);
	while (load_seq_cst(&posted) < storm->signals) {
		signal_all();
		usleep(20);
	}
	return NULL;
}

static void run_storm(int flags)
{
	static const struct weft_options slices = { .slice_ns = 1000000 };
	struct sigaction act = {
		.sa_handler = post_from_handler, .sa_flags = flags,
	}, before;
	struct storm storm = { .signals = test_scaled(5000) };
	struct worker w[WORKERS];
	uint64_t id[WORKERS], consumer[CONSUMERS];
	pthread_t sender;

	store_relaxed(&posted, 0);
	store_relaxed(&consumed, 0);
	CU_ASSERT_EQUAL_FATAL(weft_sem_init(&sem, 0), 0);
	CU_ASSERT_EQUAL_FATAL(sigaction(SIGUSR1, &act, &before), 0);
	CU_ASSERT_EQUAL_FATAL(weft_start(&slices), 0);
	for (int i = 0; i < CONSUMERS; i++)
		consumer[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, consume,
					 &storm);
	for (int i = 0; i < WORKERS; i++) {
		w[i] = (struct worker){ &storm, test_seed((uint64_t)i) };
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, work, &w[i]);
	}
	must(pthread_create(&sender, NULL, send_signals, &storm) == 0);
	while (load_seq_cst(&posted) < storm.signals)
		rest();
	pthread_join(sender, NULL);
	/* What a lost post would never be. */
	while (load_seq_cst(&consumed) != load_seq_cst(&posted))
		rest();
	/* Not SIG_IGN: QEMU would call that, for a signal just on its way. */
	act.sa_handler = pass_over;
	CU_ASSERT_EQUAL_FATAL(sigaction(SIGUSR1, &act, NULL), 0);
	store_seq_cst(&storm.over, 1);
	for (int i = 0; i < WORKERS; i++)
		join(id[i]);
	for (int i = 0; i < CONSUMERS; i++)
		CU_ASSERT_EQUAL(weft_sem_post(&sem), 0);
	for (int i = 0; i < CONSUMERS; i++)
		join(consumer[i]);
	runtime_end();
	/* What is pending is dropped by it. */
	act.sa_handler = SIG_IGN;
	CU_ASSERT_EQUAL(sigaction(SIGUSR1, &act, NULL), 0);
	sigaction(SIGUSR1, &before, NULL);
}

/* ThreadSanitizer keeps signals until the kernel thread calls libc. */
#ifdef WEFT_TSAN
#define SIGNALS_COME	0
#else
#define SIGNALS_COME	1
#endif

static void posts_from_handlers_are_not_lost(void)
{
	if (SIGNALS_COME)
		run_storm(SA_RESTART);
}

static void posts_from_the_alternate_stack_are_not_lost(void)
{
	if (SIGNALS_COME)
		run_storm(SA_RESTART | SA_ONSTACK);
}

/* A kernel thread that weft has never seen, and that may have no struct. */
static void *raise_once(void *arg)
{
	let_signal_in();
	must(raise(SIGUSR1) == 0);
	return arg;
}

static void a_handler_in_a_foreign_thread_wakes(void)
{
	struct sigaction act = { .sa_handler = post_from_handler }, before;

	CU_ASSERT_EQUAL_FATAL(weft_sem_init(&sem, 0), 0);
	CU_ASSERT_EQUAL_FATAL(sigaction(SIGUSR1, &act, &before), 0);
	runtime_begin();
	for (int i = 0; i < 20; i++) {
		pthread_t foreign;

		must(pthread_create(&foreign, NULL, raise_once, NULL) == 0);
		CU_ASSERT_EQUAL(weft_sem_wait(&sem), 0);
		pthread_join(foreign, NULL);
	}
	runtime_end();
	sigaction(SIGUSR1, &before, NULL);
}

static void count_one(int signal)
{
	(void)signal;
	fetch_add_seq_cst(&posted, 1);
}

/* To the process, the next one when the last one has been handled. */
static void *send_one_by_one(void *arg)
{
	struct storm *storm = arg;
	sigset_t all;

	sigfillset(&all);
	must(pthread_sigmask(SIG_BLOCK, &all, NULL) == 0);
	for (size_t i = 0; i < storm->signals; i++) {
		must(kill(getpid(), SIGUSR1) == 0);
		while (load_seq_cst(&posted) == i)
			usleep(20);
	}
	store_seq_cst(&storm->over, 1);
	return NULL;
}

static void *spawn_until_over(void *arg)
{
	struct storm *storm = arg;

	while (!load_seq_cst(&storm->over)) {
		join(spawn(nothing, NULL));
		rest();		/* the VCPU idles now and then */
	}
	return NULL;
}

/*
 * A signal that ThreadSanitizer held back with a thread that ended before it
 * touched an atomic was lost: one of some hundred here.
 */
static void each_signal_is_handled_while_threads_begin_and_end(void)
{
	struct sigaction act = { .sa_handler = count_one }, before;
	struct storm storm = { .signals = test_scaled(1000) };
	uint64_t id[WORKERS];
	pthread_t sender;

	store_relaxed(&posted, 0);
	CU_ASSERT_EQUAL_FATAL(sigaction(SIGUSR1, &act, &before), 0);
	runtime_begin();
	for (int i = 0; i < WORKERS; i++)
		id[i] = spawn(spawn_until_over, &storm);
	must(pthread_create(&sender, NULL, send_one_by_one, &storm) == 0);
	for (int i = 0; i < WORKERS; i++)
		join(id[i]);
	pthread_join(sender, NULL);
	runtime_end();
	CU_ASSERT_EQUAL(load_seq_cst(&posted), storm.signals);
	sigaction(SIGUSR1, &before, NULL);
}

static const struct test_case cases[] = {
	TEST(each_signal_is_handled_while_threads_begin_and_end),
	TEST(a_handler_in_a_foreign_thread_wakes),
	TEST(posts_from_handlers_are_not_lost),
	TEST(posts_from_the_alternate_stack_are_not_lost),
};

TEST_MAIN("sync/sem_signal", cases)

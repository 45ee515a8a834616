/* SPDX-License-Identifier: MIT */
/* test_errand.c - os/errand: calls on other kernel threads, each once and there */
#include "os/signal/errand.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forked.h"
#include "lockfree/atomic.h"
#include "os/call/futex.h"
#include "os/call/tid.h"
#include "os/kthread/kthread.h"
#include "os/signal/signal.h"

#define TRIES	1000	/* ten seconds */
#define SERVERS	3
#define SENDERS	4

enum way { SPINS, SLEEPS, BLOCKS_IT };

struct server {
	struct wefti_os_kthread k;
	enum way way;
	_Atomic uint32_t tid;		/* a futex */
	_Atomic uint32_t ends;
	unsigned served;
};

static void on_preempt(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
}

/*
 * ThreadSanitizer holds a signal back until the next call of libc, and lets it come in
 * the middle of those that wait.
 */
static void spin(void)
{
#ifdef __SANITIZE_THREAD__
	usleep(1);
#endif
}

static void serve(void *arg)
{
	struct server *s = arg;
	sigset_t it;

	sigemptyset(&it);
	sigaddset(&it, wefti_os_preempt_signal());
	if (s->way == BLOCKS_IT)
		pthread_sigmask(SIG_BLOCK, &it, NULL);
	store_seq_cst(&s->tid, (uint32_t)wefti_os_gettid());
	wefti_os_futex_wake(&s->tid, 1);
	while (!load_seq_cst(&s->ends))
		if (s->way == SPINS)
			spin();
		else
			usleep(10000);
	pthread_sigmask(SIG_UNBLOCK, &it, NULL);
}

static void begin(struct server *s, enum way way)
{
	*s = (struct server){ .way = way };
	CU_ASSERT_EQUAL_FATAL(wefti_os_kthread_create(&s->k, 65536, serve, s,
						      "server"), 0);
	while (!load_seq_cst(&s->tid))
		wefti_os_futex_wait(&s->tid, 0, INT64_MAX);
}

static void end(struct server *s)
{
	store_seq_cst(&s->ends, 1);
	wefti_os_kthread_join(&s->k);
}

/* On the server alone, so that it counts without atomics. */
static long count(void *arg)
{
	struct server *s = arg;

	s->served++;
	return wefti_os_gettid();
}

static int send_to(struct server *s, unsigned tries, long *result)
{
	return wefti_os_errand((int)load_relaxed(&s->tid), count, s, tries,
			       result);
}

static void one_that_spins_or_sleeps_makes_the_call(void)
{
	struct server s;

	wefti_os_signal_preempt(on_preempt, NULL);
	for (enum way way = SPINS; way <= SLEEPS; way++) {
		long result = 0;

		begin(&s, way);
		for (unsigned i = 1; i <= 100; i++, result = 0) {
			CU_ASSERT_EQUAL(send_to(&s, TRIES, &result), 0);
			CU_ASSERT_EQUAL(result, (long)load_relaxed(&s.tid));
			CU_ASSERT_EQUAL(s.served, i);
		}
		end(&s);
		CU_ASSERT_EQUAL(s.served, 100);
	}
	wefti_os_signal_preempt_end();
}

static void others_than_this_processs_do_not(void)
{
	struct server s;
	long result = 7;

	wefti_os_signal_preempt(on_preempt, NULL);
	begin(&s, SLEEPS);
	CU_ASSERT_EQUAL(wefti_os_errand(getppid(), count, &s, TRIES, &result),
			-ESRCH);
	end(&s);
	while (wefti_os_kthread_signal((int)load_relaxed(&s.tid), 0) == 0)
		wefti_os_yield();
	CU_ASSERT_EQUAL(send_to(&s, TRIES, &result), -ESRCH);
	CU_ASSERT_EQUAL(s.served, 0);
	CU_ASSERT_EQUAL(result, 7);
	wefti_os_signal_preempt_end();
}

/* Taken back: it is not run when the kernel thread has the signal after all. */
static void one_that_does_not_come_makes_none(void)
{
	struct server deaf, other;
	long result = 7;

	wefti_os_signal_preempt(on_preempt, NULL);
	begin(&deaf, BLOCKS_IT);
	begin(&other, SLEEPS);
	CU_ASSERT_EQUAL(send_to(&deaf, 0, &result), -ETIME);
	CU_ASSERT_EQUAL(send_to(&deaf, 2, &result), -ETIME);
	CU_ASSERT_EQUAL(result, 7);
	CU_ASSERT_EQUAL(send_to(&other, TRIES, &result), 0);
	end(&deaf);
	end(&other);
	CU_ASSERT_EQUAL(deaf.served, 0);
	CU_ASSERT_EQUAL(other.served, 1);
	wefti_os_signal_preempt_end();
}

/* --- at once ------------------------------------------------------- */

static struct server servers[SERVERS];

static void *send_many(void *arg)
{
	const size_t times = test_scaled(2000);
	long bad = 0, result;

	wefti_os_signals_block();
	for (size_t i = 0; i < times; i++) {
		struct server *s = &servers[(i + (size_t)(long)arg) % SERVERS];

		result = 0;
		bad += send_to(s, TRIES, &result) != 0 ||
		       result != (long)load_relaxed(&s->tid);
	}
	return (void *)bad;
}

static void many_at_once_are_each_run_once(void)
{
	pthread_t t[SENDERS];
	unsigned sum = 0;
	void *bad;

	wefti_os_signal_preempt(on_preempt, NULL);
	for (int i = 0; i < SERVERS; i++)
		begin(&servers[i], i == 0 ? SPINS : SLEEPS);
	for (long i = 0; i < SENDERS; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&t[i], NULL, send_many,
						     (void *)i), 0);
	for (int i = 0; i < SENDERS; i++) {
		pthread_join(t[i], &bad);
		CU_ASSERT_PTR_NULL(bad);
	}
	for (int i = 0; i < SERVERS; i++) {
		end(&servers[i]);
		sum += servers[i].served;
	}
	CU_ASSERT_EQUAL(sum, SENDERS * test_scaled(2000));
	wefti_os_signal_preempt_end();
}

/* --- fork ---------------------------------------------------------- */

static struct server deaf;
static _Atomic uint32_t on_its_way;

static void *send_in_vain(void *arg)
{
	long result;

	store_seq_cst(&on_its_way, 1);
	while (load_seq_cst(&on_its_way))
		(void)send_to(&deaf, 1, &result);
	return arg;
}

static void in_the_child(void)
{
	struct server s = { .way = SLEEPS };
	long result = 0;

	wefti_os_errand_forget();
	must(wefti_os_kthread_create(&s.k, 65536, serve, &s, "server") == 0);
	while (!load_seq_cst(&s.tid))
		wefti_os_futex_wait(&s.tid, 0, INT64_MAX);
	must(send_to(&s, TRIES, &result) == 0 && s.served == 1);
}

static void the_child_of_a_fork_has_none(void)
{
	pthread_t t;

	wefti_os_signal_preempt(on_preempt, NULL);
	begin(&deaf, BLOCKS_IT);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&t, NULL, send_in_vain, NULL), 0);
	while (!load_seq_cst(&on_its_way))
		wefti_os_yield();
	usleep(1000);
	child_is_well(in_the_child);
	store_seq_cst(&on_its_way, 0);
	pthread_join(t, NULL);
	end(&deaf);
	wefti_os_signal_preempt_end();
}

static const struct test_case cases[] = {
	TEST(one_that_spins_or_sleeps_makes_the_call),
	TEST(others_than_this_processs_do_not),
	TEST(one_that_does_not_come_makes_none),
	TEST(many_at_once_are_each_run_once),
	TEST(the_child_of_a_fork_has_none),
};

TEST_MAIN("os/errand", cases)

/* SPDX-License-Identifier: MIT */
/*
 * test_poller.c - sched/poller: on and off, which VCPU gets an event, which is
 * woken, and what is left when there are no descriptors
 *
 * Without the runtime: the test is whoever looks, and the VCPU that sleeps.
 */
#include "sched/poller.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "threads.h"

static struct {
	int calls;
	uint64_t data;
	uint32_t ready;
} last;

static struct wefti_vcpu *v;
static int end[2];	/* of a pipe */

static void note(uint64_t data, uint32_t ready)
{
	last.calls++;
	last.data = data;
	last.ready = ready;
}

static uint64_t word(void)
{
	return load_seq_cst(&wefti_poller.word);
}

static void begin(void)
{
	static struct wefti_vcpu vcpu = { .index = 3 };

	v = &vcpu;
	last.calls = 0;
	CU_ASSERT_EQUAL_FATAL(pipe(end), 0);
	CU_ASSERT_EQUAL_FATAL(wefti_poller_start(note), 0);
}

static void finish(void)
{
	wefti_poller_stop();
	close(end[0]);
	close(end[1]);
}

static void watch(uint64_t data)
{
	CU_ASSERT_EQUAL_FATAL(wefti_os_epoll_add(wefti_poller_epoll(word()),
						 end[0], data), 0);
}

static int is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void it_is_on_once_until_it_is_stopped(void)
{
	uint64_t first;
	int ep, wake;

	CU_ASSERT_FALSE(wefti_poller_is_on());
	CU_ASSERT_EQUAL(wefti_poller_poll(), 0);
	CU_ASSERT_FALSE(wefti_poller_has(0));
	begin();
	first = word();
	ep = wefti_poller_epoll(first);
	wake = wefti_poller_eventfd(first);
	CU_ASSERT_TRUE(wefti_poller_is_on());
	CU_ASSERT_TRUE(is_open(ep) && is_open(wake) && ep != wake);
	CU_ASSERT_TRUE(wefti_poller_has(ep));
	CU_ASSERT_TRUE(wefti_poller_has(wake));
	CU_ASSERT_FALSE(wefti_poller_has(end[0]));
	CU_ASSERT_EQUAL(wefti_poller_start(note), 0);	/* it is already */
	CU_ASSERT_EQUAL(word(), first);
	store_relaxed(&wefti_poller.sleeper, 1u);
	wefti_poller_stop();
	CU_ASSERT_FALSE(wefti_poller_is_on());
	CU_ASSERT_EQUAL(load_relaxed(&wefti_poller.sleeper), 0);
	CU_ASSERT_FALSE(is_open(ep) || is_open(wake));
	wefti_poller_stop();		/* nothing more to close */
	CU_ASSERT_TRUE(is_open(end[0]));
	/* The next has the same descriptors, and is another. */
	CU_ASSERT_EQUAL(wefti_poller_start(note), 0);
	CU_ASSERT_NOT_EQUAL(wefti_poller_instance(word()),
			    wefti_poller_instance(first));
	CU_ASSERT_NOT_EQUAL(wefti_poller_instance(word()), 0);
	finish();
}

/* Numbers of instances go round, and never to 0. */
static void an_instance_is_never_zero(void)
{
	store_relaxed(&wefti_poller.instances, 0xfffeu);
	for (int i = 0; i < 3; i++) {
		begin();
		CU_ASSERT_NOT_EQUAL(wefti_poller_instance(word()), 0);
		CU_ASSERT_TRUE(wefti_poller_is_on());
		finish();
	}
}

static void an_event_is_given_once_to_who_looks(void)
{
	begin();
	watch(77);
	CU_ASSERT_EQUAL(wefti_poller_poll(), 0);
	CU_ASSERT_EQUAL(last.calls, 0);
	CU_ASSERT_EQUAL(write(end[1], "x", 1), 1);
	store_relaxed(&wefti_poller.sleeper, 1u);	/* its, if one sleeps */
	CU_ASSERT_EQUAL(wefti_poller_poll(), 0);
	CU_ASSERT_EQUAL(last.calls, 0);
	store_relaxed(&wefti_poller.sleeper, 0u);
	CU_ASSERT_EQUAL(wefti_poller_poll(), 1);
	CU_ASSERT_EQUAL(last.calls, 1);
	CU_ASSERT_EQUAL(last.data, 77);
	CU_ASSERT_EQUAL(last.ready, WEFTI_OS_READABLE);
	CU_ASSERT_EQUAL(wefti_poller_run(), 0);	/* edges */
	CU_ASSERT_EQUAL(last.calls, 1);
	finish();
}

static void a_look_does_not_swallow_a_wake_up(void)
{
	struct wefti_poll_batch batch = { .count = 0 };
	uint32_t seen;

	begin();
	seen = load_relaxed(&v->wake);
	store_relaxed(&wefti_poller.sleeper, v->index + 1);
	wefti_poller_wake_vcpu(v);
	CU_ASSERT_EQUAL(load_relaxed(&v->wake), seen + 1);
	/* Each look sees that there is one, and handles nothing. */
	for (int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(wefti_poller_run(), 1);
	CU_ASSERT_EQUAL(last.calls, 0);
	/* It comes to the sleeper, which takes it. */
	wefti_poller_sleep(v, seen + 1, INT64_MAX, &batch);
	CU_ASSERT_EQUAL(batch.count, 0);
	CU_ASSERT_EQUAL(load_relaxed(&wefti_poller.sleeper), 0);
	CU_ASSERT_EQUAL(wefti_poller_run(), 0);
	finish();
}

static void a_vcpu_that_was_woken_before_does_not_sleep(void)
{
	struct wefti_poll_batch batch = { .count = 0 };
	uint32_t seen;

	begin();
	seen = load_relaxed(&v->wake);
	wefti_poller_wake_vcpu(v);	/* not in there yet: no event */
	CU_ASSERT_EQUAL(wefti_poller_run(), 0);
	wefti_poller_sleep(v, seen, INT64_MAX, &batch);
	CU_ASSERT_EQUAL(batch.count, 0);
	/* The past is no time to wait for either. */
	wefti_poller_sleep(v, seen + 1, 1, &batch);
	CU_ASSERT_EQUAL(batch.count, 0);
	CU_ASSERT_EQUAL(load_relaxed(&wefti_poller.sleeper), 0);
	finish();
}

static void *wake_when_it_sleeps(void *unused)
{
	while (load_seq_cst(&wefti_poller.sleeper) != v->index + 1)
		wefti_os_yield();
	wefti_poller_wake_vcpu(v);
	return unused;
}

static void the_sleeper_takes_events_and_wake_ups(void)
{
	struct wefti_poll_batch batch = { .count = 0 };
	uint32_t seen;
	pthread_t thread;

	begin();
	watch(5);
	seen = load_relaxed(&v->wake);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL,
					     wake_when_it_sleeps, NULL), 0);
	wefti_poller_sleep(v, seen, INT64_MAX, &batch);	/* returns */
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(batch.count, 0);
	CU_ASSERT_EQUAL(write(end[1], "x", 1), 1);
	wefti_poller_sleep(v, seen + 1, INT64_MAX, &batch);
	/* The late wake-up may be there too: it is not among the events. */
	CU_ASSERT_EQUAL(batch.count, 1);
	CU_ASSERT_EQUAL(last.calls, 0);	/* that comes when it has left idle */
	wefti_poller_handle(&batch);
	CU_ASSERT_EQUAL(last.calls, 1);
	CU_ASSERT_EQUAL(last.data, 5);
	batch.event[0].data = WEFTI_POLLER_OWN;
	wefti_poller_handle(&batch);
	CU_ASSERT_EQUAL(last.calls, 1);
	finish();
}

/* The lowest number that is free: all below are in use. */
static int next_fd(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static void without_descriptors_it_stays_off_and_keeps_none(void)
{
	struct rlimit before, low;
	int fd = next_fd();

	CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_NOFILE, &before), 0);
	low = before;
	for (int room = 0; room < 2; room++) {
		low.rlim_cur = (rlim_t)(fd + room);
		CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &low), 0);
		CU_ASSERT_EQUAL(wefti_poller_start(note), -EMFILE);
		CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &before), 0);
		CU_ASSERT_FALSE(wefti_poller_is_on());
		CU_ASSERT_EQUAL(next_fd(), fd);
	}
	low.rlim_cur = (rlim_t)(fd + 2);
	CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &low), 0);
	CU_ASSERT_EQUAL(wefti_poller_start(note), 0);
	CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_NOFILE, &before), 0);
	wefti_poller_stop();
	CU_ASSERT_EQUAL(next_fd(), fd);
}

static const struct test_case cases[] = {
	TEST(it_is_on_once_until_it_is_stopped),
	TEST(an_instance_is_never_zero),
	TEST(an_event_is_given_once_to_who_looks),
	TEST(a_look_does_not_swallow_a_wake_up),
	TEST(a_vcpu_that_was_woken_before_does_not_sleep),
	TEST(the_sleeper_takes_events_and_wake_ups),
	TEST(without_descriptors_it_stays_off_and_keeps_none),
};

TEST_MAIN("sched/poller", cases)

/* SPDX-License-Identifier: MIT */
/*
 * test_slice.c - sched/slice: a thread that is stopped in the same loop again
 * and again has shorter slices, where not all threads only compute
 */
#include "sched/slice.h"

#include "bare_vcpus.h"
#include "lockfree/atomic.h"
#include "os/call/tid.h"
#include "os/kthread/kthread.h"
#include "thread/bare.h"
#include "threads.h"

#define MS	INT64_C(1000000)
#define HERE	UINT64_C(0x7f0000400000)
#define THERE	(HERE + 100000)

static struct wefti_vcpu *vcpu[1];
static struct wefti_thread thread;
static struct wefti_cold body;

static void begin(int64_t slice_ns)
{
	bare_vcpus(vcpu, 1);
	wefti_rt.slice_ns = slice_ns;
	thread.cold = &body;
	body = (struct wefti_cold){ .preempt_near = 0 };
}

static int64_t slice(void)
{
	return wefti_slice_ns(vcpu[0], &thread);
}

static int64_t after_stop_at(uintptr_t pc)
{
	wefti_slice_ends(&body, pc);
	return slice();
}

/* The monitor looks after so many switches of which so many were preemptions. */
static void switches(uint64_t n, uint64_t preemptions)
{
	uint64_t ticks = load_relaxed(&vcpu[0]->ticks) + n;

	store_relaxed(&vcpu[0]->ticks, ticks);
	store_relaxed(&vcpu[0]->stat_preemptions,
		      load_relaxed(&vcpu[0]->stat_preemptions) + preemptions);
	wefti_slice_note_switches(vcpu[0], ticks);
	vcpu[0]->seen_ticks = ticks;
}

static void at_one_place_slices_get_shorter(void)
{
	begin(10 * MS);
	CU_ASSERT_EQUAL(slice(), 10 * MS);
	CU_ASSERT_EQUAL(after_stop_at(HERE), 10 * MS);
	CU_ASSERT_EQUAL(after_stop_at(HERE + 100), 5 * MS);
	CU_ASSERT_EQUAL(after_stop_at(HERE - 1000), 10 * MS / 4);
	CU_ASSERT_EQUAL(after_stop_at(HERE), 10 * MS / 8);
	CU_ASSERT_EQUAL(after_stop_at(HERE), 10 * MS / 8);
	CU_ASSERT_EQUAL(after_stop_at(THERE), 10 * MS);
	CU_ASSERT_EQUAL(after_stop_at(HERE), 10 * MS);
	CU_ASSERT_EQUAL(after_stop_at(HERE), 5 * MS);
}

static void none_is_shorter_than_it_may_be(void)
{
	const int64_t whole[] = { 0, MS / 10, MS, 3 * MS, 80 * MS };
	const int64_t part[] = { 0, MS / 10, MS, MS, 10 * MS };

	for (int i = 0; i < 5; i++) {
		begin(whole[i]);
		for (int stops = 0; stops < 10; stops++)
			after_stop_at(HERE);
		CU_ASSERT_EQUAL(slice(), part[i]);
	}
}

static void where_all_only_compute_they_are_whole(void)
{
	begin(10 * MS);
	after_stop_at(HERE);
	CU_ASSERT_EQUAL(after_stop_at(HERE), 5 * MS);
	for (int i = 0; i < 32; i++) {
		switches(1, 1);
		CU_ASSERT_EQUAL(slice(), 5 * MS);
	}
	switches(1, 1);
	CU_ASSERT_EQUAL(slice(), 10 * MS);
	switches(0, 0);
	CU_ASSERT_EQUAL(slice(), 10 * MS);
	/* One has parked. */
	switches(2, 1);
	CU_ASSERT_EQUAL(slice(), 5 * MS);
	switches(33, 33);
	CU_ASSERT_EQUAL(slice(), 10 * MS);
	/* One has found what it would have parked for. */
	wefti_slice_spared(vcpu[0]);
	switches(1, 1);
	CU_ASSERT_EQUAL(slice(), 5 * MS);
	switches(33, 33);
	CU_ASSERT_EQUAL(slice(), 10 * MS);
}

/* So many others are ready on the VCPU. */
static int64_t beside(unsigned ready)
{
	bare_vcpus(vcpu, 1);
	for (unsigned i = 0; i < ready; i++)
		wefti_ready_spent(vcpu[0], &thread);
	return slice();
}

static void where_many_wait_they_are_shorter(void)
{
	begin(10 * MS);
	CU_ASSERT_EQUAL(beside(8), 10 * MS);
	CU_ASSERT_EQUAL(beside(16), 5 * MS);
	CU_ASSERT_EQUAL(beside(100), 2 * MS);
	wefti_rt.slice_ns = MS;
	CU_ASSERT_EQUAL(beside(100), MS);
}

/* One in the ring that was preempted is known to compute. */
static void where_one_waits_that_may_not_compute_it_is_half(void)
{
	static struct wefti_thread other;

	begin(10 * MS);
	store_relaxed(&vcpu[0]->next, &other);
	CU_ASSERT_EQUAL(slice(), 5 * MS);
	store_relaxed(&vcpu[0]->next, WEFTI_NEXT_SHUT);
	CU_ASSERT_EQUAL(slice(), 10 * MS);
	store_relaxed(&vcpu[0]->next, NULL);
	must(wefti_ring_push(&vcpu[0]->ring, &other) == 0);
	CU_ASSERT_EQUAL(slice(), 5 * MS);
	wefti_ready_spent(vcpu[0], &other);
	CU_ASSERT_EQUAL(slice(), 10 * MS);
	must(wefti_ring_pop(&vcpu[0]->ring) && wefti_ring_pop(&vcpu[0]->ring));
	must(wefti_ring_push(&vcpu[0]->ring, &other) == 0);
	CU_ASSERT_EQUAL(slice(), 5 * MS);
	wefti_rt.slice_ns = 3 * MS;
	store_relaxed(&vcpu[0]->next, &other);
	CU_ASSERT_EQUAL(slice(), 3 * MS);
}

/* The caller's kernel thread carries the VCPU, and has used so much CPU time. */
static int is_over(int64_t wall_ns, int64_t cpu_ns)
{
	vcpu[0]->seen_since = 0;
	store_relaxed(&vcpu[0]->slice_cpu,
		      wefti_os_kthread_cpu_ns(wefti_os_gettid()) - cpu_ns);
	return wefti_slice_is_over(vcpu[0], &thread, wall_ns);
}

static void they_are_time_in_which_the_thread_could_run(void)
{
	struct wefti_kthread carrier = { .tid = wefti_os_gettid() };

	begin(10 * MS);
	vcpu[0]->kthread = &carrier;
	CU_ASSERT_FALSE(is_over(10 * MS - 1, 10 * MS));
	CU_ASSERT_TRUE(is_over(10 * MS, 5 * MS));
	/* It waited for a CPU; negative, as the clock goes on meanwhile. */
	CU_ASSERT_FALSE(is_over(100 * MS, -3600000 * MS));
}

/* The carrier has used the CPU time that the slice wants. */
static int must_end(int64_t at_ns, int64_t look_ns)
{
	vcpu[0]->seen_since = 0;
	store_relaxed(&vcpu[0]->slice_cpu, INT64_MIN / 2);
	return wefti_slice_must_end(vcpu[0], &thread, at_ns, look_ns);
}

/* However often the monitor looks. */
static void the_end_of_one_is_asked_for_once_in_half_of_it(void)
{
	struct wefti_kthread carrier = { .tid = wefti_os_gettid() };
	int asked = 0;

	begin(10 * MS);
	vcpu[0]->kthread = &carrier;
	for (int64_t at = 0; at < 30 * MS; at += MS / 50)
		asked += must_end(at, 5 * MS);
	CU_ASSERT_EQUAL(asked, 4);	/* at 10, 15, 20 and 25 ms */
	/* The monitor's longest time between two looks is shorter than half a slice. */
	CU_ASSERT_TRUE(must_end(30 * MS, MS));
	CU_ASSERT_FALSE(must_end(31 * MS - 1, MS));
	CU_ASSERT_TRUE(must_end(31 * MS, MS));
}

static void a_thread_without_a_body_has_a_whole_one(void)
{
	begin(10 * MS);
	thread.cold = NULL;
	CU_ASSERT_EQUAL(slice(), 10 * MS);
}

/* In the body of the thread that was found out. */
static void *begin_anew(void *arg)
{
	must(wefti_known_self()->cold == arg);
	return (void *)(uintptr_t)wefti_known_self()->cold->preempt_near;
}

/* Main stops by itself each time, and goes on only if the other is stopped. */
static void a_spinning_thread_is_found_out(void)
{
	static const struct weft_options one = { .vcpus = 1 };
	_Atomic int flag = 0;
	struct wefti_cold *found;
	struct wefti_thread *t;
	uint64_t id;

	if (!own_tls_at_start())
		return;
	CU_ASSERT_EQUAL_FATAL(weft_start(&one), 0);
	id = spawn_with(0, spin_until, &flag);
	t = wefti_thread_find(id);
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	while (wefti_slice_ns(wefti_vcpu_at(0), t) > wefti_rt.slice_ns / 8)
		weft_yield();
	found = t->cold;
	CU_ASSERT_EQUAL(found->preempt_near, 3);
	store_relaxed(&flag, 1);
	join(id);
	/* Unless it is stopped three times before it looks. */
	CU_ASSERT_TRUE((uintptr_t)join(spawn_with(0, begin_anew, found)) < 3);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(at_one_place_slices_get_shorter),
	TEST(none_is_shorter_than_it_may_be),
	TEST(where_all_only_compute_they_are_whole),
	TEST(where_many_wait_they_are_shorter),
	TEST(where_one_waits_that_may_not_compute_it_is_half),
	TEST(they_are_time_in_which_the_thread_could_run),
	TEST(the_end_of_one_is_asked_for_once_in_half_of_it),
	TEST(a_thread_without_a_body_has_a_whole_one),
	TEST(a_spinning_thread_is_found_out),
};

TEST_MAIN("sched/slice", cases)

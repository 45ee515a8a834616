/* SPDX-License-Identifier: MIT */
/*
 * test_sanitizer.c - sched/sanitizer: a sanitizer is told of every switch, and of
 * nothing where there is none
 *
 * A fault of this file's is a report by the sanitizer, of which the program fails.
 * Without one, the calls are empty, and that is all that there is to see.
 */
#include "sched/sanitizer.h"

#include "lockfree/atomic.h"
#include "threads.h"

#if defined(WEFT_ASAN)
#include <sanitizer/asan_interface.h>
#define FIBER_CHANGES	1	/* it is where its false frames are */
#else
#define FIBER_CHANGES	0
#endif

#define THREADS	8
#define ROUNDS	200
#define DEEP	12

static void *fiber_of_self(void)
{
	return wefti_self()->cold->fiber;
}

struct turns {
	size_t left;	/* plain: what a VCPU has goes from thread to thread */
	void *fiber[THREADS];
	unsigned begun;
};

static void *take_turns(void *arg)
{
	struct turns *t = arg;
	void *mine = fiber_of_self();

	t->fiber[t->begun++] = mine;
	while (t->left > 0) {
		t->left--;
		weft_yield();
		must(fiber_of_self() == mine || FIBER_CHANGES);
	}
	return NULL;
}

/* On one VCPU: no two run at once, and a switch orders what they do. */
static void threads_of_a_vcpu_share_without_a_report(void)
{
	const struct weft_options one = { .vcpus = 1, .slice_ns = -1 };
	struct turns t = { .left = test_scaled(ROUNDS) };
	uint64_t id[THREADS];

	CU_ASSERT_EQUAL_FATAL(weft_start(&one), 0);
	for (int i = 0; i < THREADS; i++)
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, take_turns, &t);
	for (int i = 0; i < THREADS; i++)
		join(id[i]);
	CU_ASSERT_EQUAL(t.left, 0);
	CU_ASSERT_EQUAL(t.begun, THREADS);
	runtime_end();
}

static void (*volatile leave)(void *result) = weft_exit;

/* Fills its frames, and leaves them by no return. */
static void fill_deep(int n)
{
	volatile char frame[500];

	for (size_t i = 0; i < sizeof(frame); i++)
		frame[i] = (char)n;
	if (n > 0)
		fill_deep(n - 1);
	else
		leave(NULL);
	must(frame[n] == n);	/* no tail call; and never reached */
}

static void *leave_frames(void *unused)
{
	fill_deep(DEEP);
	return unused;
}

static NOINLINE void use_deep(void)
{
	volatile char all[DEEP * 700];

	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = 1;
	must(all[sizeof(all) / 2] == 1);
}

/* What lay in the frames of the one before is this one's memory. */
static void *use_stack(void *unused)
{
#if defined(WEFT_ASAN)
	const struct wefti_cold *body = wefti_self()->cold;
	const char *low = body->stack.low, *here = __builtin_frame_address(0);

	must(low != NULL && low < here - 8192);
	must(!__asan_region_is_poisoned((void *)(uintptr_t)low,
					(size_t)(here - 1024 - low)));
#endif
	use_deep();
	return unused;
}

static void a_stack_that_is_used_again_is_clean(void)
{
	runtime_begin();
	for (size_t i = 0; i < test_scaled(ROUNDS); i++) {
		join(spawn_with(i & WEFT_LIGHT, leave_frames, NULL));
		join(spawn_with(i & WEFT_LIGHT, use_stack, NULL));
	}
	runtime_end();
}

static void *give_fiber(void *unused)
{
	(void)unused;
	return fiber_of_self();
}

#if defined(WEFT_TSAN)

static void *give_fiber_when_all_live(void *arg)
{
	struct weft_barrier *b = arg;

	must(weft_barrier_wait(b) >= 0);
	return fiber_of_self();
}

static void each_thread_has_a_fiber_of_its_own(void)
{
	struct weft_barrier b;
	uint64_t id[THREADS];
	void *fiber[THREADS];

	CU_ASSERT_EQUAL_FATAL(weft_barrier_init(&b, THREADS), 0);
	runtime_begin();
	CU_ASSERT_FALSE(own_tls());	/* with it all are light */
	CU_ASSERT_PTR_NOT_NULL(fiber_of_self());
	for (int i = 0; i < THREADS; i++)
		id[i] = spawn(give_fiber_when_all_live, &b);
	for (int i = 0; i < THREADS; i++) {
		fiber[i] = join(id[i]);
		CU_ASSERT_PTR_NOT_NULL(fiber[i]);
		CU_ASSERT_PTR_NOT_EQUAL(fiber[i], fiber_of_self());
		for (int k = 0; k < i; k++)
			CU_ASSERT_PTR_NOT_EQUAL(fiber[i], fiber[k]);
	}
	CU_ASSERT_PTR_NOT_NULL(join(spawn(give_fiber, NULL)));
	runtime_end();
}

#elif defined(WEFT_ASAN)

/* On its own stack, by the bounds that it was told with the switch. */
static void *be_on_its_stack(void *unused)
{
	char here[8];
	const struct wefti_cold *cold = wefti_self()->cold;
	uintptr_t low = (uintptr_t)cold->stack_low;

	must(cold->stack_bytes > 0);
	must((uintptr_t)here > low);
	must((uintptr_t)here < low + cold->stack_bytes);
	return unused;
}

static void each_thread_has_a_fiber_of_its_own(void)
{
	runtime_begin();
	CU_ASSERT_FALSE(own_tls());
	CU_ASSERT_PTR_NULL(be_on_its_stack(NULL));	/* main too */
	for (int i = 0; i < THREADS; i++)
		join(spawn_with(i % 2 ? WEFT_LIGHT : 0, be_on_its_stack, NULL));
	(void)join(spawn(give_fiber, NULL));
	runtime_end();
}

#else

static void each_thread_has_a_fiber_of_its_own(void)
{
	printf("    no sanitizer: nothing is told\n");
	CU_ASSERT_FALSE(wefti_is_sanitized);
	runtime_begin();
	CU_ASSERT_PTR_NULL(fiber_of_self());
	for (int i = 0; i < THREADS; i++)
		CU_ASSERT_PTR_NULL(join(spawn(give_fiber, NULL)));
	runtime_end();
}

#endif

static const struct test_case cases[] = {
	TEST(threads_of_a_vcpu_share_without_a_report),
	TEST(a_stack_that_is_used_again_is_clean),
	TEST(each_thread_has_a_fiber_of_its_own),
};

TEST_MAIN("sched/sanitizer", cases)

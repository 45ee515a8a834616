/* SPDX-License-Identifier: MIT */
/*
 * test_cycle_watch.c - observe/cycle_watch: cycles are reported once while the program goes on
 *
 * Each scenario is a process in which some threads run all the time.
 */
#include "observe/cycle_watch.h"

#include "child.h"

#define RING	3

static struct weft_mutex lock[2 * RING];
static _Atomic int have_one, goes_on = 1;

struct taker {
	struct weft_mutex *first, *second;
	int count;
	int64_t until;		/* for the second lock */
};

static void *takes_two(void *arg)
{
	const struct taker *t = arg;

	weft_mutex_lock(t->first);
	fetch_add_seq_cst(&have_one, 1);
	while (load_seq_cst(&have_one) < t->count)
		(void)weft_sleep(1000000);
	(void)!weft_mutex_lock_until(t->second, t->until);
	return NULL;
}

static void *runs(void *unused)
{
	while (load_seq_cst(&goes_on))
		(void)weft_yield();
	return unused;
}

/* Thread i has lock i, and waits for the next one's; the last for the first one's. */
static void make_cycle(struct weft_mutex *of, int n, int64_t until)
{
	static struct taker takers[4 * RING];
	static int used;

	store_seq_cst(&have_one, 0);
	for (int i = 0; i < n; i++) {
		struct taker *t = &takers[used++];

		*t = (struct taker){ &of[i], &of[(i + 1) % n], n, until };
		spawn_named(n == 2 ? "two" : "three", 0, takes_two, t);
	}
	while (load_seq_cst(&have_one) < n)
		(void)weft_sleep(1000000);
}

static void begin(const char *setting)
{
	setenv("WEFT_DEADLOCK", setting, 1);
	must(weft_start(NULL) == 0);
	spawn_named("runs", 0, runs, NULL);
}

static void has_two_cycles(void)
{
	begin("watch");
	make_cycle(lock, 2, WEFT_FOREVER);
	make_cycle(lock + RING, 3, WEFT_FOREVER);
	child_wait();
}

static unsigned times(const char *what)
{
	unsigned n = 0;

	for (const char *at = child.text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

#define TWO	"weft: deadlock: 2 threads wait for each other; others go on\n"
#define THREE	"weft: deadlock: 3 threads wait for each other; others go on\n"
#define END	"\nweft: end of report\n"

static void cycles_are_reported_while_others_run_and_the_program_ends_as_it_would(void)
{
	child_begin(has_two_cycles);
	while (times(END) < 2 && child_read())
		;
	child_go();
	child_end();
	CU_ASSERT_TRUE(WIFEXITED(child.status) && WEXITSTATUS(child.status) == 0);
	CU_ASSERT_EQUAL(times(TWO), 1);
	CU_ASSERT_EQUAL(times(THREE), 1);
	CU_ASSERT_EQUAL(times(END), 2);
	/* Each with its wait, its cycle and its stack; and no others. */
	CU_ASSERT_EQUAL(times("thread \"two\" (id"), 2);
	CU_ASSERT_EQUAL(times("thread \"three\" (id"), 3);
	CU_ASSERT_EQUAL(times("    waits for itself through: "), 5);
	CU_ASSERT_EQUAL(times(" takes_two+"), 5);
	CU_ASSERT_FALSE(child_said("thread \"runs\" (id"));
}

/* The observer does not look: the scenario does. Returns how many reports there were. */
static void look(int count)
{
	wefti_rt.settings.deadlock = WEFTI_DEADLOCK_WATCH;
	for (int i = 0; i < count; i++)
		must(wefti_watch_cycles() != INT64_MAX);
	wefti_rt.settings.deadlock = WEFTI_DEADLOCK_OFF;
	fprintf(stderr, "looked %d times\n", count);
}

static void is_looked_at(void)
{
	begin("off");
	make_cycle(lock, 2, WEFT_FOREVER);
	look(4);	/* younger than a second, unless the machine is slow */
	(void)weft_sleep(1200000000);
	look(1);
	look(1);
	look(4);
	_exit(0);
}

static void two_looks_make_one_report(void)
{
	child_begin(is_looked_at);
	child_end();
	CU_ASSERT_EQUAL(times(TWO), 1);
	CU_ASSERT_EQUAL(child.status, 0);
}

static void has_a_deadline(void)
{
	begin("off");
	make_cycle(lock, 2, weft_deadline(INT64_C(3600000000000)));
	make_cycle(lock + RING, 3, WEFT_FOREVER);
	(void)weft_sleep(1200000000);
	look(4);
	_exit(0);
}

/* The other cycle shows that the looks would have found one. */
static void a_cycle_with_a_deadline_is_not_reported(void)
{
	child_begin(has_a_deadline);
	child_end();
	CU_ASSERT_EQUAL(times(TWO), 0);
	CU_ASSERT_EQUAL(times(THREE), 1);
}

static void is_off(void)
{
	begin("report");
	must(wefti_watch_cycles() == INT64_MAX);
	_exit(0);
}

static void other_settings_have_no_looks(void)
{
	child_begin(is_off);
	child_end();
	CU_ASSERT_EQUAL(child.status, 0);
	CU_ASSERT_EQUAL(child.used, 0);
}

static const struct test_case cases[] = {
	TEST(cycles_are_reported_while_others_run_and_the_program_ends_as_it_would),
	TEST(two_looks_make_one_report),
	TEST(a_cycle_with_a_deadline_is_not_reported),
	TEST(other_settings_have_no_looks),
};

TEST_MAIN("observe/cycle_watch", cases)

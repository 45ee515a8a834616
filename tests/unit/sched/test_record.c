/* SPDX-License-Identifier: MIT */
/*
 * test_record.c - sched/record: what is recorded is complete, and agrees with weft_stat()
 */
#include "threads.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record/memory.h"

#define THREADS		8
#define ROUNDS		200
#define KNOWN_MOST	(1u << 14)

/* What the events say of one thread. */
struct known {
	uint64_t id;
	unsigned runs, waits, gave_way, woken, spawned, ended, seats;
};

static struct known known[KNOWN_MOST];
static uint64_t runs, steals, preemptions, broken;
static unsigned kinds[WEFTI_EVENT_KINDS];

static struct known *of(uint64_t id)
{
	size_t i = id * UINT64_C(0x9e3779b97f4a7c15) >> 50;

	while (known[i].id && known[i].id != id)
		i = (i + 1) % KNOWN_MOST;
	known[i].id = id;
	return &known[i];
}

static void note_left(uint64_t id, uint32_t left)
{
	struct known *t = of(id);

	t->waits += left >= WEFTI_LEFT_WAITS;
	t->gave_way += left == WEFTI_LEFT_YIELDED || left == WEFTI_LEFT_SPAWNED;
	t->ended += left == WEFTI_LEFT_ENDED;
}

static void note_ready(const struct wefti_record_event *e)
{
	struct known *t = of(e->thread);

	if (WEFTI_READY_WHY(e->detail) == WEFTI_READY_SPAWNED)
		t->spawned++;
	else if (WEFTI_READY_WHY(e->detail) == WEFTI_READY_SEAT)
		t->seats++;
	else
		t->woken++;
}

/* Events 0 and up of one ring; none was overwritten. */
static void read_ring(unsigned index)
{
	struct wefti_record_writer w = wefti_record_writer_of(index);
	uint64_t count = load_acquire(&w.ring->count), on = 0;
	struct wefti_record_event e;

	CU_ASSERT_TRUE_FATAL(count <= w.mask + 1);
	for (uint64_t n = 0; n < count; n++) {
		if (!wefti_record_get(&w, n, &e)) {
			broken++;
			continue;
		}
		kinds[e.kind]++;
		if (e.kind == WEFTI_EVENT_RUN) {
			if (on)
				note_left(on, e.detail);
			runs++;
			on = e.thread;
			if (on)
				of(on)->runs++;
		} else if (e.kind == WEFTI_EVENT_CARRY) {
			on = 0;		/* the thread before it lost the VCPU */
		} else if (e.kind == WEFTI_EVENT_READY) {
			note_ready(&e);
		} else if (e.kind == WEFTI_EVENT_STEAL) {
			steals += e.detail;
		} else if (e.kind == WEFTI_EVENT_PREEMPT) {
			preemptions++;
		}
	}
}

static void read_all(void)
{
	memset(known, 0, sizeof(known));
	memset(kinds, 0, sizeof(kinds));
	runs = steals = preemptions = broken = 0;
	for (unsigned i = 0; i < weft_vcpus() + WEFTI_RECORD_OTHERS; i++)
		read_ring(i);
}

static struct weft_stat stat_now(void)
{
	struct weft_stat s;

	CU_ASSERT_EQUAL(weft_stat(&s), 0);
	return s;
}

/* Reads while nothing moves: main does not switch, and the other VCPUs idle. */
static struct weft_stat read_at_rest(void)
{
	struct weft_stat before, after;

	do {
		before = stat_now();
		read_all();
		after = stat_now();
		usleep(1000);
	} while (memcmp(&before, &after, sizeof(after)) != 0 || broken);
	return after;
}

static struct weft_mutex mutex = WEFT_MUTEX_INIT;
static struct weft_sem sem = WEFT_SEM_INIT;
static struct weft_chan *chan;

static void *nothing(void *arg)
{
	return arg;
}

static void *work(void *arg)
{
	uint64_t word = (uintptr_t)arg;

	for (int i = 0; i < ROUNDS; i++) {
		weft_mutex_lock(&mutex);
		weft_yield();
		weft_mutex_unlock(&mutex);
		if (word % 2)
			must(weft_chan_send(chan, &word, WEFT_FOREVER) == 0);
		else
			must(weft_chan_recv(chan, &word, WEFT_FOREVER) == 0);
		word = (uintptr_t)arg;
		if (i % 32 == 0)
			weft_sleep(10000);
		if (i % 64 == 0)
			join(spawn(nothing, NULL));
		weft_sem_post(&sem);
		weft_sem_wait(&sem);
	}
	return NULL;
}

static void work_all(void)
{
	uint64_t id[THREADS];

	CU_ASSERT_EQUAL_FATAL(weft_chan_create(&chan, sizeof(uint64_t), 0, 0), 0);
	for (uintptr_t i = 0; i < THREADS; i++)
		id[i] = spawn_named(i ? NULL : "first", 0, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		join(id[i]);
	weft_chan_destroy(chan);
}

/*
 * Each wait of a thread that has ended has its wake-up, and each run its reason: the
 * first, a wait, a switch by which it gave way, or a VCPU that was taken.
 */
static void is_complete(void)
{
	unsigned ended = 0;

	for (unsigned i = 0; i < KNOWN_MOST; i++) {
		const struct known *t = &known[i];

		if (!t->ended)
			continue;
		ended++;
		CU_ASSERT_EQUAL(t->ended, 1);
		CU_ASSERT_EQUAL(t->woken, t->waits);
		CU_ASSERT_EQUAL(t->runs, 1 + t->waits + t->gave_way + t->seats);
	}
	CU_ASSERT_TRUE(ended >= THREADS);
}

static void flight_begin(void)
{
	setenv("WEFT_TRACE", "flight:64M", 1);
	runtime_begin();
	unsetenv("WEFT_TRACE");
	CU_ASSERT_PTR_NOT_NULL_FATAL(wefti_record_head());
}

static void each_wait_has_its_wake_up_and_its_run(void)
{
	struct weft_stat s;

	flight_begin();
	work_all();
	s = read_at_rest();
	is_complete();
	CU_ASSERT_EQUAL(runs - 1, s.switches);	/* the first says that main runs */
	CU_ASSERT_EQUAL(kinds[WEFTI_EVENT_SPAWN], s.threads_made);
	CU_ASSERT_EQUAL(kinds[WEFTI_EVENT_RELEASED], s.threads_made - s.threads);
	CU_ASSERT_EQUAL(kinds[WEFTI_EVENT_WAKE], s.wakes);
	CU_ASSERT_EQUAL(kinds[WEFTI_EVENT_TAKEN], s.compensations);
	CU_ASSERT_EQUAL(steals, s.steals);
	CU_ASSERT_EQUAL(preemptions, s.preemptions);
	CU_ASSERT_TRUE(kinds[WEFTI_EVENT_DEADLINE] >= THREADS * (ROUNDS / 32));
	CU_ASSERT_TRUE(kinds[WEFTI_EVENT_NAME] >= 1);
	runtime_end();
}

/* How many of `kind` stand in ring number `index`, however many threads there were. */
static unsigned in_ring(unsigned index, enum wefti_event_kind kind)
{
	struct wefti_record_writer w = wefti_record_writer_of(index);
	const uint64_t count = load_acquire(&w.ring->count);
	struct wefti_record_event e;
	unsigned found = 0;

	for (uint64_t n = count > w.mask ? count - w.mask - 1 : 0; n < count; n++)
		found += wefti_record_get(&w, n, &e) && e.kind == kind;
	return found;
}

static _Atomic int lost;

/* Others want its VCPU meanwhile. */
static void *loses_its_vcpu(void *unused)
{
	const uint64_t before = stat_now().compensations;

	weft_block_begin();
	do
		usleep(1000);
	while (stat_now().compensations == before);
	weft_block_end();
	store_seq_cst(&lost, 1);
	return unused;
}

static void the_monitor_has_a_ring_of_its_own(void)
{
	unsigned monitors;
	uint64_t id;

	flight_begin();
	monitors = weft_vcpus() + 1;
	id = spawn(loses_its_vcpu, NULL);
	while (!load_seq_cst(&lost))
		join(spawn(nothing, NULL));
	join(id);
	CU_ASSERT_TRUE(in_ring(monitors, WEFTI_EVENT_TAKEN) >= 1);
	for (unsigned i = 0; i < monitors; i++)
		CU_ASSERT_EQUAL(in_ring(i, WEFTI_EVENT_TAKEN), 0);
	CU_ASSERT_EQUAL(in_ring(monitors, WEFTI_EVENT_SEAT_LOST), 0);
	CU_ASSERT_TRUE(in_ring(monitors - 1, WEFTI_EVENT_SEAT_LOST) >= 1);
	runtime_end();
}

/* What the kernel calls the calling thread's kernel thread. */
static void kernels_name(char name[32])
{
	FILE *file = fopen("/proc/thread-self/comm", "r");

	memset(name, 0, 32);
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_PTR_NOT_NULL(fgets(name, 31, file));
	fclose(file);
	name[strcspn(name, "\n")] = 0;
}

static void *is_called(void *name)
{
	char is[32];

	for (int i = 0; i < 10; i++) {
		kernels_name(is);
		CU_ASSERT_STRING_EQUAL(is, name);
		weft_yield();
	}
	return NULL;
}

static void *has_a_number(void *arg)
{
	char is[32];

	kernels_name(is);
	CU_ASSERT_NSTRING_EQUAL(is, "thread-", 7);
	return arg;
}

static void kernel_threads_have_their_threads_names(void)
{
	char process[32], is[32];

	kernels_name(process);
	setenv("WEFT_PERF_NAMES", "1", 1);
	runtime_begin();
	unsetenv("WEFT_PERF_NAMES");
	for (int both = 0; both < 2; both++) {	/* without the recorder, and with it */
		uint64_t one = spawn_named("one", 0, is_called, "one"),
			 two = spawn_named("two of 15 bytes and more", 0, is_called,
					   "two of 15 bytes");

		join(spawn(has_a_number, NULL));
		join(one);
		join(two);
		kernels_name(is);
		CU_ASSERT_STRING_EQUAL(is, process);	/* this is main */
		CU_ASSERT_EQUAL(weft_trace_start(1 << 20), both ? -EALREADY : 0);
	}
	CU_ASSERT_EQUAL(weft_trace_stop(), 0);
	join(spawn_named("one", 0, is_called, "one"));
	runtime_end();
	kernels_name(is);
	CU_ASSERT_STRING_EQUAL(is, process);
}

static const struct test_case cases[] = {
	TEST(each_wait_has_its_wake_up_and_its_run),
	TEST(the_monitor_has_a_ring_of_its_own),
	TEST(kernel_threads_have_their_threads_names),
};

TEST_MAIN("sched/record", cases)

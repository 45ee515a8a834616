/* SPDX-License-Identifier: MIT */
/* test_ring.c - lockfree/ring: order, bounds, wrap, many threads, processes */
#include "lockfree/ring.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

#define CAPACITY	8
#define PUSHERS		2
#define POPPERS		2

static alignas(WEFT_RING_ALIGN) unsigned char memory[4096];

static struct weft_ring *ring_new(size_t capacity)
{
	struct weft_ring *ring = NULL;

	CU_ASSERT_EQUAL_FATAL(weft_ring_init(&ring, memory, sizeof(memory),
					     capacity), 0);
	return ring;
}

/* As after so many pushes and pops, a multiple of the capacity. */
static void set_position(struct weft_ring *r, uint64_t position)
{
	for (uint64_t p = 0; p <= r->mask; p++)
		pair_init(&r->cell[p], 0, 2 * (position + p));
	store_relaxed(&r->head, position);
	store_relaxed(&r->tail, position);
}

static void ring_refuses_what_does_not_do(void)
{
	struct weft_ring *ring = NULL;
	size_t bytes = weft_ring_bytes(CAPACITY);

	memset(memory, 0, sizeof(memory));
	CU_ASSERT_EQUAL(weft_ring_bytes(0), 0);
	CU_ASSERT_EQUAL(weft_ring_bytes(12), 0);
	CU_ASSERT_EQUAL(weft_ring_bytes((size_t)1 << 62), 0);
	CU_ASSERT_EQUAL(weft_ring_init(&ring, memory, bytes - 1, CAPACITY),
			-EINVAL);
	CU_ASSERT_EQUAL(weft_ring_init(&ring, memory + 64, bytes, CAPACITY),
			-EINVAL);
	CU_ASSERT_EQUAL(weft_ring_init(&ring, memory, bytes, 3), -EINVAL);
	CU_ASSERT_EQUAL(weft_ring_attach(&ring, memory, bytes), -EINVAL);
	CU_ASSERT_PTR_NULL(ring);
	CU_ASSERT_EQUAL(weft_ring_init(&ring, memory, bytes, CAPACITY), 0);
	CU_ASSERT_EQUAL(weft_ring_attach(&ring, memory, bytes), 0);
	CU_ASSERT_EQUAL(weft_ring_attach(&ring, memory, bytes - 1), -EMSGSIZE);
	CU_ASSERT_EQUAL(weft_ring_attach(&ring, memory + 8, bytes), -EINVAL);
	store_relaxed(&ring->magic, WEFTI_MPMC_MAGIC + 1);
	CU_ASSERT_EQUAL(weft_ring_attach(&ring, memory, bytes), -EPROTO);
}

static void is_fifo_and_bounded(size_t capacity, uint64_t first)
{
	struct weft_ring *ring = ring_new(capacity);
	uint64_t out = 77;

	set_position(ring, first);
	for (int lap = 0; lap < 5; lap++) {
		CU_ASSERT_EQUAL(weft_ring_pop(ring, &out), -EAGAIN);
		CU_ASSERT_EQUAL(out, lap ? capacity : 77);
		for (uint64_t i = 1; i <= capacity; i++)
			CU_ASSERT_EQUAL(weft_ring_push(ring, i), 0);
		CU_ASSERT_EQUAL(weft_ring_push(ring, 99), -EAGAIN);
		for (uint64_t i = 1; i <= capacity; i++) {
			CU_ASSERT_EQUAL(weft_ring_pop(ring, &out), 0);
			CU_ASSERT_EQUAL(out, i);
		}
	}
}

static void ring_is_fifo_and_bounded_when_positions_wrap(void)
{
	for (size_t capacity = 1; capacity <= 16; capacity *= 2) {
		is_fifo_and_bounded(capacity, 0);
		is_fifo_and_bounded(capacity, (uint64_t)0 - 2 * capacity);
		is_fifo_and_bounded(capacity, (UINT64_C(1) << 63) -
						2 * capacity);
	}
}

/* A hint that nobody moves is slow, and no more. */
static void ring_works_with_hints_that_lag(void)
{
	struct weft_ring *ring = ring_new(2);
	uint64_t out;

	for (uint64_t i = 1; i <= 20; i++) {
		CU_ASSERT_EQUAL(weft_ring_push(ring, i), 0);
		CU_ASSERT_EQUAL(weft_ring_pop(ring, &out), 0);
		CU_ASSERT_EQUAL(out, i);
		store_relaxed(&ring->head, (uint64_t)0);
		store_relaxed(&ring->tail, (uint64_t)0);
	}
	CU_ASSERT_EQUAL(weft_ring_pop(ring, &out), -EAGAIN);
}

/* An element is pusher << 32 | number, number from 1 up. */
struct member {
	struct weft_ring *ring;
	uint64_t id;
	uint64_t count, sum;
	int out_of_order;
};

static size_t each;
static _Atomic size_t left;

static void *pusher(void *arg)
{
	struct member *m = arg;

	for (uint64_t n = 1; n <= each; n++)
		while (weft_ring_push(m->ring, m->id << 32 | n) != 0)
			sched_yield();
	return NULL;
}

static void *popper(void *arg)
{
	struct member *m = arg;
	uint64_t last[PUSHERS] = { 0 };
	uint64_t e;

	while (load_relaxed(&left) > 0) {
		if (weft_ring_pop(m->ring, &e) != 0) {
			sched_yield();
			continue;
		}
		uint64_t from = e >> 32, n = e & UINT32_MAX;

		m->out_of_order |= n <= last[from];
		last[from] = n;
		m->count++;
		m->sum += n;
		fetch_sub_relaxed(&left, (size_t)1);
	}
	return NULL;
}

static void run_crew(size_t capacity)
{
	struct member m[PUSHERS + POPPERS];
	struct weft_ring *ring = ring_new(capacity);
	pthread_t tid[PUSHERS + POPPERS];
	uint64_t count = 0, sum = 0;

	each = test_scaled(30000);
	store_relaxed(&left, PUSHERS * each);
	for (uint64_t i = 0; i < PUSHERS + POPPERS; i++) {
		m[i] = (struct member){ .ring = ring, .id = i };
		CU_ASSERT_EQUAL_FATAL(pthread_create(&tid[i], NULL, i < PUSHERS
					? pusher : popper, &m[i]), 0);
	}
	for (int i = 0; i < PUSHERS + POPPERS; i++) {
		pthread_join(tid[i], NULL);
		count += m[i].count;
		sum += m[i].sum;
		CU_ASSERT_FALSE(m[i].out_of_order);
	}
	CU_ASSERT_EQUAL(count, PUSHERS * each);
	CU_ASSERT_EQUAL(sum, PUSHERS * (each * (each + 1) / 2));
}

static void ring_gives_every_element_once_and_in_order(void)
{
	run_crew(1);
	run_crew(CAPACITY);
}

/* Two producers in a process each, with the ring at two addresses. */
static void ring_connects_processes(void)
{
	size_t bytes = weft_ring_bytes(CAPACITY);
	int fd = memfd_create("ring", 0);
	struct member a = { .id = 0 }, b = { .id = 1 };
	void *here, *there;
	uint64_t e, count = 0;
	int status = -1;
	pid_t child;

	each = test_scaled(5000);
	CU_ASSERT_FATAL(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0);
	here = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	there = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CU_ASSERT_FATAL(here != MAP_FAILED && there != MAP_FAILED);
	CU_ASSERT_EQUAL_FATAL(weft_ring_init(&a.ring, here, bytes, CAPACITY),
			      0);
	child = fork();
	CU_ASSERT_FATAL(child >= 0);
	if (child == 0) {
		munmap(here, bytes);
		if (weft_ring_attach(&b.ring, there, bytes) != 0)
			_exit(1);
		pusher(&b);
		_exit(0);
	}
	for (uint64_t n = 1; n <= each || count < 2 * each;) {
		if (n <= each && weft_ring_push(a.ring, n) == 0)
			n++;
		if (weft_ring_pop(a.ring, &e) == 0)
			count++;
		else
			sched_yield();
	}
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_EQUAL(weft_ring_pop(a.ring, &e), -EAGAIN);
	munmap(here, bytes);
	munmap(there, bytes);
	close(fd);
}

static const struct test_case cases[] = {
	TEST(ring_refuses_what_does_not_do),
	TEST(ring_is_fifo_and_bounded_when_positions_wrap),
	TEST(ring_works_with_hints_that_lag),
	TEST(ring_gives_every_element_once_and_in_order),
	TEST(ring_connects_processes),
};

TEST_MAIN("lockfree/ring", cases)

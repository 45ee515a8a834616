/* SPDX-License-Identifier: MIT */
/* test_spsc.c - lockfree/spsc: order, bounds, wrap, batches, two processes */
#include "lockfree/spsc.h"

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

static struct weft_spsc *ring_new(size_t capacity, size_t elem_bytes)
{
	size_t bytes = weft_spsc_bytes(capacity, elem_bytes);
	size_t whole = (bytes + WEFT_SPSC_ALIGN - 1) / WEFT_SPSC_ALIGN *
		       WEFT_SPSC_ALIGN;
	void *memory = aligned_alloc(WEFT_SPSC_ALIGN, whole);
	struct weft_spsc *ring = NULL;

	CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
	CU_ASSERT_EQUAL_FATAL(weft_spsc_init(&ring, memory, bytes, capacity,
					     elem_bytes), 0);
	return ring;
}

static void spsc_refuses_sizes_that_are_none(void)
{
	CU_ASSERT_EQUAL(weft_spsc_bytes(0, 8), 0);
	CU_ASSERT_EQUAL(weft_spsc_bytes(3, 8), 0);
	CU_ASSERT_EQUAL(weft_spsc_bytes(8, 0), 0);
	CU_ASSERT_EQUAL(weft_spsc_bytes(8, 65537), 0);
	CU_ASSERT_EQUAL(weft_spsc_bytes((size_t)1 << 63, 8), 0);
	CU_ASSERT_EQUAL(weft_spsc_bytes((size_t)1 << 60, 8), 0);
	CU_ASSERT_TRUE(weft_spsc_bytes(1, 1) > 0);
	CU_ASSERT_TRUE(weft_spsc_bytes(1, 65536) > 65536);
}

static void spsc_refuses_memory_that_does_not_do(void)
{
	static alignas(WEFT_SPSC_ALIGN) unsigned char memory[4096];
	struct weft_spsc *ring = NULL;
	size_t bytes = weft_spsc_bytes(CAPACITY, 8);

	CU_ASSERT_EQUAL(weft_spsc_init(&ring, memory, bytes - 1, CAPACITY, 8),
			-EINVAL);
	CU_ASSERT_EQUAL(weft_spsc_init(&ring, memory + 64, bytes, CAPACITY, 8),
			-EINVAL);
	CU_ASSERT_EQUAL(weft_spsc_init(&ring, memory, bytes, 3, 8), -EINVAL);
	CU_ASSERT_PTR_NULL(ring);

	/* There is no ring in it yet; then one; of another version; too long. */
	CU_ASSERT_EQUAL(weft_spsc_attach(&ring, memory, sizeof(memory)),
			-EINVAL);
	CU_ASSERT_EQUAL(weft_spsc_init(&ring, memory, bytes, CAPACITY, 8), 0);
	CU_ASSERT_EQUAL(weft_spsc_attach(&ring, memory, bytes), 0);
	CU_ASSERT_EQUAL(weft_spsc_attach(&ring, memory, bytes - 1), -EMSGSIZE);
	CU_ASSERT_EQUAL(weft_spsc_attach(&ring, memory, 64), -EINVAL);
	CU_ASSERT_EQUAL(weft_spsc_attach(&ring, memory + 1, bytes), -EINVAL);
	store_relaxed(&ring->magic, WEFTI_SPSC_MAGIC + 1);
	CU_ASSERT_EQUAL(weft_spsc_attach(&ring, memory, bytes), -EPROTO);
	store_relaxed(&ring->magic, WEFTI_SPSC_MAGIC);
	ring->mask = 2;
	CU_ASSERT_EQUAL(weft_spsc_attach(&ring, memory, bytes), -EINVAL);
}

/* The positions of both ends, as after so many elements. */
static void set_position(struct weft_spsc *ring, uint64_t position)
{
	store_relaxed(&ring->head, position);
	store_relaxed(&ring->tail, position);
	ring->head_seen = ring->tail_seen = position;
}

static void spsc_is_fifo_and_bounded_when_positions_wrap(void)
{
	struct weft_spsc *ring = ring_new(CAPACITY, 8);
	uint64_t out = 77;

	set_position(ring, (uint64_t)0 - 2 * CAPACITY - 3);
	for (int lap = 0; lap < 5; lap++) {
		CU_ASSERT_EQUAL(weft_spsc_pop(ring, &out), -EAGAIN);
		CU_ASSERT_EQUAL(out, lap ? CAPACITY : 77);
		for (uint64_t i = 1; i <= CAPACITY; i++) {
			CU_ASSERT_EQUAL(weft_spsc_push(ring, &i), 0);
			CU_ASSERT_EQUAL(weft_spsc_count_hint(ring), i);
		}
		CU_ASSERT_EQUAL(weft_spsc_push(ring, &out), -EAGAIN);
		for (uint64_t i = 1; i <= CAPACITY; i++) {
			CU_ASSERT_EQUAL(weft_spsc_pop(ring, &out), 0);
			CU_ASSERT_EQUAL(out, i);
		}
	}
	free(ring);
}

static void spsc_moves_batches_as_far_as_there_is_room(void)
{
	struct weft_spsc *ring = ring_new(CAPACITY, 3);
	char in[12][3], out[12][3];

	for (char i = 0; i < 12; i++)
		memset(in[(int)i], 'a' + i, 3);
	set_position(ring, 5);
	CU_ASSERT_EQUAL(weft_spsc_push_many(ring, in, 0), 0);
	CU_ASSERT_EQUAL(weft_spsc_pop_many(ring, out, 12), 0);
	CU_ASSERT_EQUAL(weft_spsc_push_many(ring, in, 12), CAPACITY);
	CU_ASSERT_EQUAL(weft_spsc_push_many(ring, in, 1), 0);
	CU_ASSERT_EQUAL(weft_spsc_pop_many(ring, out, 5), 5);
	CU_ASSERT_EQUAL(memcmp(in, out, 5 * 3), 0);
	CU_ASSERT_EQUAL(weft_spsc_push_many(ring, in + 8, 4), 4);
	CU_ASSERT_EQUAL(weft_spsc_pop_many(ring, out, 12), 7);
	CU_ASSERT_EQUAL(memcmp(in + 5, out, 7 * 3), 0);
	CU_ASSERT_EQUAL(weft_spsc_pop_many(ring, out, 12), 0);
	free(ring);
}

#define WORDS	3

struct crew {
	struct weft_spsc *ring;
	size_t count, words, batch;
};

static void *producer(void *arg)
{
	const struct crew *c = arg;
	uint64_t elem[16 * WORDS];

	for (size_t n = 0; n < c->count;) {
		size_t batch = c->batch < c->count - n ? c->batch :
						c->count - n;

		for (size_t i = 0; i < batch * c->words; i++)
			elem[i] = n + i / c->words;
		batch = c->batch == 1 ? weft_spsc_push(c->ring, elem) == 0 :
			weft_spsc_push_many(c->ring, elem, batch);
		if (batch == 0)
			sched_yield();
		n += batch;
	}
	return NULL;
}

static size_t consume(const struct crew *c)
{
	uint64_t elem[16 * WORDS];
	size_t wrong = 0;

	for (size_t n = 0; n < c->count;) {
		size_t got = c->batch == 1 ? weft_spsc_pop(c->ring, elem) == 0 :
			weft_spsc_pop_many(c->ring, elem, c->batch);

		if (got == 0)
			sched_yield();
		for (size_t i = 0; i < got * c->words; i++)
			wrong += elem[i] != n + i / c->words;
		n += got;
	}
	return wrong;
}

static void stress(size_t words, size_t batch)
{
	struct crew c = { ring_new(CAPACITY, words * 8),
			  test_scaled(100000), words, batch };
	pthread_t thread;

	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, producer, &c), 0);
	CU_ASSERT_EQUAL(consume(&c), 0);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(weft_spsc_count_hint(c.ring), 0);
	free(c.ring);
}

static void spsc_gives_every_element_once_and_in_order(void)
{
	stress(1, 1);
	stress(WORDS, 1);
	stress(1, 5);
	stress(WORDS, 16);
}

/* The ring at two addresses, by a process for each. */
static void spsc_connects_two_processes(void)
{
	size_t bytes = weft_spsc_bytes(CAPACITY, 8);
	int fd = memfd_create("spsc", 0);
	struct crew c = { .count = test_scaled(20000), .words = 1, .batch = 1 };
	void *here, *there;
	int status = -1;
	pid_t child;

	CU_ASSERT_FATAL(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0);
	here = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	there = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CU_ASSERT_FATAL(here != MAP_FAILED && there != MAP_FAILED);
	CU_ASSERT_EQUAL_FATAL(weft_spsc_init(&c.ring, here, bytes, CAPACITY, 8),
			      0);
	child = fork();
	CU_ASSERT_FATAL(child >= 0);
	if (child == 0) {
		munmap(here, bytes);
		if (weft_spsc_attach(&c.ring, there, bytes) != 0)
			_exit(1);
		producer(&c);
		_exit(0);
	}
	munmap(there, bytes);
	CU_ASSERT_EQUAL(consume(&c), 0);
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT_EQUAL(status, 0);
	munmap(here, bytes);
	close(fd);
}

static const struct test_case cases[] = {
	TEST(spsc_refuses_sizes_that_are_none),
	TEST(spsc_refuses_memory_that_does_not_do),
	TEST(spsc_is_fifo_and_bounded_when_positions_wrap),
	TEST(spsc_moves_batches_as_far_as_there_is_room),
	TEST(spsc_gives_every_element_once_and_in_order),
	TEST(spsc_connects_two_processes),
};

TEST_MAIN("lockfree/spsc", cases)

/* SPDX-License-Identifier: MIT */
/*
 * buffer.c - scenarios: a channel's buffer by itself, that fills, wraps and closes
 *
 * The fences that its callers need are left out (loom.sh): they would hide what the
 * orders of the CAS give.
 */
#include "model.h"

#include "chan/buffer.h"

#define CAPACITY	2
#define WORDS		4

static struct wefti_buffer buffer;
static struct wefti_pair slot[CAPACITY];
static _Atomic unsigned pushed[WORDS + 1], popped[WORDS + 1];
static char body[WORDS + 1];		/* what a word stands for */
static char before_close;

void wefti_back_off(unsigned *lost, unsigned least, unsigned most)
{
	(void)lost;
	(void)least;
	(void)most;
}

static void init(void)
{
	buffer.slot = slot;
	buffer.capacity = CAPACITY;
	buffer.end = CAPACITY * WEFTI_POSITION_SLOT;
	store_relaxed(&buffer.tail, WEFTI_POSITION_TAIL);
	store_relaxed(&buffer.head, WEFTI_POSITION_HEAD);
	for (int i = 0; i < CAPACITY; i++)
		pair_init(&slot[i], 0, 0);
	for (int i = 0; i <= WORDS; i++) {
		store_relaxed(&pushed[i], 0u);
		store_relaxed(&popped[i], 0u);
		m_data_write(&body[i]);
	}
	m_data_write(&before_close);
}

/* As chan/call.c: where the hint says, and else where it leads. */
static int push_word(uint64_t word)
{
	int room, error = wefti_buffer_push_near(&buffer, word);

	return error == WEFTI_BUFFER_FAR ?
	       wefti_buffer_try_push(&buffer, word, &room) : error;
}

static int pop_word(uint64_t *word)
{
	int more, error = wefti_buffer_pop_near(&buffer, word);

	return error == WEFTI_BUFFER_FAR ?
	       wefti_buffer_try_pop(&buffer, word, &more) : error;
}

static int push(uint64_t word)
{
	int error;

	m_data_write(&body[word]);
	do
		error = push_word(word);
	while (error == WEFTI_BUFFER_LOST);
	if (error == -EPIPE)
		m_data_read(&before_close);
	else if (error == 0)
		fetch_add_relaxed(&pushed[word], 1u);
	return error;
}

/* Returns the word, 0: none. */
static uint64_t pop(void)
{
	uint64_t word = 0;
	int error;

	do
		error = pop_word(&word);
	while (error == WEFTI_BUFFER_LOST);
	if (error == -EPIPE)
		m_data_read(&before_close);
	if (error != 0)
		return 0;
	m_data_write(&body[word]);
	m_check(fetch_add_relaxed(&popped[word], 1u) == 0);
	return word;
}

static void check(void)
{
	while (pop() != 0)
		;
	for (int i = 1; i <= WORDS; i++)
		m_check(load_relaxed(&popped[i]) == load_relaxed(&pushed[i]));
}

/* One pusher laps the buffer, one popper sees its order. */

static void push_three(void)
{
	m_check(push(1) == 0 && push(2) == 0);
	(void)push(3);
}

static void pop_three(void)
{
	uint64_t last = 0;

	for (int i = 0; i < 3; i++) {
		uint64_t word = pop();

		m_check(word == 0 || word == last + 1);
		last = word ? word : last;
	}
}

SCENARIO(buffer) = { init, { push_three, pop_three }, check };

/* Two and two, from a buffer with one in it. */

static void init_one(void)
{
	init();
	m_check(push(1) == 0);
}

static void push_2(void)
{
	(void)push(2);
}

static void push_3(void)
{
	(void)push(3);
}

static void pop_one(void)
{
	(void)pop();
}

SCENARIO(buffer_many) = {
	init_one, { push_2, push_3, pop_one, pop_one }, check,
};

/* From where another thread has moved the hints. */

static void init_hints(void)
{
	init();
	for (int i = 0; i < 2; i++)
		m_check(push(0) == 0 && pop_word(&(uint64_t){ 0 }) == 0);
}

/* There is always room for one each, and one to pop. */
static void push_pop(uint64_t word)
{
	m_check(push(word) == 0);
	m_check(pop() != 0);
}

static void push_pop_twice(void)
{
	push_pop(1);
	push_pop(2);
}

static void push_pop_once(void)
{
	push_pop(3);
}

SCENARIO(buffer_hints) = {
	init_hints, { push_pop_twice, push_pop_once }, check,
};

/* The same from the first position on, with no hint moved: they walk. */
SCENARIO(buffer_walk) = { init, { push_pop_twice, push_pop_once }, check };

/* Closed, while it is pushed to and popped from. */

static void close_it(void)
{
	m_data_write(&before_close);
	m_check(wefti_buffer_close(&buffer) == 0);
}

static void check_closed(void)
{
	m_check(wefti_buffer_is_closed(&buffer));
	check();
	m_check(push(4) == -EPIPE);
	m_check(wefti_buffer_close(&buffer) == -EALREADY);
}

SCENARIO(buffer_close) = { init, { push_2, close_it, pop_one }, check_closed };
SCENARIO(buffer_close_full) = {
	init_one, { push_2, close_it, push_3 }, check_closed,
};

/* SPDX-License-Identifier: MIT */
/* section.c - scenarios: an object of two words, its writers and a reader */
#include "model.h"

#include "atomic/names.h"
#include "atomic/section.h"
#include "os/call/fork.h"
#include "os/call/futex.h"
#include "wide.h"

#define TRIES	2

static _Alignas(8) struct pair {
	_Atomic uint64_t a, b;
} object;

int wefti_os_futex_wait(_Atomic uint32_t *w, uint32_t value, int64_t deadline)
{
	(void)deadline;
	m_futex_wait(0, w, value);
	return 0;
}

int wefti_os_futex_wake(_Atomic uint32_t *w, int count)
{
	(void)w;
	(void)count;
	m_futex_wake_one(0);
	return 0;
}

/* What the processor can do with 16 bytes. No object here has 16. */
unsigned wefti_arch_wide_flags = WEFTI_WIDE_KNOWN;

unsigned wefti_arch_wide_find_out(void)
{
	return wefti_arch_wide_flags;
}

/* No process forks here. */
int wefti_os_at_fork(void (*child)(void))
{
	(void)child;
	return 0;
}

static void init(void)
{
	struct wefti_atomic_entry *e = wefti_atomic_entry_of(&object);

	store_relaxed(&e->lock, 0u);
	store_relaxed(&e->version, (uint64_t)0);
	store_relaxed(&object.a, (uint64_t)0);
	store_relaxed(&object.b, (uint64_t)0);
}

static void write(uint64_t value)
{
	const uint64_t from[2] = { value, value };
	struct wefti_atomic_section s = wefti_atomic_begin(&object);

	wefti_atomic_open(&s);
	wefti_atomic_put(&object, from, sizeof(from));
	wefti_atomic_close(&s);
	wefti_atomic_end(&s);
}

static void writer(void)
{
	write(1);
	write(2);
}

/* Both words are of one write, and never older than what was read before. */
static void reader(void)
{
	const struct wefti_atomic_entry *e = wefti_atomic_entry_of(&object);
	uint64_t to[2], last = 0;

	for (int i = 0; i < TRIES; i++) {
		if (!wefti_atomic_peek(e, to, &object, sizeof(to)))
			continue;
		m_check(to[0] == to[1] && to[0] >= last);
		last = to[0];
	}
}

static void check(void)
{
	m_check(load_relaxed(&object.a) == load_relaxed(&object.b));
	m_check(load_relaxed(&wefti_atomic_entry_of(&object)->version) == 4);
}

SCENARIO(section) = { init, { writer, reader }, check };

/* Each adds one to what it finds. */
static void adder(void)
{
	struct wefti_atomic_section s = wefti_atomic_begin(&object);
	uint64_t value[2];

	wefti_atomic_copy(value, &object, sizeof(value));
	m_check(value[0] == value[1]);
	m_check(wefti_atomic_is_equal(&object, value, sizeof(value)));
	value[0]++;
	value[1]++;
	wefti_atomic_open(&s);
	wefti_atomic_put(&object, value, sizeof(value));
	wefti_atomic_close(&s);
	wefti_atomic_end(&s);
}

static void check_two(void)
{
	m_check(load_relaxed(&object.a) == 2 && load_relaxed(&object.b) == 2);
}

SCENARIO(section_writers) = { init, { adder, adder, reader }, check_two };

/* Three words, by what compilers call; compare-exchanges compete. */

static _Alignas(8) struct three {
	_Atomic uint64_t word[3];
} three;

static void init_three(void)
{
	struct wefti_atomic_entry *e = wefti_atomic_entry_of(&three);

	store_relaxed(&e->lock, 0u);
	store_relaxed(&e->version, (uint64_t)0);
	for (unsigned i = 0; i < 3; i++)
		store_relaxed(&three.word[i], (uint64_t)0);
}

static uint64_t load_three(void)
{
	uint64_t v[3];

	wefti_atomic_load(sizeof(v), &three, v, __ATOMIC_SEQ_CST);
	m_check(v[0] == v[1] && v[1] == v[2]);
	return v[0];
}

/* Only the other one can come in between, and once. */
static void add_one(void)
{
	uint64_t v[3], new[3];

	v[0] = v[1] = v[2] = load_three();
	for (int i = 0; i < 2; i++) {
		new[0] = new[1] = new[2] = v[0] + 1;
		if (wefti_atomic_compare_exchange(sizeof(v), &three, v, new,
						  __ATOMIC_SEQ_CST,
						  __ATOMIC_SEQ_CST))
			return;
		m_check(v[0] == v[1] && v[1] == v[2]);
	}
	m_fail("two compare-exchanges failed");
}

static void read_three(void)
{
	uint64_t first = load_three();

	m_check(load_three() >= first);
}

static void check_three(void)
{
	for (unsigned i = 0; i < 3; i++)
		m_check(load_relaxed(&three.word[i]) == 2);
}

static void check_one(void)
{
	for (unsigned i = 0; i < 3; i++)
		m_check(load_relaxed(&three.word[i]) == 1);
}

SCENARIO(three_add) = { init_three, { add_one, add_one }, check_three };
SCENARIO(three_read) = { init_three, { add_one, read_three }, check_one };

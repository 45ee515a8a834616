/* SPDX-License-Identifier: MIT */
/*
 * test_tls.c - os/tls: what a thread finds in its block, wherever it runs
 */
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <resolv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "../mini.h"
#include "cpu.h"
#include "lockfree/atomic.h"
#include "os/call/vm.h"
#include "os/tls/tls_layout.h"
#include "refusal.h"
#include "support.h"

#define MINIS		1000
#define KEYS		40	/* more than libc keeps in the block itself */

static _Thread_local int initialized = 42;
static _Thread_local char zeroed[100];
static _Thread_local void *own_address;

static struct mini minis[MINIS];
static pthread_key_t keys[KEYS];
static _Atomic int destroyed;

static int has_tls(void)
{
	int ret = wefti_tls_init();

	if (ret != 0)
		CU_ASSERT_TRUE(is_refused_rightly(wefti_tls_reason()));
	return ret == 0;
}

static void run_one(struct mini *f)
{
	while (!f->done)
		mini_run(f);
}

static void block_is_found_and_checked_once(void)
{
	int ret = wefti_tls_init();

	CU_ASSERT(ret == 0 || ret == -ENOTSUP);
	CU_ASSERT_EQUAL(wefti_tls_init(), ret);
	CU_ASSERT_EQUAL(wefti_tls_reason()[0] == '\0', ret == 0);
	CU_ASSERT(ret != 0 || wefti_tls_bytes() > 1000);
}

static void use_keys(struct mini *self)
{
	for (int i = 0; i < KEYS; i++) {
		MINI_CHECK(self, pthread_getspecific(keys[i]) == NULL);
		pthread_setspecific(keys[i], (void *)(self->id + 1));
	}
}

/* What is new in a new thread, also where another has lived before. */
static void check_fresh(struct mini *self)
{
	MINI_CHECK(self, errno == 0);
	MINI_CHECK(self, initialized == 42);
	for (size_t i = 0; i < sizeof(zeroed); i++)
		MINI_CHECK(self, zeroed[i] == 0);
	MINI_CHECK(self, uselocale((locale_t)0) == LC_GLOBAL_LOCALE);
	MINI_CHECK(self, __res_state()->options == 0);
	MINI_CHECK(self, (uintptr_t)pthread_self() ==
		    wefti_tls_pthread(self->tls.tp));
	MINI_CHECK(self, wefti_arch_tp_get() == self->tls.tp);
	MINI_CHECK(self, isalpha('a') && !isalpha('1') && toupper('b') == 'B');
}

static void live(struct mini *self)
{
	int number = (int)self->id + 1;
	char expected[64], *message, *p[4];
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);

	check_fresh(self);
	use_keys(self);
	initialized = number;
	memset(zeroed, number, sizeof(zeroed));
	own_address = &own_address;
	uselocale(c);
	errno = number;
	snprintf(expected, sizeof(expected), "Unknown error %d",
		 number + 100000);
	message = strerror(number + 100000);
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 4; i++) {
			p[i] = malloc((size_t)(number % 700 + 8));
			memset(p[i], number, 8);
			errno = number;
			mini_yield(self);
			MINI_CHECK(self, errno == number);
		}
		for (int i = 0; i < 4; i++) {
			MINI_CHECK(self, p[i][7] == (char)number);
			free(p[i]);
		}
	}
	MINI_CHECK(self, strcmp(message, expected) == 0);
	MINI_CHECK(self, initialized == number);
	MINI_CHECK(self, zeroed[99] == (char)number);
	MINI_CHECK(self, own_address == &own_address);
	MINI_CHECK(self, uselocale((locale_t)0) == c);
	for (int i = 0; i < KEYS; i++)
		MINI_CHECK(self, pthread_getspecific(keys[i]) ==
			    (void *)(self->id + 1));
	MINI_CHECK(self, sched_getcpu() >= 0);
	uselocale(LC_GLOBAL_LOCALE);
	freelocale(c);
}

static void key_destructor(void *value)
{
	(void)value;
	fetch_add_seq_cst(&destroyed, 1);
}

static int bad_ones(size_t count)
{
	int bad = 0;

	for (size_t i = 0; i < count; i++)
		bad += minis[i].bad != 0;
	return bad;
}

/* Twice: in new blocks, then in the same ones reset. */
static void a_thousand_live_on_two_kernel_threads(void)
{
	size_t moves;

	if (!has_tls())
		return;
	for (int i = 0; i < KEYS; i++)
		CU_ASSERT_EQUAL(pthread_key_create(&keys[i], key_destructor),
				0);
	for (size_t i = 0; i < MINIS; i++)
		mini_make(&minis[i], i, live);
	destroyed = 0;
	moves = minis_run(minis, MINIS);
	CU_ASSERT_EQUAL(bad_ones(MINIS), 0);
	CU_ASSERT_EQUAL(destroyed, MINIS * KEYS);
	CU_ASSERT(moves > 0);
	for (size_t i = 0; i < MINIS; i++)
		mini_renew(&minis[i], live);
	minis_run(minis, MINIS);
	CU_ASSERT_EQUAL(bad_ones(MINIS), 0);
	CU_ASSERT_EQUAL(destroyed, 2 * MINIS * KEYS);
	for (size_t i = 0; i < MINIS; i++)
		mini_free(&minis[i]);
	for (int i = 0; i < KEYS; i++)
		pthread_key_delete(keys[i]);
}

static void make_a_mess(struct mini *self)
{
	int old;

	check_fresh(self);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	MINI_CHECK(self, old == PTHREAD_CANCEL_ENABLE);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	MINI_CHECK(self, old == PTHREAD_CANCEL_DEFERRED);
	uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
	res_init();
	MINI_CHECK(self, __res_state()->options != 0);
	initialized = errno = 1;
	memset(zeroed, 1, sizeof(zeroed));
}

static void reset_block_is_as_new(void)
{
	struct mini f;

	if (!has_tls())
		return;
	mini_make(&f, 1, make_a_mess);
	for (int i = 0; i < 3; i++) {
		run_one(&f);
		mini_renew(&f, make_a_mess);
	}
	run_one(&f);
	CU_ASSERT_EQUAL(f.bad, 0);
	mini_free(&f);
}

static void dirty_memory_makes_a_clean_block(void)
{
	size_t bytes = MINI_STACK;
	struct mini f = { .body = make_a_mess };

	if (!has_tls())
		return;
	f.stack = wefti_os_vm_reserve(bytes);
	memset(f.stack, 0xa5, bytes);
	CU_ASSERT_EQUAL(wefti_tls_build(f.stack, f.stack + bytes - 192,
					&f.tls), 0);
	CU_ASSERT((char *)f.tls.low + wefti_tls_bytes() >=
		  f.stack + bytes - 192);
	CU_ASSERT_EQUAL((unsigned char)((char *)f.tls.low)[-1], 0xa5);
	CU_ASSERT_EQUAL((unsigned char)f.stack[bytes - 192], 0xa5);
	mini_renew(&f, make_a_mess);
	run_one(&f);
	CU_ASSERT_EQUAL(f.bad, 0);
	mini_free(&f);
}

static void ids_are_unique_and_none_of_the_kernels(void)
{
	struct mini a, b;

	if (!has_tls())
		return;
	mini_make(&a, 1, make_a_mess);
	mini_make(&b, 2, make_a_mess);
	CU_ASSERT(wefti_tls_tid(a.tls.tp) > 1 << 22);
	CU_ASSERT(wefti_tls_tid(b.tls.tp) > 1 << 22);
	CU_ASSERT_NOT_EQUAL(wefti_tls_tid(a.tls.tp), wefti_tls_tid(b.tls.tp));
	CU_ASSERT_NOT_EQUAL(wefti_tls_first_of(1), wefti_tls_first_of(2));
	mini_free(&a);
	mini_free(&b);
}

/* --- getrandom()'s state -------------------------------------------- */

static uintptr_t random_word(const struct mini *f)
{
	return *(uintptr_t *)(f->tls.tp + (uintptr_t)wefti_tls_layout.tls_random);
}

static void use_random(struct mini *self)
{
	uint64_t number[2] = { 0, 0 };

	MINI_CHECK(self, getrandom(&number[0], 8, 0) == 8);
	MINI_CHECK(self, getrandom(&number[1], 8, 0) == 8);
	MINI_CHECK(self, number[0] != number[1]);
}

/* As a handler leaves it that jumps out of the call. */
static void leave_random_taken(struct mini *self)
{
	use_random(self);
	*(uintptr_t *)(self->tls.tp + (uintptr_t)wefti_tls_layout.tls_random) |=
		WEFTI_TLS_RANDOM_TAKEN;
}

/* Pages that the kernel may drop: only such states have them. */
static int droppable_mappings(void)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	char line[512];
	int count = 0;

	while (f && fgets(line, sizeof(line), f))
		count += strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " dp");
	if (f)
		fclose(f);
	return count;
}

/* Where libc has no such states there are no mappings either, and the words are 0. */
static void a_random_state_goes_to_the_next_block(void)
{
	static struct mini some[MINIS / 5];
	const size_t count = sizeof(some) / sizeof(*some);
	int mappings = 0;

	if (!has_tls())
		return;
	for (int round = 0; round < 6; round++) {
		for (size_t i = 0; i < count; i++) {
			mini_make(&some[i], i, round % 2 ? use_random : (
				   wefti_tls_layout.tls_random ? leave_random_taken :
				   use_random));
			run_one(&some[i]);
			CU_ASSERT_EQUAL(some[i].bad, 0);
		}
		if (round == 0)
			mappings = droppable_mappings();
		CU_ASSERT_EQUAL(droppable_mappings(), mappings);
		for (size_t i = 0; i < count; i++)
			mini_free(&some[i]);
	}
	if (!wefti_tls_layout.tls_random) {
		CU_ASSERT_EQUAL(mappings, 0);
		return;
	}
	mini_make(&some[0], 0, use_random);
	CU_ASSERT(random_word(&some[0]) != 0);
	CU_ASSERT((random_word(&some[0]) & WEFTI_TLS_RANDOM_TAKEN) == 0);
	run_one(&some[0]);
	mini_renew(&some[0], leave_random_taken);
	run_one(&some[0]);
	mini_renew(&some[0], use_random);
	CU_ASSERT((random_word(&some[0]) & WEFTI_TLS_RANDOM_TAKEN) == 0);
	run_one(&some[0]);
	mini_free(&some[0]);
}

static pthread_mutex_t recursive;
static int trylock_result;

static void hold_mutex(struct mini *self)
{
	MINI_CHECK(self, pthread_mutex_lock(&recursive) == 0);
	mini_yield(self);
	MINI_CHECK(self, pthread_mutex_lock(&recursive) == 0);
	MINI_CHECK(self, pthread_mutex_unlock(&recursive) == 0);
	MINI_CHECK(self, pthread_mutex_unlock(&recursive) == 0);
}

static void try_mutex(struct mini *self)
{
	(void)self;
	trylock_result = pthread_mutex_trylock(&recursive);
}

static void recursive_mutex_knows_its_owner(void)
{
	pthread_mutexattr_t attr;
	struct mini a, b;

	if (!has_tls())
		return;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&recursive, &attr);
	mini_make(&a, 1, hold_mutex);
	mini_make(&b, 2, try_mutex);
	mini_run(&a);
	run_one(&b);
	CU_ASSERT_EQUAL(trylock_result, EBUSY);
	CU_ASSERT_EQUAL(pthread_mutex_trylock(&recursive), EBUSY);
	run_one(&a);
	CU_ASSERT_EQUAL(a.bad, 0);
	CU_ASSERT_EQUAL(pthread_mutex_destroy(&recursive), 0);
	mini_free(&a);
	mini_free(&b);
}

static const struct test_case cases[] = {
	TEST(block_is_found_and_checked_once),
	TEST(a_thousand_live_on_two_kernel_threads),
	TEST(reset_block_is_as_new),
	TEST(dirty_memory_makes_a_clean_block),
	TEST(ids_are_unique_and_none_of_the_kernels),
	TEST(a_random_state_goes_to_the_next_block),
	TEST(recursive_mutex_knows_its_owner),
};

TEST_MAIN("os/tls", cases)

/* SPDX-License-Identifier: MIT */
/* test_stack_many.c - mem/stack: a million, and many kernel threads at once */
#include "mem/stack.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "lockfree/atomic.h"
#include "mem/stack_trim.h"
#include "os/call/vm.h"
#include "take.h"

#define CREW	4

static int kernel_has_guards(void)
{
	size_t page = wefti_os_page_size();
	void *p = wefti_os_vm_reserve(page);
	int error = wefti_os_vm_guard(p, page);

	wefti_os_vm_unmap(p, page);
	return error == 0;
}

/* WEFT_TEST_SCALE=20: a million, which needs 5 GB. */
static void stacks_in_great_number_need_few_mappings(void)
{
	size_t count = test_scaled(50000), mappings, most;
	struct wefti_stack_stat stat;
	struct wefti_stack *s;

	if (!kernel_has_guards() && count > 10000)
		count = 10000;		/* two mappings each, of 65,530 */
	s = calloc(count, sizeof(*s));
	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	mappings = holdings_lines("/proc/self/maps");
	for (size_t i = 0; i < count; i++) {
		s[i] = take(16 * KB, 4096);
		((size_t *)s[i].top)[-1] = i;
	}
	most = mappings + (kernel_has_guards() ? 100 : 2 * count + 100);
#if defined(WEFT_TSAN)
	most += count;			/* its own for ours */
#endif
	CU_ASSERT_TRUE(holdings_lines("/proc/self/maps") < most);
	printf("    %zu stacks: %zu mappings\n", count,
	       holdings_lines("/proc/self/maps") - mappings);
	wefti_stack_stat(&stat);
	CU_ASSERT_EQUAL(stat.in_use, count);
	CU_ASSERT_TRUE(stat.guarded >= count);
	for (size_t i = 0; i < count; i++) {
		CU_ASSERT_EQUAL(((size_t *)s[i].top)[-1], i);
		if (i % 997 == 0)
			CU_ASSERT_FALSE(can_read((char *)s[i].low - 1));
		wefti_stack_give_back(&s[i].index, 1);
	}
	CU_ASSERT_EQUAL(in_use(), 0);
	free(s);
}

struct member {
	uint64_t seed;
	size_t turns, wrong;
};

/* Marks both ends of what it holds; only its holder may change them. */
static void *member(void *arg)
{
	struct member *m = arg;
	struct wefti_stack held[8];
	size_t n = 0;

	for (size_t t = 0; t < m->turns || n > 0; t++) {
		int get = t < m->turns &&
			  (n == 0 || (n < 8 &&
			   test_random_below(&m->seed, 2)));

		if (get) {
			struct wefti_stack *s = &held[n++];

			if (wefti_stack_alloc(16 * KB << t % 3,
					      t % 64 ? 4096 : 0, s) != 0) {
				m->wrong++;
				n--;
				continue;
			}
			*(struct member **)s->low = m;
			((size_t *)s->top)[-1] = t;
			held[n - 1] = *s;
		} else if (n > 0) {
			struct wefti_stack *s = &held[--n];

			m->wrong += *(struct member **)s->low != m;
			wefti_stack_free(s);
		}
	}
	return NULL;
}

static void stack_belongs_to_one_at_a_time(void)
{
	struct member m[CREW];
	pthread_t tid[CREW];
	size_t before = in_use();

	for (int i = 0; i < CREW; i++) {
		m[i] = (struct member){ .seed = test_seed((uint64_t)i),
					.turns = test_scaled(40000) };
		CU_ASSERT_EQUAL_FATAL(pthread_create(&tid[i], NULL, member,
						     &m[i]), 0);
	}
	for (int i = 0; i < CREW; i++) {
		pthread_join(tid[i], NULL);
		CU_ASSERT_EQUAL(m[i].wrong, 0);
	}
	CU_ASSERT_EQUAL(in_use(), before);
}

#define MADE	2000

static struct wefti_stack made[2][MADE];
static _Atomic size_t made_count[2];

/* Only new stacks: 512 KiB and 2 MiB, which no other case has freed. */
static void *maker(void *arg)
{
	size_t me = (size_t)arg;

	for (size_t i = 0; i < MADE; i++) {
		if (wefti_stack_alloc(me ? 512 * KB : 2048 * KB, 0,
				      &made[me][i]) != 0)
			break;
		/* Relaxed: what a walk needs, the walk itself must see to. */
		store_relaxed(&made_count[me], i + 1);
	}
	return NULL;
}

static void stack_of_walks_while_others_make_stacks(void)
{
	struct wefti_stack_stat stat;
	struct wefti_stack found;
	size_t before = in_use(), last = 0;
	pthread_t tid[2];

	for (size_t i = 0; i < 2; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&tid[i], NULL, maker,
						     (void *)i), 0);
	while (load_relaxed(&made_count[0]) + load_relaxed(&made_count[1]) <
	       2 * MADE) {
		wefti_stack_stat(&stat);
		CU_ASSERT_TRUE(stat.stacks >= last);
		last = stat.stacks;
		CU_ASSERT_EQUAL(wefti_stack_of(&stat, &found),
				WEFTI_STACK_NONE);
		CU_ASSERT_EQUAL(stat.mapped_bytes % wefti_os_page_size(), 0);
	}
	for (size_t i = 0; i < 2; i++)
		pthread_join(tid[i], NULL);
	for (size_t i = 0; i < 2 * MADE; i++) {
		struct wefti_stack *s = &made[i % 2][i / 2];

		CU_ASSERT_EQUAL(wefti_stack_of(s->low, &found),
				WEFTI_STACK_INSIDE);
		CU_ASSERT_EQUAL(memcmp(&found, s, sizeof(found)), 0);
		wefti_stack_free(s);
	}
	CU_ASSERT_EQUAL(in_use(), before);
}

static const struct test_case cases[] = {
	TEST(stacks_in_great_number_need_few_mappings),
	TEST(stack_belongs_to_one_at_a_time),
	TEST(stack_of_walks_while_others_make_stacks),
};

TEST_MAIN("mem/stack_many", cases)

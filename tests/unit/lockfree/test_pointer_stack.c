/* SPDX-License-Identifier: MIT */
/* test_pointer_stack.c - the public stacks, both kinds: order, tags, crews, two views */
#include "lockfree/public_stacks.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

#define ELEMENTS	8
#define CREW		4

/* In the middle, so that an element is not its link. */
struct element {
	unsigned owners;		/* plain: the pairs make it race-free */
	struct weft_stack_node node;
	uint32_t link;
	uint64_t uses;
};

static struct element table[ELEMENTS];
static struct weft_stack stack;
static struct weft_index_stack indexes;

static struct element *element_of(struct weft_stack_node *n)
{
	return n ? container_of(n, struct element, node) : NULL;
}

/* Both kinds through one door: elements in and out. */
struct kind {
	void (*push)(struct element *e);
	struct element *(*pop)(void);
	int (*is_empty)(void);
};

static void pointer_push(struct element *e)
{
	weft_stack_push(&stack, &e->node);
}

static struct element *pointer_pop(void)
{
	return element_of(weft_stack_pop(&stack));
}

static int pointer_is_empty(void)
{
	return weft_stack_is_empty(&stack);
}

static void index_push(struct element *e)
{
	weft_index_stack_push(&indexes, &table[0].link, sizeof(table[0]),
			      (uint32_t)(e - table));
}

static struct element *index_pop(void)
{
	uint32_t i = weft_index_stack_pop(&indexes, &table[0].link,
					  sizeof(table[0]));

	return i == WEFT_INDEX_NONE ? NULL : &table[i];
}

static int index_is_empty(void)
{
	return weft_index_stack_is_empty(&indexes);
}

static const struct kind pointers = {
	pointer_push, pointer_pop, pointer_is_empty,
};

static const struct kind numbers = { index_push, index_pop, index_is_empty };

static void begin(void)
{
	memset(table, 0, sizeof(table));
	memset(&stack, 0, sizeof(stack));
	memset(&indexes, 0, sizeof(indexes));
}

static void is_lifo(const struct kind *k)
{
	CU_ASSERT_TRUE(k->is_empty());
	CU_ASSERT_PTR_NULL(k->pop());
	for (int lap = 0; lap < 5; lap++) {
		for (int i = 0; i < ELEMENTS; i++) {
			k->push(&table[i]);
			CU_ASSERT_FALSE(k->is_empty());
		}
		for (int i = ELEMENTS; i-- > 0;)
			CU_ASSERT_PTR_EQUAL(k->pop(), &table[i]);
		CU_ASSERT_PTR_NULL(k->pop());
		CU_ASSERT_TRUE(k->is_empty());
	}
}

static void stacks_give_the_last_first_also_when_the_tag_wraps(void)
{
	begin();
	is_lifo(&pointers);
	is_lifo(&numbers);
	pair_init(&wefti_pointer_stack_of(&stack)->head, 0, UINT64_MAX - 20);
	is_lifo(&pointers);
	indexes.weft_private[0] = UINT32_MAX - 20;
	is_lifo(&numbers);
}

/* A popper has read the link of 0; then 0 and 1 go, and 0 comes back. */
static void stack_refuses_a_pop_that_read_an_old_link(void)
{
	struct wefti_pair *head = &wefti_pointer_stack_of(&stack)->head;
	struct wefti_wide seen, wrong;

	begin();
	pointer_push(&table[1]);
	pointer_push(&table[0]);
	seen.lo = pair_lo_relaxed(head);
	seen.hi = pair_hi_relaxed(head);
	wrong.lo = (uintptr_t)&table[1].node;
	wrong.hi = seen.hi + 1;
	CU_ASSERT_PTR_EQUAL(pointer_pop(), &table[0]);
	CU_ASSERT_PTR_EQUAL(pointer_pop(), &table[1]);
	pointer_push(&table[0]);
	CU_ASSERT_EQUAL(pair_lo_relaxed(head), seen.lo);
	CU_ASSERT_FALSE(pair_cas_acq_rel(head, &seen, wrong));
	CU_ASSERT_PTR_EQUAL(pointer_pop(), &table[0]);
	CU_ASSERT_TRUE(pointer_is_empty());
}

static void back_off_is_bounded_and_can_be_turned_off(void)
{
	begin();
	CU_ASSERT_EQUAL(weft_stack_set_back_off(&stack, 65537), -EINVAL);
	CU_ASSERT_EQUAL(weft_index_stack_set_back_off(&indexes, 65537),
			-EINVAL);
	CU_ASSERT_EQUAL(stack.weft_private[2], 0);
	CU_ASSERT_EQUAL(indexes.weft_private[1], 0);
	CU_ASSERT_EQUAL(weft_stack_set_back_off(&stack, 65536), 0);
	CU_ASSERT_EQUAL(weft_index_stack_set_back_off(&indexes, 65536), 0);
	is_lifo(&pointers);
	is_lifo(&numbers);
	CU_ASSERT_EQUAL(weft_stack_set_back_off(&stack, 0), 0);
	CU_ASSERT_EQUAL(weft_index_stack_set_back_off(&indexes, 0), 0);
	is_lifo(&pointers);
	is_lifo(&numbers);
}

struct member {
	const struct kind *kind;
	uint64_t seed;
	size_t turns, uses, collisions;
};

/* Holds up to two at a time, so that the order of the stack changes. */
static void *member(void *arg)
{
	struct member *m = arg;
	struct element *held[2];
	int n = 0;

	for (size_t i = 0; i < m->turns || n > 0; i++) {
		struct element *e = NULL;

		if (i < m->turns && n < 2 &&
		    test_random_below(&m->seed, 2) == 0)
			e = m->kind->pop();
		if (e) {
			m->collisions += e->owners++ != 0;
			e->uses++;
			m->uses++;
			held[n++] = e;
		} else if (n > 0) {
			held[--n]->owners--;
			m->kind->push(held[n]);
		}
	}
	return NULL;
}

static void crew_shares_elements(const struct kind *k)
{
	struct member m[CREW];
	pthread_t tid[CREW];
	uint64_t uses = 0;
	size_t count = 0;

	memset(table, 0, sizeof(table));
	for (int i = 0; i < ELEMENTS; i++)
		k->push(&table[i]);
	for (int i = 0; i < CREW; i++) {
		m[i] = (struct member){ .kind = k,
					.seed = test_seed((uint64_t)i),
					.turns = test_scaled(100000) };
		CU_ASSERT_EQUAL_FATAL(pthread_create(&tid[i], NULL, member,
						     &m[i]), 0);
	}
	for (int i = 0; i < CREW; i++) {
		pthread_join(tid[i], NULL);
		CU_ASSERT_EQUAL(m[i].collisions, 0);
		uses += m[i].uses;
	}
	for (struct element *e; (e = k->pop()) != NULL; count++) {
		CU_ASSERT_EQUAL_FATAL(e->owners++, 0);
		uses -= e->uses;
	}
	CU_ASSERT_EQUAL(count, ELEMENTS);
	CU_ASSERT_EQUAL(uses, 0);
}

static void stacks_give_an_element_to_one_at_a_time(void)
{
	begin();
	crew_shares_elements(&pointers);
	crew_shares_elements(&numbers);
}

static void stacks_without_back_off_do_so_too(void)
{
	begin();
	CU_ASSERT_EQUAL(weft_stack_set_back_off(&stack, 0), 0);
	CU_ASSERT_EQUAL(weft_index_stack_set_back_off(&indexes, 0), 0);
	crew_shares_elements(&pointers);
	crew_shares_elements(&numbers);
}

/* What two processes share: the stack, and the table with plain owners. */
struct shared {
	struct weft_index_stack stack;
	struct {
		uint32_t link;
		uint32_t owners;
		uint64_t uses;
	} element[ELEMENTS];
};

/* Takes and gives back `turns` elements. Returns how many were not alone. */
static size_t use_shared(struct shared *s, size_t turns)
{
	size_t collisions = 0;

	while (turns > 0) {
		uint32_t i = weft_index_stack_pop(&s->stack,
						  &s->element[0].link,
						  sizeof(s->element[0]));

		if (i == WEFT_INDEX_NONE)
			continue;
		collisions += s->element[i].owners++ != 0;
		s->element[i].uses++;
		s->element[i].owners--;
		weft_index_stack_push(&s->stack, &s->element[0].link,
				      sizeof(s->element[0]), i);
		turns--;
	}
	return collisions;
}

static void processes_share_an_index_stack_at_two_addresses(void)
{
	size_t turns = test_scaled(50000);
	int fd = memfd_create("stack", MFD_CLOEXEC), status;
	struct shared *here, *there;
	uint64_t uses = 0;
	pid_t child;

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL_FATAL(ftruncate(fd, sizeof(*here)), 0);
	here = mmap(NULL, sizeof(*here), PROT_READ | PROT_WRITE, MAP_SHARED,
		    fd, 0);
	there = mmap(NULL, sizeof(*here), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	CU_ASSERT_FATAL(here != MAP_FAILED && there != MAP_FAILED);
	for (uint32_t i = 0; i < ELEMENTS / 2; i++)
		weft_index_stack_push(&here->stack, &here->element[0].link,
				      sizeof(here->element[0]), i);
	child = fork();
	CU_ASSERT_FATAL(child >= 0);
	if (child == 0)
		_exit(use_shared(there, turns) != 0);
	CU_ASSERT_EQUAL(use_shared(here, turns), 0);
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT_EQUAL(status, 0);
	for (int i = 0; i < ELEMENTS; i++)
		uses += here->element[i].uses;
	CU_ASSERT_EQUAL(uses, 2 * turns);
	munmap(here, sizeof(*here));
	munmap(there, sizeof(*there));
	close(fd);
}

static const struct test_case cases[] = {
	TEST(stacks_give_the_last_first_also_when_the_tag_wraps),
	TEST(stack_refuses_a_pop_that_read_an_old_link),
	TEST(back_off_is_bounded_and_can_be_turned_off),
	TEST(stacks_give_an_element_to_one_at_a_time),
	TEST(stacks_without_back_off_do_so_too),
	TEST(processes_share_an_index_stack_at_two_addresses),
};

TEST_MAIN("lockfree/pointer_stack", cases)

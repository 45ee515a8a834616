/* SPDX-License-Identifier: MIT */
/*
 * test_layout.c - observe/layout: what a debugger reads by the table is what C has
 *
 * A struct gets values by the fields' names in C. They are then read as a debugger does,
 * by the table's names.
 */
#include "support.h"

#include <string.h>

#include "context.h"
#include "io/table.h"
#include "observe/layout.h"
#include "sched/vcpu.h"
#include "sync/mutex.h"
#include "sync/waitlist.h"
#include "thread/bare.h"
#include "thread/name.h"

static uint64_t value_of(const char *name)
{
	for (const struct wefti_layout *l = wefti_layout; *l->name; l++)
		if (strcmp(l->name, name) == 0)
			return (uint64_t)l->value;
	CU_FAIL("a name that the table does not have");
	return 0;
}

static uint64_t number(const void *from, const char *name, size_t bytes)
{
	uint64_t n = 0;

	memcpy(&n, (const char *)from + value_of(name), bytes);
	return n;
}

static void names_are_short_and_differ(void)
{
	for (const struct wefti_layout *l = wefti_layout; *l->name; l++) {
		CU_ASSERT_TRUE(memchr(l->name, 0, sizeof(l->name)) != NULL);
		for (const struct wefti_layout *k = wefti_layout; k != l; k++)
			CU_ASSERT_TRUE(strcmp(k->name, l->name) != 0);
	}
	CU_ASSERT_EQUAL(value_of("weft layout"), WEFTI_LAYOUT_VERSION);
	CU_ASSERT_EQUAL(sizeof(*wefti_layout), 32);
}

static void a_thread_is_read_as_it_was_written(void)
{
	struct wefti_thread t;

	memset(&t, 0, sizeof(t));
	t.ctx.sp = (void *)0x1111111111;
	t.tp = 0x2222222222;
	t.attention = 0x33333333;
	t.wait = 0x4444444444;
	t.cold = (void *)0x5555555555;
	t.slot = 0x66666666;
	t.why = 0x77;
	t.join = 0x8888888888;
	t.waits_for = (void *)0x9999999999;
	t.gen = 0xaaaaaaaa;
	CU_ASSERT_EQUAL(number(&t, "thread.sp", 8), 0x1111111111);
	CU_ASSERT_EQUAL(number(&t, "thread.tp", 8), 0x2222222222);
	CU_ASSERT_EQUAL(number(&t, "thread.attention", 4), 0x33333333);
	CU_ASSERT_EQUAL(number(&t, "thread.wait", 8), 0x4444444444);
	CU_ASSERT_EQUAL(number(&t, "thread.cold", 8), 0x5555555555);
	CU_ASSERT_EQUAL(number(&t, "thread.slot", 4), 0x66666666);
	CU_ASSERT_EQUAL(number(&t, "thread.why", 1), 0x77);
	CU_ASSERT_EQUAL(number(&t, "thread.join", 8), 0x8888888888);
	CU_ASSERT_EQUAL(number(&t, "thread.waits_for", 8), 0x9999999999);
	CU_ASSERT_EQUAL(number(&t, "thread.gen", 4), 0xaaaaaaaa);
	CU_ASSERT_EQUAL(value_of("thread.bytes"), sizeof(t));
}

static void fields_of_bits_are_where_the_table_says(void)
{
	struct wefti_thread t;

	memset(&t, 0, sizeof(t));
	CU_ASSERT_EQUAL(number(&t, "thread.bits", 1), 0);
	t.kind = 15;
	CU_ASSERT_EQUAL(number(&t, "thread.bits", 1), value_of("bits.kind"));
	t.kind = 0;
	t.light = 1;
	CU_ASSERT_EQUAL(number(&t, "thread.bits", 1), value_of("bits.light"));
	t.light = 0;
	t.keep = 1;
	CU_ASSERT_EQUAL(number(&t, "thread.bits", 1), value_of("bits.keep"));
}

static void a_cold_part_is_read_as_it_was_written(void)
{
	struct wefti_cold c;

	memset(&c, 0, sizeof(c));
	strcpy(c.name, "name");
	c.carrier_tid = 0x11111111;
	CU_ASSERT_EQUAL(strcmp((char *)&c + value_of("cold.name"), "name"), 0);
	CU_ASSERT_EQUAL(number(&c, "cold.carrier_tid", 4), 0x11111111);
	CU_ASSERT_EQUAL(value_of("name.bytes"), sizeof(c.name));
}

static void a_vcpu_and_its_kernel_thread_are_found(void)
{
	static struct wefti_vcpu v;
	static struct wefti_kthread k;

	store_relaxed(&v.current, (struct wefti_thread *)0x1111111111);
	v.kthread = (void *)0x2222222222;
	k.tid = 0x33333333;
	CU_ASSERT_EQUAL(number(&v, "vcpu.current", 8), 0x1111111111);
	CU_ASSERT_EQUAL(number(&v, "vcpu.kthread", 8), 0x2222222222);
	CU_ASSERT_EQUAL(number(&k, "kthread.tid", 4), 0x33333333);
}

static void owners_are_found(void)
{
	struct wefti_mutex m;
	struct wefti_owned_list l;

	memset(&m, 0, sizeof(m));
	memset(&l, 0, sizeof(l));
	m.owner = (struct wefti_thread *)0x1111111111;
	l.owner = (struct wefti_thread *)0x2222222222;
	CU_ASSERT_EQUAL(number(&m, "mutex.owner", 8), 0x1111111111);
	CU_ASSERT_EQUAL(number(&l, "list.owner", 8), 0x2222222222);
}

static void the_runtime_and_its_tables_are_found(void)
{
	const char *slots = (char *)value_of("at.slots");
	const char *rt = (char *)value_of("at.runtime");
	uint32_t first;

	store_relaxed(&wefti_rt.state, WEFTI_RT_ON);
	wefti_rt.vcpu_count = 0x111;
	wefti_rt.vcpu[0] = (void *)0x2222222222;
	store_relaxed(&wefti_rt.monitor, (struct wefti_thread *)0x3333333333);
	CU_ASSERT_EQUAL(number(rt, "runtime.state", 4), value_of("runtime.on"));
	CU_ASSERT_EQUAL(number(rt, "runtime.vcpu_count", 4), 0x111);
	CU_ASSERT_EQUAL(number(rt, "runtime.vcpu", 8), 0x2222222222);
	CU_ASSERT_EQUAL(number(rt, "runtime.monitor", 8), 0x3333333333);
	CU_ASSERT_EQUAL(wefti_slot_grow(&first, &(uint32_t){ 0 }), 0);
	CU_ASSERT_EQUAL(number(slots, "dense.next", 4), wefti_slot_limit());
	CU_ASSERT_EQUAL(number(slots, "dense.chunk", 8), (uintptr_t)wefti_slot_get(0));
	CU_ASSERT_PTR_EQUAL(wefti_slot_get(1),
			    (char *)wefti_slot_get(0) + value_of("thread.bytes"));
	wefti_layout_begin();
	CU_ASSERT_EQUAL(*(uint64_t *)value_of("at.self"), wefti_self_offset());
	CU_ASSERT_EQUAL(*(uint64_t *)value_of("at.tid"), 0);	/* no TLS of its own */
	CU_ASSERT_PTR_EQUAL(*(void **)value_of("at.fds"), wefti_fd_directory());
	CU_ASSERT_PTR_EQUAL(*(void **)value_of("at.names"), wefti_name_table());
	CU_ASSERT_EQUAL(value_of("fd.bytes"), sizeof(struct wefti_fd));
}

/* A frame as a switch leaves it: its words read as wefti_arch_context_regs() does. */
static void a_frame_has_the_registers_of_the_table(void)
{
	uintptr_t frame[FRAME_BYTES / sizeof(uintptr_t)];
	const struct wefti_context ctx = { frame };
	struct wefti_arch_regs regs;
	unsigned callee_saved = 0;

	for (size_t i = 0; i < FRAME_BYTES / sizeof(*frame); i++)
		frame[i] = 0x1000 + i;
	wefti_arch_context_regs(&ctx, &regs);
	CU_ASSERT_EQUAL(value_of("frame.bytes"), FRAME_BYTES);
	CU_ASSERT_EQUAL(regs.sp, (uintptr_t)frame + FRAME_BYTES);
	for (const struct wefti_layout *l = wefti_layout; *l->name; l++) {
		const char *name = l->name + 4;
		uintptr_t word;

		if (strncmp(l->name, "reg.", 4) != 0)
			continue;
		word = frame[(size_t)l->value / sizeof(*frame)];
		if (strcmp(name, "rip") == 0 || strcmp(name, "pc") == 0)
			CU_ASSERT_EQUAL(word, regs.pc);
		if (strcmp(name, "rbp") == 0 || strcmp(name, "x29") == 0 ||
		    strcmp(name, "fp") == 0)
			CU_ASSERT_EQUAL(word, regs.fp);
		callee_saved++;
#ifdef FRAME_RBX
		if (strcmp(name, "rbx") == 0)
			CU_ASSERT_EQUAL(word, regs.rbx);
		if (strcmp(name, "r12") == 0)
			CU_ASSERT_EQUAL(word, regs.r12);
		if (strcmp(name, "r13") == 0)
			CU_ASSERT_EQUAL(word, regs.r13);
		if (strcmp(name, "r14") == 0)
			CU_ASSERT_EQUAL(word, regs.r14);
		if (strcmp(name, "r15") == 0)
			CU_ASSERT_EQUAL(word, regs.r15);
#endif
#ifdef FRAME_X19
		if (name[0] == 'x' && strcmp(name, "x29") < 0)
			CU_ASSERT_EQUAL(word, regs.x[(name[1] - '1') * 10 + name[2] - '9']);
#endif
	}
	CU_ASSERT_TRUE(callee_saved >= 7);
}

/* The numbers of phases and kinds, by functions that use them. */
static void numbers_are_those_of_the_code(void)
{
	struct wefti_thread t;

	memset(&t, 0, sizeof(t));
	wefti_wait_begin_parked(&t, 0);
	CU_ASSERT_EQUAL(t.wait & value_of("wait.phase"), value_of("wait.parked"));
	CU_ASSERT_EQUAL(wefti_join_word(0, WEFTI_JOIN_DONE), value_of("join.done"));
	CU_ASSERT_EQUAL(value_of("kind.green"), WEFTI_KIND_GREEN);
	CU_ASSERT_EQUAL(value_of("kind.main"), WEFTI_KIND_MAIN);
	CU_ASSERT_EQUAL(value_of("kind.foreign"), WEFTI_KIND_FOREIGN);
	CU_ASSERT_EQUAL(value_of("why.join"), WEFTI_WHY_JOIN);
	CU_ASSERT_EQUAL(value_of("why.mutex"), WEFTI_WHY_MUTEX);
	CU_ASSERT_EQUAL(value_of("why.seat"), WEFTI_WHY_SEAT);
}

/* Each reason to wait has a name in the table: a debugger knows them all. */
static void each_reason_to_wait_has_a_name(void)
{
	for (int why = WEFTI_WHY_NOTHING + 1; why < WEFTI_WHY_COUNT; why++) {
		int found = 0;

		for (const struct wefti_layout *l = wefti_layout; *l->name; l++)
			found += strncmp(l->name, "why.", 4) == 0 && l->value == why;
		CU_ASSERT_EQUAL(found, 1);
	}
}

static const struct test_case cases[] = {
	TEST(names_are_short_and_differ),
	TEST(a_thread_is_read_as_it_was_written),
	TEST(fields_of_bits_are_where_the_table_says),
	TEST(a_cold_part_is_read_as_it_was_written),
	TEST(a_vcpu_and_its_kernel_thread_are_found),
	TEST(owners_are_found),
	TEST(the_runtime_and_its_tables_are_found),
	TEST(a_frame_has_the_registers_of_the_table),
	TEST(numbers_are_those_of_the_code),
	TEST(each_reason_to_wait_has_a_name),
};

TEST_MAIN("observe/layout", cases)

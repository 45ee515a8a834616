/* SPDX-License-Identifier: MIT */
/* test_stack_code.c - mem/stack_code: whether code may run, by the kernel's list */
#include "mem/stack_code.h"

#include <inttypes.h>
#include <stdio.h>

#include "os/call/vm.h"
#include "probe.h"
#include "refusals.h"

static int may_run(const void *address)
{
	FILE *f = fopen("/proc/self/maps", "r");
	uintptr_t low, high, at = (uintptr_t)address;
	char line[512], run = '?';

	must(f != NULL);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*c%*c%c", &low, &high,
			   &run) == 3 && at >= low && at < high)
			break;
	fclose(f);
	return run == 'x';
}

/* But for its lowest page, where guards split mappings. */
static void runs_code(const struct wefti_stack *s, int does)
{
	must(may_run((char *)s->top - 1) == does);
	must(may_run((char *)s->low + wefti_os_page_size()) == does);
}

static int stacks_of(size_t old_kernel)
{
	struct wefti_stack held, idle, guarded, later[2];

	no_guards = (int)old_kernel;
	must(wefti_stack_alloc(32 * KB, 4096, &held) == 0);
	must(wefti_stack_alloc(32 * KB, 4096, &idle) == 0);
	must(wefti_stack_alloc(128 * KB, 64 * KB, &guarded) == 0);
	must(!wefti_stack_allows_code());
	runs_code(&held, 0);
	wefti_stack_free(&idle);
	for (int i = 0; i < 2; i++) {	/* any number of times */
		must(wefti_stack_allow_code() == 0);
		must(wefti_stack_allows_code());
		runs_code(&held, 1);
		runs_code(&idle, 1);
		runs_code(&guarded, 1);
		is_whole(&held, wefti_os_page_size());
		is_whole(&guarded, 64 * KB);
	}
	/* In the same slab, and in a new one. */
	must(wefti_stack_alloc(32 * KB, 4096, &later[0]) == 0);
	must(wefti_stack_alloc(2 * MB, 4096, &later[1]) == 0);
	for (int i = 0; i < 2; i++) {
		runs_code(&later[i], 1);
		is_whole(&later[i], wefti_os_page_size());
	}
	return 0;
}

static void code_runs_on_all_stacks_once_it_is_allowed(void)
{
	in_child(stacks_of, 0);
}

static void guards_that_split_mappings_stay(void)
{
	in_child(stacks_of, 1);
}

static void allow(void)
{
	must(wefti_stack_allow_code() == 0);
}

/* The call that allows it walks over the slabs before this one is there. */
static int slab_that_is_being_made(size_t n)
{
	struct wefti_stack s;

	(void)n;
	in_reserve = allow;
	must(wefti_stack_alloc(32 * KB, 4096, &s) == 0);
	runs_code(&s, 1);
	return 0;
}

static void a_slab_that_is_being_made_is_not_forgotten(void)
{
	in_child(slab_that_is_being_made, 0);
}

static const struct test_case cases[] = {
	TEST(code_runs_on_all_stacks_once_it_is_allowed),
	TEST(guards_that_split_mappings_stay),
	TEST(a_slab_that_is_being_made_is_not_forgotten),
};

TEST_MAIN("mem/stack_code", cases)

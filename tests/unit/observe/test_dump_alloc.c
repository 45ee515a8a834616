/* SPDX-License-Identifier: MIT */
/*
 * test_dump_alloc.c - observe/dump: a dump allocates nothing
 *
 * The program's own malloc and its like stand before libc's for every library,
 * libunwind too, and count what the threads that are watched call: the one that
 * dumps, and one that its signal interrupts.
 */
#include "threads.h"

#include <sys/stat.h>
#include <unistd.h>

#include "cpu.h"
#include "lockfree/atomic.h"
#include "os/object/unwind.h"

#ifndef TEST_IS_SANITIZED	/* malloc is the sanitizer's */

#define MANY	100	/* so many that those in one place are told of once */

static _Thread_local volatile int is_watched;
static _Atomic size_t calls;

static void count(void)
{
	if (is_watched)
		fetch_add_relaxed(&calls, 1);
}

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);
void __libc_free(void *block);

#pragma GCC visibility push(default)

void *malloc(size_t bytes)
{
	count();
	return __libc_malloc(bytes);
}

void *calloc(size_t n, size_t bytes)
{
	count();
	return __libc_calloc(n, bytes);
}

void *realloc(void *old, size_t bytes)
{
	count();
	return __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t align, size_t bytes)
{
	count();
	return __libc_memalign(align, bytes);
}

int posix_memalign(void **block, size_t align, size_t bytes)
{
	count();
	*block = __libc_memalign(align, bytes);
	return *block ? 0 : ENOMEM;
}

void free(void *block)
{
	count();
	__libc_free(block);
}

#pragma GCC visibility pop

static void *park(void *arg)
{
	return (void *)(intptr_t)weft_sleep_until(*(int64_t *)arg);
}

static void *compute(void *arg)
{
	_Atomic int *over = arg;

	is_watched = 1;
	while (!load_relaxed(over))
		wefti_arch_pause();
	is_watched = 0;
	return arg;
}

static size_t counted(void (*fn)(FILE *to), FILE *to)
{
	size_t before = load_relaxed(&calls);

	is_watched = 1;
	fn(to);
	is_watched = 0;
	return load_relaxed(&calls) - before;
}

static void allocate(FILE *to)
{
	void *volatile block = malloc(100);

	(void)to;
	free(block);
}

static void dump(FILE *to)
{
	must(weft_dump(fileno(to)) == 0);
}

static void dump_with(size_t count, FILE *to)
{
	static int64_t for_ever = WEFT_FOREVER;
	_Atomic int over = 0;
	uint64_t id[MANY], computes;
	struct stat before, after;

	must(count <= MANY);
	for (size_t i = 0; i < count; i++)
		id[i] = spawn_with(i & WEFT_LIGHT, park, &for_ever);
	computes = spawn(compute, &over);
	CU_ASSERT_EQUAL(fstat(fileno(to), &before), 0);
	CU_ASSERT_EQUAL(counted(dump, to), 0);
	CU_ASSERT_EQUAL(fstat(fileno(to), &after), 0);
	CU_ASSERT_TRUE(after.st_size > before.st_size);
	store_relaxed(&over, 1);
	join(computes);
	for (size_t i = 0; i < count; i++) {
		CU_ASSERT_EQUAL(weft_cancel(id[i]), 0);
		join(id[i]);
	}
}

static void a_dump_allocates_nothing(void)
{
	FILE *to = tmpfile();

	CU_ASSERT_PTR_NOT_NULL_FATAL(to);
	CU_ASSERT_EQUAL(counted(allocate, to), 2);
	runtime_begin();
	CU_ASSERT_TRUE(wefti_os_unwind_is_loaded());
	dump_with(3, to);
	dump_with(MANY, to);
	runtime_end();
	fclose(to);
}

#else

static void a_dump_allocates_nothing(void)
{
}

#endif

static const struct test_case cases[] = {
	TEST(a_dump_allocates_nothing),
};

TEST_MAIN("observe/dump_alloc", cases)

/* SPDX-License-Identifier: MIT */
/*
 * test_tls_image.c - os/tls_image: a block like new by a copy, and when not
 *
 * The linker puts __wrap_wefti_tls_image_find() in front of ours, so that there
 * is a time in which the loader's words are not known. The cases build on one
 * another, in their order.
 */
#include "os/tls/tls_image.h"

#include <stdlib.h>
#include <string.h>

#include "../module.h"
#include "cpu.h"
#include "os/call/vm.h"
#include "os/tls/tls.h"
#include "os/tls/tls_layout.h"
#include "refusal.h"

#define STACK	((size_t)64 << 10)

static char *memory[2];
static struct wefti_tls block[2];

static _Thread_local int initialized
	__attribute__((tls_model("initial-exec"))) = 42;
static _Thread_local char zeroed[300]
	__attribute__((tls_model("initial-exec")));

void __real_wefti_tls_image_find(uintptr_t fresh_tp);
void __wrap_wefti_tls_image_find(uintptr_t fresh_tp);

void __wrap_wefti_tls_image_find(uintptr_t fresh_tp)
{
	(void)fresh_tp;
}

static int has_tls(void)
{
	int ret = wefti_tls_init();

	if (ret != 0)
		CU_ASSERT_TRUE(is_refused_rightly(wefti_tls_reason()));
	return ret == 0;
}

static void begin(void)
{
	for (int i = 0; i < 2; i++) {
		memory[i] = wefti_os_vm_reserve(STACK);
		if (!memory[i] ||
		    wefti_tls_build(memory[i], memory[i] + STACK, &block[i]))
			abort();
	}
}

static void end(void)
{
	for (int i = 0; i < 2; i++) {
		wefti_tls_destroy(block[i].tp);
		wefti_os_vm_unmap(memory[i], STACK);
	}
}

/* A variable of static TLS in a block, seen from here. */
static void *in_block(int i, void *mine)
{
	return (char *)mine - wefti_arch_tp_get() + block[i].tp;
}

static void use(int i)
{
	*(int *)in_block(i, &initialized) = 1;
	memset(in_block(i, zeroed), 'x', sizeof(zeroed));
}

static int is_new(int i)
{
	static const char zeros[sizeof(zeroed)];

	return *(int *)in_block(i, &initialized) == 42 &&
	       memcmp(in_block(i, zeroed), zeros, sizeof(zeros)) == 0;
}

static void unless_the_loader_is_known_it_does_it_all(void)
{
	if (!has_tls())
		return;
	begin();
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(wefti_tls_image_apply(block[0].tp), 0);
		use(0);
		CU_ASSERT_FALSE(is_new(0));
		wefti_tls_image_make(block[0].tp);
		CU_ASSERT_TRUE(is_new(0));
	}
	end();
}

static void what_was_made_once_is_copied_to_any_block(void)
{
	char below;

	if (!has_tls())
		return;
	begin();
	__real_wefti_tls_image_find(block[0].tp);
	CU_ASSERT_EQUAL(wefti_tls_image_apply(block[0].tp), 0);
	use(0);
	wefti_tls_image_make(block[0].tp);
	CU_ASSERT_TRUE(is_new(0));
	for (int i = 0; i < 2; i++) {
		use(i);
		below = ((char *)block[i].low)[-1] = 'b';
		CU_ASSERT_EQUAL(wefti_tls_image_apply(block[i].tp), 1);
		CU_ASSERT_TRUE(is_new(i));
		CU_ASSERT_EQUAL(((char *)block[i].low)[-1], below);
		/* What is not static TLS is the thread's as before. */
		CU_ASSERT_TRUE(wefti_tls_tid(block[i].tp) >=
			       (int)WEFTI_TLS_FIRST_TID);
	}
	end();
}

static void *load(const char *module)
{
	char path[PATH_MAX];
	void *loaded = NULL;

	if (module_path(module, path, sizeof(path)) == 0)
		loaded = dlopen(path, RTLD_NOW);
	CU_ASSERT_PTR_NOT_NULL_FATAL(loaded);
	return loaded;
}

/* Until it is made anew it is good for nothing, whatever came or went. */
static void stale_then_new(int *variable)
{
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(wefti_tls_image_apply(block[i].tp), 0);
		use(i);
	}
	wefti_tls_image_make(block[0].tp);
	CU_ASSERT_TRUE(is_new(0));
	for (int i = 0; i < 2; i++) {
		use(i);
		if (variable)
			*(int *)in_block(i, variable) = 5;
		CU_ASSERT_EQUAL(wefti_tls_image_apply(block[i].tp), 1);
		CU_ASSERT_TRUE(is_new(i));
		if (variable)
			CU_ASSERT_EQUAL(*(int *)in_block(i, variable), 777);
	}
}

static void a_library_that_comes_or_goes_makes_it_stale(void)
{
	int *(*static_address)(void);
	void *dynamic, *loaded;

	if (!has_tls())
		return;
	begin();
	__real_wefti_tls_image_find(block[0].tp);
	wefti_tls_image_make(block[0].tp);
	CU_ASSERT_EQUAL(wefti_tls_image_apply(block[0].tp), 1);
	/* Without TLS: nothing changes. */
	dlclose(load("plain_module.so"));
	CU_ASSERT_EQUAL(wefti_tls_image_apply(block[0].tp), 1);
	dynamic = load("tls_dynamic_module.so");
	stale_then_new(NULL);
	loaded = load("tls_static_module.so");
	static_address = (int *(*)(void))dlsym(loaded,
					       "weft_test_static_address");
	CU_ASSERT_EQUAL(*static_address(), 777);
	stale_then_new(static_address());
	dlclose(dynamic);
	stale_then_new(static_address());
	end();
}

static const struct test_case cases[] = {
	TEST(unless_the_loader_is_known_it_does_it_all),
	TEST(what_was_made_once_is_copied_to_any_block),
	TEST(a_library_that_comes_or_goes_makes_it_stale),
};

TEST_MAIN("os/tls_image", cases)

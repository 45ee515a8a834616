/* SPDX-License-Identifier: MIT */
/*
 * test_loader.c - os/loader: which thread holds a lock of the dynamic loader's
 */
#include <link.h>
#include <pthread.h>

#include "os/tls/loader.h"
#include "os/tls/tls.h"
#include "support.h"
#include "cpu.h"

static int held_inside, held_by_another;

static void *look_elsewhere(void *tp)
{
	held_by_another = wefti_os_loader_is_held(wefti_arch_tp_get());
	held_inside = wefti_os_loader_is_held(*(uintptr_t *)tp);
	return NULL;
}

static int walk(struct dl_phdr_info *info, size_t size, void *arg)
{
	pthread_t thread;

	(void)info;
	(void)size;
	(void)arg;
	held_inside = wefti_os_loader_is_held(wefti_arch_tp_get());
	/* The other thread asks for its own block, and for this thread's. */
	if (pthread_create(&thread, NULL, look_elsewhere,
			   &(uintptr_t){ wefti_arch_tp_get() }) == 0)
		pthread_join(thread, NULL);
	return 1;
}

static void a_walk_over_the_libraries_holds_one(void)
{
	if (wefti_tls_init() != 0)
		return;		/* there are no blocks to tell threads by */
	wefti_os_loader_init();
	CU_ASSERT_EQUAL(wefti_os_loader_is_held(wefti_arch_tp_get()), 0);
	CU_ASSERT_EQUAL(wefti_os_loader_is_held(0), 0);
	for (int i = 0; i < 2; i++) {
		held_inside = 0;
		held_by_another = 1;
		CU_ASSERT_EQUAL(dl_iterate_phdr(walk, NULL), 1);
		CU_ASSERT_EQUAL(held_inside, 1);
		CU_ASSERT_EQUAL(held_by_another, 0);
		CU_ASSERT_EQUAL(wefti_os_loader_is_held(wefti_arch_tp_get()), 0);
	}
}

static const struct test_case cases[] = {
	TEST(a_walk_over_the_libraries_holds_one),
};

TEST_MAIN("os/loader", cases)

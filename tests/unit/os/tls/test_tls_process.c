/* SPDX-License-Identifier: MIT */
/*
 * test_tls_process.c - os/tls: libraries that come later, fork inside a block,
 * and nothing leaks
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../mini.h"
#include "../module.h"
#include "cpu.h"
#include "heap.h"
#include "os/tls/tls_layout.h"
#include "refusal.h"
#include "support.h"

#define KEYS		40	/* more than libc keeps in the block itself */

static struct mini minis[2];
static pthread_key_t keys[KEYS];

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

static void do_little(struct mini *self)
{
	MINI_CHECK(self, errno == 0);
	free(malloc(100));
}

static void *load(const char *module, const char *function)
{
	char path[PATH_MAX];
	void *loaded = module_path(module, path, sizeof(path)) == 0 ?
		       dlopen(path, RTLD_NOW) : NULL;

	return loaded ? dlsym(loaded, function) : NULL;
}

static int *(*static_address)(void);
static char *(*dynamic_address)(void);

static void use_module(struct mini *self)
{
	mini_yield(self);	/* main loads the module now */
	MINI_CHECK(self, *static_address() == 777);
	MINI_CHECK(self, strcmp(dynamic_address(), "dynamic") == 0);
	*static_address() = (int)self->id;
	memset(dynamic_address(), 'x', 2999);
	mini_yield(self);
	MINI_CHECK(self, *static_address() == (int)self->id);
	MINI_CHECK(self, dynamic_address()[2998] == 'x');
}

static void use_module_again(struct mini *self)
{
	MINI_CHECK(self, *static_address() == 777);
	MINI_CHECK(self, strcmp(dynamic_address(), "dynamic") == 0);
	mini_yield(self);
}

static void library_loaded_later_has_its_variables(void)
{
	struct mini f[4];

	if (!has_tls())
		return;
	for (uintptr_t i = 0; i < 4; i++) {
		mini_make(&f[i], i, use_module);
		mini_run(&f[i]);
	}
	static_address = (int *(*)(void))load("tls_static_module.so",
					      "weft_test_static_address");
	dynamic_address = (char *(*)(void))load("tls_dynamic_module.so",
						"weft_test_dynamic_address");
	CU_ASSERT_PTR_NOT_NULL_FATAL(static_address);
	CU_ASSERT_PTR_NOT_NULL_FATAL(dynamic_address);
	for (int i = 0; i < 4; i++)
		mini_run(&f[i]);
	for (int i = 0; i < 4; i++) {
		run_one(&f[i]);
		mini_renew(&f[i], use_module_again);
	}
	for (int i = 0; i < 4; i++)
		run_one(&f[i]);
	for (int i = 0; i < 4; i++) {
		CU_ASSERT_EQUAL(f[i].bad, 0);
		mini_free(&f[i]);
	}
}

static void *nothing(void *arg)
{
	return arg;
}

static int makes_a_thread(void *arg)
{
	pthread_t thread;
	void *result;

	return pthread_create(&thread, NULL, nothing, arg) == 0 &&
	       pthread_join(thread, &result) == 0 && result == arg;
}

/*
 * An emulator may not manage a new thread in the child of a program that had
 * several; then it does not without a block either, as is asked here.
 */
static int child_can_make_threads(void)
{
	static int can = -1;
	int status = -1, quiet;
	pid_t child;

	if (can >= 0)
		return can;
	child = fork();
	if (child == 0) {
		quiet = open("/dev/null", O_WRONLY);
		dup2(quiet, 1);
		dup2(quiet, 2);
		_exit(!makes_a_thread(&can));
	}
	waitpid(child, &status, 0);
	can = WIFEXITED(status) && WEXITSTATUS(status) == 0;
	return can;
}

/* 0, or the number of what failed in the child. */
static int live_in_child(struct mini *self)
{
	void *p;

	wefti_tls_after_fork(self->tls.tp, 1);
	wefti_tls_take_rseq(self->carrier_tp);
	if (errno != 17)
		return 1;
	if (*(int *)wefti_tls_field(self->tls.tp,
				    wefti_tls_layout.pthread_tid) != getpid())
		return 2;
	p = malloc(100000);
	if (!p)
		return 3;
	free(p);
	if (child_can_make_threads() && !makes_a_thread(self))
		return 4;
	if (sched_getcpu() < 0)
		return 5;
	/* Blocks of other threads: not on libc's list here. */
	wefti_tls_destroy(minis[0].tls.tp);
	mini_make(&minis[1], 1, do_little);
	run_one(&minis[1]);
	mini_free(&minis[1]);
	return minis[1].bad ? 6 : 0;
}

static void fork_inside(struct mini *self)
{
	int status = -1;
	pid_t child;

	errno = 17;
	child = fork();
	if (child == 0)
		_exit(live_in_child(self));
	MINI_CHECK(self, errno == 17);
	MINI_CHECK(self, waitpid(child, &status, 0) == child);
	MINI_CHECK(self, WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void fork_from_a_block_gives_a_working_child(void)
{
	struct mini f;

	if (!has_tls())
		return;
	child_can_make_threads();
	mini_make(&minis[0], 0, fork_inside);	/* stays in the parent's list */
	mini_make(&f, 1, fork_inside);
	run_one(&f);
	CU_ASSERT_EQUAL(f.bad, 0);
	mini_free(&f);
	mini_free(&minis[0]);
}

static void *use_malloc_a_little(void)
{
	void *p = malloc(40);

	free(malloc(100));
	return p;
}

static void allocate(struct mini *self)
{
	(void)self;
	free(use_malloc_a_little());
	if (dynamic_address)
		dynamic_address()[0] = 'y';
	pthread_setspecific(keys[0], self);
	pthread_setspecific(keys[KEYS - 1], self);
}

static size_t bytes_in_use(void)
{
	return heap_in_use() + heap_mapped();
}

/* In one arena, so that what is in use can be counted. */
static void reset_and_destroy_leak_nothing(void)
{
	size_t count = test_scaled(100000), before = 0;
	struct mini f;

	if (!has_tls())
		return;
	mallopt(M_ARENA_MAX, 1);
	for (int i = 0; i < KEYS; i++)
		pthread_key_create(&keys[i], NULL);
	mini_make(&f, 1, allocate);
	for (size_t i = 0; i < count; i++) {
		run_one(&f);
		if (i == 10)
			before = bytes_in_use();
		mini_renew(&f, allocate);
	}
	CU_ASSERT(count <= 10 || bytes_in_use() <= before + 4096);
	mini_free(&f);

	for (size_t i = 0; i < count / 10; i++) {
		mini_make(&f, 1, allocate);
		run_one(&f);
		mini_free(&f);
		if (i == 10)
			before = bytes_in_use();
	}
	CU_ASSERT(count <= 100 || bytes_in_use() <= before + 4096);
	for (int i = 0; i < KEYS; i++)
		pthread_key_delete(keys[i]);
}

static const struct test_case cases[] = {
	TEST(library_loaded_later_has_its_variables),
	TEST(fork_from_a_block_gives_a_working_child),
	TEST(reset_and_destroy_leak_nothing),
};

TEST_MAIN("os/tls_process", cases)

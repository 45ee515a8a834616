/* SPDX-License-Identifier: MIT */
/*
 * test_tls.c - os/tls: what a thread finds in its block, wherever it runs
 */
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <locale.h>
#include <malloc.h>
#include <pthread.h>
#include <resolv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu.h"
#include "fiber.h"
#include "os/tls_layout.h"
#include "os/vm.h"
#include "support.h"

#define FIBERS		1000
#define KEYS		40	/* more than libc keeps in the block itself */

static _Thread_local int initialized = 42;
static _Thread_local char zeroed[100];
static _Thread_local void *own_address;

static struct fiber fibers[FIBERS];
static pthread_key_t keys[KEYS];
static _Atomic int destroyed;

static int has_tls(void)
{
	int ret = wefti_tls_init();

	/* Under a sanitizer there is nothing to test, and no other reason. */
	if (ret != 0)
		CU_ASSERT_PTR_NOT_NULL(strstr(wefti_tls_reason(), "sanitizer"));
	return ret == 0;
}

static void run_one(struct fiber *f)
{
	while (!f->done)
		fiber_run(f);
}

static void block_is_found_and_checked_once(void)
{
	int ret = wefti_tls_init();

	CU_ASSERT(ret == 0 || ret == -ENOTSUP);
	CU_ASSERT_EQUAL(wefti_tls_init(), ret);
	CU_ASSERT_EQUAL(wefti_tls_reason()[0] == '\0', ret == 0);
	CU_ASSERT(ret != 0 || wefti_tls_bytes() > 1000);
}

static void use_keys(struct fiber *self)
{
	for (int i = 0; i < KEYS; i++) {
		FIBER_CHECK(self, pthread_getspecific(keys[i]) == NULL);
		pthread_setspecific(keys[i], (void *)(self->id + 1));
	}
}

/* What is new in a new thread, also where another has lived before. */
static void check_fresh(struct fiber *self)
{
	FIBER_CHECK(self, errno == 0);
	FIBER_CHECK(self, initialized == 42);
	for (size_t i = 0; i < sizeof(zeroed); i++)
		FIBER_CHECK(self, zeroed[i] == 0);
	FIBER_CHECK(self, uselocale((locale_t)0) == LC_GLOBAL_LOCALE);
	FIBER_CHECK(self, __res_state()->options == 0);
	FIBER_CHECK(self, (uintptr_t)pthread_self() ==
		    wefti_tls_pthread(self->tls.tp));
	FIBER_CHECK(self, wefti_arch_tp_get() == self->tls.tp);
	FIBER_CHECK(self, isalpha('a') && !isalpha('1') && toupper('b') == 'B');
}

static void live(struct fiber *self)
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
			fiber_yield(self);
			FIBER_CHECK(self, errno == number);
		}
		for (int i = 0; i < 4; i++) {
			FIBER_CHECK(self, p[i][7] == (char)number);
			free(p[i]);
		}
	}
	FIBER_CHECK(self, strcmp(message, expected) == 0);
	FIBER_CHECK(self, initialized == number);
	FIBER_CHECK(self, zeroed[99] == (char)number);
	FIBER_CHECK(self, own_address == &own_address);
	FIBER_CHECK(self, uselocale((locale_t)0) == c);
	for (int i = 0; i < KEYS; i++)
		FIBER_CHECK(self, pthread_getspecific(keys[i]) ==
			    (void *)(self->id + 1));
	FIBER_CHECK(self, sched_getcpu() >= 0);
	uselocale(LC_GLOBAL_LOCALE);
	freelocale(c);
}

static void key_destructor(void *value)
{
	(void)value;
	__atomic_fetch_add(&destroyed, 1, __ATOMIC_SEQ_CST);
}

static int bad_ones(size_t count)
{
	int bad = 0;

	for (size_t i = 0; i < count; i++)
		bad += fibers[i].bad != 0;
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
	for (size_t i = 0; i < FIBERS; i++)
		fiber_make(&fibers[i], i, live);
	destroyed = 0;
	moves = fibers_run(fibers, FIBERS);
	CU_ASSERT_EQUAL(bad_ones(FIBERS), 0);
	CU_ASSERT_EQUAL(destroyed, FIBERS * KEYS);
	CU_ASSERT(moves > 0);
	for (size_t i = 0; i < FIBERS; i++)
		fiber_renew(&fibers[i], live);
	fibers_run(fibers, FIBERS);
	CU_ASSERT_EQUAL(bad_ones(FIBERS), 0);
	CU_ASSERT_EQUAL(destroyed, 2 * FIBERS * KEYS);
	for (size_t i = 0; i < FIBERS; i++)
		fiber_free(&fibers[i]);
	for (int i = 0; i < KEYS; i++)
		pthread_key_delete(keys[i]);
}

static void make_a_mess(struct fiber *self)
{
	int old;

	check_fresh(self);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	FIBER_CHECK(self, old == PTHREAD_CANCEL_ENABLE);
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	FIBER_CHECK(self, old == PTHREAD_CANCEL_DEFERRED);
	uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
	res_init();
	FIBER_CHECK(self, __res_state()->options != 0);
	initialized = errno = 1;
	memset(zeroed, 1, sizeof(zeroed));
}

static void reset_block_is_as_new(void)
{
	struct fiber f;

	if (!has_tls())
		return;
	fiber_make(&f, 1, make_a_mess);
	for (int i = 0; i < 3; i++) {
		run_one(&f);
		fiber_renew(&f, make_a_mess);
	}
	run_one(&f);
	CU_ASSERT_EQUAL(f.bad, 0);
	fiber_free(&f);
}

static void dirty_memory_makes_a_clean_block(void)
{
	size_t bytes = FIBER_STACK;
	struct fiber f = { .body = make_a_mess };

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
	fiber_renew(&f, make_a_mess);
	run_one(&f);
	CU_ASSERT_EQUAL(f.bad, 0);
	fiber_free(&f);
}

static void ids_are_unique_and_none_of_the_kernels(void)
{
	struct fiber a, b;

	if (!has_tls())
		return;
	fiber_make(&a, 1, make_a_mess);
	fiber_make(&b, 2, make_a_mess);
	CU_ASSERT(wefti_tls_tid(a.tls.tp) > 1 << 22);
	CU_ASSERT(wefti_tls_tid(b.tls.tp) > 1 << 22);
	CU_ASSERT_NOT_EQUAL(wefti_tls_tid(a.tls.tp), wefti_tls_tid(b.tls.tp));
	fiber_free(&a);
	fiber_free(&b);
}

static pthread_mutex_t recursive;
static int trylock_result;

static void hold_mutex(struct fiber *self)
{
	FIBER_CHECK(self, pthread_mutex_lock(&recursive) == 0);
	fiber_yield(self);
	FIBER_CHECK(self, pthread_mutex_lock(&recursive) == 0);
	FIBER_CHECK(self, pthread_mutex_unlock(&recursive) == 0);
	FIBER_CHECK(self, pthread_mutex_unlock(&recursive) == 0);
}

static void try_mutex(struct fiber *self)
{
	(void)self;
	trylock_result = pthread_mutex_trylock(&recursive);
}

static void recursive_mutex_knows_its_owner(void)
{
	pthread_mutexattr_t attr;
	struct fiber a, b;

	if (!has_tls())
		return;
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&recursive, &attr);
	fiber_make(&a, 1, hold_mutex);
	fiber_make(&b, 2, try_mutex);
	fiber_run(&a);
	run_one(&b);
	CU_ASSERT_EQUAL(trylock_result, EBUSY);
	CU_ASSERT_EQUAL(pthread_mutex_trylock(&recursive), EBUSY);
	run_one(&a);
	CU_ASSERT_EQUAL(a.bad, 0);
	CU_ASSERT_EQUAL(pthread_mutex_destroy(&recursive), 0);
	fiber_free(&a);
	fiber_free(&b);
}

/* A function of a module beside this program, or in libtool's folder there. */
static void *load(const char *module, const char *function)
{
	char self[PATH_MAX / 2], path[PATH_MAX], *folder;
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *between[] = { "", ".libs/", "../" };
	void *loaded = NULL;

	if (length < 0)
		return NULL;
	self[length] = '\0';
	folder = dirname(self);
	for (int i = 0; i < 3 && !loaded; i++) {
		snprintf(path, sizeof(path), "%s/%s%s", folder, between[i],
			 module);
		loaded = dlopen(path, RTLD_NOW);
	}
	return loaded ? dlsym(loaded, function) : NULL;
}

static int *(*static_address)(void);
static char *(*dynamic_address)(void);

static void use_module(struct fiber *self)
{
	fiber_yield(self);	/* main loads the module now */
	FIBER_CHECK(self, *static_address() == 777);
	FIBER_CHECK(self, strcmp(dynamic_address(), "dynamic") == 0);
	*static_address() = (int)self->id;
	memset(dynamic_address(), 'x', 2999);
	fiber_yield(self);
	FIBER_CHECK(self, *static_address() == (int)self->id);
	FIBER_CHECK(self, dynamic_address()[2998] == 'x');
}

static void use_module_again(struct fiber *self)
{
	FIBER_CHECK(self, *static_address() == 777);
	FIBER_CHECK(self, strcmp(dynamic_address(), "dynamic") == 0);
	fiber_yield(self);
}

static void library_loaded_later_has_its_variables(void)
{
	struct fiber f[4];

	if (!has_tls())
		return;
	for (uintptr_t i = 0; i < 4; i++) {
		fiber_make(&f[i], i, use_module);
		fiber_run(&f[i]);
	}
	static_address = (int *(*)(void))load("tls_static_module.so",
					      "weft_test_static_address");
	dynamic_address = (char *(*)(void))load("tls_dynamic_module.so",
						"weft_test_dynamic_address");
	CU_ASSERT_PTR_NOT_NULL_FATAL(static_address);
	CU_ASSERT_PTR_NOT_NULL_FATAL(dynamic_address);
	for (int i = 0; i < 4; i++)
		fiber_run(&f[i]);
	for (int i = 0; i < 4; i++) {
		run_one(&f[i]);
		fiber_renew(&f[i], use_module_again);
	}
	for (int i = 0; i < 4; i++)
		run_one(&f[i]);
	for (int i = 0; i < 4; i++) {
		CU_ASSERT_EQUAL(f[i].bad, 0);
		fiber_free(&f[i]);
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
static int live_in_child(struct fiber *self)
{
	void *p;

	wefti_tls_after_fork(self->tls.tp, self->carrier_tp);
	if (errno != 17)
		return 1;
	if (*(int *)wefti_tls_field(self->tls.tp,
				    wefti_tls_layout.pthread_tid) !=
	    wefti_tls_tid(self->tls.tp))
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
	wefti_tls_destroy(fibers[0].tls.tp);
	fiber_make(&fibers[1], 1, make_a_mess);
	run_one(&fibers[1]);
	fiber_free(&fibers[1]);
	return fibers[1].bad ? 6 : 0;
}

static void fork_inside(struct fiber *self)
{
	int status = -1;
	pid_t child;

	errno = 17;
	child = fork();
	if (child == 0)
		_exit(live_in_child(self));
	FIBER_CHECK(self, errno == 17);
	FIBER_CHECK(self, waitpid(child, &status, 0) == child);
	FIBER_CHECK(self, WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void fork_from_a_block_gives_a_working_child(void)
{
	struct fiber f;

	if (!has_tls())
		return;
	child_can_make_threads();
	fiber_make(&fibers[0], 0, fork_inside);	/* stays in the parent's list */
	fiber_make(&f, 1, fork_inside);
	run_one(&f);
	CU_ASSERT_EQUAL(f.bad, 0);
	fiber_free(&f);
	fiber_free(&fibers[0]);
}

static void *use_malloc_a_little(void)
{
	void *p = malloc(40);

	free(malloc(100));
	return p;
}

static void allocate(struct fiber *self)
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
	return mallinfo2().uordblks + mallinfo2().hblkhd;
}

/* In one arena, so that what is in use can be counted. */
static void reset_and_destroy_leak_nothing(void)
{
	size_t count = test_scaled(100000), before = 0;
	struct fiber f;

	if (!has_tls())
		return;
	mallopt(M_ARENA_MAX, 1);
	for (int i = 0; i < KEYS; i++)
		pthread_key_create(&keys[i], NULL);
	fiber_make(&f, 1, allocate);
	for (size_t i = 0; i < count; i++) {
		run_one(&f);
		if (i == 10)
			before = bytes_in_use();
		fiber_renew(&f, allocate);
	}
	CU_ASSERT(count <= 10 || bytes_in_use() <= before + 4096);
	fiber_free(&f);

	for (size_t i = 0; i < count / 10; i++) {
		fiber_make(&f, 1, allocate);
		run_one(&f);
		fiber_free(&f);
		if (i == 10)
			before = bytes_in_use();
	}
	CU_ASSERT(count <= 100 || bytes_in_use() <= before + 4096);
	for (int i = 0; i < KEYS; i++)
		pthread_key_delete(keys[i]);
}

static const struct test_case cases[] = {
	TEST(block_is_found_and_checked_once),
	TEST(a_thousand_live_on_two_kernel_threads),
	TEST(reset_block_is_as_new),
	TEST(dirty_memory_makes_a_clean_block),
	TEST(ids_are_unique_and_none_of_the_kernels),
	TEST(recursive_mutex_knows_its_owner),
	TEST(library_loaded_later_has_its_variables),
	TEST(fork_from_a_block_gives_a_working_child),
	TEST(reset_and_destroy_leak_nothing),
};

TEST_MAIN("os/tls", cases)

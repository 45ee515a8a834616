/* SPDX-License-Identifier: MIT */
/*
 * test_fault.c - memory, mappings and kernel threads run out at each point
 *
 * The linker puts our functions in front of those that can fail (--wrap); the
 * n-th call of any of them fails, for n from 1 until the operation needs no
 * more. Each try is a process of its own, since a part of the first start is
 * done once in a process.
 */
#include "threads.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "heap.h"
#include "lockfree/atomic.h"
#include "os/call/vm.h"
#include "os/kthread/kthread.h"

/* Calls to go until one fails; 0 and below: none does. */
static _Atomic int64_t to_go;
static _Atomic int hit;		/* one has failed */

static _Atomic int none_is_mapped;
static _Atomic long mappings;	/* that were asked for */

static int fails(void)
{
	if (fetch_sub_seq_cst(&to_go, 1) != 1)
		return 0;
	store_seq_cst(&hit, 1);
	return 1;
}

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_aligned_alloc(size_t align, size_t bytes);
void *__real_wefti_os_vm_reserve(size_t bytes);
int __real_wefti_os_kthread_create(struct wefti_os_kthread *k, size_t bytes,
				   void (*run)(void *), void *arg,
				   const char *name);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);
void *__wrap_wefti_os_vm_reserve(size_t bytes);
int __wrap_wefti_os_kthread_create(struct wefti_os_kthread *k, size_t bytes,
				   void (*run)(void *), void *arg,
				   const char *name);

void *__wrap_malloc(size_t bytes)
{
	return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
	return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_aligned_alloc(size_t align, size_t bytes)
{
	return fails() ? NULL : __real_aligned_alloc(align, bytes);
}

void *__wrap_wefti_os_vm_reserve(size_t bytes)
{
	fetch_add_seq_cst(&mappings, 1);
	return load_seq_cst(&none_is_mapped) || fails() ? NULL :
	       __real_wefti_os_vm_reserve(bytes);
}

int __wrap_wefti_os_kthread_create(struct wefti_os_kthread *k, size_t bytes,
				   void (*run)(void *), void *arg,
				   const char *name)
{
	return fails() ? -EAGAIN :
	       __real_wefti_os_kthread_create(k, bytes, run, arg, name);
}

static void fail_at(int64_t n)
{
	store_seq_cst(&to_go, n);
}

static void *give_back(void *arg)
{
	weft_yield();
	return arg;
}

static void use_runtime(void)
{
	uint64_t id[20];
	int x;

	for (unsigned i = 0; i < 20; i++)
		id[i] = spawn_with(i & WEFT_LIGHT, give_back, &x);
	for (int i = 0; i < 20; i++)
		must(join(id[i]) == &x);
	must(weft_sleep(1000) == 0);
}

static int is_clean(int error)
{
	return error == -ENOMEM || error == -EAGAIN;
}

static size_t heap_bytes(void)
{
	return heap_in_use();
}

static void failing_start(int64_t n)
{
	int error;

	fail_at(n);
	error = weft_start(NULL);
	fail_at(0);
	must(error == 0 || is_clean(error));
	if (error == 0) {
		use_runtime();
		must(weft_stop() == 0);
	}
	must(weft_vcpus() == 0);
	must(weft_start(NULL) == 0);
	use_runtime();
	must(weft_stop() == 0);
}

/* In a process in which the runtime ran before: nothing is made for good. */
static void failing_second_start(int64_t n)
{
	size_t before;
	int grown = 0;

	for (int i = 0; i < 10; i++) {
		must(weft_start(NULL) == 0);
		use_runtime();
		must(weft_stop() == 0);
	}
	/* libc's caches, one an arena, fill now and then; a leak always grows. */
	for (int window = 0; window < 12 && grown == window; window++) {
		before = heap_bytes();
		for (int i = 0; i < 15; i++) {
			fail_at(n);
			int error = weft_start(NULL);

			fail_at(0);
			must(error == 0 || is_clean(error));
			if (error == 0)
				must(weft_stop() == 0);
		}
		grown += heap_bytes() >= before + 15 * 16;
	}
	must(grown < 12);
}

static void failing_spawn(int64_t n)
{
	struct weft_attr attr = { .stack_bytes = 500000 };
	uint64_t id = 0;
	int x, error;

	must(weft_start(NULL) == 0);
	use_runtime();
	fail_at(n);
	error = weft_spawn(&id, &attr, give_back, &x);
	fail_at(0);
	must(error == 0 || (is_clean(error) && id == 0));
	use_runtime();
	if (error)
		must(weft_spawn(&id, &attr, give_back, &x) == 0);
	must(join(id) == &x);
	must(weft_stop() == 0);
}

/* Runs a try in a child; returns 1 if the n-th call was made, and failed. */
static int try_in_child(void (*fn)(int64_t n), int64_t n)
{
	int status = 0, fd[2], had = 0;
	pid_t child;

	CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fn(n);
		had = load_seq_cst(&hit);
		must(write(fd[1], &had, sizeof(had)) == sizeof(had));
		_exit(0);
	}
	close(fd[1]);
	CU_ASSERT_EQUAL_FATAL(waitpid(child, &status, 0), child);
	if (read(fd[0], &had, sizeof(had)) != sizeof(had))
		had = 0;
	close(fd[0]);
	CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	if (!WIFEXITED(status))
		printf("    status %x when the %lld. call fails\n",
		       (unsigned)status, (long long)n);
	return had;
}

static void at_each_call(void (*fn)(int64_t n))
{
	int64_t n = 1;

	while (try_in_child(fn, n))
		n++;
	printf("    %lld calls were made to fail\n", (long long)n - 1);
	CU_ASSERT_TRUE(n > 1);
}

static void a_first_start_that_fails_leaves_a_second_possible(void)
{
	at_each_call(failing_start);
}

static void a_later_start_that_fails_leaks_nothing(void)
{
	at_each_call(failing_second_start);
}

static void a_spawn_that_fails_changes_nothing(void)
{
	at_each_call(failing_spawn);
}

static void *stay(void *arg)
{
	(void)arg;
	return (void *)(intptr_t)weft_sleep_until(WEFT_FOREVER);
}

#define ROOM	(512L << 20)

/* Address space runs out under threads that are parked. */
static void run_out(int64_t unused)
{
	enum { MOST = 100000 };
	static uint64_t id[MOST];
	struct rlimit limit;
	size_t n = 0;
	long pages = 0;
	int error = 0;
	FILE *f;

	(void)unused;
#if defined(WEFT_ASAN)
	/* In a kernel thread that is made then ASan ends the process. */
	must(setenv("WEFT_SPARE_MAX", "0", 1) == 0 &&
	     setenv("WEFT_DUMP", "0", 1) == 0);
#endif
	must(weft_start(NULL) == 0);
	use_runtime();
	f = fopen("/proc/self/statm", "r");
	must(f && fscanf(f, "%ld", &pages) == 1);
	fclose(f);
	limit.rlim_cur = limit.rlim_max =
		(rlim_t)(pages * sysconf(_SC_PAGESIZE) + ROOM);
	must(setrlimit(RLIMIT_AS, &limit) == 0);
	while (n < MOST && !error) {
		struct weft_attr attr = { .stack_bytes = 1 << 20 };

		error = weft_spawn(&id[n], &attr, stay, NULL);
		n += error == 0;
	}
	must(is_clean(error));
	must(n > 100);
	use_runtime();
	for (size_t i = 0; i < n; i++)
		must(weft_cancel(id[i]) == 0);
	for (size_t i = 0; i < n; i++)
		must((intptr_t)join(id[i]) == -ECANCELED);
	use_runtime();
	must(weft_stop() == 0);
}

static void out_of_address_space_spawn_fails_and_the_rest_goes_on(void)
{
	CU_ASSERT_EQUAL(try_in_child(run_out, 0), 0);
}

#define MANY	2000		/* a ring that has grown twice */

static void *yield_thrice(void *arg)
{
	for (int i = 0; i < 3; i++)
		weft_yield();
	return arg;
}

/* The ring of ready threads cannot grow: the injection queue has what is too much. */
static void grow_ring(int64_t n)
{
	const struct weft_options alone = { .vcpus = 1 };
	static uint64_t id[MANY];
	int x;

	must(weft_start(&alone) == 0);
	for (int i = 0; i < MANY; i++)
		id[i] = spawn_with(WEFT_LIGHT, stay, NULL);
	fail_at(n);	/* a growing ring alone takes memory now */
	for (int i = 0; i < MANY; i++)
		must(weft_cancel(id[i]) == 0);
	fail_at(0);
	for (int i = 0; i < MANY; i++)
		must((intptr_t)join(id[i]) == -ECANCELED);
	for (int i = 0; i < MANY; i++)
		id[i] = spawn_with(WEFT_LIGHT, yield_thrice, &x);
	for (int i = 0; i < MANY; i++)
		must(join(id[i]) == &x);
	must(weft_stop() == 0);
}

static void a_ring_that_cannot_grow_loses_no_thread(void)
{
	at_each_call(grow_ring);
}

/* Refused ones alone; else all since then, as the ring may grow at any preemption. */
static long mappings_of_a_full_ring(int refused)
{
	static uint64_t id[MANY];
	long asked;

	for (int i = 0; i < MANY; i++)
		id[i] = spawn_with(WEFT_LIGHT, stay, NULL);
	weft_yield();
	if (refused)
		store_seq_cst(&mappings, 0L);
	store_seq_cst(&none_is_mapped, refused);
	for (int i = 0; i < MANY; i++)
		must(weft_cancel(id[i]) == 0);
	asked = xchg_seq_cst(&mappings, 0L);
	store_seq_cst(&none_is_mapped, 0);
	for (int i = 0; i < MANY; i++)
		must((intptr_t)join(id[i]) == -ECANCELED);
	return asked;
}

static void refuse_ring(int64_t unused)
{
	const struct weft_options alone = { .vcpus = 1 };
	long asked;

	(void)unused;
	must(weft_start(&alone) == 0);
	asked = mappings_of_a_full_ring(1);
	printf("    %ld mappings were asked for\n", asked);
	fflush(stdout);
	must(asked > 0 && asked < MANY / 10);
	must(mappings_of_a_full_ring(0) > 0);
	must(weft_stop() == 0);
}

static void a_ring_that_cannot_grow_asks_for_memory_seldom(void)
{
	CU_ASSERT_EQUAL(try_in_child(refuse_ring, 0), 0);
}

static void set_key(int64_t n)
{
	unsigned key;
	int x, error;

	must(weft_start(NULL) == 0);
	must(weft_key_create(&key, NULL) == 0);
	fail_at(n);
	error = weft_key_set(key, &x);
	fail_at(0);
	must(error == 0 || error == -ENOMEM);
	must(weft_key_get(key) == (error ? NULL : &x));
	must(weft_key_set(key, &x) == 0);
	must(weft_stop() == 0);
}

static void a_key_that_is_not_set_says_so(void)
{
	at_each_call(set_key);
}

/* At most one call of the try fails, and the same call once more does not. */
#define ONCE_MORE(call, wanted)						\
	do {								\
		int error_ = (call);					\
									\
		if (error_ == -ENOMEM)					\
			error_ = (call);				\
		must(error_ == (wanted));				\
	} while (0)

#define DESCRIPTORS	6	/* more than an alt keeps on its stack */

/* A channel's whole life: made, used, waited in, also beside descriptors. */
static void use_channel(size_t capacity, unsigned flags, int fd)
{
	struct weft_chan *c = NULL;
	struct weft_alt a[DESCRIPTORS + 1] = { { .op = WEFT_ALT_RECV } };
	long x = 1, y = 0;

	ONCE_MORE(weft_chan_create(&c, sizeof(long), capacity, flags), 0);
	ONCE_MORE(weft_chan_send(c, &x, 1), capacity ? 0 : -ETIMEDOUT);
	ONCE_MORE(weft_chan_recv(c, &y, 1), capacity ? 0 : -ETIMEDOUT);
	must(y == (capacity ? 1 : 0));
	ONCE_MORE(weft_chan_recv(c, &y, 1), -ETIMEDOUT);
	a[0].chan = c;
	a[0].elem = &y;
	for (int i = 1; i <= DESCRIPTORS; i++)
		a[i] = (struct weft_alt){
			.op = WEFT_ALT_READY,
			.u.ready = { .fd = fd, .events = POLLIN },
		};
	ONCE_MORE(weft_alt(a, 1, 1), -ETIMEDOUT);
	ONCE_MORE(weft_alt(a, DESCRIPTORS + 1, 1), -ETIMEDOUT);
	ONCE_MORE(weft_chan_close(c), 0);
	must(weft_chan_recv(c, &y, WEFT_FOREVER) == -EPIPE);
	must(weft_chan_destroy(c) == 0);
}

static void failing_channels(int64_t n)
{
	int fd[2];

	must(weft_start(NULL) == 0);
	use_runtime();
	must(weft_pipe(fd, 0) == 0);
	fail_at(n);
	use_channel(0, 0, fd[0]);
	use_channel(4, 0, fd[0]);
	use_channel(4, WEFT_CHAN_ONE_TO_ONE, fd[0]);
	fail_at(0);
	must(weft_close(fd[0]) == 0 && weft_close(fd[1]) == 0);
	must(weft_stop() == 0);
}

static void channels_and_alts_that_fail_change_nothing(void)
{
	at_each_call(failing_channels);
}

static const struct test_case cases[] = {
	TEST(a_first_start_that_fails_leaves_a_second_possible),
	TEST(a_later_start_that_fails_leaks_nothing),
	TEST(a_spawn_that_fails_changes_nothing),
	TEST(out_of_address_space_spawn_fails_and_the_rest_goes_on),
	TEST(a_ring_that_cannot_grow_loses_no_thread),
	TEST(a_ring_that_cannot_grow_asks_for_memory_seldom),
	TEST(a_key_that_is_not_set_says_so),
	TEST(channels_and_alts_that_fail_change_nothing),
};

TEST_MAIN("fault", cases)

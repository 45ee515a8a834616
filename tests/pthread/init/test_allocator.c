/* SPDX-License-Identifier: MIT */
/*
 * test_allocator.c - with a malloc() that is not libc's, all is as with libc's threads
 *
 * Each case for each allocator that there is a package of. One that is not installed
 * is told of by the loader, and its cases are run with libc's.
 */
#include "compare.h"
#include "tasks.h"

#include <dlfcn.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/wait.h>

#define THREADS		4
#define SLOTS		64
#define LARGE		((size_t)4 << 20)

static atomic_int goes_on;

static int is_libcs_malloc(void)
{
	Dl_info a, b;

	return dladdr(dlsym(RTLD_DEFAULT, "malloc"), &a) &&
	       dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &b) &&
	       a.dli_fbase == b.dli_fbase;
}

static long resident_kib(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long pages = 0;

	if (!f || fscanf(f, "%*s %ld", &pages) != 1)
		abort();
	fclose(f);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* --- blocks -------------------------------------------------------- */

struct block {
	size_t bytes;
	unsigned char filled[];
};

static struct block *_Atomic slots[SLOTS];

static unsigned next_random(unsigned *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	return *seed >> 12;
}

/* Most small, some of pages, few that the allocator maps. */
static struct block *make_block(unsigned *seed)
{
	unsigned r = next_random(seed);
	size_t bytes = r % 512 == 0 ? LARGE : r % 16 == 0 ? 20000 + r % 9999 :
							    8 + r % 500;
	struct block *b = malloc(sizeof(*b) + bytes);

	if (!b)
		abort();
	b->bytes = bytes;
	memset(b->filled, (int)(bytes % 251), bytes < 256 ? bytes : 256);
	b->filled[bytes - 1] = (unsigned char)(bytes % 251);
	return b;
}

/* Returns 1 if somebody has written to it. */
static long free_block(struct block *b)
{
	long wrong = 0;

	if (!b)
		return 0;
	for (size_t i = 0; i < b->bytes && i < 256; i++)
		wrong += b->filled[i] != b->bytes % 251;
	wrong += b->filled[b->bytes - 1] != b->bytes % 251;
	free(b);
	return wrong != 0;
}

static void *pass_blocks_on(void *arg)
{
	unsigned seed = (unsigned)(long)arg;
	long wrong = 0;

	for (long i = 0; i < scaled(20000); i++)
		wrong += free_block(atomic_exchange(
			&slots[next_random(&seed) % SLOTS], make_block(&seed)));
	return (void *)wrong;
}

static long free_slots(void)
{
	long wrong = 0;

	for (int i = 0; i < SLOTS; i++)
		wrong += free_block(atomic_exchange(&slots[i], NULL));
	return wrong;
}

static void threads_free_each_others_blocks(void)
{
	pthread_t threads[THREADS];
	long wrong = 0;

	setenv("WEFT_SLICE", "200us", 1);
	for (long i = 0; i < THREADS; i++)
		threads[i] = start(pass_blocks_on, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++)
		wrong += (long)finish(threads[i]);
	printf("wrong: %ld\n", wrong + free_slots());
}

/* --- threads ------------------------------------------------------- */

static void *keep_something(void *arg)
{
	unsigned seed = (unsigned)(long)arg;
	void *blocks[400];

	for (int i = 0; i < 400; i++) {
		blocks[i] = malloc(16 + next_random(&seed) % 2000);
		if (!blocks[i])
			abort();
		*(char *)blocks[i] = 1;
	}
	for (int i = 0; i < 400; i++)
		free(blocks[i]);
	return NULL;
}

static void have_threads_come_and_go(long n)
{
	for (long i = 0; i < n; i++) {
		pthread_t a = start(keep_something, (void *)i);
		pthread_t b = start(keep_something, (void *)(i + n));

		finish(a);
		finish(b);
	}
}

/* What it keeps for a thread would be 400 KiB of each. */
static void a_thread_gives_back_what_is_kept_for_it(void)
{
	long before;

	have_threads_come_and_go(50);
	before = resident_kib();
	have_threads_come_and_go(scaled(250));
	printf("grows: %d\n", resident_kib() > before + 30000);
}

static void *pass_on_till_the_end(void *arg)
{
	unsigned seed = (unsigned)(long)arg;
	long wrong = 0;

	while (goes_on)
		wrong += free_block(atomic_exchange(
			&slots[next_random(&seed) % SLOTS], make_block(&seed)));
	return (void *)wrong;
}

static void begin_to_pass_on(pthread_t *threads)
{
	setenv("WEFT_SLICE", "500us", 1);
	goes_on = 1;
	for (long i = 0; i < THREADS; i++)
		threads[i] = start(pass_on_till_the_end, (void *)(i + 1));
}

static long end_to_pass_on(const pthread_t *threads)
{
	long wrong = 0;

	goes_on = 0;
	for (int i = 0; i < THREADS; i++)
		wrong += (long)finish(threads[i]);
	return wrong + free_slots();
}

static void threads_are_made_while_all_allocate(void)
{
	pthread_t threads[THREADS];

	begin_to_pass_on(threads);
	have_threads_come_and_go(scaled(50));
	printf("wrong: %ld\n", end_to_pass_on(threads));
}

/* --- fork ---------------------------------------------------------- */

static int be_child(void)
{
	pthread_t thread;
	long wrong = free_slots();

	goes_on = 0;
	thread = start(pass_on_till_the_end, (void *)1L);
	for (long i = 0; i < 100; i++)
		keep_something((void *)i);
	return wrong + (long)finish(thread) != 0;
}

static void a_child_of_a_fork_allocates(void)
{
	pthread_t threads[THREADS];
	long wrong = 0;

	begin_to_pass_on(threads);
	for (long i = 0; i < scaled(15); i++) {
		int status = -1;
		pid_t child = fork();

		if (child == 0)
			_exit(be_child());
		if (child < 0 || waitpid(child, &status, 0) != child)
			abort();
		wrong += status != 0;
	}
	printf("wrong: %ld, %ld\n", wrong, end_to_pass_on(threads));
}

/* --- signals ------------------------------------------------------- */

static atomic_int handled;

static void note(int sig)
{
	(void)sig;
	handled++;
}

static void an_allocating_thread_is_interrupted(void)
{
	pthread_t threads[THREADS];
	long signals = scaled(50);

	signal(SIGUSR1, note);
	begin_to_pass_on(threads);
	for (long i = 0; i < signals; i++) {
		int before = handled;

		if (pthread_kill(threads[i % THREADS], SIGUSR1) != 0)
			abort();
		while (handled == before)
			sched_yield();
	}
	printf("wrong: %ld, handled %d\n", end_to_pass_on(threads),
	       handled == signals);
}

/* --- kernel threads ------------------------------------------------ */

#define BLOCKED		50

static sem_t sem;
static int ends[2];

static void *block(void *arg)
{
	char c;

	keep_something(arg);
	if ((long)arg % 2)
		sem_wait(&sem);
	else
		(void)!read(ends[0], &c, 1);
	keep_something(arg);
	return NULL;
}

static void begin_to_block(pthread_t *threads)
{
	sem_init(&sem, 0, 0);
	if (pipe(ends) != 0)
		abort();
	for (long i = 0; i < BLOCKED; i++)
		threads[i] = start(block, (void *)i);
	usleep(50000);
}

static void end_to_block(const pthread_t *threads)
{
	for (int i = 0; i < BLOCKED / 2; i++) {
		sem_post(&sem);
		if (write(ends[1], "", 1) != 1)
			abort();
	}
	for (int i = 0; i < BLOCKED; i++)
		finish(threads[i]);
}

static void a_waiting_thread_needs_no_kernel_thread(void)
{
	const char *vcpus = getenv("WEFT_VCPUS");
	int few = 4 + (vcpus ? atoi(vcpus) : (int)sysconf(_SC_NPROCESSORS_ONLN));
	pthread_t threads[BLOCKED];

	begin_to_block(threads);
	/*
	 * A thread that waited in the kernel, for a lock of malloc's, had a
	 * spare: that ends.
	 */
	while (count_tasks(NULL) > few)
		usleep(1000);
	printf("few: 1\n");
	end_to_block(threads);
}

static void threads_are_libcs_where_that_is_asked_for(void)
{
	pthread_t threads[BLOCKED];
	int tasks;

	setenv("WEFT_MALLOC", "libc", 1);
	begin_to_block(threads);
	tasks = count_tasks(NULL);
	end_to_block(threads);
	printf("one each: %d\n", is_libcs_malloc() || tasks > BLOCKED);
}

/* --- what jemalloc has besides -------------------------------------- */

typedef int mallctl_fn(const char *name, void *old, size_t *old_bytes,
		       void *new, size_t new_bytes);

static void control(const char *name, void *old, size_t old_bytes, void *new,
		    size_t new_bytes)
{
	mallctl_fn *fn = (mallctl_fn *)dlsym(RTLD_DEFAULT, "mallctl");

	if (fn && fn(name, old, &old_bytes, new, new_bytes) != 0)
		abort();
}

static void set(const char *name, void *value, size_t bytes)
{
	control(name, NULL, 0, value, bytes);
}

/* How often one of its threads has looked for something to give back. */
static uint64_t background_runs(void)
{
	uint64_t epoch = 1, runs = 0;

	set("epoch", &epoch, sizeof(epoch));
	control("stats.background_thread.num_runs", &runs, sizeof(runs), NULL,
		0);
	return runs;
}

/* Not before the program's first thread: else its threads stay libc's. */
static void set_background(int is_on)
{
	_Bool value = is_on != 0;
	ssize_t decay_ms = 100;

	set("arenas.dirty_decay_ms", &decay_ms, sizeof(decay_ms));
	set("background_thread", &value, sizeof(value));
}

static void *free_much(void *unused)
{
	enum { COUNT = 4000, BYTES = 5000 };
	static void *blocks[COUNT];

	for (int i = 0; i < COUNT; i++) {
		blocks[i] = malloc(BYTES);
		if (!blocks[i])
			abort();
		memset(blocks[i], 1, BYTES);
	}
	for (int i = 0; i < COUNT; i++)
		free(blocks[i]);
	return unused;
}

/* Its threads sleep for good when there is nothing to give back. */
static void a_background_thread_is_woken_and_ended(void)
{
	finish(start(keep_something, NULL));
	for (long i = 0; i < scaled(3); i++) {
		uint64_t before;

		set_background(1);
		before = background_runs();
		do {
			finish(start(free_much, NULL));
			usleep(20000);
		} while (!is_libcs_malloc() && background_runs() < before + 2);
		set_background(0);	/* joins them */
	}
	printf("woken and ended\n");
}

static void a_waiting_background_thread_needs_none(void)
{
	finish(start(free_much, NULL));
	set_background(1);
	finish(start(free_much, NULL));
	a_waiting_thread_needs_no_kernel_thread();
}

static void a_child_of_a_fork_allocates_as_well(void)
{
	finish(start(keep_something, NULL));
	set_background(1);
	finish(start(free_much, NULL));
	a_child_of_a_fork_allocates();
}

/* Before main, and before our library's constructor. */
static void its_thread_may_be_made_by_the_first_malloc(void)
{
	static const char conf[] = "background_thread:true,dirty_decay_ms:100";

	if (!getenv("MALLOC_CONF") && !getenv("WEFT_TEST_QEMU")) {
		setenv("MALLOC_CONF", conf, 1);
		execl("/proc/self/exe", "compare",
		      "jemalloc_its_thread_may_be_made_by_the_first_malloc",
		      (char *)NULL);
		abort();
	}
	for (int i = 0; i < 5; i++) {
		finish(start(free_much, NULL));
		threads_free_each_others_blocks();
	}
	set_background(0);
	threads_free_each_others_blocks();
}

static void its_thread_may_be_the_first(void)
{
	set_background(1);
	threads_free_each_others_blocks();
	set_background(0);
	threads_free_each_others_blocks();
}

#define WITH(library, name, function, expected) \
	{ name "_" #function, function, expected, library, 0 }
#define CASES(library, name) \
	WITH(library, name, threads_free_each_others_blocks, NULL), \
	WITH(library, name, a_thread_gives_back_what_is_kept_for_it, NULL), \
	WITH(library, name, threads_are_made_while_all_allocate, NULL), \
	WITH(library, name, a_child_of_a_fork_allocates, NULL), \
	WITH(library, name, an_allocating_thread_is_interrupted, NULL), \
	WITH(library, name, a_waiting_thread_needs_no_kernel_thread, "few: 1\n"), \
	WITH(library, name, \
	     threads_are_libcs_where_that_is_asked_for, "one each: 1\n")
#define JEMALLOC	"libjemalloc.so.2"

static const struct compare_case cases[] = {
	CASES(JEMALLOC, "jemalloc"),
	CASES("libtcmalloc_minimal.so.4", "tcmalloc"),
	CASES("libmimalloc.so.2.0", "mimalloc"),
	WITH(JEMALLOC, "jemalloc", a_background_thread_is_woken_and_ended,
	     NULL),
	WITH(JEMALLOC, "jemalloc", a_waiting_background_thread_needs_none,
	     "few: 1\n"),
	WITH(JEMALLOC, "jemalloc", a_child_of_a_fork_allocates_as_well, NULL),
	WITH(JEMALLOC, "jemalloc", its_thread_may_be_the_first, NULL),
	WITH(JEMALLOC, "jemalloc", its_thread_may_be_made_by_the_first_malloc,
	     NULL),
};

COMPARE_MAIN(cases)

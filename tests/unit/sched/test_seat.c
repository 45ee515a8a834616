/* SPDX-License-Identifier: MIT */
/* test_seat.c - sched/seat: a VCPU is taken from a thread that is blocked */
#include "threads.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "lockfree/atomic.h"

static const struct weft_options one = { .vcpus = 1 };

/* And nobody is preempted, which would let others run as well. */
static const struct weft_options unstopped = { .vcpus = 1, .slice_ns = -1 };

/* Nor here, before the watchdog. */
static const struct weft_options patient = {
	.vcpus = 1, .slice_ns = INT64_C(3600000000000),
};

static uint64_t compensations(void)
{
	return load_relaxed(&wefti_rt.compensations);
}

struct reader {
	int fd;
	char got;
};

/* A call that weft does not know of. */
static void *read_one(void *arg)
{
	struct reader *r = arg;

	must(read(r->fd, &r->got, 1) == 1);
	weft_yield();
	return arg;
}

static void block_the_only_vcpu(const struct weft_options *options)
{
	for (unsigned flags = 0; flags <= WEFT_LIGHT; flags++) {
		struct reader r = { .got = 0 };
		int end[2];
		uint64_t id;

		CU_ASSERT_EQUAL_FATAL(pipe(end), 0);
		r.fd = end[0];
		CU_ASSERT_EQUAL_FATAL(weft_start(options), 0);
		id = spawn_with(flags, read_one, &r);
		/* It blocks, here or before; then main goes on only without it. */
		while (compensations() == 0)
			rest();
		CU_ASSERT_EQUAL(write(end[1], "w", 1), 1);
		CU_ASSERT_PTR_EQUAL(join(id), &r);
		CU_ASSERT_EQUAL(r.got, 'w');
		runtime_end();
		close(end[0]);
		close(end[1]);
	}
}

static void a_blocked_read_does_not_stop_the_only_vcpu(void)
{
	block_the_only_vcpu(&unstopped);
}

static void a_blocked_read_does_not_wait_for_the_end_of_a_slice(void)
{
	block_the_only_vcpu(&patient);
}

static void all_vcpus_block_and_the_rest_still_runs(void)
{
	struct reader r[12];
	uint64_t id[12];
	int end[2];

	CU_ASSERT_EQUAL_FATAL(pipe(end), 0);
	runtime_begin();
	unsigned count = weft_vcpus() + 3;

	for (unsigned i = 0; i < count; i++) {
		r[i] = (struct reader){ .fd = end[0] };
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, read_one, &r[i]);
	}
	CU_ASSERT_EQUAL(weft_sleep(1000000), 0);
	for (unsigned i = 0; i < count; i++)
		CU_ASSERT_EQUAL(write(end[1], "x", 1), 1);
	for (unsigned i = 0; i < count; i++)
		join(id[i]);
	runtime_end();
	close(end[0]);
	close(end[1]);
}

struct printer {
	FILE *file;
	_Atomic int begun;
};

static void *print_locked(void *arg)
{
	struct printer *p = arg;

	flockfile(p->file);
	store_release(&p->begun, 1);
	for (int i = 0; i < 3; i++)
		weft_yield();	/* to one that wants the lock */
	fprintf(p->file, "a");
	funlockfile(p->file);
	return NULL;
}

static void *print(void *arg)
{
	struct printer *p = arg;

	while (!load_acquire(&p->begun))
		weft_yield();
	fprintf(p->file, "b");
	return NULL;
}

/* One yields with libc's lock, the other blocks on it with the only VCPU. */
static void a_lock_of_libc_held_over_a_yield_is_no_deadlock(void)
{
	struct printer p = { .begun = 0 };
	uint64_t id[2];

	if (!own_tls_at_start())
		return;	/* threads that share TLS own each other's locks */
	p.file = tmpfile();
	CU_ASSERT_PTR_NOT_NULL_FATAL(p.file);
	CU_ASSERT_EQUAL_FATAL(weft_start(&one), 0);
	id[1] = spawn(print, &p);
	id[0] = spawn(print_locked, &p);
	join(id[0]);
	join(id[1]);
	CU_ASSERT_EQUAL(ftell(p.file), 2);
	runtime_end();
	fclose(p.file);
}

struct held {
	pthread_mutex_t mutex;
	_Atomic int begun;
};

static void *hold(void *arg)
{
	struct held *h = arg;

	must(pthread_mutex_lock(&h->mutex) == 0);
	store_release(&h->begun, 1);
	must(weft_sleep(2000000) == 0);
	must(pthread_mutex_unlock(&h->mutex) == 0);
	return NULL;
}

static void *want(void *arg)
{
	struct held *h = arg;

	while (!load_acquire(&h->begun))
		weft_yield();
	must(pthread_mutex_lock(&h->mutex) == 0);
	must(pthread_mutex_unlock(&h->mutex) == 0);
	return NULL;
}

static void a_pthread_mutex_held_over_a_sleep_is_no_deadlock(void)
{
	struct held h = { PTHREAD_MUTEX_INITIALIZER, 0 };
	uint64_t id[4];

	CU_ASSERT_EQUAL_FATAL(weft_start(&one), 0);
	id[0] = spawn(hold, &h);
	for (int i = 1; i < 4; i++)
		id[i] = spawn(want, &h);
	for (int i = 0; i < 4; i++)
		join(id[i]);
	runtime_end();
}

struct locker {
	char path[32];
	int fd;
};

static void *lock_file(void *arg)
{
	struct locker *l = arg;
	int fd = open(l->path, O_RDWR);

	must(fd >= 0 && flock(fd, LOCK_EX) == 0);
	must(close(fd) == 0);
	return NULL;
}

static void a_file_lock_blocks_its_thread_alone(void)
{
	struct locker l = { .path = "/tmp/weft-seat-XXXXXX" };
	uint64_t id;

	l.fd = mkstemp(l.path);
	CU_ASSERT_FATAL(l.fd >= 0 && flock(l.fd, LOCK_EX) == 0);
	CU_ASSERT_EQUAL_FATAL(weft_start(&one), 0);
	id = spawn(lock_file, &l);
	CU_ASSERT_EQUAL(flock(l.fd, LOCK_UN), 0);
	join(id);
	runtime_end();
	close(l.fd);
	unlink(l.path);
}

static void *read_announced(void *arg)
{
	struct reader *r = arg;

	weft_block_begin();
	weft_block_begin();
	must(read(r->fd, &r->got, 1) == 1);
	weft_block_end();
	weft_block_end();
	weft_yield();	/* it has a VCPU again */
	return arg;
}

static void an_announced_region_gives_its_vcpu_away(void)
{
	struct reader r = { .got = 0 };
	int end[2];
	uint64_t id;

	CU_ASSERT_EQUAL_FATAL(pipe(end), 0);
	r.fd = end[0];
	CU_ASSERT_EQUAL_FATAL(weft_start(&unstopped), 0);
	for (int i = 0; i < 20; i++) {
		uint64_t before = compensations();

		id = spawn_with((unsigned)i & WEFT_LIGHT, read_announced, &r);
		CU_ASSERT_TRUE(compensations() > before);
		CU_ASSERT_EQUAL(write(end[1], "y", 1), 1);
		CU_ASSERT_PTR_EQUAL(join(id), &r);
	}
	runtime_end();
	close(end[0]);
	close(end[1]);
}

#define SPARE_MAX	2
#define READERS		6

struct rescue {
	int report;	/* standard error comes out here */
	int feed;
	char line[256];
};

static _Atomic int told;

static void *compute_announced(void *unused)
{
	weft_block_begin();
	spin_until(&told);
	weft_block_end();
	weft_yield();
	return unused;
}

/* Its kernel thread does not sleep, and others wait for the only VCPU. */
static void a_thread_that_computes_in_a_region_loses_its_vcpu_too(void)
{
	CU_ASSERT_EQUAL_FATAL(weft_start(&unstopped), 0);
	for (int i = 0; i < 4; i++) {
		uint64_t before = compensations(), id;

		store_relaxed(&told, 0);
		id = spawn_with((unsigned)i & WEFT_LIGHT, compute_announced,
				NULL);
		CU_ASSERT_TRUE(compensations() > before);
		store_relaxed(&told, 1);
		join(id);
	}
	runtime_end();
}

/* A kernel thread of its own waits for the report, then feeds the readers. */
static void *rescue(void *arg)
{
	struct rescue *r = arg;
	ssize_t n = read(r->report, r->line, sizeof(r->line) - 1);

	r->line[n > 0 ? n : 0] = 0;
	for (int i = 0; i < READERS; i++)
		must(write(r->feed, "z", 1) == 1);
	return NULL;
}

/*
 * If the spare kernel threads run out, the program is told so; then nothing is
 * lost.
 */
static void the_limit_of_spares_is_reported_and_kept(void)
{
	struct rescue help = { .line = "" };
	struct reader r[READERS];
	uint64_t id[READERS];
	int end[2], report[2], saved = dup(STDERR_FILENO);
	pthread_t thread;

	CU_ASSERT_EQUAL_FATAL(pipe(end), 0);
	CU_ASSERT_EQUAL_FATAL(pipe(report), 0);
	help.report = report[0];
	help.feed = end[1];
	dup2(report[1], STDERR_FILENO);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, rescue, &help), 0);
	setenv("WEFT_SPARE_MAX", "2", 1);
	CU_ASSERT_EQUAL_FATAL(weft_start(&one), 0);
	for (int i = 0; i < READERS; i++) {
		r[i] = (struct reader){ .fd = end[0] };
		id[i] = spawn(read_one, &r[i]);
		CU_ASSERT_TRUE(load_relaxed(&wefti_rt.kthread_count) <=
			       1 + SPARE_MAX);
	}
	for (int i = 0; i < READERS; i++)
		join(id[i]);
	runtime_end();
	unsetenv("WEFT_SPARE_MAX");
	dup2(saved, STDERR_FILENO);
	pthread_join(thread, NULL);
	CU_ASSERT_PTR_NOT_NULL(strstr(help.line, "WEFT_SPARE_MAX"));
	for (int i = 0; i < 2; i++) {
		close(end[i]);
		close(report[i]);
	}
	close(saved);
}

static _Atomic int says_lock;
static _Atomic unsigned asked;

int __real_wefti_os_kthread_wants_lock(int tid);
int __wrap_wefti_os_kthread_wants_lock(int tid);

int __wrap_wefti_os_kthread_wants_lock(int tid)
{
	if (!load_seq_cst(&says_lock))
		return __real_wefti_os_kthread_wants_lock(tid);
	fetch_add_seq_cst(&asked, 1);
	return 1;
}

/* Unless the monitor was late: then it is taken at once, and all is done again. */
static void a_wait_for_a_kernel_lock_keeps_it_for_a_while(void)
{
	store_seq_cst(&says_lock, 1);
	store_seq_cst(&asked, 0);
	while (load_seq_cst(&asked) == 0)
		block_the_only_vcpu(&one);
	store_seq_cst(&says_lock, 0);
}

static const struct test_case cases[] = {
	TEST(a_blocked_read_does_not_stop_the_only_vcpu),
	TEST(a_blocked_read_does_not_wait_for_the_end_of_a_slice),
	TEST(a_wait_for_a_kernel_lock_keeps_it_for_a_while),
	TEST(all_vcpus_block_and_the_rest_still_runs),
	TEST(a_lock_of_libc_held_over_a_yield_is_no_deadlock),
	TEST(a_pthread_mutex_held_over_a_sleep_is_no_deadlock),
	TEST(a_file_lock_blocks_its_thread_alone),
	TEST(an_announced_region_gives_its_vcpu_away),
	TEST(a_thread_that_computes_in_a_region_loses_its_vcpu_too),
	TEST(the_limit_of_spares_is_reported_and_kept),
};

TEST_MAIN("sched/seat", cases)

/* SPDX-License-Identifier: MIT */
/* test_disk.c - many threads that wait for a disk: for a sync, past memory, cold */
#include "compare.h"
#include "tasks.h"

#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define THREADS		32
#define PAGE		4096
#define PAGES		16	/* of each thread */
#define FEW		10	/* beside those that carry VCPUs */

/* A file of pages that are there: what is written is no larger. */
static int temporary(int flags)
{
	char name[] = "/tmp/weft-disk-XXXXXX", page[PAGE];
	int fd = mkostemp(name, flags);

	if (fd < 0 && (flags & O_DIRECT)) {	/* the file system has none */
		memset(strchr(name, '\0') - 6, 'X', 6);
		fd = mkostemp(name, flags & ~O_DIRECT);
	}
	if (fd < 0 || unlink(name) != 0)
		abort();
	fcntl(fd, F_SETFL, flags & ~O_DIRECT);
	memset(page, 1, sizeof(page));
	for (int i = 0; i < THREADS * PAGES; i++)
		if (pwrite(fd, page, PAGE, (off_t)i * PAGE) != PAGE)
			abort();
	if (fsync(fd) != 0)
		abort();
	fcntl(fd, F_SETFL, flags);
	return fd;
}

static int fd;

static void run_many(void *(*fn)(void *))
{
	pthread_t t[THREADS];
	long wrong = 0;

	for (long i = 0; i < THREADS; i++)
		t[i] = start(fn, (void *)i);
	for (int i = 0; i < THREADS; i++)
		wrong += (long)finish(t[i]);
	printf("wrong: %ld\n", wrong);
}

/* --- past memory --------------------------------------------------- */

static long round_trip(unsigned char *a, unsigned char *b, off_t at, int n)
{
	struct iovec two[2] = { { b, PAGE / 2 }, { b + PAGE / 2, PAGE / 2 } };
	long wrong = 0;

	memset(a, n, PAGE);
	wrong += (n % 2 ? pwrite(fd, a, PAGE, at) :
			  pwritev(fd, &(struct iovec){ a, PAGE }, 1, at)) != PAGE;
	memset(b, 0, PAGE);
	wrong += (n % 3 ? pread(fd, b, PAGE, at) : preadv(fd, two, 2, at)) !=
		 PAGE;
	return wrong + (memcmp(a, b, PAGE) != 0);
}

static void *move_past_memory(void *arg)
{
	unsigned char *a = aligned_alloc(PAGE, PAGE);
	unsigned char *b = aligned_alloc(PAGE, PAGE);
	long rounds = scaled(4), wrong = 0;
	off_t from = (long)arg * PAGES * PAGE;

	if (!a || !b)
		abort();
	for (long i = 0; i < rounds * PAGES; i++)
		wrong += round_trip(a, b, from + i % PAGES * PAGE, (int)i % 99);
	/* At the end of the file, and beyond. */
	wrong += pread(fd, b, PAGE, (off_t)THREADS * PAGES * PAGE) != 0;
	wrong += lseek(fd, 0, SEEK_CUR) != 0;
	free(a);
	free(b);
	return (void *)wrong;
}

static void what_goes_past_memory_comes_back(void)
{
	const int flags[] = { O_DIRECT, O_DIRECT | O_DSYNC, O_DSYNC, 0 };

	for (int i = 0; i < 4; i++) {
		fd = temporary(flags[i]);
		run_many(move_past_memory);
		close(fd);
	}
}

static void *read_on(void *arg)
{
	unsigned char *page = aligned_alloc(PAGE, PAGE);
	long bytes = 0;

	if (!page)
		abort();
	for (ssize_t n = 1; n > 0; bytes += n)
		n = read(fd, page, PAGE);
	free(page);
	(void)arg;
	return (void *)bytes;
}

static void where_the_file_is_goes_on(void)
{
	fd = temporary(O_DIRECT);
	lseek(fd, 0, SEEK_SET);
	run_many(read_on);	/* in all as many bytes as there are */
	show_errno("where", lseek(fd, 0, SEEK_CUR));
	close(fd);
}

static void *make_mistakes(void *arg)
{
	char *page = aligned_alloc(PAGE, 2 * PAGE);
	void *volatile nowhere = NULL;
	long wrong = 0;
	int ends[2];

	if (!page || pipe(ends) != 0)
		abort();
	for (long i = 0; i < scaled(50); i++) {
		wrong += fsync(-1) != -1 || errno != EBADF;
		wrong += fdatasync(ends[0]) != -1 || errno != EINVAL;
		wrong += pread(-1, page, PAGE, 0) != -1 || errno != EBADF;
		wrong += pread(fd, nowhere, PAGE, 0) != -1 || errno != EFAULT;
		wrong += pwrite(fd, nowhere, PAGE, 0) != -1 || errno != EFAULT;
		wrong += fsync(fd) != 0;
	}
	close(ends[0]);
	close(ends[1]);
	free(page);
	(void)arg;
	return (void *)wrong;
}

static void errors_are_the_kernels(void)
{
	fd = temporary(O_DIRECT);
	run_many(make_mistakes);
	close(fd);
}

/* --- syncs --------------------------------------------------------- */

static void *write_and_sync(void *arg)
{
	long n = (long)arg, wrong = 0;
	char byte = (char)n;

	for (long i = 0; i < scaled(30); i++) {
		wrong += pwrite(fd, &byte, 1, n * PAGES * PAGE + i) != 1;
		wrong += (i % 2 ? fsync(fd) : fdatasync(fd)) != 0;
	}
	return (void *)wrong;
}

static void many_sync_at_once(void)
{
	fd = temporary(0);
	run_many(write_and_sync);
	close(fd);
}

static _Atomic long handled;
static _Atomic int goes_on;

static void count(int signal)
{
	(void)signal;
	handled++;
}

static void *sync_on(void *arg)
{
	long wrong = 0;

	while (goes_on)
		wrong += fdatasync(fd) != 0;
	(void)arg;
	return (void *)wrong;
}

/* Eight run fn, and each gets signals. Returns what was wrong. */
static long signal_often(void (*handler)(int), void *(*fn)(void *))
{
	struct sigaction action = { .sa_handler = handler };
	pthread_t t[8];
	long wrong = 0;

	sigaction(SIGUSR1, &action, NULL);
	goes_on = 1;
	for (long i = 0; i < 8; i++)
		t[i] = start(fn, (void *)i);
	for (long n = 0; n < scaled(25); n++)
		for (int i = 0; i < 8; i++) {
			long before = handled;

			pthread_kill(t[i], SIGUSR1);
			while (handled == before)
				sched_yield();
		}
	goes_on = 0;
	for (int i = 0; i < 8; i++)
		wrong += (long)finish(t[i]);
	return wrong;
}

/* None of the calls says EINTR. */
static void handlers_run_beside_syncs(void)
{
	long wrong;

	fd = temporary(0);
	wrong = signal_often(count, sync_on);
	printf("wrong: %ld, handled: %d\n", wrong, handled == scaled(25) * 8);
	close(fd);
}

static __thread sigjmp_buf place;
static __thread volatile int may_jump;

static void jump(int signal)
{
	(void)signal;
	handled++;
	if (may_jump)
		siglongjmp(place, 1);
}

/* What a jump leaves is used for other things at once. */
static long use_stack(int n)
{
	volatile char frame[2000];

	for (int i = 0; i < 2000; i++)
		frame[i] = (char)n;
	return frame[n % 2000];
}

static void *sync_and_be_thrown_out(void *arg)
{
	volatile long wrong = 0;
	volatile long sum = 0;

	while (goes_on) {
		if (sigsetjmp(place, 1) == 0) {
			may_jump = 1;
			wrong += fdatasync(fd) != 0;
		}
		may_jump = 0;
		sum += use_stack((int)(long)arg);
	}
	return (void *)(wrong + (sum < 0));
}

static void handlers_leave_syncs_by_jumps(void)
{
	fd = temporary(0);
	printf("wrong: %ld\n", signal_often(jump, sync_and_be_thrown_out));
	run_many(write_and_sync);	/* no place is lost */
	close(fd);
}

static void *sync_for_ever(void *arg)
{
	if (arg)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		if (fsync(fd) != 0)
			abort();
}

static void a_cancelled_thread_ends(void)
{
	fd = temporary(0);
	for (long round = 0; round < scaled(5); round++) {
		pthread_t t[8];

		for (long i = 0; i < 8; i++)
			t[i] = start(sync_for_ever, (void *)(i % 2));
		usleep(2000);
		for (int i = 0; i < 8; i++)
			pthread_cancel(t[i]);
		for (int i = 0; i < 8; i++)
			if (finish(t[i]) != PTHREAD_CANCELED)
				printf("not cancelled\n");
	}
	run_many(write_and_sync);
	close(fd);
}

static void a_forked_child_syncs(void)
{
	pthread_t t[8];
	int status, wrong = 0;

	fd = temporary(0);
	goes_on = 1;
	for (int i = 0; i < 8; i++)
		t[i] = start(sync_on, NULL);
	for (long n = 0; n < scaled(10); n++) {
		pid_t pid = fork();

		if (pid == 0) {
			for (int i = 0; i < 8; i++)
				t[i] = start(write_and_sync, (void *)(long)i);
			for (int i = 0; i < 8; i++)
				wrong += finish(t[i]) != NULL;
			_exit(wrong);
		}
		wrong += waitpid(pid, &status, 0) != pid || status != 0;
	}
	goes_on = 0;
	for (int i = 0; i < 8; i++)
		wrong += finish(t[i]) != NULL;
	printf("wrong: %d\n", wrong);
	close(fd);
}

/* --- what is not in memory ----------------------------------------- */

static void *read_cold(void *arg)
{
	char page[PAGE];
	long wrong = 0;

	for (long i = 0; i < scaled(4) * PAGES; i++) {
		off_t at = ((long)arg * PAGES + i % PAGES) * PAGE;

		posix_fadvise(fd, at, PAGE, POSIX_FADV_DONTNEED);
		wrong += pread(fd, page, PAGE, at) != PAGE;
		wrong += page[0] != 1 || page[PAGE - 1] != 1;
	}
	return (void *)wrong;
}

static void what_is_not_in_memory_is_read(void)
{
	fd = temporary(0);
	run_many(read_cold);
	close(fd);
}

/* --- kernel threads ------------------------------------------------ */

static void *look(void *arg)
{
	int *most = arg;

	while (goes_on) {
		int n = count_tasks(NULL);

		if (n > *most)
			*most = n;
		usleep(200);
	}
	return NULL;
}

static pthread_barrier_t barrier;
static int logs[THREADS];

/*
 * By one thread: a call that makes or removes a file may block in the kernel
 * for the folder.
 */
static void open_logs(void)
{
	for (int i = 0; i < THREADS; i++) {
		char name[] = "/tmp/weft-disk-XXXXXX";

		logs[i] = mkstemp(name);
		if (logs[i] < 0 || unlink(name) != 0)
			abort();
	}
}

static void close_logs(void)
{
	for (int i = 0; i < THREADS; i++)
		close(logs[i]);
}

/*
 * In files of their own, and in step: a write may wait for another one to the
 * same file, and for a sync, and has a kernel thread then.
 */
static void *log_and_sync(void *arg)
{
	const int own = logs[(long)arg];
	char page[PAGE];
	long wrong = 0;

	memset(page, (int)(long)arg, PAGE);
	for (long i = 0; i < scaled(30); i++) {
		pthread_barrier_wait(&barrier);
		wrong += write(own, page, PAGE) != PAGE;
		pthread_barrier_wait(&barrier);
		wrong += fdatasync(own) != 0;
	}
	return (void *)wrong;
}

static void they_need_few_kernel_threads(void)
{
	const char *vcpus = getenv("WEFT_VCPUS");
	int most = 0, few = FEW + (vcpus ? atoi(vcpus) : 2);
	pthread_t t;

	pthread_barrier_init(&barrier, NULL, THREADS);
	goes_on = 1;
	t = start(look, &most);
	fd = temporary(0);
	run_many(read_cold);
	open_logs();
	run_many(log_and_sync);
	close_logs();
	close(fd);
	fd = temporary(O_DIRECT);
	run_many(move_past_memory);
	close(fd);
	goes_on = 0;
	finish(t);
	printf("few: %d\n", most <= few);
	if (most > few)
		printf("most: %d\n", most);
}

static const struct compare_case cases[] = {
	COMPARE(what_goes_past_memory_comes_back),
	COMPARE(where_the_file_is_goes_on),
	COMPARE(errors_are_the_kernels),
	COMPARE(many_sync_at_once),
	COMPARE(handlers_run_beside_syncs),
	COMPARE(handlers_leave_syncs_by_jumps),
	COMPARE(a_cancelled_thread_ends),
	COMPARE(a_forked_child_syncs),
	COMPARE(what_is_not_in_memory_is_read),
	WEFT_ONLY(they_need_few_kernel_threads,
		  "wrong: 0\nwrong: 0\nwrong: 0\nfew: 1\n"),
};

COMPARE_MAIN(cases)

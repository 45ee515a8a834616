/* SPDX-License-Identifier: MIT */
/*
 * test_kernels.c - os/calls: a native program on older kernels, in sandboxes, and without
 * each flag and part of os/call/calls.h
 */
#include <stdlib.h>
#include <string.h>

#include "echo.h"
#include "kernels.h"
#include "support.h"
#include "weft/chan.h"
#include "weft/cond.h"
#include "weft/io.h"
#include "weft/mutex.h"
#include "weft/net.h"
#include "weft/runtime.h"
#include "weft/sem.h"
#include "weft/thread.h"
#include "weft/timer.h"

#define THREADS		40
#define MS		INT64_C(1000000)

/* --- the program ------------------------------------------------------ */

static struct weft_mutex mutex;
static struct weft_cond cond;
static struct weft_sem never, rests;
static struct weft_chan *chan;
static long count;
static int pair[2];

static void tell(const char *what, long result)
{
	char line[80];
	int n = snprintf(line, sizeof(line), "%s: %ld\n", what, result);

	if (write(1, line, (size_t)n) != n)
		_exit(97);
}

static uint64_t begin(void *(*fn)(void *arg), void *arg)
{
	uint64_t id;

	if (weft_spawn(&id, NULL, fn, arg) != 0)
		_exit(97);
	return id;
}

static long end(uint64_t id)
{
	void *result = NULL;

	return weft_join(id, &result) != 0 ? -1 : (long)result;
}

/* Spins past its slice, so that the preemption is used too. */
static void *add(void *arg)
{
	for (volatile int i = 0; i < 200000; i++)
		;
	for (int i = 0; i < 50; i++) {
		(void)!weft_mutex_lock(&mutex);
		count++;
		(void)!weft_cond_broadcast(&cond);
		(void)!weft_mutex_unlock(&mutex);
		weft_yield();
	}
	return arg;
}

static void locks(void)
{
	uint64_t id[THREADS];

	for (int i = 0; i < THREADS; i++)
		id[i] = begin(add, NULL);
	(void)!weft_mutex_lock(&mutex);
	while (count < THREADS * 50)
		(void)!weft_cond_wait(&cond, &mutex);
	(void)!weft_mutex_unlock(&mutex);
	for (int i = 0; i < THREADS; i++)
		(void)!weft_join(id[i], NULL);
	tell("count", count);
}

static void *feed(void *arg)
{
	for (long i = 0; i < 100; i++)
		(void)!weft_chan_send(chan, &i, WEFT_FOREVER);
	weft_chan_close(chan);
	return arg;
}

static void channels(void)
{
	uint64_t sender;
	long v, sum = 0;

	(void)!weft_chan_create(&chan, sizeof(v), 4, 0);
	sender = begin(feed, NULL);
	while (weft_chan_recv(chan, &v, WEFT_FOREVER) == 0)
		sum += v;
	(void)!weft_join(sender, NULL);
	(void)!weft_chan_destroy(chan);
	tell("channel", sum);
}

static void descriptors(void)
{
	char text[8] = "";
	uint64_t id;
	int fd;

	tell("pair", weft_socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	id = begin(echo, &pair[1]);
	for (int i = 0; i < 50; i++)
		if (weft_write(pair[0], "hello", 5) != 5 ||
		    weft_read(pair[0], text, 5) != 5)
			tell("lost", i);
	tell("late", weft_read_until(pair[0], text, 1, weft_clock() + MS) ==
	     -ETIMEDOUT);
	(void)!weft_close(pair[0]);
	(void)!weft_join(id, NULL);
	(void)!weft_close(pair[1]);
	fd = weft_open("/etc/passwd", O_RDONLY, 0);
	tell("file", weft_read(fd, text, 4) == 4 && weft_pread(fd, text, 4, 1) == 4);
	(void)!weft_close(fd);
}

static void times(void)
{
	struct weft_ticker ticker;
	int64_t ticks = 0;

	tell("ticker", weft_ticker_init(&ticker, weft_clock(), MS));
	while (ticks < 5)
		ticks += weft_ticker_wait(&ticker);
	tell("slept", weft_sleep(MS));
	tell("late", weft_sem_wait_until(&never, weft_clock() + MS) == -ETIMEDOUT);
}

static void *rest(void *arg)
{
	(void)!weft_sem_post(&rests);
	return (void *)(long)(weft_sem_wait(&never) + (arg != NULL));
}

static void *rest_in_read(void *arg)
{
	char c;

	(void)arg;
	(void)!weft_sem_post(&rests);
	return (void *)(long)weft_read(pair[1], &c, 1);
}

static void cancelled(void)
{
	uint64_t id[2];

	tell("pair", weft_socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	id[0] = begin(rest, NULL);
	id[1] = begin(rest_in_read, NULL);
	for (int i = 0; i < 2; i++)
		(void)!weft_sem_wait(&rests);
	for (int i = 0; i < 2; i++) {
		tell("cancel", weft_cancel(id[i]));
		tell("end", end(id[i]));
	}
}

static void forks(void)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		if (weft_start(NULL) != 0)
			_exit(1);
		_exit(weft_sleep(MS) == 0 && weft_stop() == 0 ? 4 : 2);
	}
	tell("child", waitpid(child, &status, 0) == child ? status : -1);
}

static int go(void)
{
	tell("start", weft_start(NULL));
	locks();
	channels();
	descriptors();
	times();
	cancelled();
	forks();
	tell("stop", weft_stop());
	return 0;
}

/* --- on all kinds ----------------------------------------------------- */

/* By its path: /proc may be gone by then. */
static void program(const void *path)
{
	execl(path, "test_kernels", "go", (char *)NULL);
}

static char self[4096];

static int run(size_t i, struct kernels_run *r)
{
	const struct kernels_kind_of k = kernels_kind(i);

	kernels_end(kernels_begin(&k, program, self), r);
	return !kernels_is_missing(r);
}

static struct kernels_run base;

static void all_kinds_of_kernels_do(void)
{
	struct kernels_run got;

	for (size_t i = 0; i < KERNELS_ALL; i++) {
		if (!run(i, &got)) {
			printf("    %s: cannot be had here\n", kernels_kind(i).name);
			continue;
		}
		CU_ASSERT_TRUE(kernels_are_same(&got, &base));
		if (!kernels_are_same(&got, &base))
			printf("    %s: status %x\n%s", kernels_kind(i).name,
			       (unsigned)got.status, got.text);
	}
}

static const struct test_case cases[] = {
	TEST(all_kinds_of_kernels_do),
};

int main(int argc, char **argv)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)argv;
	if (argc > 1)
		return go();
	if (n <= 0 || sandbox_is_left_out())
		return 77;
	if (!run(KERNELS_ALL, &base) || base.status != 0) {
		printf("as it is: status %x\n%s", (unsigned)base.status, base.text);
		return 1;
	}
	return test_main("os/calls", cases, sizeof(cases) / sizeof(cases[0]));
}

/* SPDX-License-Identifier: MIT */
/*
 * test_calls.c - os/calls: a native program without each of the system calls, under a
 * filter that answers ENOSYS, EPERM or EACCES
 */
#include "os/call/calls.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "echo.h"
#include "error_name.h"
#include "own_filter.h"
#include "support.h"
#include "weft/chan.h"
#include "weft/io.h"
#include "weft/mutex.h"
#include "weft/net.h"
#include "weft/process.h"
#include "weft/runtime.h"
#include "weft/thread.h"
#include "weft/trace.h"

#define AT_ONCE	8

/* Results, not errno: a call that the program makes may be refused. */
static void tell(const char *what, long result)
{
	const char *name = result < 0 ? error_name((int)-result) : "good";
	char line[80];
	int n = snprintf(line, sizeof(line), "%s: %s\n", what, name);

	if (write(1, line, (size_t)n) != n)
		_exit(97);
}

static struct weft_mutex mutex;
static struct weft_chan *chan;
static long count;

static void *add(void *arg)
{
	for (int i = 0; i < 500; i++) {
		(void)!weft_mutex_lock(&mutex);
		count++;
		(void)!weft_mutex_unlock(&mutex);
		if (i % 100 == 0)
			weft_yield();
	}
	return arg;
}

static void *feed(void *arg)
{
	for (long i = 0; i < 100; i++)
		if (weft_chan_send(chan, &i, WEFT_FOREVER) != 0)
			break;
	weft_chan_close(chan);
	return arg;
}

static uint64_t begin(void *(*fn)(void *arg), void *arg)
{
	uint64_t id;

	if (weft_spawn(&id, NULL, fn, arg) != 0)
		_exit(97);
	return id;
}

static void threads(void)
{
	uint64_t id[4], sender;
	long v, sum = 0;

	for (int i = 0; i < 4; i++)
		id[i] = begin(add, NULL);
	for (int i = 0; i < 4; i++)
		(void)!weft_join(id[i], NULL);
	tell("mutex", count == 2000 ? 0 : -EIO);
	(void)!weft_chan_create(&chan, sizeof(v), 4, 0);
	sender = begin(feed, NULL);
	while (weft_chan_recv(chan, &v, WEFT_FOREVER) == 0)
		sum += v;
	(void)!weft_join(sender, NULL);
	(void)!weft_chan_destroy(chan);
	tell("channel", sum == 4950 ? 0 : -EIO);
}

static int pair[2];

static void descriptors(void)
{
	int error = weft_socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	struct pollfd p;
	char text[5];
	uint64_t id;

	if (error) {
		tell("sockets", error);
		return;
	}
	id = begin(echo, &pair[1]);
	for (int i = 0; i < 50 && !error; i++)
		if (weft_write(pair[0], "hello", 5) != 5 ||
		    weft_read(pair[0], text, 5) != 5)
			error = -EIO;
	tell("sockets", error);
	p = (struct pollfd){ .fd = pair[0], .events = POLLIN };
	tell("poll", weft_poll(&p, 1, weft_clock() + 2000000) == -ETIMEDOUT ?
	     0 : -EIO);
	(void)!weft_write(pair[0], "x", 1);
	tell("ready", weft_poll(&p, 1, WEFT_FOREVER) == 1 ? 0 : -EIO);
	(void)!weft_close(pair[0]);
	(void)!weft_join(id, NULL);
}

/* The child ends when its input does. */
static pid_t begin_child(int *input)
{
	char *argv[] = { (char[]){ "test_calls" }, (char[]){ "child" }, NULL };
	int fd[2], fds[3] = { -1, -1, -1 };
	struct weft_process how = { .fds = fds };
	pid_t pid = 0;
	int error;

	if (pipe2(fd, O_CLOEXEC) != 0)
		return -errno;
	fds[0] = fd[0];
	error = weft_process_spawn(&pid, "/proc/self/exe", argv, &how);
	(void)close(fd[0]);
	*input = fd[1];
	return error ? error : pid;
}

static void *close_input(void *arg)
{
	(void)weft_sleep(REFUSED_REST_US * INT64_C(1000));
	(void)close(*(int *)arg);
	return arg;
}

/* Returns 0, or -EIO: something was not so. */
static int wait_for_child(void)
{
	int input = -1, status = -1;
	pid_t pid = begin_child(&input);
	int64_t soon = weft_clock() + 2000000;
	uint64_t id;

	if (pid < 0 ||
	    weft_waitpid_until(pid, &status, NULL, soon) != -ETIMEDOUT)
		return -EIO;
	id = begin(close_input, &input);
	if (weft_waitpid(pid, &status) != 0 || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != 5)
		return -EIO;
	(void)!weft_join(id, NULL);
	return 0;
}

/* One waits for a channel, one for a descriptor. */
static void *rest_in_chan(void *arg)
{
	long v;

	(void)!weft_chan_recv(chan, &v, WEFT_FOREVER);
	return arg;
}

static void *rest_in_read(void *arg)
{
	char c;

	(void)!weft_read(pair[1], &c, 1);
	return arg;
}

static void rest(void)
{
	uint64_t id[2];
	long v = 1;

	(void)!weft_chan_create(&chan, sizeof(v), 1, 0);
	if (weft_socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		return;
	id[0] = begin(rest_in_chan, NULL);
	id[1] = begin(rest_in_read, NULL);
	(void)!weft_sleep(REFUSED_REST_US * INT64_C(1000));
	(void)!weft_chan_send(chan, &v, WEFT_FOREVER);
	tell("rest", weft_write(pair[0], "x", 1) == 1 ? 0 : -EIO);
	for (int i = 0; i < 2; i++)
		(void)!weft_join(id[i], NULL);
	(void)!weft_chan_destroy(chan);
}

/* What libc calls for this program, beside what it calls for weft. */
static const long own[] = {
	SYS_brk, SYS_getrandom, SYS_restart_syscall, SYS_rseq, SYS_sched_yield,
	SYS_set_robust_list,
};

static void shut_in(const char *kind)
{
	if (own_filter_set((enum own_filter_kind)atoi(kind), own,
			   sizeof(own) / sizeof(*own)) != 0)
		tell("filter", -errno);
}

/* Without a memfd nothing is recorded, and the program is told so. */
static void record(void)
{
	int error = weft_trace_start(1 << 20);

	tell("record", error == -ENOSYS || error == -EPERM || error == -EACCES ? 0 : error);
}

static int go(const char *when, const char *kind)
{
	int error;

	if (strcmp(when, "early") == 0)
		shut_in(kind);
	error = weft_start(NULL);
	tell("start", error);
	if (error)
		return 1;
	if (kind)	/* a filter of the program's may not know what this calls */
		tell("record", 0);
	else
		record();
	threads();
	if (strcmp(when, "late") == 0)
		shut_in(kind);
	descriptors();
	if (strcmp(when, "last") == 0)
		shut_in(kind);
	descriptors();
	/* The child would have the program's filter too, and it calls what it likes. */
	tell("child", kind ? 0 : wait_for_child());
	rest();
	if (kind && atoi(kind) == OWN_LISTED_TRAP && !own_filter_traps())
		tell("trap", -EIO);
	tell("stop", weft_stop());
	return 0;
}

static const char *when = "never", *filter;

/* Anew, under the filter: libc too looks at the start what there is. */
static void program(int unused)
{
	(void)unused;
	execl("/proc/self/exe", "test_calls", when, filter, (char *)NULL);
}

static struct refused_run base, got;

/* What is the program's may be refused: it is told so, and no more is asked. */
static int is_asked(const struct refused_call *c)
{
	return c->number >= 0 && c->where == REFUSED_ALL &&
	       (c->need == REFUSED_ENDS || c->need == REFUSED_ELSE);
}

static void some(const struct refused_call *calls, size_t n, unsigned error)
{
	struct refused_child c[AT_ONCE];

	for (size_t i = 0; i < n; i++)
		if (is_asked(&calls[i]))
			c[i] = refused_begin(program, 0, calls[i].number, error);
	for (size_t i = 0; i < n; i++) {
		if (!is_asked(&calls[i]))
			continue;
		refused_end(c[i], &got);
		CU_ASSERT_TRUE(refused_judge(&calls[i], error, &got, &base, NULL));
	}
}

/* At a scale below 2 with one answer each. */
static void each_call_may_be_refused(void)
{
	static const unsigned errors[] = { EPERM, ENOSYS, EACCES };
	size_t answers = test_scaled(1) > 1 ? 3 : 1;

	for (size_t i = 0, n = 0; i < REFUSED_CALLS; i += AT_ONCE, n++)
		for (size_t k = 0; k < answers; k++)
			some(&refused_calls[i], REFUSED_CALLS - i < AT_ONCE ?
			     REFUSED_CALLS - i : AT_ONCE, errors[(n + k) % 3]);
}

static void a_kernel_may_be_old(void)
{
	for (size_t i = 0; i < REFUSED_VERSIONS; i++) {
		const struct refused_call all = { "an old kernel's", 0,
						  REFUSED_ELSE, REFUSED_ALL,
						  refused_versions[i] };

		refused_end(refused_begin(program, 0, -all.since, ENOSYS), &got);
		CU_ASSERT_TRUE(refused_judge(&all, ENOSYS, &got, &base, NULL));
	}
}

static void program_without_poll(int unused)
{
	sandbox_refuses(SYS_epoll_create1, EPERM);
	sandbox_refuses(SYS_ppoll, EPERM);
#if SYS_poll >= 0
	sandbox_refuses(SYS_poll, EPERM);
#endif
	program(unused);
}

static void without_any_way_to_wait_one_line_says_so(void)
{
	refused_end(refused_begin(program_without_poll, 0, -1, 0), &got);
	CU_ASSERT_TRUE(refused_ends_well(&got, "ppoll"));
}

static void a_program_may_set_a_filter(void)
{
	static const char *const moment[] = { "early", "late", "last" };

	for (int i = 0; i < 3 * OWN_FILTERS; i++) {
		/* weft is not told of the filter, and may need this call by then. */
		const struct refused_call late = { "membarrier", 0,
						   i % 3 ? REFUSED_ENDS :
						   REFUSED_ELSE, REFUSED_ALL, 0 };
		char number[12];

		snprintf(number, sizeof(number), "%d", i / 3);
		filter = number;
		when = moment[i % 3];
		refused_end(refused_begin(program, 0, -1, 0), &got);
		if (!refused_judge(&late, 0, &got, &base, NULL))
			CU_FAIL(own_filter_names[i / 3]);
	}
	filter = NULL;
	when = "never";
}

static const struct test_case cases[] = {
	TEST(each_call_may_be_refused),
	TEST(a_kernel_may_be_old),
	TEST(without_any_way_to_wait_one_line_says_so),
	TEST(a_program_may_set_a_filter),
};

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "child") == 0) {
		char c;

		return read(0, &c, 1) == 0 ? 5 : 6;
	}
	if (argc > 1)
		return go(argv[1], argc > 2 ? argv[2] : NULL);
	if (sandbox_is_left_out())
		return 77;
	refused_end(refused_begin(program, 0, -1, 0), &base);
	if (base.status != 0) {
		printf("without a filter: status %x\n%s", (unsigned)base.status,
		       base.text);
		return 1;
	}
	return test_main("os/calls", cases, sizeof(cases) / sizeof(cases[0]));
}

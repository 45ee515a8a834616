/* SPDX-License-Identifier: MIT */
/* test_process.c - io/process: programs are started, and their ends waited for */
#include "weft/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "loop.h"
#include "sandbox.h"
#include "weft/sem.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open	434
#endif

static pid_t begin_program(const char *const argv[], const struct weft_process *how)
{
	pid_t pid = 0;

	must(weft_process_spawn(&pid, argv[0], (char *const *)(uintptr_t)argv,
				how) == 0);
	must(pid > 0);
	return pid;
}

/* A shell does what the text says. */
static pid_t begin(const char *text, const struct weft_process *how)
{
	const char *argv[] = { "sh", "-c", text, NULL };

	return begin_program(argv, how);
}

static int end(pid_t pid)
{
	int status = -1;

	must(weft_waitpid(pid, &status) == 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static char got[256];

/* What a program writes is in got; "how" has places for its descriptors. */
static void collect(const char *const argv[], struct weft_process *how, int status)
{
	int fd[2], fds[3] = { -1, -1, -1 };
	size_t n = 0;
	ssize_t more;
	pid_t pid;

	must(pipe2(fd, O_CLOEXEC) == 0);
	fds[1] = fd[1];
	how->fds = fds;
	pid = begin_program(argv, how);
	close(fd[1]);
	while ((more = weft_read(fd[0], got + n, sizeof(got) - 1 - n)) > 0)
		n += (size_t)more;
	got[n] = 0;
	close(fd[0]);
	CU_ASSERT_EQUAL(end(pid), status);
}

static const char *output(const char *text, struct weft_process *how, int status)
{
	const char *argv[] = { "sh", "-c", text, NULL };

	collect(argv, how, status);
	return got;
}

static void a_child_runs_and_its_status_comes(void)
{
	struct rusage usage;
	int status;
	pid_t pid;

	memset(&usage, 0xff, sizeof(usage));
	runtime_begin();
	CU_ASSERT_EQUAL(end(begin("exit 7", NULL)), 7);
	CU_ASSERT_EQUAL(end(begin("kill -9 $$", NULL)), -9);
	pid = begin("exit 3", NULL);
	CU_ASSERT_EQUAL(weft_waitpid_until(pid, &status, &usage, WEFT_FOREVER), 0);
	CU_ASSERT_EQUAL(WEXITSTATUS(status), 3);
	CU_ASSERT_TRUE(usage.ru_maxrss >= 0 && usage.ru_nswap == 0);
	CU_ASSERT_EQUAL(weft_waitpid(pid, &status), -ECHILD);
	CU_ASSERT_EQUAL(weft_waitpid(0, &status), -EINVAL);
	CU_ASSERT_EQUAL(weft_waitpid(-1, &status), -EINVAL);
	runtime_end();
}

static void what_the_child_gets_is_what_was_asked_for(void)
{
	char *env[] = { "A=one", "PATH=/usr/bin:/bin", NULL };
	struct weft_process how = { .env = env, .dir = "/" };
	char where[16];

	runtime_begin();
	CU_ASSERT_STRING_EQUAL(output("echo $A $B; pwd", &how, 0), "one\n/\n");
	how = (struct weft_process){ .dir = NULL };
	setenv("B", "two", 1);
	CU_ASSERT_STRING_EQUAL(output("echo $B; exit 4", &how, 4), "two\n");
	how.flags = WEFT_PROCESS_GROUP;
	CU_ASSERT_STRING_EQUAL(output("[ $(ps -o pgid= $$ 2>/dev/null || "
				      "cut -d' ' -f5 /proc/$$/stat) = $$ ] && "
				      "echo led", &how, 0), "led\n");
	/* A descriptor without O_CLOEXEC. */
	snprintf(where, sizeof(where), "%d", dup(2));
	setenv("FD", where, 1);
	how.flags = 0;
	CU_ASSERT_STRING_EQUAL(output("(eval \": >&$FD\") 2>/dev/null && "
				      "echo open", &how, 0), "open\n");
	how.flags = WEFT_PROCESS_CLOSE;
	CU_ASSERT_STRING_EQUAL(output("(eval \": >&$FD\") 2>/dev/null || "
				      "echo closed", &how, 0), "closed\n");
	close(atoi(where));
	runtime_end();
}

/* The three are each other's numbers. */
static void descriptors_may_change_places(void)
{
	int keep[2] = { dup(0), dup(1) }, fd[2];
	int fds[3] = { 1, 0, -1 };
	struct weft_process how = { .fds = fds };
	char read_back[8] = "";
	pid_t pid;

	runtime_begin();
	must(pipe2(fd, O_CLOEXEC) == 0);
	must(write(fd[1], "swap\n", 5) == 5);
	fflush(stdout);
	must(dup2(fd[0], 1) == 1 && dup2(fd[1], 0) == 0);
	pid = begin("read line; echo $line$line", &how);
	must(dup2(keep[0], 0) == 0 && dup2(keep[1], 1) == 1);
	CU_ASSERT_EQUAL(end(pid), 0);
	CU_ASSERT_EQUAL(weft_read(fd[0], read_back, sizeof(read_back) - 1),
			7);
	CU_ASSERT_STRING_EQUAL(read_back, "swapswa");
	for (int i = 0; i < 2; i++) {
		close(fd[i]);
		close(keep[i]);
	}
	runtime_end();
}

/* Is the signal in the set that /proc shows so? No shell, which changes its mask. */
static int is_in(const char *set, int signal)
{
	const char *argv[] = { "grep", set, "/proc/self/status", NULL };
	struct weft_process how = { .env = NULL };

	collect(argv, &how, 0);
	must(strncmp(got, set, strlen(set)) == 0);
	return (int)(strtoul(got + strlen(set), NULL, 16) >> (signal - 1)) & 1;
}

static void *look_at_signals(void *arg)
{
	(void)arg;
	/* A kernel thread of weft blocks them all. */
	CU_ASSERT_EQUAL(is_in("SigBlk:", SIGUSR1), 1);
	CU_ASSERT_EQUAL(is_in("SigBlk:", SIGUSR2), 0);
	CU_ASSERT_EQUAL(is_in("SigBlk:", SIGTERM), 0);
	CU_ASSERT_EQUAL(is_in("SigBlk:", SIGINT), 0);
	CU_ASSERT_EQUAL(is_in("SigIgn:", SIGHUP), 1);
	CU_ASSERT_EQUAL(is_in("SigIgn:", SIGUSR2), 0);
	CU_ASSERT_EQUAL(end(begin("kill -TERM $$; exit 1", NULL)), -SIGTERM);
	return NULL;
}

static void handle(int signal)
{
	(void)signal;
}

static void the_child_s_signals_are_the_program_s(void)
{
	sigset_t set, before;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	must(sigprocmask(SIG_BLOCK, &set, &before) == 0);
	signal(SIGUSR2, handle);
	signal(SIGHUP, SIG_IGN);
	runtime_begin();
	for (int i = 0; i < 6; i++)	/* on any VCPU */
		join(spawn_with(i % 2 ? WEFT_LIGHT : 0, look_at_signals, NULL));
	runtime_end();
	signal(SIGUSR2, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	must(sigprocmask(SIG_SETMASK, &before, NULL) == 0);
}

static void a_program_that_cannot_start_is_an_error(void)
{
	char *argv[] = { "none", NULL };
	int fds[3] = { -1, 19999, -1 };
	struct weft_process how = { .dir = "/nowhere" };
	pid_t pid = 12;
	size_t open;

	runtime_begin();
	(void)!weft_process_spawn(&pid, "/nowhere/none", argv, NULL);
	open = open_descriptors();
	CU_ASSERT_EQUAL(weft_process_spawn(&pid, "/nowhere/none", argv, NULL),
			-ENOENT);
	CU_ASSERT_EQUAL(weft_process_spawn(&pid, "weft-no-such", argv, NULL),
			-ENOENT);
	CU_ASSERT_EQUAL(weft_process_spawn(&pid, "/etc/passwd", argv, NULL),
			-EACCES);
	CU_ASSERT_EQUAL(weft_process_spawn(&pid, "sh", argv, &how), -ENOENT);
	how = (struct weft_process){ .fds = fds };
	CU_ASSERT_EQUAL(weft_process_spawn(&pid, "sh", argv, &how), -EBADF);
	how = (struct weft_process){ .flags = 4 };
	CU_ASSERT_EQUAL(weft_process_spawn(&pid, "sh", argv, &how), -EINVAL);
	how = (struct weft_process){ .reserved = { 0, 1 } };
	CU_ASSERT_EQUAL(weft_process_spawn(&pid, "sh", argv, &how), -EINVAL);
	CU_ASSERT_EQUAL(weft_process_spawn(NULL, "sh", argv, NULL), -EINVAL);
	CU_ASSERT_EQUAL(weft_process_spawn(&pid, NULL, argv, NULL), -EINVAL);
	CU_ASSERT_EQUAL(weft_process_spawn(&pid, "sh", NULL, NULL), -EINVAL);
	CU_ASSERT_EQUAL(pid, 12);
	CU_ASSERT_EQUAL(open_descriptors(), open);
	runtime_end();
}

/* A child that ends when its input does. */
static pid_t begin_reader(int *input)
{
	int fd[2], fds[3] = { -1, -1, -1 };
	struct weft_process how = { .fds = fds };
	pid_t pid;

	must(pipe2(fd, O_CLOEXEC) == 0);
	fds[0] = fd[0];
	pid = begin("read line; exit 5", &how);
	close(fd[0]);
	*input = fd[1];
	return pid;
}

static _Atomic int waits;

static void *wait_for(void *arg)
{
	pid_t pid = *(pid_t *)arg;
	int status, error;

	atomic_store(&waits, 1);
	error = weft_waitpid(pid, &status);
	return (void *)(intptr_t)error;
}

static void a_wait_ends_by_deadline_or_cancellation(void)
{
	int input, status = 77;
	uint64_t id;
	pid_t pid;

	runtime_begin();
	pid = begin_reader(&input);
	CU_ASSERT_EQUAL(weft_waitpid_until(pid, &status, NULL, WEFT_NO_WAIT),
			-EAGAIN);
	CU_ASSERT_EQUAL(weft_waitpid_until(pid, &status, NULL,
					   weft_deadline(WEFT_MS(2))), -ETIMEDOUT);
	CU_ASSERT_EQUAL(status, 77);
	id = spawn(wait_for, &pid);
	while (!atomic_load(&waits))
		rest();
	CU_ASSERT_EQUAL(weft_cancel(id), 0);
	CU_ASSERT_EQUAL((int)(intptr_t)join(id), -ECANCELED);
	close(input);
	CU_ASSERT_EQUAL(end(pid), 5);
	runtime_end();
}

static void till(int fd)
{
	char byte;

	while (read(fd, &byte, 1) < 0 && errno == EINTR)
		;
}

/* In a child of ours: traces the process, says so, and takes its end late. */
static void trace(pid_t pid, int said, int take)
{
	int status;

	if (ptrace(PTRACE_SEIZE, pid, 0, 0) != 0)
		_exit(1);
	must(write(said, "x", 1) == 1);
	till(take);
	while (waitpid(pid, &status, 0) == pid && !WIFEXITED(status))
		(void)ptrace(PTRACE_CONT, pid, 0, 0);
	_exit(0);
}

/* The process has ended, or there are no descriptors of processes here. */
static void await_readable(pid_t pid)
{
	struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };

	if (p.fd < 0)
		return;
	must(poll(&p, 1, -1) == 1);
	close(p.fd);
}

/*
 * The tracer has the end first. Till it takes that, the child's descriptor is readable,
 * and there is no status. The wait has to keep its deadline.
 */
static void a_traced_child_ends_when_its_tracer_has_seen_it(void)
{
	int input, said[2], take[2], status = 77;
	pid_t pid, tracer;

	runtime_begin();
	pid = begin_reader(&input);
	must(pipe2(said, O_CLOEXEC) == 0 && pipe2(take, O_CLOEXEC) == 0);
	tracer = fork();
	must(tracer >= 0);
	if (!tracer) {
		close(take[1]);
		close(input);
		trace(pid, said[1], take[0]);
	}
	close(said[1]);
	close(take[0]);
	if (weft_read(said[0], &(char){ 0 }, 1) == 1) {
		close(input);
		await_readable(pid);
		CU_ASSERT_EQUAL(weft_waitpid_until(pid, &status, NULL,
						   weft_deadline(WEFT_MS(30))),
				-ETIMEDOUT);
		CU_ASSERT_EQUAL(status, 77);
	} else {
		puts("left out: a child cannot be traced here");
		close(input);
	}
	close(take[1]);
	CU_ASSERT_EQUAL(end(pid), 5);
	(void)end(tracer);
	close(said[0]);
	runtime_end();
}

/* The others run: the child ends only when they have all had their turn. */
static void a_wait_holds_no_vcpu(void)
{
	int input;
	pid_t pid;
	uint64_t id[20];

	runtime_begin();
	pid = begin_reader(&input);
	id[0] = spawn(wait_for, &pid);
	for (int i = 1; i < 20; i++)
		id[i] = spawn(wait_for, &pid);	/* for the same child */
	while (!atomic_load(&waits))
		rest();
	close(input);
	for (int i = 0, good = 0; i < 20; i++) {
		int error = (int)(intptr_t)join(id[i]);

		good += error == 0;
		CU_ASSERT_TRUE(error == 0 || error == -ECHILD);
		if (i == 19)
			CU_ASSERT_EQUAL(good, 1);
	}
	runtime_end();
}

#define CHILDREN	30

static void *run_some(void *arg)
{
	int n = *(int *)arg;
	char text[16];

	snprintf(text, sizeof(text), "exit %d", n);
	for (size_t i = 0; i < test_scaled(3); i++)
		if (end(begin(text, NULL)) != n)
			return arg;
	return NULL;
}

static void each_gets_its_own_child_s_status(void)
{
	uint64_t id[CHILDREN];
	int n[CHILDREN];

	runtime_begin();
	for (int i = 0; i < CHILDREN; i++) {
		n[i] = i + 1;
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, run_some, &n[i]);
	}
	for (int i = 0; i < CHILDREN; i++)
		CU_ASSERT_PTR_NULL(join(id[i]));
	runtime_end();
}

/* In a child of this process, so that only that child has the filter. */
static void without_a_pidfd_it_works_too(void)
{
	pid_t child;
	int status;

	if (getenv("WEFT_TEST_QEMU") || sandbox_is_missing())
		return;
	fflush(stdout);
	child = fork();
	if (child == 0) {
		int input, code = 1;
		pid_t pid;

		sandbox_refuses(SYS_pidfd_open, ENOSYS);
		runtime_begin();
		pid = begin_reader(&input);
		if (weft_waitpid_until(pid, NULL, NULL,
				       weft_deadline(WEFT_MS(25))) != -ETIMEDOUT)
			code = 2;
		close(input);
		if (weft_waitpid_until(pid, NULL, NULL,
				       weft_deadline(WEFT_SECONDS(1000))) != 0)
			code = 3;
		if (end(begin("exit 9", NULL)) != 9)
			code = 4;
		runtime_end();
		_exit(code);
	}
	must(waitpid(child, &status, 0) == child);
	CU_ASSERT_EQUAL(status, 1 << 8);
}

static void it_works_without_the_runtime(void)
{
	CU_ASSERT_EQUAL(end(begin("exit 6", NULL)), 6);
}

static const struct test_case cases[] = {
	TEST(a_child_runs_and_its_status_comes),
	TEST(what_the_child_gets_is_what_was_asked_for),
	TEST(descriptors_may_change_places),
	TEST(the_child_s_signals_are_the_program_s),
	TEST(a_program_that_cannot_start_is_an_error),
	TEST(a_wait_ends_by_deadline_or_cancellation),
	TEST(a_traced_child_ends_when_its_tracer_has_seen_it),
	TEST(a_wait_holds_no_vcpu),
	TEST(each_gets_its_own_child_s_status),
	TEST(without_a_pidfd_it_works_too),
	TEST(it_works_without_the_runtime),
};

TEST_MAIN("io/process", cases)

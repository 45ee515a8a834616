/* SPDX-License-Identifier: MIT */
/*
 * watchdog.c - ends a test that hangs, and says where everything stood
 *
 * A kernel thread of its own sleeps until a case's time is over. The report
 * uses no malloc and no stdio, because what hangs may hold their locks. What is
 * most sure to work comes first: the kernel's view, then gdb's, then weft's.
 */
#include "watchdog.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "support.h"

#define NS_PER_SECOND	1000000000

/*
 * The function is in the library under test; a program that does not link it
 * has none.
 */
extern int weft_dump(int fd) __attribute__((weak));

extern char **environ;

static int64_t limit_ns;

/*
 * Written by the test's thread, read by the watchdog. seq_cst, because this is
 * not the place to save a cycle.
 */
static _Atomic int64_t deadline;
static _Atomic(const char *) case_suite, case_name;
static _Atomic int over;	/* by the watchdog: it has begun to report */

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * NS_PER_SECOND + t.tv_nsec;
}

static void say(const char *text)
{
	size_t left = strlen(text);

	while (left > 0) {
		ssize_t n = write(STDERR_FILENO, text, left);

		if (n <= 0)
			return;
		text += n;
		left -= (size_t)n;
	}
}

/* Copies one file of a kernel thread to stderr, after its name. */
static void say_file(const char *tid, const char *file)
{
	char path[64], text[1024];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%s/%s", tid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	ssize_t n = read(fd, text, sizeof(text) - 1);

	close(fd);
	if (n <= 0)
		return;
	text[n] = 0;
	text[strcspn(text, "\n")] = 0;
	say("  ");
	say(file);
	say(": ");
	say(text);
	say("\n");
}

/* getdents64 straight from the kernel: opendir would use malloc. */
void test_say_kernel_threads(void)
{
	static _Alignas(8) char buf[32768];
	int fd = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	long n;

	if (fd < 0)
		return;
	while ((n = syscall(SYS_getdents64, fd, buf, sizeof(buf))) > 0)
		for (long at = 0; at < n;) {
			struct dirent64 *d = (struct dirent64 *)(buf + at);

			at += d->d_reclen;
			if (d->d_name[0] == '.')
				continue;
			say("kernel thread ");
			say(d->d_name);
			say("\n");
			say_file(d->d_name, "comm");
			say_file(d->d_name, "stat");
			say_file(d->d_name, "schedstat");
			say_file(d->d_name, "wchan");
			say_file(d->d_name, "syscall");
		}
	close(fd);
}

/* posix_spawn, not fork: no atfork handler runs that could wait for a lock. */
static void say_gdb(void)
{
	char pid_text[16];
	char *argv[] = {
		"timeout", "-k", "1", "20", "gdb", "-nx", "-batch", "-ex",
		"set debuginfod enabled off", "-ex", "thread apply all bt",
		"-p", pid_text, NULL,
	};
	posix_spawn_file_actions_t files;
	pid_t child;

	snprintf(pid_text, sizeof(pid_text), "%d", (int)getpid());
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null",
					 O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
	if (posix_spawnp(&child, argv[0], &files, NULL, argv, environ) == 0)
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
	posix_spawn_file_actions_destroy(&files);
}

static _Noreturn void report_and_abort(void)
{
	sigset_t set;

	/* Should the report itself hang, SIGALRM ends the process. */
	signal(SIGALRM, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	alarm(40);

	store_seq_cst(&over, 1);
	say("\nwatchdog: the time of ");
	say(load_seq_cst(&case_suite));
	say(": ");
	say(load_seq_cst(&case_name));
	say(" is over\n");
	test_say_kernel_threads();
	say_gdb();
	if (weft_dump) {
		say("\nweft_dump:\n");
		weft_dump(STDERR_FILENO);
	}
	signal(SIGABRT, SIG_DFL);
	abort();
}

static void *watch(void *is_up)
{
	sem_post(is_up);
	for (;;) {
		int64_t until = load_seq_cst(&deadline);
		struct timespec t = {
			.tv_sec = until / NS_PER_SECOND,
			.tv_nsec = until % NS_PER_SECOND,
		};

		if (now_ns() >= until)
			report_and_abort();
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
	}
	return NULL;
}

int wefti_test_watchdog_is_over(void)
{
	return load_seq_cst(&over);
}

/* gdb interrupts a call that hung, so that its case goes on. */
void wefti_test_watchdog_await(void)
{
	while (load_seq_cst(&over))
		pause();
}

void wefti_test_watchdog_case(const char *suite, const char *name)
{
	wefti_test_watchdog_await();
	store_seq_cst(&case_suite, suite);
	store_seq_cst(&case_name, name);
	store_seq_cst(&deadline, now_ns() + limit_ns);
}

void wefti_test_watchdog_start(double seconds)
{
	sigset_t all, before;
	pthread_t thread;
	static sem_t is_up;

	if (seconds == 0)
		return;
	sem_init(&is_up, 0, 0);
	limit_ns = (int64_t)(seconds * NS_PER_SECOND);
	wefti_test_watchdog_case("suite", "before the first case");

	/* A signal that a test sends to its process is for its own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&thread, NULL, watch, &is_up);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error) {
		fprintf(stderr, "watchdog: %s\n", strerror(error));
		exit(EXIT_FAILURE);
	}
	pthread_detach(thread);
	/*
	 * A sanitizer allocates for a thread that begins, under a lock that a
	 * fork() at that moment would leave taken in the child.
	 */
	sem_wait(&is_up);
}

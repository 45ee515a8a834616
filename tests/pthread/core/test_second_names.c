/* SPDX-License-Identifier: MIT */
/*
 * test_second_names.c - functions of libc's that are called by their second name
 *
 * Programs may be linked to those (__read), though no header has them.
 */
#include "compare.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/select.h>
#include <sys/wait.h>

#include "tasks.h"

extern ssize_t __read(int fd, void *buf, size_t bytes);
extern ssize_t __write(int fd, const void *buf, size_t bytes);
extern int __nanosleep(const struct timespec *time, struct timespec *rest);
extern int __poll(struct pollfd *fds, nfds_t count, int timeout);
extern int __select(int limit, fd_set *in, fd_set *out, fd_set *except,
		    struct timeval *time);
extern int __sigsuspend(const sigset_t *set);
extern pid_t __wait(int *status);
extern pid_t __waitpid(pid_t pid, int *status, int options);
extern pid_t __vfork(void) __attribute__((returns_twice));

static int empty[2], full[2];	/* pipes */
static char block[1 << 16];
static sem_t begun;

static void make(void)
{
	if (pipe(empty) != 0 || pipe(full) != 0)
		abort();
	fcntl(full[1], F_SETFL, O_NONBLOCK);
	while (write(full[1], block, sizeof(block)) > 0)
		;
	fcntl(full[1], F_SETFL, 0);
}

/* --- one function -------------------------------------------------- */

/*
 * libc may have two functions in two of its libraries. The loader finds libpthread's
 * raise() first before glibc 2.34, and gsignal() is libc's.
 */
static int are_one(void *first, void *second)
{
	Dl_info a, b;

	return first == second ||
	       (dladdr(first, &a) && dladdr(second, &b) && a.dli_fbase != b.dli_fbase &&
		!strstr(a.dli_fname, "libweft") && !strstr(b.dli_fname, "libweft"));
}

static void both_names_are_one_functions(void)
{
	static const char *const names[][2] = {
		{ "read", "__read" }, { "write", "__write" },
		{ "pread64", "__pread64" }, { "pwrite64", "__pwrite64" },
		{ "open", "__open" }, { "open64", "__open64" },
		{ "close", "__close" }, { "dup2", "__dup2" },
		{ "fcntl", "__fcntl" }, { "poll", "__poll" },
		{ "select", "__select" }, { "connect", "__connect" }, { "wait", "__wait" },
		{ "waitpid", "__waitpid" }, { "vfork", "__vfork" },
		{ "nanosleep", "__nanosleep" }, { "popen", "_IO_popen" },
		{ "raise", "gsignal" }, { "sigaction", "__sigaction" },
		{ "sigsuspend", "__sigsuspend" },
		{ "sched_yield", "__sched_yield" },
		{ "sched_getparam", "__sched_getparam" },
		{ "sched_getscheduler", "__sched_getscheduler" },
		{ "sched_setscheduler", "__sched_setscheduler" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		void *first = dlsym(RTLD_DEFAULT, names[i][0]);
		void *second = dlsym(RTLD_DEFAULT, names[i][1]);

		printf("%s: %d %d\n", names[i][1], second != NULL,
		       second && are_one(first, second));
	}
}

/* --- cancellation points ------------------------------------------- */

static void by_read(void)
{
	(void)!__read(empty[0], block, 1);
}

static void by_write(void)
{
	(void)!__write(full[1], block, 1);
}

static void by_nanosleep(void)
{
	__nanosleep(&(struct timespec){ .tv_sec = 1000 }, NULL);
}

static void by_poll(void)
{
	__poll(&(struct pollfd){ .fd = empty[0], .events = POLLIN }, 1, -1);
}

static void by_select(void)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(empty[0], &set);
	__select(empty[0] + 1, &set, NULL, NULL, NULL);
}

static void by_sigsuspend(void)
{
	sigset_t none;

	sigemptyset(&none);
	__sigsuspend(&none);
}

static void by_wait(void)
{
	__wait(NULL);
}

static void by_waitpid(void)
{
	__waitpid(-1, NULL, 0);
}

static void *wait_by(void *call)
{
	sem_post(&begun);
	(*(void (**)(void))call)();
	return NULL;
}

static void they_are_cancellation_points(void)
{
	static const struct {
		const char *name;
		void (*call)(void);
	} calls[] = {
		{ "__read", by_read }, { "__write", by_write },
		{ "__nanosleep", by_nanosleep },
		{ "__poll", by_poll }, { "__select", by_select },
		{ "__sigsuspend", by_sigsuspend }, { "__wait", by_wait },
		{ "__waitpid", by_waitpid },
	};
	int gone[2];
	pid_t child;

	make();
	if (pipe(gone) != 0 || (child = fork()) < 0)
		abort();
	if (child == 0) {		/* ends when this process does */
		close(gone[1]);
		_exit((int)read(gone[0], block, 1));
	}
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		pthread_t t = start(wait_by, (void *)&calls[i].call);

		sem_wait(&begun);
		usleep(2000);		/* most of them wait by now */
		pthread_cancel(t);
		printf("%s: %d\n", calls[i].name, finish(t) == PTHREAD_CANCELED);
	}
	close(gone[1]);
	printf("%d\n", waitpid(child, NULL, 0) == child);
}

/* --- who waits ----------------------------------------------------- */

#define MANY	100

static void *read_one(void *unused)
{
	char c = 0;

	(void)unused;
	if (__read(empty[0], &c, 1) != 1)
		abort();
	return (void *)(long)c;
}

static void *count_up(void *unused)
{
	volatile long n = 0;

	(void)unused;
	while (n < 1000000)
		n++;
	return (void *)n;
}

static void others_go_on_while_many_read(void)
{
	pthread_t t[MANY];
	long sum = 0;

	make();
	for (int i = 0; i < MANY; i++)
		t[i] = start(read_one, NULL);
	printf("%ld\n", (long)finish(start(count_up, NULL)));
	for (int i = 0; i < MANY; i++)
		(void)!__write(empty[1], "\1", 1);
	for (int i = 0; i < MANY; i++)
		sum += (long)finish(t[i]);
	printf("%ld\n", sum);
}

static void a_reader_has_no_kernel_thread(void)
{
	pthread_t t[MANY];

	make();
	for (int i = 0; i < MANY; i++)
		t[i] = start(read_one, NULL);
	usleep(300000);		/* time for the monitor to see the blocked
				 * threads */
	await_few_tasks(MANY / 2 - 1);
	printf("few kernel threads: 1\n");
	for (int i = 0; i < MANY; i++)
		(void)!__write(empty[1], "\1", 1);
	for (int i = 0; i < MANY; i++)
		finish(t[i]);
}

/* --- vfork --------------------------------------------------------- */

static void *have_a_child(void *number)
{
	int status = 0;
	pid_t child = __vfork();

	if (child == 0)
		_exit((int)(long)number);
	if (__waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return (void *)-1;
	return (void *)(long)WEXITSTATUS(status);
}

static void threads_have_children_by_vfork(void)
{
	pthread_t t[8];

	for (long i = 0; i < 8; i++)
		t[i] = start(have_a_child, (void *)(i + 1));
	for (int i = 0; i < 8; i++)
		printf("%ld\n", (long)finish(t[i]));
}

static const struct compare_case cases[] = {
	COMPARE(both_names_are_one_functions),
	COMPARE(they_are_cancellation_points),
	COMPARE(others_go_on_while_many_read),
	WEFT_ONLY(a_reader_has_no_kernel_thread, "few kernel threads: 1\n"),
	COMPARE(threads_have_children_by_vfork),
};

COMPARE_MAIN(cases)

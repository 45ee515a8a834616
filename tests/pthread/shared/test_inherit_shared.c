/* SPDX-License-Identifier: MIT */
/*
 * test_inherit_shared.c - mutexes that inherit priorities, among processes
 *
 * Some of these run without weft.
 */
#include "inherit.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define PLACE	"WEFT_TEST_INHERIT_FD"

/* What processes share. */
struct shared {
	pthread_mutex_t m;
	_Atomic int step;
	long counter;
};

static const char *program;

static struct shared *map(int fd)
{
	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED,
				fd, 0);

	if (s == MAP_FAILED)
		abort();
	return s;
}

static struct shared *begin(int robust, int *fd)
{
	struct shared *s;

	*fd = memfd_create("weft-test", 0);
	if (*fd < 0 || ftruncate(*fd, sizeof(*s)) != 0)
		abort();
	s = map(*fd);
	make(&s->m, PTHREAD_MUTEX_DEFAULT, robust, 1);
	return s;
}

/*
 * The memory that run_without_weft() named. Without a name it says so, and
 * there is nothing to do.
 */
static struct shared *place(void)
{
	const char *fd = getenv(PLACE);

	if (fd)
		return map(atoi(fd));
	printf("not alone\n");
	return NULL;
}

/* Runs a case in another process, which shares the memory; with libc's threads. */
static pid_t run_without_weft(const char *name, int fd)
{
	char number[16];
	pid_t pid;

	snprintf(number, sizeof(number), "%d", fd);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		setenv(PLACE, number, 1);
		unsetenv("LD_PRELOAD");
		execl("/proc/self/exe", program, name, (char *)NULL);
		_exit(99);
	}
	return pid;
}

static int status_of(pid_t pid)
{
	int status;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void *count_shared(void *arg)
{
	struct shared *s = arg;
	const long rounds = scaled(2000);

	for (long i = 0; i < rounds; i++) {
		if (pthread_mutex_lock(&s->m) != 0)
			abort();
		s->counter++;
		if (i % 16 == 0)
			sched_yield();
		if (pthread_mutex_unlock(&s->m) != 0)
			abort();
	}
	return NULL;
}

static void count_in_two_threads(struct shared *s)
{
	pthread_t t = start(count_shared, s), u = start(count_shared, s);

	finish(t);
	finish(u);
}

/* What the other process runs: no case by itself. */
static void in_another_count(void)
{
	struct shared *s = place();

	if (s)
		count_in_two_threads(s);
}

static void processes_take_turns(void)
{
	for (int robust = 0; robust < 2; robust++) {
		int fd;
		struct shared *s = begin(robust, &fd);
		pid_t without = run_without_weft("in_another_count", fd), child;

		child = fork();
		if (child == 0) {
			count_in_two_threads(s);
			_exit(0);
		}
		count_in_two_threads(s);
		printf("%d %d\n", status_of(without), status_of(child));
		printf("counted %d\n", s->counter == 6 * scaled(2000));
		show("destroy", pthread_mutex_destroy(&s->m));
	}
}

static void *lock_and_tell(void *arg)
{
	struct shared *s = arg;

	if (pthread_mutex_lock(&s->m) != 0)
		abort();
	s->step = 1;
	while (s->step < 2)
		usleep(1000);
	usleep(10000);
	return (void *)(long)pthread_mutex_unlock(&s->m);
}

static void *lock_and_be_killed(void *arg)
{
	struct shared *s = arg;

	if (pthread_mutex_lock(&s->m) != 0)
		abort();
	s->step = 1;
	while (s->step < 2)
		usleep(1000);
	usleep(10000);
	raise(SIGKILL);
	return NULL;
}

static void in_another_hold(void)
{
	struct shared *s = place();

	if (s)
		finish(start(lock_and_tell, s));
}

static void in_another_hold_and_die(void)
{
	struct shared *s = place();

	if (s)
		finish(start(lock_and_be_killed, s));
}

static void *wait_for_shared(void *arg)
{
	struct shared *s = arg;
	int error;

	while (!s->step)
		usleep(1000);
	show("trylock", pthread_mutex_trylock(&s->m));
	s->step = 2;
	error = pthread_mutex_lock(&s->m);
	show("lock", error);
	if (error == EOWNERDEAD)
		show("consistent", pthread_mutex_consistent(&s->m));
	show("unlock", pthread_mutex_unlock(&s->m));
	return NULL;
}

static void one_without_weft_has_it(void)
{
	for (int robust = 0; robust < 2; robust++) {
		int fd;
		struct shared *s = begin(robust, &fd);
		pid_t pid = run_without_weft("in_another_hold", fd);

		finish(start(wait_for_shared, s));
		printf("%d\n", status_of(pid));
	}
}

static void one_without_weft_is_killed(void)
{
	int fd;
	struct shared *s = begin(1, &fd);
	pid_t pid = run_without_weft("in_another_hold_and_die", fd);

	finish(start(wait_for_shared, s));
	printf("%d\n", status_of(pid));
}

/* The other way round: what another process waits for is this one's. */
static void in_another_wait(void)
{
	struct shared *s = place();

	if (s)
		wait_for_shared(s);
}

static void one_without_weft_waits(void)
{
	for (int robust = 0; robust < 2; robust++) {
		int fd;
		struct shared *s = begin(robust, &fd);
		pthread_t t = start(lock_and_tell, s);
		pid_t pid = run_without_weft("in_another_wait", fd);

		show("unlock", (int)(long)finish(t));
		printf("%d\n", status_of(pid));
		try_elsewhere(&s->m);
	}
}

static void one_without_weft_is_told(void)
{
	int fd;
	struct shared *s = begin(1, &fd);
	pid_t killed, pid;

	fflush(stdout);
	killed = fork();
	if (killed == 0)
		finish(start(lock_and_be_killed, s));
	pid = run_without_weft("in_another_wait", fd);
	printf("%d\n", status_of(pid));
	printf("%d\n", status_of(killed));
	try_elsewhere(&s->m);
}

static void one_with_weft_is_told(void)
{
	int fd;
	struct shared *s = begin(1, &fd);
	pid_t killed;

	fflush(stdout);
	killed = fork();
	if (killed == 0)
		finish(start(lock_and_be_killed, s));
	finish(start(wait_for_shared, s));
	printf("%d\n", status_of(killed));
	try_elsewhere(&s->m);
}

/* A child has none of its parent's. */
static void *fork_with_it(void *arg)
{
	struct shared *s = arg;
	pid_t pid;

	show("lock", pthread_mutex_lock(&s->m));
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		int error = pthread_mutex_unlock(&s->m);
		int busy = pthread_mutex_trylock(&s->m);
		int later = (int)(long)finish(start(try_it, &s->m));

		_exit(error == EPERM && busy == EBUSY && later == EBUSY);
	}
	printf("child %d\n", status_of(pid));
	show("unlock", pthread_mutex_unlock(&s->m));
	return NULL;
}

static void a_child_has_none(void)
{
	int fd;
	struct shared *s = begin(1, &fd);

	finish(start(fork_with_it, s));
	try_elsewhere(&s->m);
}

static const struct compare_case cases[] = {
	COMPARE(in_another_count),
	COMPARE(in_another_hold),
	COMPARE(in_another_hold_and_die),
	COMPARE(in_another_wait),
	COMPARE(processes_take_turns),
	COMPARE(one_without_weft_has_it),
	COMPARE(one_without_weft_is_killed),
	COMPARE(one_without_weft_waits),
	COMPARE(one_without_weft_is_told),
	COMPARE(one_with_weft_is_told),
	COMPARE(a_child_has_none),
};

int main(int argc, char **argv)
{
	program = argv[0];
	return compare_main(argc, argv, cases, sizeof(cases) / sizeof(*cases));
}

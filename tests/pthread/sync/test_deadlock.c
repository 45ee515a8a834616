/* SPDX-License-Identifier: MIT */
/*
 * A deadlock is reported and ends nothing. A thread that only waits is not
 * reported. Each child waits, and makes its threads after the fork.
 */
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "compare.h"

struct child {
	pid_t pid;
	int wake;		/* its standard input: a socket */
	int said;		/* its standard error */
};

static char text[1 << 18];
static size_t used;

static struct child begin(void (*scenario)(void))
{
	struct child c;
	int in[2], err[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, in) || pipe(err))
		abort();
	fflush(stdout);
	c = (struct child){ .pid = fork(), .wake = in[0], .said = err[0] };
	if (c.pid < 0)
		abort();
	if (c.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[1], STDIN_FILENO);
		dup2(err[1], STDERR_FILENO);
		close(in[0]);
		close(in[1]);
		close(err[0]);
		close(err[1]);
		scenario();
		_exit(0);
	}
	close(in[1]);
	close(err[1]);
	return c;
}

/* Reads what it says until that has `what` in it; 0: it has ended before. */
static int expect(const struct child *c, const char *what)
{
	while (!strstr(text, what)) {
		ssize_t n = read(c->said, text + used, sizeof(text) - 1 - used);

		if (n <= 0)
			return 0;
		used += (size_t)n;
		text[used] = 0;
	}
	return 1;
}

static int count(const char *what)
{
	int n = 0;

	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

static void end(const char *what, const struct child *c)
{
	int status;

	expect(c, "\n\n\n no such text");
	if (waitpid(c->pid, &status, 0) != c->pid)
		abort();
	printf("%s: %s %d, reports %d\n", what,
	       WIFSIGNALED(status) ? "signal" : "status",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
	       count("weft: deadlock: "));
	close(c->wake);
	close(c->said);
	used = 0;
	text[0] = 0;
}

/* --- who waits for ever -------------------------------------------- */

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void lock(pthread_mutex_t *one, pthread_mutex_t *other)
{
	pthread_mutex_lock(one);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(other);
	pthread_mutex_unlock(other);
	pthread_mutex_unlock(one);
}

static void *first_then_second(void *arg)
{
	lock(&first, &second);
	return arg;
}

static void *second_then_first(void *arg)
{
	lock(&second, &first);
	return arg;
}

static void lock_each_other(void)
{
	pthread_t t;

	pthread_barrier_init(&both, NULL, 2);
	t = start(first_then_second, NULL);
	start(second_then_first, NULL);
	finish(t);
}

/* What ends others' programs ends no preloaded one. */
static void lock_each_other_and_exit(void)
{
	setenv("WEFT_DEADLOCK", "exit", 1);
	lock_each_other();
}

static int has_stacks(void)
{
	return count(" first_then_second+") == 1 &&
	       count(" second_then_first+") == 1 &&
	       count(" lock_each_other+") == 1;
}

static void a_deadlock_is_told_of_once_and_ends_nothing(void)
{
	void (*scenarios[])(void) = {
		lock_each_other, lock_each_other_and_exit
	};

	for (int i = 0; i < 2; i++) {
		struct child c = begin(scenarios[i]);

		printf("%d\n", expect(&c, "weft: end of dump"));
		printf("stacks: %d\n", has_stacks());
		fprintf(stderr, "%s", text);
		printf("it lives: %d\n",
		       waitpid(c.pid, NULL, WNOHANG) == 0);
		kill(c.pid, SIGTERM);
		end("ended", &c);
	}
}

/* The first thread runs meanwhile, and ends the program when it is told to. */
static void lock_each_other_while_one_runs(void)
{
	char c;

	setenv("WEFT_DEADLOCK", "watch", 1);
	pthread_barrier_init(&both, NULL, 2);
	start(first_then_second, NULL);
	start(second_then_first, NULL);
	while (recv(STDIN_FILENO, &c, 1, MSG_DONTWAIT) != 1)
		usleep(1000);
}

static void a_cycle_is_told_of_once_while_others_run(void)
{
	struct child c = begin(lock_each_other_while_one_runs);

	printf("%d\n", expect(&c, "weft: end of report"));
	printf("cycle: %d, threads: %d\n",
	       count("deadlock: 2 threads wait for each other; others go on\n"),
	       count("\n    waits for itself through: "));
	(void)send(c.wake, "", 1, MSG_NOSIGNAL);
	end("ended", &c);
}

/* --- who waits for something --------------------------------------- */

static void with_a_thread(void *(*fn)(void *arg))
{
	if (write(STDIN_FILENO, "", 1) != 1)
		abort();
	finish(start(fn, NULL));
}

static void *by_read(void *arg)
{
	char c;

	return read(STDIN_FILENO, &c, 1) == 1 ? arg : NULL;
}

static void *by_poll(void *arg)
{
	struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&p, 1, -1) == 1 ? arg : NULL;
}

static void *by_sigwait(void *arg)
{
	sigset_t set;
	int signal;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigwait(&set, &signal);
	return arg;
}

static void on_signal(int signal)
{
	(void)signal;
	_exit(0);
}

static void *by_a_handler(void *arg)
{
	pthread_mutex_lock(&first);
	pthread_mutex_lock(&first);	/* for ever */
	return arg;
}

static void *by_pause(void *arg)
{
	pause();
	return arg;
}

static sem_t *shared;

static void *by_another_process(void *arg)
{
	while (sem_wait(shared) != 0)
		;
	return arg;
}

static sem_t of_timer;

static void on_time(union sigval value)
{
	(void)value;
	sem_post(&of_timer);
}

/* libc has a thread of its own for that, which nobody can see through. */
static void *by_a_thread_of_libc(void *arg)
{
	struct itimerspec time = { .it_value.tv_nsec = 300000000 };
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_time
	};
	timer_t timer;

	sem_init(&of_timer, 0, 0);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) ||
	    timer_settime(timer, 0, &time, NULL))
		abort();
	while (sem_wait(&of_timer) != 0)
		;
	return arg;
}

#define CHILD(name)							\
	static void child_##name(void)					\
	{								\
		with_a_thread(name);					\
	}

CHILD(by_read)
CHILD(by_poll)
CHILD(by_pause)
CHILD(by_another_process)
CHILD(by_a_thread_of_libc)

static void child_by_sigwait(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	with_a_thread(by_sigwait);
}

static void child_by_a_handler(void)
{
	signal(SIGUSR1, on_signal);
	with_a_thread(by_a_handler);
}

static const struct {
	const char *name;
	void (*scenario)(void);
	int signal;		/* that wakes it */
} idle[] = {
	{ "read", child_by_read, 0 },
	{ "poll", child_by_poll, 0 },
	{ "sigwait", child_by_sigwait, SIGUSR1 },
	{ "handler", child_by_a_handler, SIGUSR1 },
	{ "pause", child_by_pause, SIGTERM },
	{ "process", child_by_another_process, 0 },
	{ "libc", child_by_a_thread_of_libc, 0 },
};

#define IDLE	(sizeof(idle) / sizeof(*idle))

/* Each has its time for a report, and is woken then. */
static void an_idle_program_is_not_reported(void)
{
	struct child c[IDLE];
	char ready;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		abort();
	sem_init(shared, 1, 0);
	for (size_t i = 0; i < IDLE; i++)
		c[i] = begin(idle[i].scenario);
	for (size_t i = 0; i < IDLE; i++)
		if (read(c[i].wake, &ready, 1) != 1)
			abort();
	usleep(400000);
	sem_post(shared);
	for (size_t i = 0; i < IDLE; i++) {
		if (idle[i].signal)
			kill(c[i].pid, idle[i].signal);
		else
			(void)send(c[i].wake, "", 1, MSG_NOSIGNAL);
		end(idle[i].name, &c[i]);
	}
}

static const struct compare_case cases[] = {
	WEFT_ONLY(a_deadlock_is_told_of_once_and_ends_nothing,
		  "1\nstacks: 1\nit lives: 1\n"
		  "ended: signal 15, reports 1\n"
		  "1\nstacks: 1\nit lives: 1\n"
		  "ended: signal 15, reports 1\n"),
	WEFT_ONLY(a_cycle_is_told_of_once_while_others_run,
		  "1\ncycle: 1, threads: 2\nended: status 0, reports 1\n"),
	COMPARE(an_idle_program_is_not_reported),
};

COMPARE_MAIN(cases)

/* SPDX-License-Identifier: MIT */
/*
 * test_unseen_child.c - children of _Fork(), clone() and syscall(), which libc does not see
 *
 * No fork handler runs for them. The child of a process with threads goes on as the child
 * of fork() does. The first thread makes it, or another, or the handler of a signal.
 */
#include "compare.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum way {
#ifdef SYS_fork
	BY_SYS_FORK,
#endif
	BY_FORK, BY_ALONE, BY_SYS_CLONE, BY_SYS_CLONE3, BY_CLONE, WAYS
};

static const char *const names[] = {
#ifdef SYS_fork
	[BY_SYS_FORK] = "SYS_fork",
#endif
	[BY_FORK] = "fork", [BY_ALONE] = "_Fork", [BY_SYS_CLONE] = "SYS_clone",
	[BY_SYS_CLONE3] = "SYS_clone3", [BY_CLONE] = "clone",
};

static volatile sig_atomic_t handled;
static _Atomic int no_more;

static void note(int signal)
{
	(void)signal;
	handled++;
}

static void *compute(void *arg)
{
	while (!no_more)
		;
	return arg;
}

static void *give_back(void *arg)
{
	return arg;
}

/* Older libcs have no _Fork(): then what it calls in the kernel. */
static pid_t fork_alone(void)
{
	pid_t (*fn)(void) = (pid_t (*)(void))dlsym(RTLD_DEFAULT, "_Fork");

	return fn ? fn() : (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
}

static pid_t by_clone3(void)
{
	uint64_t args[8] = { [4] = SIGCHLD };	/* struct clone_args */

	return (pid_t)syscall(435L, args, sizeof(args));
}

/* --- what a child can do ------------------------------------------- */

static sem_t never;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t others = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];

static int has_ids(void)
{
	return getpid() == (pid_t)syscall(SYS_getpid) && gettid() == getpid() &&
	       syscall(SYS_gettid) == getpid();
}

static int takes_signals(void)
{
	const int before = handled;
	sigset_t mask;

	raise(SIGUSR1);
	kill(getpid(), SIGUSR1);
	pthread_kill(pthread_self(), SIGUSR1);
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	return handled == before + 3 && !sigismember(&mask, SIGUSR1) &&
	       sigismember(&mask, SIGUSR2);
}

static int waits_end(void)
{
	const struct timespec at = soon(CLOCK_REALTIME, 20), nap = { 0, 1000000 };
	struct pollfd p = { .fd = ends[0], .events = POLLIN };
	char c = 0;

	if (sem_timedwait(&never, &at) == 0 || errno != ETIMEDOUT)
		return 0;
	if (nanosleep(&nap, NULL) != 0 || poll(&p, 1, 5) != 0)
		return 0;
	return write(ends[1], "x", 1) == 1 && read(ends[0], &c, 1) == 1 && c == 'x';
}

/* The caller holds one mutex. Another thread, which is not here, holds the other. */
static int has_its_locks(void)
{
	const struct timespec at = soon(CLOCK_REALTIME, 20);

	if (pthread_mutex_unlock(&held) != 0 || pthread_mutex_lock(&held) != 0)
		return 0;
	if (pthread_mutex_timedlock(&others, &at) != ETIMEDOUT)
		return 0;
	return pthread_mutex_unlock(&held) == 0;
}

/* A signal of another process ends the wait. */
static int is_interrupted(void)
{
	const pid_t self = getpid(), child = fork_alone();
	const int before = handled;
	struct pollfd p = { .fd = ends[0], .events = POLLIN };

	if (child == 0) {
		while (poll(NULL, 0, 2) == 0 && getppid() == self)
			kill(self, SIGUSR1);
		_exit(0);
	}
	while (poll(&p, 1, 10000) != -1 || errno != EINTR)
		;
	kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return handled > before;
}

static int becomes_a_program(void)
{
	const pid_t child = fork_alone();
	int status = 0;

	if (child == 0) {
		execl("/bin/sh", "sh", "-c", "exit 6", (char *)NULL);
		_exit(99);
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 6;
}

static int can_make_threads(void)
{
	int x;

	return finish(start(give_back, &x)) == &x;
}

static int (*const can[])(void) = {
	has_ids, takes_signals, waits_end, has_its_locks, is_interrupted, becomes_a_program,
};

#define CANS	((int)(sizeof(can) / sizeof(*can)))

/* As a status: all that the child can do. */
static int do_all(void *arg)
{
	int does = 0;

	(void)arg;
	for (int i = 0; i < CANS; i++)
		does |= can[i]() << i;
	return does;
}

static int stack[16384];

static pid_t make_child(enum way way, int (*fn)(void *))
{
	pid_t pid = -1;

	switch (way) {
#ifdef SYS_fork
	case BY_SYS_FORK:
		pid = (pid_t)syscall(SYS_fork);
		break;
#endif
	case BY_FORK:
		pid = fork();
		break;
	case BY_ALONE:
		pid = fork_alone();
		break;
	case BY_SYS_CLONE:
		pid = (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
		break;
	case BY_SYS_CLONE3:
		pid = by_clone3();
		if (pid < 0 && (errno == ENOSYS || errno == EPERM))
			pid = fork_alone();
		break;
	case BY_CLONE:
		return clone(fn, stack + sizeof(stack) / sizeof(*stack), SIGCHLD, NULL);
	case WAYS:
		break;
	}
	if (pid == 0)
		_exit(fn(NULL));
	return pid;
}

static void await(enum way way, pid_t pid)
{
	int status = 0;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		abort();
	printf("%s: %s %d\n", names[way], WIFSIGNALED(status) ? "signal" : "does",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	fflush(stdout);
}

static void *hold_other(void *arg)
{
	pthread_mutex_lock(&others);
	sem_post(arg);
	compute(NULL);
	pthread_mutex_unlock(&others);
	return arg;
}

static pthread_t busy[2];

static void begin(void)
{
	const struct sigaction action = { .sa_handler = note };
	sigset_t set;
	sem_t holds;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGUSR1, &action, NULL);
	sem_init(&never, 0, 0);
	sem_init(&holds, 0, 0);
	if (pipe(ends) != 0)
		abort();
	busy[0] = start(hold_other, &holds);
	busy[1] = start(compute, NULL);
	sem_wait(&holds);
}

static void end(void)
{
	no_more = 1;
	finish(busy[0]);
	finish(busy[1]);
}

static void *make_all(void *fn)
{
	pthread_mutex_lock(&held);
	for (int way = 0; way < WAYS; way++)
		await((enum way)way, make_child((enum way)way, *(int (**)(void *))fn));
	pthread_mutex_unlock(&held);
	return fn;
}

static void by_first_and_other(int (*fn)(void *))
{
	begin();
	make_all(&fn);
	finish(start(make_all, &fn));
	end();
}

static void it_does_what_the_child_of_a_fork_does(void)
{
	by_first_and_other(do_all);
}

/* --- threads in the child ------------------------------------------ */

/* Its own lists of threads go on from its parent's, which libc has not emptied. */
static int make_threads(void *arg)
{
	int made = 0;

	for (int i = 0; i < 20; i++)
		made += can_make_threads();
	raise(SIGUSR1);
	return arg ? made : made + handled;
}

static int make_child_with_threads(void *arg)
{
	int status = 0;
	pid_t pid;

	(void)arg;
	if (make_threads(&status) != 20)
		return 90;
	pid = fork_alone();
	if (pid == 0)
		_exit(make_threads(NULL));
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 91;
	return WEXITSTATUS(status);
}

static void it_can_make_threads(void)
{
	by_first_and_other(make_threads);
}

static void so_can_its_child(void)
{
	by_first_and_other(make_child_with_threads);
}

static int make_seen_child(void *arg)
{
	int status = 0;
	pid_t pid = fork();

	(void)arg;
	if (pid == 0)
		_exit(make_threads(NULL));
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 91;
	return WEXITSTATUS(status) + make_threads(NULL);
}

static void its_child_by_fork_can_too(void)
{
	by_first_and_other(make_seen_child);
}

/* --- in a handler -------------------------------------------------- */

static enum way handlers_way;
static volatile sig_atomic_t is_child;
static pid_t made;

static void fork_here(int signal)
{
	(void)signal;
	if (handlers_way == BY_SYS_CLONE)
		made = (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
	else
		made = fork_alone();
	is_child = made == 0;
}

static void *fork_in_handler(void *arg)
{
	pthread_mutex_lock(&held);
	for (int i = 0; i < 2; i++) {
		handlers_way = i ? BY_SYS_CLONE : BY_ALONE;
		raise(SIGURG);
		if (is_child) {
			const int does = do_all(arg);

			_exit(make_threads(arg) == 20 ? does : 92);
		}
		await(handlers_way, made);
	}
	pthread_mutex_unlock(&held);
	return arg;
}

static void a_handler_may_make_it(void)
{
	const struct sigaction action = { .sa_handler = fork_here };
	int x = 0;

	begin();
	sigaction(SIGURG, &action, NULL);
	fork_in_handler(&x);
	finish(start(fork_in_handler, &x));
	end();
}

/* --- fork handlers ------------------------------------------------- */

static void say(void)
{
	printf("a fork handler\n");
}

/* Only fork() calls them. */
static int end_at_once(void *arg)
{
	(void)arg;
	fflush(stdout);
	return 5;
}

static void fork_handlers_are_left_out(void)
{
	begin();
	fflush(stdout);
	pthread_atfork(say, NULL, NULL);
	for (int way = 0; way < WAYS; way++)
		if (way != BY_FORK)
			await((enum way)way, make_child((enum way)way, end_at_once));
	end();
}

/* A child that has its parent's memory is as ever. */
static int store(void *arg)
{
	*(int *)arg = 7;
	return 3;
}

static void memory_may_be_shared(void)
{
	int value = 0, status = 0;
	pid_t pid;

	begin();
	pid = clone(store, stack + sizeof(stack) / sizeof(*stack), CLONE_VM | CLONE_VFORK |
		    SIGCHLD, &value);
	if (waitpid(pid, &status, 0) != pid)
		abort();
	printf("%d %d\n", value, WEXITSTATUS(status));
	show_errno("no stack", clone(store, NULL, SIGCHLD, &value));
	show_errno("no function", clone(NULL, stack, SIGCHLD, &value));
	show_errno("flags", syscall(SYS_clone, (long)(CLONE_SIGHAND | SIGCHLD), 0L, 0L, 0L, 0L));
	end();
}

/* Many, while other threads make and end threads and allocate. */
static void *churn(void *arg)
{
	while (!no_more) {
		free(malloc(1000));
		finish(start(give_back, arg));
	}
	return arg;
}

static int take_a_signal(void *arg)
{
	(void)arg;
	raise(SIGUSR1);
	return handled;
}

static void *make_many(void *arg)
{
	long good = 0;

	for (long i = 0; i < scaled(50); i++) {
		int status = 0;
		pid_t pid = make_child((enum way)(i % WAYS), take_a_signal);

		if (waitpid(pid, &status, 0) != pid)
			abort();
		good += WIFEXITED(status) && WEXITSTATUS(status) == 1;
	}
	*(long *)arg = good;
	return arg;
}

static void other_threads_are_anywhere(void)
{
	pthread_t t[3];
	long good[2];

	begin();
	t[0] = start(churn, NULL);
	t[1] = start(churn, NULL);
	t[2] = start(make_many, &good[0]);
	finish(t[2]);
	make_many(&good[1]);
	printf("%d %d\n", good[0] == scaled(50), good[1] == scaled(50));
	no_more = 1;
	finish(t[0]);
	finish(t[1]);
	end();
}

static const struct compare_case cases[] = {
	COMPARE(it_does_what_the_child_of_a_fork_does),
	COMPARE(it_can_make_threads),
	COMPARE(so_can_its_child),
	COMPARE(its_child_by_fork_can_too),
	COMPARE(a_handler_may_make_it),
	COMPARE(fork_handlers_are_left_out),
	COMPARE(memory_may_be_shared),
	COMPARE(other_threads_are_anywhere),
};

COMPARE_MAIN(cases)

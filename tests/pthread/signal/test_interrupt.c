/* SPDX-License-Identifier: MIT */
/* test_interrupt.c - which waits a handler ends, and what handlers may do */
#include "compare.h"

#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>

static sem_t begun, sem;
static _Atomic int handled, over;
static int ends[2];		/* of a pair of sockets */
static char full[1 << 20];
static pid_t child;

static sigset_t set_of(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	return set;
}

static void count(int signal)
{
	(void)signal;
	handled++;
}

static void handle(int signal, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };

	sigaction(signal, &action, NULL);
}

/* --- which waits end ----------------------------------------------- */

static long by_read(void)
{
	char c;

	return read(ends[0], &c, 1);
}

static long by_recv(void)
{
	char c;

	return recv(ends[0], &c, 1, 0);
}

static void bring_byte(void)
{
	(void)!write(ends[1], "x", 1);
}

/* As long as nothing has gone out, a write is as a read. */
static long by_write(void)
{
	return write(ends[0], full, 1) == 1 ? 1 : -1;
}

static void make_room(void)
{
	(void)!read(ends[1], full, sizeof(full));
}

static long by_sem(void)
{
	return sem_wait(&sem);
}

static void bring_post(void)
{
	sem_post(&sem);
}

static long by_waitpid(void)
{
	int status;

	return waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : -1;
}

static void end_child(void)
{
	kill(child, SIGKILL);
}

static long by_poll(void)
{
	struct pollfd p = { .fd = ends[0], .events = POLLIN };

	return poll(&p, 1, -1);
}

static long by_select(void)
{
	fd_set in;

	FD_ZERO(&in);
	FD_SET(ends[0], &in);
	return select(ends[0] + 1, &in, NULL, NULL, NULL);
}

static long by_epoll(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int ep = epoll_create1(0);
	long n;

	epoll_ctl(ep, EPOLL_CTL_ADD, ends[0], &event);
	n = epoll_wait(ep, &event, 1, -1);
	close(ep);
	return n;
}

static long by_usleep(void)
{
	struct timespec long_time = { 1000, 0 };

	return nanosleep(&long_time, NULL);
}

/* No time that they wait for ever: goes on in spite of handlers, if so asked. */
static const struct wait_case {
	const char *name;
	long (*wait)(void);
	void (*bring)(void);	/* NULL: a handler ends it in any case */
} waits[] = {
	{ "read", by_read, bring_byte },
	{ "recv", by_recv, bring_byte },
	{ "write", by_write, make_room },
	{ "sem_wait", by_sem, bring_post },
	{ "waitpid", by_waitpid, end_child },
	{ "poll", by_poll, NULL },
	{ "select", by_select, NULL },
	{ "epoll_wait", by_epoll, NULL },
	{ "nanosleep", by_usleep, NULL },
};

static void *wait_so(void *arg)
{
	const struct wait_case *w = arg;

	sem_post(&begun);
	printf("%s: ", w->name);
	show_errno("it", w->wait());
	over = 1;
	return NULL;
}

static void prepare(void)
{
	sem_init(&begun, 0, 0);
	sem_init(&sem, 0, 0);
	handled = over = 0;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		abort();
	while (send(ends[0], full, sizeof(full), MSG_DONTWAIT) > 0)
		;
	fflush(stdout);
	child = fork();
	if (child == 0)
		for (;;)
			pause();
}

/* Until it is over, or enough handlers have run for one to run in the wait. */
static void interrupt(const struct wait_case *w, int flags)
{
	int go_on = (flags & SA_RESTART) && w->bring;
	pthread_t t;

	prepare();
	handle(SIGUSR1, count, flags);
	t = start(wait_so, (void *)(uintptr_t)w);
	while (sem_wait(&begun) != 0)
		;
	while (!over && (!go_on || handled < 5)) {
		usleep(3000);
		if (!over)
			pthread_kill(t, SIGUSR1);
	}
	if (go_on) {
		printf("over %d\n", over);
		w->bring();
	}
	finish(t);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(ends[0]);
	close(ends[1]);
}

static void a_handler_ends_the_wait(void)
{
	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
		interrupt(&waits[i], 0);
}

static void a_wait_goes_on_if_so_asked(void)
{
	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
		interrupt(&waits[i], SA_RESTART);
}

/* --- what nobody has asked for ends none --------------------------- */

static _Atomic int stop;

static void *compute(void *arg)
{
	while (!stop)
		;
	return arg;
}

static void *wait_a_little(void *arg)
{
	struct timespec time = { 0, 200000 };
	long wrong = 0;
	int status;

	for (int i = 0; i < 4; i++) {
		pid_t made = fork();

		if (made == 0)
			_exit(7);
		wrong += nanosleep(&time, NULL) != 0;
		wrong += clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL) != 0;
		wrong += usleep(200) != 0;
		wrong += poll(NULL, 0, 1) != 0;
		wrong += select(0, NULL, NULL, NULL,
				&(struct timeval){ 0, 200 }) != 0;
		wrong += waitpid(made, &status, 0) != made ||
			 WEXITSTATUS(status) != 7;
	}
	return (void *)(wrong * (arg != NULL));
}

/* A call does not notice that slices end, or that kernel threads change. */
static void slices_interrupt_no_call(void)
{
	pthread_t busy[4], t[4];
	long wrong = 0;

	for (int i = 0; i < 4; i++)
		busy[i] = start(compute, NULL);
	for (int i = 0; i < 4; i++)
		t[i] = start(wait_a_little, full);
	for (int i = 0; i < 4; i++)
		wrong += (long)finish(t[i]);
	stop = 1;
	for (int i = 0; i < 4; i++)
		finish(busy[i]);
	printf("%ld\n", wrong);
}

/* --- masks for the time of a wait ---------------------------------- */

static void *wait_with_masks(void *arg)
{
	sigset_t one = set_of(SIGUSR1), none, now;
	struct epoll_event event;
	int ep = epoll_create1(0);

	sigemptyset(&none);
	pthread_sigmask(SIG_BLOCK, &one, NULL);
	for (int i = 0; i < 3; i++) {
		pthread_kill(pthread_self(), SIGUSR1);
		printf("%d ", handled);
		if (i == 0)
			show_errno("ppoll", ppoll(NULL, 0, NULL, &none));
		else if (i == 1)
			show_errno("pselect", pselect(0, NULL, NULL, NULL,
						      NULL, &none));
		else
			show_errno("epoll", epoll_pwait(ep, &event, 1, -1,
							&none));
		pthread_sigmask(SIG_BLOCK, NULL, &now);
		printf("%d %d\n", handled, sigismember(&now, SIGUSR1));
	}
	return arg;
}

static void a_mask_for_a_wait_lets_signals_in(void)
{
	handle(SIGUSR1, count, SA_RESTART);
	finish(start(wait_with_masks, NULL));
}

static void *wait_with_times(void *arg)
{
	struct timespec some = { 0, 5000000 }, no = { 0, 0 }, bad = { 0, -1 };
	struct pollfd p = { .fd = ends[0], .events = POLLIN };
	struct epoll_event event = { .events = EPOLLIN };
	int ep = epoll_create1(0);
	fd_set in;

	epoll_ctl(ep, EPOLL_CTL_ADD, ends[0], &event);
	for (int i = 0; i < 2; i++) {
		printf("%d ", poll(&p, 1, i ? 0 : 5));
		printf("%d ", ppoll(&p, 1, i ? &no : &some, NULL));
		FD_ZERO(&in);
		FD_SET(ends[0], &in);
		printf("%d ", pselect(ends[0] + 1, &in, NULL, NULL,
				      i ? &no : &some, NULL));
		printf("%d ", epoll_wait(ep, &event, 1, i ? 0 : 5));
		printf("%d\n", epoll_pwait(ep, &event, 1, i ? 0 : 5, NULL));
	}
	show_errno("time", ppoll(&p, 1, &bad, NULL));
	show_errno("time", pselect(0, NULL, NULL, NULL, &bad, NULL));
	show_errno("room", epoll_wait(ep, &event, 0, 0));
	return arg;
}

static void waits_for_events_end_in_time(void)
{
	if (pipe(ends) != 0)
		abort();
	finish(start(wait_with_times, NULL));
}

/* --- in handlers --------------------------------------------------- */

static long got;

static void read_and_write(int signal)
{
	char c = 0;
	int saved = errno;

	(void)signal;
	sem_post(&sem);
	got += read(ends[0], &c, 1) * c;
	(void)!write(ends[0], "b", 1);
	errno = saved;
}

static void *raise_it(void *arg)
{
	for (int i = 0; i < 5; i++) {
		errno = 77;
		raise(SIGUSR1);
		if (errno != 77)
			abort();
	}
	return arg;
}

/* It waits there until another thread gives it something. */
static void a_handler_may_read(void)
{
	pthread_t t;
	char c;

	sem_init(&sem, 0, 0);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		abort();
	handle(SIGUSR1, read_and_write, 0);
	t = start(raise_it, NULL);
	for (int i = 0; i < 5; i++) {
		while (sem_wait(&sem) != 0)
			;
		if (i % 2)
			usleep(2000);	/* most likely it waits */
		if (write(ends[1], "a", 1) != 1 || read(ends[1], &c, 1) != 1)
			abort();
	}
	finish(t);
	printf("%ld %c\n", got, c);
}

/* What is blocked while it runs is the thread's again behind it. */
static void move(int signal)
{
	sigset_t now;

	(void)signal;
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	if (!sigismember(&now, SIGUSR2) || !sigismember(&now, SIGUSR1))
		abort();
	for (int i = 0; i < 10; i++) {
		sched_yield();
		usleep(100);
	}
	handled++;
}

static void *compute_and_look(void *arg)
{
	sigset_t mask = set_of(SIGWINCH), now;
	long good = 0;

	if ((long)arg % 2)
		pthread_sigmask(SIG_BLOCK, &mask, NULL);
	sem_post(&begun);
	while (!stop)
		;
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	good += sigismember(&now, SIGWINCH) == (long)arg % 2;
	good += !sigismember(&now, SIGUSR1) && !sigismember(&now, SIGUSR2);
	return (void *)good;
}

static void masks_come_back_after_a_handler(void)
{
	struct sigaction action = { .sa_handler = move,
				    .sa_mask = set_of(SIGUSR2) };
	pthread_t t[6];
	long good = 0;

	sem_init(&begun, 0, 0);
	sigaction(SIGUSR1, &action, NULL);
	for (long i = 0; i < 6; i++)
		t[i] = start(compute_and_look, (void *)i);
	for (int i = 0; i < 6; i++)
		while (sem_wait(&begun) != 0)
			;
	for (int i = 0; i < 18; i++)
		pthread_kill(t[i % 6], SIGUSR1);
	while (handled < 6)
		usleep(1000);
	stop = 1;
	for (int i = 0; i < 6; i++)
		good += (long)finish(t[i]);
	printf("%ld\n", good);
}

static void wait_for_begun(int signal)
{
	(void)signal;
	handled = 1;
	while (sem_wait(&begun) != 0)
		;
}

/* The second signal comes in the handler of the first. */
static void *wait_for_two(void *arg)
{
	const sigset_t set = set_of(SIGUSR2);
	int signal = 0;

	pthread_sigmask(SIG_BLOCK, &set, NULL);
	sem_post(&sem);
	show("wait", sigwait(&set, &signal));
	printf("the second: %d\n", signal == SIGUSR2);
	return arg;
}

static double cpu_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

/* What the wait below it waits for does not keep it awake. */
static void a_handler_in_sigwait_waits_in_peace(void)
{
	pthread_t t;
	double used;

	sem_init(&sem, 0, 0);
	sem_init(&begun, 0, 0);
	handled = 0;
	handle(SIGUSR1, wait_for_begun, 0);
	t = start(wait_for_two, NULL);
	sem_wait(&sem);
	usleep(20000);
	for (pthread_kill(t, SIGUSR1); !handled; )
		usleep(1000);
	pthread_kill(t, SIGUSR2);
	used = cpu_seconds();
	usleep(400000);
	used = cpu_seconds() - used;
	sem_post(&begun);
	finish(t);
	printf("asleep: %d\n", used < 0.2);
}

static const struct compare_case cases[] = {
	COMPARE(a_handler_ends_the_wait),
	COMPARE(a_wait_goes_on_if_so_asked),
	COMPARE(slices_interrupt_no_call),
	COMPARE(a_mask_for_a_wait_lets_signals_in),
	COMPARE(waits_for_events_end_in_time),
	COMPARE(a_handler_may_read),
	COMPARE(masks_come_back_after_a_handler),
	COMPARE(a_handler_in_sigwait_waits_in_peace),
};

COMPARE_MAIN(cases)

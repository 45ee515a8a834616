/* SPDX-License-Identifier: MIT */
/*
 * test_pending.c - signals that wait: their number, their order, and their
 * threads
 */
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "compare.h"

#define FIRST	SIGRTMIN
#define MOST	4000

static volatile sig_atomic_t got;
static int values[MOST];

static void note(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)context;
	if (got < MOST)
		values[got] = info->si_value.sival_int;
	got++;
}

static void handle(int signal)
{
	struct sigaction action = { .sa_sigaction = note,
				    .sa_flags = SA_SIGINFO | SA_RESTART };

	sigfillset(&action.sa_mask);
	sigaction(signal, &action, NULL);
}

static sigset_t change(int how, int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	pthread_sigmask(how, &set, NULL);
	return set;
}

static void *nothing(void *arg)
{
	return arg;
}

/* From here on all threads are weft's. */
static void begin(void)
{
	finish(start(nothing, NULL));
}

/* --- how many ------------------------------------------------------ */

static void queue_all(pid_t to, int signal, int n)
{
	for (int i = 0; i < n; i++)
		while (sigqueue(to, signal, (union sigval){ .sival_int = i }) != 0)
			usleep(1000);
}

static int are_in_order(int n)
{
	for (int i = 0; i < n; i++)
		if (values[i] != i)
			return 0;
	return 1;
}

static void what_another_process_queues_is_all_handled(void)
{
	pid_t child;

	begin();
	handle(FIRST);
	child = fork();
	if (child == 0) {
		queue_all(getppid(), FIRST, 3000);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	while (got < 3000)
		usleep(1000);
	printf("got %d, in order %d\n", (int)got, are_in_order(3000));
}

static void a_thread_may_have_many(void)
{
	int error = 0;

	begin();
	handle(FIRST);
	change(SIG_BLOCK, FIRST);
	for (int i = 0; i < 2000 && !error; i++)
		error = pthread_sigqueue(pthread_self(), FIRST,
					 (union sigval){ .sival_int = i });
	show("queue", error);
	printf("got %d\n", (int)got);
	change(SIG_UNBLOCK, FIRST);
	printf("got %d, in order %d\n", (int)got, are_in_order(2000));
}

/* --- in which order ------------------------------------------------ */

static void queue_to_self(int signal, int value)
{
	show("queue", pthread_sigqueue(pthread_self(), signal,
				       (union sigval){ .sival_int = value }));
}

static void the_lowest_number_is_taken_first(void)
{
	sigset_t set;
	siginfo_t info;

	begin();
	sigemptyset(&set);
	for (int i = 0; i < 4; i++)
		sigaddset(&set, FIRST + i);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (int i = 3; i >= 0; i--)
		queue_to_self(FIRST + i, i);
	queue_to_self(FIRST + 1, 10);
	pthread_kill(pthread_self(), SIGUSR1);
	printf("first %d\n", sigwaitinfo(&set, &info) == SIGUSR1);
	for (int i = 0; i < 5; i++) {
		int signal = sigwaitinfo(&set, &info);

		printf("%d: %d\n", signal - FIRST, info.si_value.sival_int);
	}
}

static void show_values(int n)
{
	for (int i = 0; i < n; i++)
		printf(" %d", values[i]);
	printf("\n");
}

static void what_was_sent_while_blocked_is_handled_at_once(void)
{
	begin();
	handle(FIRST);
	change(SIG_BLOCK, FIRST);
	queue_all(getpid(), FIRST, 8);
	change(SIG_UNBLOCK, FIRST);
	printf("got %d:", (int)got);
	show_values(8);
}

/* By another process, which has ended. */
static void queue_by_child(int signal, int n)
{
	pid_t child = fork();

	if (child == 0) {
		queue_all(getppid(), signal, n);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void so_is_what_another_process_sent(void)
{
	sigset_t set;
	siginfo_t info;

	begin();
	handle(FIRST);
	change(SIG_BLOCK, FIRST);
	set = change(SIG_BLOCK, FIRST + 1);
	queue_by_child(FIRST, 8);
	queue_by_child(FIRST + 1, 8);
	for (int i = 0; i < 8; i++) {
		sigwaitinfo(&set, &info);
		printf("waited for %d\n", info.si_value.sival_int);
	}
	/* Whoever has taken the first of the lower number was done with it before. */
	change(SIG_UNBLOCK, FIRST);
	printf("got %d:", (int)got);
	show_values(8);
}

static void a_timer_counts_what_it_did_not_send(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = FIRST };
	const struct itimerspec often = { { 0, 1000000 }, { 0, 1000000 } };
	const struct itimerspec stopped = { { 0, 0 }, { 0, 0 } };
	sigset_t set;
	siginfo_t info;
	timer_t timer;

	begin();
	set = change(SIG_BLOCK, FIRST);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &often, NULL);
	usleep(100000);
	printf("it came %d, ", sigwaitinfo(&set, &info) == FIRST);
	printf("others %d\n", info.si_overrun > 20);
	timer_settime(timer, 0, &stopped, NULL);
}

/* --- for whom ------------------------------------------------------ */

static pthread_t first;
static volatile int over, in_first;

static void note_where(int signal)
{
	(void)signal;
	in_first = pthread_equal(pthread_self(), first) != 0;
	got++;
}

static void handle_by(int signal, void (*handler)(int))
{
	const struct sigaction action = { .sa_handler = handler };

	sigaction(signal, &action, NULL);
}

static void *kill_until_over(void *arg)
{
	while (!over) {
		kill(getpid(), SIGUSR1);
		usleep(2000);
	}
	return arg;
}

static void the_first_thread_is_preferred(void)
{
	char c;
	int ends[2];
	pthread_t t;

	first = pthread_self();
	handle_by(SIGUSR1, note_where);
	if (pipe(ends) != 0)
		abort();
	t = start(kill_until_over, NULL);
	show_errno("read", read(ends[0], &c, 1));
	over = 1;
	finish(t);
	printf("in the first %d\n", in_first);
}

static sem_t go;

static void *kill_and_wait(void *arg)
{
	kill(getpid(), SIGUSR1);
	sem_wait(&go);
	return arg;
}

/* With libc's it may, where it has just begun. */
static void a_sender_that_waits_does_not_take_it(void)
{
	int wrong = 0;

	first = pthread_self();
	sem_init(&go, 0, 0);
	handle_by(SIGUSR1, note_where);
	for (int i = 0; i < 20; i++) {
		pthread_t t = start(kill_and_wait, NULL);

		while (got <= i)
			;
		wrong += !in_first;
		sem_post(&go);
		finish(t);
	}
	printf("got %d, elsewhere %d\n", (int)got, wrong);
}

static void *let_in_and_kill(void *arg)
{
	change(SIG_UNBLOCK, SIGUSR1);
	kill(getpid(), SIGUSR1);
	printf("got %d, in the first %d\n", (int)got, in_first);
	return arg;
}

static void else_who_sends_it_has_it_at_once(void)
{
	first = pthread_self();
	in_first = 1;
	handle_by(SIGUSR1, note_where);
	change(SIG_BLOCK, SIGUSR1);
	finish(start(let_in_and_kill, NULL));
}

static void show_pending(void)
{
	sigset_t pending;

	sigpending(&pending);
	printf("pending %d %d %d\n", sigismember(&pending, SIGUSR1),
	       sigismember(&pending, SIGUSR2), sigismember(&pending, SIGCHLD));
}

/* It waits for one: the receiver may have it just now, and give it back. */
static void look_by_fd(int fd)
{
	struct signalfd_siginfo info;

	if (read(fd, &info, sizeof(info)) != sizeof(info))
		abort();
	printf("%d, sent so %d, by us %d\n", (int)info.ssi_signo, info.ssi_code,
	       info.ssi_pid == (unsigned)getpid());
}

static void what_a_thread_sends_to_itself_is_found_by_signalfd(void)
{
	sigset_t set;
	siginfo_t info;
	int fd;

	begin();
	set = change(SIG_BLOCK, SIGUSR1);
	handle(SIGUSR1);
	fd = signalfd(-1, &set, 0);
	raise(SIGUSR1);
	look_by_fd(fd);
	pthread_kill(pthread_self(), SIGUSR1);
	look_by_fd(fd);
	kill(getpid(), SIGUSR1);
	look_by_fd(fd);
	raise(SIGUSR1);
	printf("waited for %d\n", sigwaitinfo(&set, &info) == SIGUSR1);
	raise(SIGUSR1);
	change(SIG_UNBLOCK, SIGUSR1);
	while (!got)
		usleep(1000);
	printf("got %d\n", (int)got);
}

/* --- the mask that a handler leaves -------------------------------- */

static void change_what_is_blocked(int signal, siginfo_t *info, void *context)
{
	sigset_t *mask = &((ucontext_t *)context)->uc_sigmask;

	(void)info;
	printf("blocked %d %d\n", sigismember(mask, SIGUSR1),
	       sigismember(mask, SIGUSR2));
	sigaddset(mask, signal);
	sigdelset(mask, SIGUSR2);
}

static void a_handler_may_change_the_mask(void)
{
	struct sigaction action = { .sa_sigaction = change_what_is_blocked,
				    .sa_flags = SA_SIGINFO };
	sigset_t now;

	begin();
	handle(SIGUSR2);
	sigaction(SIGUSR1, &action, NULL);
	change(SIG_BLOCK, SIGUSR2);
	raise(SIGUSR2);
	raise(SIGUSR1);
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	printf("got %d, blocked %d %d\n", (int)got, sigismember(&now, SIGUSR1),
	       sigismember(&now, SIGUSR2));
}

/* --- what is ignored ----------------------------------------------- */

static void what_is_ignored_does_not_wait(void)
{
	begin();
	handle(SIGUSR1);
	handle(SIGUSR2);
	handle(SIGCHLD);
	change(SIG_BLOCK, SIGUSR1);
	change(SIG_BLOCK, SIGUSR2);
	change(SIG_BLOCK, SIGCHLD);
	raise(SIGUSR1);
	kill(getpid(), SIGUSR2);
	raise(SIGCHLD);
	show_pending();
	signal(SIGUSR1, SIG_IGN);
	show_pending();
	handle_by(SIGUSR2, SIG_IGN);
	handle_by(SIGCHLD, SIG_DFL);
	show_pending();
	handle(SIGUSR1);
	handle(SIGUSR2);
	handle(SIGCHLD);
	change(SIG_UNBLOCK, SIGUSR1);
	change(SIG_UNBLOCK, SIGUSR2);
	change(SIG_UNBLOCK, SIGCHLD);
	printf("got %d\n", (int)got);
}

/* --- what cannot be blocked, and what stops ------------------------ */

static volatile int *went_on;

static int by_raise(int signal)
{
	return raise(signal);
}

static int to_a_thread(int signal)
{
	return pthread_kill(pthread_self(), signal);
}

static int by_queue(int signal)
{
	return pthread_sigqueue(pthread_self(), signal,
				(union sigval){ .sival_int = 1 });
}

static int by_call(int signal)
{
	return (int)syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
}

static void send_to_itself(int (*send)(int), int signal)
{
	int status;
	pid_t child;

	*went_on = 0;
	fflush(stdout);
	child = fork();
	if (child == 0) {
		setpgid(0, 0);		/* not orphaned: its parent is of another */
		begin();
		send(signal);
		*went_on = 1;
		_exit(7);
	}
	waitpid(child, &status, WUNTRACED);
	if (WIFSTOPPED(status)) {
		printf("stopped by %d, went on %d\n", WSTOPSIG(status), *went_on);
		kill(child, SIGCONT);
		waitpid(child, &status, 0);
	}
	printf("%s %d, went on %d\n", WIFSIGNALED(status) ? "killed" : "ended",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
	       *went_on);
}

static void a_process_kills_and_stops_itself(void)
{
	int (*const ways[])(int) = { by_raise, to_a_thread, by_queue, by_call };

	went_on = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 4; i++) {
		send_to_itself(ways[i], SIGKILL);
		send_to_itself(ways[i], SIGSTOP);
		send_to_itself(ways[i], SIGTSTP);
		send_to_itself(ways[i], SIGTTIN);
	}
}

static const struct compare_case cases[] = {
	COMPARE(what_another_process_queues_is_all_handled),
	COMPARE(a_thread_may_have_many),
	COMPARE(the_lowest_number_is_taken_first),
	COMPARE(what_was_sent_while_blocked_is_handled_at_once),
	COMPARE(so_is_what_another_process_sent),
	COMPARE(a_timer_counts_what_it_did_not_send),
	COMPARE(the_first_thread_is_preferred),
	WEFT_ONLY(a_sender_that_waits_does_not_take_it,
		  "got 20, elsewhere 0\n"),
	COMPARE(else_who_sends_it_has_it_at_once),
	COMPARE(what_a_thread_sends_to_itself_is_found_by_signalfd),
	COMPARE(a_handler_may_change_the_mask),
	COMPARE(what_is_ignored_does_not_wait),
	COMPARE(a_process_kills_and_stops_itself),
};

COMPARE_MAIN(cases)

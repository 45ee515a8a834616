/* SPDX-License-Identifier: MIT */
/* test_terminal.c - a terminal stops threads in the background, by SIGTTIN and SIGTTOU */
#include "compare.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>

#define PATIENCE	2000

static _Atomic int handled;
static _Atomic int stop;
static int terminal;
static int is_retried;

/*
 * Since 2.37, glibc's dprintf() writes again when a handler has run, for ever. Where the
 * signal is ignored, the terminal takes what is written. Any thread may take the signal, and
 * the call goes on unless it was the caller. So it is not ignored before many others have
 * taken it.
 */
static void count(int number)
{
	if (++handled >= PATIENCE && is_retried)
		signal(number, SIG_IGN);
}

/* --- calls --------------------------------------------------------- */

static long by_read(void)
{
	char c;

	return read(terminal, &c, 1);
}

static long by_syscall(void)
{
	char c;

	return syscall(SYS_read, terminal, &c, 1);
}

static long by_getc(void)
{
	return getc(fdopen(terminal, "r"));
}

static long by_write(void)
{
	return write(terminal, "x", 1);
}

static long by_dprintf(void)
{
	return dprintf(terminal, "x");
}

static long by_tcsetattr(void)
{
	struct termios t;

	tcgetattr(terminal, &t);
	t.c_lflag ^= ECHO;
	return tcsetattr(terminal, TCSANOW, &t);
}

static long by_tcsetpgrp(void)
{
	return tcsetpgrp(terminal, getpgrp());
}

static const struct {
	const char *name;
	long (*fn)(void);
} calls[] = {
	{ "read", by_read }, { "syscall", by_syscall }, { "getc", by_getc },
	{ "write", by_write }, { "dprintf", by_dprintf },
	{ "tcsetattr", by_tcsetattr }, { "tcsetpgrp", by_tcsetpgrp },
};

#define CALLS	(sizeof(calls) / sizeof(*calls))

/* --- a process in the background ----------------------------------- */

enum { BY_DEFAULT, BY_HANDLER, IGNORED, BLOCKED };

static int disposition;
static size_t call_index;

static void block_both(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTTIN);
	sigaddset(&set, SIGTTOU);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/* Others run on the same VCPUs, with the signals blocked, and not. */
static void *yield(void *blocks)
{
	if (blocks)
		block_both();
	while (!stop)
		sched_yield();
	return NULL;
}

static void *make_call(void *unused)
{
	long n;

	if (disposition == BLOCKED)
		block_both();
	for (int i = 0; i < 10; i++)
		sched_yield();
	is_retried = calls[call_index].fn == by_dprintf;
	n = calls[call_index].fn();
	printf(" %ld %s, handled %d;", n, n < 0 ? error_name(errno) : "",
	       handled > 0);
	fflush(stdout);
	return unused;
}

static _Noreturn void background(int in_main)
{
	struct sigaction action = {
		.sa_handler = disposition == BY_HANDLER ? count :
			      disposition == IGNORED ? SIG_IGN : SIG_DFL,
	};
	pthread_t t[2];

	setpgid(0, 0);
	sigaction(SIGTTIN, &action, NULL);
	sigaction(SIGTTOU, &action, NULL);
	t[0] = start(yield, NULL);
	t[1] = start(yield, "blocks");
	if (in_main)
		make_call(NULL);
	else
		finish(start(make_call, NULL));
	stop = 1;
	finish(t[0]);
	finish(t[1]);
	_exit(0);
}

static void tell_status(int status)
{
	if (WIFSTOPPED(status))
		printf(" stopped by %d\n", WSTOPSIG(status));
	else if (WIFSIGNALED(status))
		printf(" signal %d\n", WTERMSIG(status));
	else
		printf(" exit %d\n", WEXITSTATUS(status));
}

/* By the session's leader, which is in the foreground. */
static void run_all(int how)
{
	disposition = how;
	for (size_t i = 0; i < 2 * CALLS; i++) {
		pid_t child;
		int status;

		call_index = i / 2;
		printf("%s%s:", calls[call_index].name, i % 2 ? ", main" : "");
		fflush(stdout);
		tcsetpgrp(terminal, getpgrp());
		child = fork();
		if (child == 0)
			background(i % 2);
		waitpid(child, &status, WUNTRACED);
		tell_status(status);
		if (!WIFSTOPPED(status))
			continue;
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
}

static void lead(int how)
{
	struct termios t;
	int master = posix_openpt(O_RDWR | O_NOCTTY);

	setsid();
	signal(SIGTTOU, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
		abort();
	terminal = open(ptsname(master), O_RDWR);
	if (terminal < 0 || ioctl(terminal, TIOCSCTTY, 0) != 0 ||
	    tcgetattr(terminal, &t) != 0)
		abort();
	t.c_lflag |= TOSTOP;
	if (tcsetattr(terminal, TCSANOW, &t) != 0)
		abort();
	run_all(how);
}

static void in_session(int how)
{
	pid_t leader = fork();
	int status;

	if (leader == 0) {
		lead(how);
		fflush(stdout);
		_exit(0);
	}
	waitpid(leader, &status, 0);
	printf("leader:");
	tell_status(status);
}

static void it_stops_by_default(void)
{
	in_session(BY_DEFAULT);
}

static void a_handler_ends_the_call(void)
{
	in_session(BY_HANDLER);
}

static void ignored_it_fails_or_lets_through(void)
{
	in_session(IGNORED);
}

static void so_it_does_for_a_thread_that_blocks_it(void)
{
	in_session(BLOCKED);
}

static const struct compare_case cases[] = {
	COMPARE(it_stops_by_default),
	COMPARE(a_handler_ends_the_call),
	COMPARE(ignored_it_fails_or_lets_through),
	COMPARE(so_it_does_for_a_thread_that_blocks_it),
};

COMPARE_MAIN(cases)

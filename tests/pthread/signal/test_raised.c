/* SPDX-License-Identifier: MIT */
/* test_raised.c - signals that a system call raises for its caller */
#include "compare.h"

#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "syscall.h"

/* The older calls are tested too. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define LIMIT	4096		/* of a file's size */
#define MUCH	(4 * LIMIT)

static int to;			/* what is written goes there */
static char much[MUCH];
static _Atomic int handled, elsewhere;
static pthread_t caller;

/* --- calls --------------------------------------------------------- */

static long by_write(void)
{
	return write(to, much, MUCH);
}

static long by_writev(void)
{
	struct iovec iov[2] = { { much, MUCH / 2 }, { much, MUCH / 2 } };

	return writev(to, iov, 2);
}

static long by_syscall(void)
{
	return syscall(SYS_write, to, much, MUCH);
}

static long by_instruction(void)
{
	long r = wefti_arch_syscall(SYS_write, to, (long)much, MUCH, 0, 0, 0);

	errno = r < 0 ? (int)-r : errno;
	return r < 0 ? -1 : r;
}

static long by_dprintf(void)
{
	return dprintf(to, "%*d", MUCH, 1);
}

static long by_stdio(void)
{
	FILE *f = fdopen(dup(to), "a");
	size_t n = fwrite(much, 1, 100, f);

	return fflush(f) == 0 && n == 100 && fwrite(much, 1, MUCH, f) == MUCH &&
	       fflush(f) == 0 ? MUCH : -1;
}

static long by_unbuffered(void)
{
	FILE *f = fdopen(dup(to), "a");

	setvbuf(f, NULL, _IONBF, 0);
	return fwrite(much, 1, MUCH, f) == MUCH ? MUCH : -1;
}

static long by_warn(void)
{
	dup2(to, 2);
	errno = EAGAIN;
	warn("%*d", MUCH, 1);
	return 0;
}

static long by_sendfile(void)
{
	int from = memfd_create("from", 0);

	return ftruncate(from, MUCH) == 0 ? sendfile(to, from, NULL, MUCH) : -2;
}

static long by_splice(void)
{
	int p[2];

	if (pipe(p) != 0 || write(p[1], much, LIMIT) != LIMIT)
		abort();
	return splice(p[0], NULL, to, NULL, LIMIT, 0);
}

static long by_pwrite(void)
{
	return pwrite(to, much, MUCH, MUCH);
}

static long by_ftruncate(void)
{
	return ftruncate(to, MUCH);
}

static long by_fallocate(void)
{
	return fallocate(to, 0, 0, MUCH);
}

static long by_posix_fallocate(void)
{
	errno = posix_fallocate(to, 0, MUCH);
	return errno ? -1 : 0;
}

struct call {
	const char *name;
	long (*fn)(void);
};

static const struct call to_pipes[] = {
	{ "write", by_write }, { "writev", by_writev },
	{ "syscall", by_syscall }, { "instruction", by_instruction },
	{ "dprintf", by_dprintf }, { "stdio", by_stdio },
	{ "unbuffered", by_unbuffered }, { "warn", by_warn },
	{ "splice", by_splice }, { "sendfile", by_sendfile },
};

static const struct call to_files[] = {
	{ "write", by_write }, { "writev", by_writev },
	{ "syscall", by_syscall }, { "instruction", by_instruction },
	{ "stdio", by_stdio }, { "unbuffered", by_unbuffered },
	{ "pwrite", by_pwrite }, { "ftruncate", by_ftruncate },
	{ "fallocate", by_fallocate }, { "posix_fallocate", by_posix_fallocate },
};

/* --- what the signal does ------------------------------------------ */

enum { BY_DEFAULT, BY_HANDLER, IGNORED, BLOCKED, DISPOSITIONS };

static const char *const dispositions[] = {
	"default", "handler", "ignored", "blocked",
};

static void count(int signal)
{
	(void)signal;
	handled++;
	elsewhere += !pthread_equal(pthread_self(), caller);
}

static const struct call *call;
static int signal_number, disposition;

static sigset_t only(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	return set;
}

/* Twice: what the first has raised is handled when it returns. */
static void *make_call(void *unused)
{
	const struct timespec none = { 0, 0 };
	const sigset_t set = only(signal_number);
	sigset_t pending;

	caller = pthread_self();
	if (disposition == BLOCKED)
		pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < 2; i++) {
		long n = call->fn();
		int error = errno;

		printf(" %ld", n);
		if (n < 0)
			printf(" %s", error_name(error));
		printf(", handled %d", handled);
		sigpending(&pending);
		printf(", waits %d;", sigismember(&pending, signal_number));
	}
	if (disposition == BLOCKED)
		printf(" waited %d", sigtimedwait(&set, NULL, &none));
	printf(" elsewhere %d\n", elsewhere);
	fflush(stdout);
	return unused;
}

static void *spin(void *unused)
{
	while (!handled)
		sched_yield();
	return unused;
}

/* In a process of its own; another thread runs, and lets the signal in. */
static void try(const struct call *c, int signal, int how)
{
	struct sigaction action = { .sa_handler = how == IGNORED ? SIG_IGN :
				    how == BY_DEFAULT ? SIG_DFL : count };
	pid_t child;
	int status;

	printf("%s, %s:", c->name, dispositions[how]);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		call = c;
		signal_number = signal;
		disposition = how;
		sigaction(signal, &action, NULL);
		start(spin, NULL);
		finish(start(make_call, NULL));
		_exit(0);
	}
	waitpid(child, &status, 0);
	if (WIFSIGNALED(status))
		printf(" signal %d\n", WTERMSIG(status));
	else
		printf(" exit %d\n", WEXITSTATUS(status));
}

static void pipes(int how)
{
	for (size_t i = 0; i < sizeof(to_pipes) / sizeof(*to_pipes); i++) {
		int p[2];

		if (pipe(p) != 0)
			abort();
		close(p[0]);
		to = p[1];
		try(&to_pipes[i], SIGPIPE, how);
		close(to);
	}
}

static void files(int how)
{
	const struct rlimit limit = { LIMIT, LIMIT };

	setrlimit(RLIMIT_FSIZE, &limit);
	for (size_t i = 0; i < sizeof(to_files) / sizeof(*to_files); i++) {
		char name[] = "/tmp/weft-test-raised.XXXXXX";

		to = mkstemp(name);
		unlink(name);
		try(&to_files[i], SIGXFSZ, how);
		close(to);
	}
}

static void a_pipe_by_default(void)
{
	pipes(BY_DEFAULT);
}

static void a_pipe_with_a_handler(void)
{
	pipes(BY_HANDLER);
}

static void a_pipe_ignored(void)
{
	pipes(IGNORED);
}

static void a_pipe_blocked(void)
{
	pipes(BLOCKED);
}

static void a_files_size_by_default(void)
{
	files(BY_DEFAULT);
}

static void a_files_size_with_a_handler(void)
{
	files(BY_HANDLER);
}

static void a_files_size_ignored(void)
{
	files(IGNORED);
}

static void a_files_size_blocked(void)
{
	files(BLOCKED);
}

/* Several threads at once, each of which counts its own. */
#define WRITERS	8
#define ROUNDS	100

static _Thread_local int own;
static int closed;

static void count_own(int signal, siginfo_t *info, void *context)
{
	(void)context;
	own += signal == SIGPIPE && info->si_pid == getpid();
}

static void *write_often(void *unused)
{
	const long rounds = scaled(ROUNDS);
	long failed = 0;

	(void)unused;
	own = 0;
	for (long i = 0; i < rounds; i++) {
		failed += dprintf(closed, "line\n") < 0;
		sched_yield();
		failed += syscall(SYS_write, closed, "x", 1) < 0;
	}
	return (void *)(intptr_t)(failed == 2 * rounds && own == failed);
}

static void each_thread_has_its_own(void)
{
	struct sigaction action = { .sa_sigaction = count_own,
				    .sa_flags = SA_SIGINFO };
	pthread_t t[WRITERS];
	int p[2];

	if (pipe(p) != 0)
		abort();
	close(p[0]);
	closed = p[1];
	sigaction(SIGPIPE, &action, NULL);
	for (int i = 0; i < WRITERS; i++)
		t[i] = start(write_often, NULL);
	for (int i = 0; i < WRITERS; i++)
		printf("%d", finish(t[i]) != NULL);
	printf("\n");
}

/* The program that is started has the default or ignores it, as here. */
static void *start_program(void *unused)
{
	return system("grep SigIgn /proc/self/status") == 0 ? unused : NULL;
}

static void programs_inherit_it(void)
{
	for (int i = 0; i < 3; i++) {
		signal(SIGPIPE, i == 0 ? SIG_DFL : i == 1 ? count : SIG_IGN);
		fflush(stdout);
		finish(start(start_program, NULL));
	}
}

/* What is set is what is told. */
static void actions_are_told(void)
{
	static const int numbers[] = {
		SIGPIPE, SIGXFSZ, SIGPROF, SIGSEGV, SIGABRT, SIGUSR1, SIGCHLD,
	};

	handled = 1;
	finish(start(spin, (void *)(intptr_t)handled));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		struct sigaction action = { .sa_handler = count }, now;

		sigaction(numbers[i], NULL, &now);
		printf("%d: default %d, %#x", numbers[i],
		       now.sa_handler == SIG_DFL, (unsigned)now.sa_flags);
		action.sa_flags = SA_RESTART | SA_NODEFER | SA_NOCLDSTOP;
		sigaddset(&action.sa_mask, SIGUSR2);
		sigaction(numbers[i], &action, NULL);
		sigaction(numbers[i], NULL, &now);
		printf("; counts %d, %#x, blocks %d %d",
		       now.sa_handler == count, (unsigned)now.sa_flags,
		       sigismember(&now.sa_mask, SIGUSR2),
		       sigismember(&now.sa_mask, SIGUSR1));
		siginterrupt(numbers[i], 1);
		sigaction(numbers[i], NULL, &now);
		printf("; %#x", (unsigned)now.sa_flags);
		signal(numbers[i], count);
		sigaction(numbers[i], NULL, &now);
		printf(", %#x", (unsigned)now.sa_flags);
		siginterrupt(numbers[i], 0);
		printf("; was counting %d", signal(numbers[i], SIG_IGN) == count);
		sigaction(numbers[i], NULL, &now);
		printf("; ignored %d, %#x\n", now.sa_handler == SIG_IGN,
		       (unsigned)now.sa_flags);
	}
	show_errno("of none", sigaction(65, NULL, NULL));
	show_errno("that cannot be", sigaction(SIGKILL, &(struct sigaction){
			.sa_handler = count }, NULL));
}

static const struct compare_case cases[] = {
	COMPARE(a_pipe_by_default),
	COMPARE(a_pipe_with_a_handler),
	COMPARE(a_pipe_ignored),
	COMPARE(a_pipe_blocked),
	COMPARE(a_files_size_by_default),
	COMPARE(a_files_size_with_a_handler),
	COMPARE(a_files_size_ignored),
	COMPARE(a_files_size_blocked),
	COMPARE(each_thread_has_its_own),
	COMPARE(programs_inherit_it),
	COMPARE(actions_are_told),
};

COMPARE_MAIN(cases)

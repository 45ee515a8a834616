/* SPDX-License-Identifier: MIT */
/*
 * test_signal_table.c - how a signal is raised, what is set for it, what its thread does
 *
 * Each cell of the table is a process of its own. One thread lets the signal in, or blocks
 * it; main blocks it, and raises it or has it raised. A cell tells what has ended it, or
 * where the handler ran, and what was pending.
 */
#include "compare.h"

#include <fcntl.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum disposition { DEFAULT, HANDLER, IGNORED, BLOCKED, DISPOSITIONS };

static const char *const disposition_names[] = {
	"default", "handler", "ignored", "blocked",
};

struct way {
	const char *name;
	int signal;
	void (*raise)(int signal);
};

struct doing {
	const char *name;
	void (*run)(void);
	void (*end)(void);	/* NULL: it looks at `stop` */
};

static const struct way *way;
static enum disposition disposition;
static pthread_t target;
static pid_t target_id;
static sem_t begun, never;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int held, other;		/* the same file, twice */
static _Atomic int stop, handled, elsewhere;
static sigjmp_buf out;
static volatile char *volatile nowhere;

static void on_signal(int signal)
{
	handled++;
	elsewhere += !pthread_equal(pthread_self(), target);
	if (signal == SIGSEGV)
		siglongjmp(out, 1);
}

/* --- by main, to the process or the thread ------------------------- */

static void by_timer(int signal)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = signal };
	const struct itimerspec once = { .it_value = { 0, 1000000 } };
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
	    timer_settime(timer, 0, &once, NULL) != 0)
		abort();
}

static void by_kill(int signal)
{
	kill(getpid(), signal);
}

static void by_sigqueue(int signal)
{
	sigqueue(getpid(), signal, (union sigval){ 0 });
}

static void by_tgkill(int signal)
{
	syscall(SYS_tgkill, getpid(), target_id, signal);
}

static void by_pthread_kill(int signal)
{
	pthread_kill(target, signal);
}

static const struct way outside[] = {
	{ "timer", SIGALRM, by_timer },
	{ "kill", SIGUSR1, by_kill },
	{ "sigqueue", SIGHUP, by_sigqueue },
	{ "tgkill", SIGPROF, by_tgkill },
	{ "pthread_kill", SIGVTALRM, by_pthread_kill },
};

/* --- by the thread itself ------------------------------------------ */

static void by_fault(int signal)
{
	(void)signal;
	if (sigsetjmp(out, 1) == 0)
		*nowhere = 1;
}

static void by_call(int signal)
{
	int ends[2];

	(void)signal;
	if (pipe(ends) != 0 || close(ends[0]) != 0)
		abort();
	if (write(ends[1], "x", 1) >= 0 || errno != EPIPE)
		abort();
}

static void by_raise(int signal)
{
	raise(signal);
}

static void by_abort(int signal)
{
	(void)signal;
	abort();
}

static const struct way inside[] = {
	{ "fault", SIGSEGV, by_fault },
	{ "call", SIGPIPE, by_call },
	{ "raise", SIGUSR1, by_raise },
	{ "kill", SIGTERM, by_kill },
	{ "abort", SIGABRT, by_abort },
};

/* --- what the thread does ------------------------------------------ */

static void compute(void)
{
	while (!stop)
		;
}

static void allocate(void)
{
	void *block[16] = { NULL };

	for (unsigned i = 0; !stop; i++) {
		free(block[i % 16]);
		block[i % 16] = malloc(1 + i * 37 % 20000);
	}
	for (int i = 0; i < 16; i++)
		free(block[i]);
}

static void be_in_the_runtime(void)
{
	sem_t sem;

	sem_init(&sem, 0, 0);
	while (!stop) {
		sem_post(&sem);
		sem_trywait(&sem);
		sched_yield();
		pthread_mutex_lock(&lock);
		pthread_mutex_unlock(&lock);
	}
}

static void wait_parked(void)
{
	while (!stop)
		(void)!sem_wait(&never);
}

static void end_park(void)
{
	sem_post(&never);
}

static void wait_in_the_kernel(void)
{
	while (flock(other, LOCK_EX) != 0)
		;
}

static void end_in_the_kernel(void)
{
	flock(held, LOCK_UN);
}

static void compute_in_handler(int signal)
{
	(void)signal;
	compute();
}

static void be_in_a_handler(void)
{
	const struct sigaction action = { .sa_handler = compute_in_handler };

	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR2);
}

static const struct doing doings[] = {
	{ "computes", compute, NULL },
	{ "in malloc", allocate, NULL },
	{ "in the runtime", be_in_the_runtime, NULL },
	{ "parked", wait_parked, end_park },
	{ "in a region", wait_in_the_kernel, end_in_the_kernel },
	{ "in a handler", be_in_a_handler, NULL },
};

static void raise_here(void)
{
	way->raise(way->signal);
}

static void raise_in_handler(int signal)
{
	(void)signal;
	raise_here();
}

static void raise_in_a_handler(void)
{
	const struct sigaction action = { .sa_handler = raise_in_handler };

	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR2);
}

static void raise_after_a_wait(void)
{
	usleep(1000);
	raise_here();
}

static const struct doing raisings[] = {
	{ "computes", raise_here, NULL },
	{ "has waited", raise_after_a_wait, NULL },
	{ "in a handler", raise_in_a_handler, NULL },
};

/* --- a cell -------------------------------------------------------- */

static sigset_t set_of(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	return set;
}

static void *be_the_target(void *doing)
{
	const sigset_t set = set_of(way->signal);
	sigset_t pending;

	target = pthread_self();
	target_id = (pid_t)syscall(SYS_gettid);
	pthread_sigmask(disposition == BLOCKED ? SIG_BLOCK : SIG_UNBLOCK, &set,
			NULL);
	sem_post(&begun);
	((const struct doing *)doing)->run();
	do
		sigpending(&pending);
	while (disposition == BLOCKED && !sigismember(&pending, way->signal));
	printf("handled %d, elsewhere %d, pending %d", handled, elsewhere,
	       sigismember(&pending, way->signal));
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	/* A timer's may just be in the hands of whoever takes the signals for all. */
	while (way->raise == by_timer && disposition == BLOCKED && !handled)
		sched_yield();
	printf("; let in %d, elsewhere %d\n", handled, elsewhere);
	return NULL;
}

static void begin_cell(void)
{
	const sigset_t set = set_of(way->signal);
	struct sigaction action = { .sa_handler = on_signal };
	char path[64];

	alarm(way->signal == SIGALRM ? 0 : 30);
	held = memfd_create("file", 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", held);
	other = open(path, O_RDWR);
	flock(held, LOCK_EX);
	sem_init(&begun, 0, 0);
	sem_init(&never, 0, 0);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (disposition == DEFAULT)
		action.sa_handler = SIG_DFL;
	if (disposition == IGNORED)
		action.sa_handler = SIG_IGN;
	sigaction(way->signal, &action, NULL);
}

/* By main. What is to have no effect has time for it. */
static void raise_from_outside(const struct doing *doing)
{
	while (sem_wait(&begun) != 0)
		;
	usleep(2000);
	way->raise(way->signal);
	if (disposition == HANDLER)
		while (!handled)
			usleep(100);
	else
		usleep(disposition == DEFAULT ? 20000000 : 30000);
	stop = 1;
	if (doing->end)
		doing->end();
}

static void run_cell(const struct doing *doing, int is_outside)
{
	pthread_t t;

	begin_cell();
	t = start(be_the_target, (void *)(uintptr_t)doing);
	if (is_outside)
		raise_from_outside(doing);
	finish(t);
	fflush(stdout);
	_exit(0);
}

static void cell(const struct doing *doing, int is_outside)
{
	int status;
	pid_t child;

	printf("%s, %s, %s: ", way->name, disposition_names[disposition],
	       doing->name);
	fflush(stdout);
	child = fork();
	if (child == 0)
		run_cell(doing, is_outside);
	if (waitpid(child, &status, 0) != child)
		abort();
	if (WIFSIGNALED(status))
		printf("ended by %d\n", WTERMSIG(status));
}

static void rows(const struct way *w, const struct doing *of, size_t n,
		 int is_outside)
{
	way = w;
	for (int d = 0; d < DISPOSITIONS; d++) {
		disposition = (enum disposition)d;
		for (size_t i = 0; i < n; i++)
			cell(&of[i], is_outside);
	}
}

static void of_others(const struct way *w)
{
	rows(w, doings, sizeof(doings) / sizeof(*doings), 1);
}

static void of_its_own(const struct way *w)
{
	rows(w, raisings, sizeof(raisings) / sizeof(*raisings), 0);
}

#define CASE(name, rows, way)						\
	static void name(void)						\
	{								\
		rows(way);						\
	}

CASE(a_timers, of_others, &outside[0])
CASE(by_kill_from_another, of_others, &outside[1])
CASE(by_sigqueue_from_another, of_others, &outside[2])
CASE(by_tgkill_from_another, of_others, &outside[3])
CASE(by_pthread_kill_from_another, of_others, &outside[4])
CASE(a_fault, of_its_own, &inside[0])
CASE(one_interrupts_a_call, of_its_own, &inside[1])
CASE(by_raise_itself, of_its_own, &inside[2])
CASE(by_kill_itself, of_its_own, &inside[3])
CASE(by_abort_itself, of_its_own, &inside[4])

static const struct compare_case cases[] = {
	COMPARE(a_timers),
	COMPARE(by_kill_from_another),
	COMPARE(by_sigqueue_from_another),
	COMPARE(by_tgkill_from_another),
	COMPARE(by_pthread_kill_from_another),
	COMPARE(a_fault),
	COMPARE(one_interrupts_a_call),
	COMPARE(by_raise_itself),
	COMPARE(by_kill_itself),
	COMPARE(by_abort_itself),
};

COMPARE_MAIN(cases)

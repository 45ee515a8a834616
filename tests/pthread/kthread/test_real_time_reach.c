/* SPDX-License-Identifier: MIT */
/*
 * test_real_time_reach.c - a thread that keeps its CPU is reached; a child
 * begins anew
 */
#include "real_time.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

/* --- the child of a fork ------------------------------------------- */

static void *fork_as(void *arg)
{
	struct sched_param param = { .sched_priority = 0 };
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		pthread_t ordinary;

		if (sched_setscheduler(0, SCHED_OTHER, &param) != 0)
			abort();
		ordinary = start_ordinary();
		finish(start_as(SCHED_FIFO, LOW, tell_as, "child"));
		end_ordinary(ordinary);
		fflush(stdout);
		_exit(3);
	}
	if (waitpid(child, &status, 0) != child)
		abort();
	printf("%d\n", WEXITSTATUS(status));
	return arg;
}

#define TWICE	KEEPS("child") "3\n" KEEPS("child") "3\n"

static void threads_of_the_parent_do_not_count_in_a_child(void)
{
	pthread_t t[2];

	if (!begin_alone(TWICE))
		return;
	sem_init(&never, 0, 0);
	t[0] = start_as(SCHED_FIFO, HIGH, wait_here, NULL);
	t[1] = start_as(SCHED_FIFO, LOW, wait_here, NULL);
	finish(start_as(SCHED_FIFO, MIDDLE, fork_as, NULL));
	finish(start_as(SCHED_OTHER, 0, fork_as, NULL));
	for (int i = 0; i < 2; i++)
		cancel(t[i]);
}

/* --- it is reached all the same ------------------------------------ */

static _Atomic int caught;

static void catch(int signal)
{
	caught = signal;
}

static int64_t real_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000) + t.tv_nsec / 1000000;
}

/* A turn is over behind .95 of a second, whatever the thread has got of its CPU in it. */
#define SURE_MS	800

/* Each time before it goes on; others would have to wait a second for that. */
static void *be_timed(void *arg)
{
	const int64_t begin = real_ms();
	static const int timers[] = { ITIMER_PROF, ITIMER_VIRTUAL, ITIMER_REAL };
	static const int signals[] = { SIGPROF, SIGVTALRM, SIGALRM };
	const struct itimerval soon_over = { .it_value.tv_usec = 20000 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	for (int i = 0; i < 6; i++) {
		caught = 0;
		setitimer(timers[i % 3], &soon_over, NULL);
		while (caught != signals[i % 3])
			if (i >= 3)
				sched_yield();
		printf("%d caught; others %s\n", i,
		       has_run && real_ms() - begin < SURE_MS ? "ran" : "wait");
	}
	return arg;
}

static void *run_once(void *arg)
{
	has_run = 1;
	return arg;
}

static void *make_one_and_be_timed(void *arg)
{
	pthread_t t = start_as(SCHED_OTHER, 0, run_once, NULL);

	be_timed(arg);
	finish(t);
	return arg;
}

#define CAUGHT	"0 caught; others wait\n1 caught; others wait\n"	\
		"2 caught; others wait\n3 caught; others wait\n"	\
		"4 caught; others wait\n5 caught; others wait\n"

/*
 * SIGALRM is for a thread that lets it in, the others are for the running
 * thread.
 */
static void signals_come_to_who_keeps_its_cpu(void)
{
	const struct sigaction action = { .sa_handler = catch };
	sigset_t set;

	if (!begin_alone(CAUGHT))
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	sigaction(SIGALRM, &action, NULL);
	sigaction(SIGPROF, &action, NULL);
	sigaction(SIGVTALRM, &action, NULL);
	finish(start_as(SCHED_FIFO, LOW, make_one_and_be_timed, NULL));
}

static void *spin_for_ever(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	has_run = 1;
	while (has_run)
		*(volatile int *)arg = 1;
	return arg;
}

static void cancellation_comes_to_who_keeps_its_cpu(void)
{
	int word;
	pthread_t t;

	if (!is_allowed()) {
		printf("left out: real-time policies are refused here\n");
		return;
	}
	t = start_as(SCHED_RR, HIGH, spin_for_ever, &word);
	while (!has_run)
		usleep(1000);
	cancel(t);
	printf("cancelled\n");
}

static int ends[2];

/* Not by read(): where nothing of weft's sees it. */
static void *read_in_the_kernel(void *arg)
{
	char c = 0;

	*(long *)arg = syscall(SYS_read, ends[0], &c, (size_t)1);
	return (void *)(long)c;
}

static void *write_later(void *arg)
{
	yield_often();
	*(long *)arg = write(ends[1], "x", 1);
	return arg;
}

static void others_run_when_it_blocks_in_the_kernel(void)
{
	long bytes[2], got;
	pthread_t t;

	if (!begin() || pipe(ends) != 0)
		return;
	t = start_as(SCHED_FIFO, HIGH, read_in_the_kernel, &bytes[0]);
	finish(start_as(SCHED_OTHER, 0, write_later, &bytes[1]));
	got = (long)finish(t);
	printf("%ld %ld %ld\n", bytes[0], bytes[1], got);
}

#define PROGRAMS	3	/* beside this one, on its CPU */

static void compute_beside(pid_t programs[PROGRAMS])
{
	for (int i = 0; i < PROGRAMS; i++) {
		programs[i] = fork();
		if (programs[i] == 0)
			for (;;)
				;
	}
}

static void *keep(void *arg)
{
	const long before = others;
	const int64_t begin = cpu_ns();

	while (others == before)
		sched_yield();
	printf("gave way: %s\n", cpu_ns() - begin < 900 * 1000000 ?
	       "in time" : "when it had used as much of the CPU");
	return arg;
}

#define IN_TIME	"gave way: in time\n"

/* In the kernel .95 of a second is elapsed time, however many programs share the CPU. */
static void its_turn_is_over_in_time_on_a_busy_cpu(void)
{
	pid_t programs[PROGRAMS];
	pthread_t ordinary;

	if (!begin_alone(IN_TIME))
		return;
	compute_beside(programs);
	ordinary = start_ordinary();
	finish(start_as(SCHED_FIFO, LOW, keep, NULL));
	end_ordinary(ordinary);
	for (int i = 0; i < PROGRAMS; i++) {
		kill(programs[i], SIGKILL);
		waitpid(programs[i], NULL, 0);
	}
}

static const struct compare_case cases[] = {
	WEFT_ONLY(threads_of_the_parent_do_not_count_in_a_child, TWICE),
	WEFT_ONLY(signals_come_to_who_keeps_its_cpu, CAUGHT),
	COMPARE(cancellation_comes_to_who_keeps_its_cpu),
	COMPARE(others_run_when_it_blocks_in_the_kernel),
	WEFT_ONLY(its_turn_is_over_in_time_on_a_busy_cpu, IN_TIME),
};

COMPARE_MAIN(cases)

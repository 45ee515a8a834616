/* SPDX-License-Identifier: MIT */
/* test_filter.c - a program sets a filter on itself that refuses what weft needs */
#include "compare.h"
#include "own_filter.h"
#include "turns.h"

/* The last two are for another filter. */
static const long own[] = {
	SYS_brk, SYS_clock_nanosleep, SYS_getrandom, SYS_restart_syscall, SYS_rseq,
	SYS_sched_yield, SYS_set_robust_list, SYS_prctl, SYS_seccomp,
};

#define OWN_CALLS	(sizeof(own) / sizeof(*own))

/* In a child, with turns before the filter or only behind it. */
static _Noreturn void take_turns_in(enum own_filter_kind kind, int is_late, int error)
{
	dup2(error, STDERR_FILENO);
	if (is_late && take_all_turns() != 2 * TURNS)
		_exit(1);
	if (own_filter_set(kind, own, OWN_CALLS - 2) != 0)
		_exit(2);
	_exit(take_all_turns() == 2 * TURNS ? 0 : 3);
}

static void run(enum own_filter_kind kind, int is_late, char *text, size_t bytes)
{
	int fds[2], status;
	ssize_t n = 0;
	size_t at = 0;
	pid_t child;

	if (pipe(fds) != 0)
		abort();
	fflush(stdout);
	child = fork();
	if (child == 0)
		take_turns_in(kind, is_late, fds[1]);
	close(fds[1]);
	while ((n = read(fds[0], text + at, bytes - 1 - at)) > 0)
		at += (size_t)n;
	text[at] = 0;
	close(fds[0]);
	show_errno("wait", waitpid(child, &status, 0) == child ? 0 : -1);
	printf("%s: status %x\n", own_filter_names[kind], (unsigned)status);
}

static void an_early_filter_leaves_libcs_threads(void)
{
	char text[400];

	for (int kind = OWN_NARROW_EPERM; kind < OWN_ALL; kind++)
		run((enum own_filter_kind)kind, 0, text, sizeof(text));
}

/* The second one comes where the first allows no call but libc's and the program's. */
static void a_second_filter_is_not_looked_at(void)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		if (own_filter_set(OWN_NARROW_KILL, own, OWN_CALLS) != 0)
			_exit(1);
		_exit(own_filter_set(OWN_NARROW_KILL, own, OWN_CALLS) != 0 ? 2 : 0);
	}
	show_errno("wait", waitpid(child, &status, 0) == child ? 0 : -1);
	printf("status %x\n", (unsigned)status);
}

static void an_early_filter_is_told_of(void)
{
	char text[400];

	run(OWN_NARROW_KILL, 0, text, sizeof(text));
	fputs(text, stdout);
}

static void a_late_filter_ends_it_with_a_line(void)
{
	char text[400];

	for (int kind = OWN_NARROW_EPERM; kind < OWN_ALL; kind++) {
		run((enum own_filter_kind)kind, 1, text, sizeof(text));
		fputs(text, stdout);
	}
}

#define FILTERED	"filtered"	/* this program's name, if it is to begin so */

/* Before all constructors, weft's own too. */
static void set_before_all(int argc, char **argv)
{
	if (argc > 0 && strcmp(argv[0], FILTERED) == 0 &&
	    own_filter_set(OWN_NARROW_KILL, own, OWN_CALLS - 2) != 0)
		abort();
}

__attribute__((section(".preinit_array"), used))
static void (*const before_all)(int argc, char **argv) = set_before_all;

static void takes_turns(void)
{
	printf("turns %ld\n", take_all_turns());
}

/* With this program anew, in a child. */
static void a_constructors_filter_leaves_libcs_threads(void)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		execl("/proc/self/exe", FILTERED, "takes_turns", (char *)NULL);
		_exit(99);
	}
	show_errno("wait", waitpid(child, &status, 0) == child ? 0 : -1);
	printf("status %x\n", (unsigned)status);
}

#define NEEDS								\
	"weft: the kernel or a filter refuses gettid, which weft needs: " \
	"see weft-calls(7)\n"

static const struct compare_case cases[] = {
	COMPARE(an_early_filter_leaves_libcs_threads),
	COMPARE(a_second_filter_is_not_looked_at),
	COMPARE(takes_turns),
	COMPARE(a_constructors_filter_leaves_libcs_threads),
	WEFT_ONLY(an_early_filter_is_told_of,
		  "wait: 0\nnarrow, killed: status 0\n"
		  "weft: threads stay kernel threads: a filter "
		  "refuses gettid\n"),
	WEFT_ONLY(a_late_filter_ends_it_with_a_line,
		  "wait: 0\nnarrow, EPERM: status 4700\n" NEEDS
		  "wait: 0\nnarrow, killed: status 4700\n" NEEDS),
};

COMPARE_MAIN(cases)

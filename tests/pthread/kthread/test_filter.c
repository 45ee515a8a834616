/* SPDX-License-Identifier: MIT */
/* test_filter.c - a program sets a filter on itself that refuses what weft needs */
#include "compare.h"

#include <dirent.h>

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

/* For all kernel threads: a filter that weft and this program can live with. */
static int set_wide(void)
{
	static struct own_filter f;
	struct sock_fprog program = { .filter = f.line };

	own_filter_load(&f, offsetof(struct seccomp_data, nr));
	own_filter_call(&f, SYS_acct, SECCOMP_RET_ERRNO | EPERM);
	own_filter_answer(&f, SECCOMP_RET_ALLOW);
	program.len = f.lines;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    SECCOMP_FILTER_FLAG_TSYNC, &program);
}

/* This program's names, if it is to begin so. */
#define FILTERED	"filtered"
#define FILTERED_WIDE	"filtered wide"

/* Before all constructors, weft's own too. */
static void set_before_all(int argc, char **argv)
{
	int error = 0;

	if (argc > 0 && strcmp(argv[0], FILTERED) == 0)
		error = own_filter_set(OWN_NARROW_KILL, own, OWN_CALLS - 2);
	if (argc > 0 && strcmp(argv[0], FILTERED_WIDE) == 0)
		error = set_wide();
	if (error)
		abort();
}

__attribute__((section(".preinit_array"), used))
static void (*const before_all)(int argc, char **argv) = set_before_all;

static void takes_turns(void)
{
	printf("turns %ld\n", take_all_turns());
}

/* With this program anew, in a child. */
static void run_anew(const char *name, const char *which)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		execl("/proc/self/exe", name, which, (char *)NULL);
		_exit(99);
	}
	show_errno("wait", waitpid(child, &status, 0) == child ? 0 : -1);
	printf("status %x\n", (unsigned)status);
}

static void a_constructors_filter_leaves_libcs_threads(void)
{
	run_anew(FILTERED, "takes_turns");
}

static int has_no_filter(const char *task)
{
	char path[300], line[200];
	int mode = SECCOMP_MODE_FILTER;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%s/status", task);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Seccomp: %d", &mode) == 1)
			break;
	if (f)
		fclose(f);
	return mode != SECCOMP_MODE_FILTER;
}

static void count_those_without(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	int n = 0;

	while (tasks && (task = readdir(tasks)))
		n += task->d_name[0] != '.' && has_no_filter(task->d_name);
	if (tasks)
		closedir(tasks);
	printf("without a filter: %d\n", n);
}

static void *wait_for_child(void *arg)
{
	while (wait(NULL) < 0 && errno == EINTR)
		;
	return arg;
}

/* Threads that wait for any child have a kernel thread each. */
static void has_filters(void)
{
	struct timespec t = { 0, 50000000 };
	pthread_t waits[2];
	pid_t child;

	printf("turns %ld\n", take_all_turns());
	count_those_without();
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	for (int i = 0; i < 2; i++)
		waits[i] = start(wait_for_child, NULL);
	nanosleep(&t, NULL);
	count_those_without();
	kill(child, SIGKILL);
	for (int i = 0; i < 2; i++)
		finish(waits[i]);
}

static void a_late_filter_is_in_each_kernel_thread(void)
{
	printf("turns %ld\n", take_all_turns());
	show_errno("set", set_wide());
	has_filters();
}

static void has_an_early_filter(void)
{
	if (prctl(PR_GET_SECCOMP) == SECCOMP_MODE_FILTER)
		has_filters();
	else
		puts("not in this run");
}

static void a_constructors_filter_is_in_each_kernel_thread(void)
{
	run_anew(FILTERED_WIDE, "has_an_early_filter");
}

#define NEEDS								\
	"weft: the kernel or a filter refuses gettid, which weft needs: " \
	"see weft-calls(7)\n"

static const struct compare_case cases[] = {
	COMPARE(an_early_filter_leaves_libcs_threads),
	COMPARE(a_second_filter_is_not_looked_at),
	COMPARE(takes_turns),
	COMPARE(a_constructors_filter_leaves_libcs_threads),
	COMPARE(a_late_filter_is_in_each_kernel_thread),
	COMPARE(a_constructors_filter_is_in_each_kernel_thread),
	COMPARE(has_an_early_filter),
	WEFT_ONLY(an_early_filter_is_told_of,
		  "wait: 0\nnarrow, killed: status 0\n"
		  "weft: threads stay kernel threads: a filter "
		  "refuses gettid\n"),
	WEFT_ONLY(a_late_filter_ends_it_with_a_line,
		  "wait: 0\nnarrow, EPERM: status 4700\n" NEEDS
		  "wait: 0\nnarrow, killed: status 4700\n" NEEDS),
};

COMPARE_MAIN(cases)

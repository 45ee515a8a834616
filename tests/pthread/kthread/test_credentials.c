/* SPDX-License-Identifier: MIT */
/*
 * test_credentials.c - setuid() and its kin change the ids of every kernel thread,
 * whichever thread calls and wherever it runs
 *
 * Each call is made in a process of its own. Without root the ids stay as they are.
 */
#include "compare.h"

#include <dirent.h>
#include <grp.h>
#include <sys/wait.h>

#include "gate.h"

#define EXITING		4	/* of the flags in stat: PF_EXITING */
#define THREADS	4
#define OTHER	65534

static uid_t other;	/* the caller's own without root */

static int set_uid(void) { return setuid(other); }
static int set_euid(void) { return seteuid(other); }
static int set_reuid(void) { return setreuid(other, other); }
static int set_resuid(void) { return setresuid(other, other, (uid_t)-1); }
static int set_gid(void) { return setgid(other); }
static int set_egid(void) { return setegid(other); }
static int set_regid(void) { return setregid((gid_t)-1, other); }
static int set_resgid(void) { return setresgid((gid_t)-1, other, other); }
static int set_groups(void) { return setgroups(1, &other); }
static int init_groups(void) { return initgroups("nobody", other); }

/* Only the saved user id stays. Then it becomes the effective one, and nothing else. */
static void give_up(void)
{
	if (setresuid(other, other, (uid_t)-1) != 0)
		_exit(1);
}

static int have_again(void)
{
	uid_t real, effective, saved;

	return getresuid(&real, &effective, &saved) != 0 || setuid(saved) != 0;
}

static const struct {
	const char *name;
	int (*set)(void);
	void (*before)(void);
} calls[] = {
	{ "setuid", set_uid, NULL }, { "seteuid", set_euid, NULL },
	{ "setreuid", set_reuid, NULL }, { "setresuid", set_resuid, NULL },
	{ "setgid", set_gid, NULL }, { "setegid", set_egid, NULL },
	{ "setregid", set_regid, NULL }, { "setresgid", set_resgid, NULL },
	{ "setgroups", set_groups, NULL }, { "initgroups", init_groups, NULL },
	{ "setuid to the saved id", have_again, give_up },
};
#define CALLS	(sizeof(calls) / sizeof(calls[0]))

/* The three lines of a status that are about ids; 0: it has ended. */
static int ids_of(const char *task, char *text, size_t size)
{
	char path[300], line[512];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%s/status", task);
	file = fopen(path, "r");
	if (!file)
		return 0;
	text[0] = '\0';
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, "Uid:", 4) == 0 ||
		    strncmp(line, "Gid:", 4) == 0 ||
		    strncmp(line, "Groups:", 7) == 0)
			strncat(text, line, size - strlen(text) - 1);
	fclose(file);
	return text[0] != '\0';
}

/*
 * Is the kernel at its end? Such a one need not change, and may have been joined. (Threads
 * of an emulator's own neither end nor change.)
 */
static int is_ending(const char *task)
{
	char path[300], text[1024] = "";
	unsigned flags = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%s/stat", task);
	file = fopen(path, "r");
	if (!file)
		return 1;
	if (fgets(text, sizeof(text), file) && strrchr(text, ')'))
		sscanf(strrchr(text, ')'), ") %*c %*d %*d %*d %*d %*d %u", &flags);
	fclose(file);
	return (flags & EXITING) != 0;
}

/* Have all kernel threads the ids of the first entry? */
static int all_agree(void)
{
	char first[1024] = "", next[1024];
	DIR *dir = opendir("/proc/self/task");
	struct dirent *e;
	int agree = dir != NULL;

	while (dir && (e = readdir(dir))) {
		if (e->d_name[0] == '.' ||
		    !ids_of(e->d_name, next, sizeof(next)))
			continue;
		if (!first[0])
			strcpy(first, next);
		agree = agree && (strcmp(first, next) == 0 || is_ending(e->d_name));
	}
	if (dir)
		closedir(dir);
	return agree;
}

static void tell(size_t i)
{
	int error = calls[i].set() != 0;
	uid_t user[3] = { 0 };

	(void)!getresuid(&user[0], &user[1], &user[2]);
	printf("%s: %d, %u %u %u, all have it: %d, as told: %d\n", calls[i].name,
	       error, user[0], user[1], user[2],
	       all_agree(),
	       geteuid() == (i < 4 ? other : geteuid()) &&
	       getegid() == (i >= 4 && i < 8 ? other : getegid()));
	fflush(stdout);
}

static void *open_it(void *arg)
{
	open_gate(0, 1);
	return arg;
}

/* Several times: the first kernel thread may be the next one again. */
static void go_elsewhere(int times)
{
	for (int i = 0; i < times; i++) {
		pthread_t t = start(open_it, NULL);

		pass_gate(0);
		finish(t);
	}
}

static _Atomic int stop;

static void *yield(void *arg)
{
	while (!stop)
		sched_yield();
	return arg;
}

/* Kernel threads come meanwhile. The kernel may have none while the ids change. */
static void *block(void *arg)
{
	pthread_t t;

	while (!stop) {
		if (pthread_create(&t, NULL, open_it, NULL) != 0)
			continue;
		pass_gate(0);
		finish(t);
	}
	return arg;
}

static void *tell_in_a_thread(void *i)
{
	tell((size_t)i);
	return NULL;
}

static void among_threads(size_t i, int in_main, void *(*what)(void *arg))
{
	pthread_t t[THREADS];

	for (int n = 0; n < THREADS; n++)
		t[n] = start(n == 0 ? what : yield, NULL);
	go_elsewhere(1 + (int)i % 3);
	if (in_main)
		tell(i);
	else
		finish(start(tell_in_a_thread, (void *)i));
	stop = 1;
	for (int n = 0; n < THREADS; n++)
		finish(t[n]);
	stop = 0;
}

static void wait_for(pid_t child)
{
	int status = 1;

	waitpid(child, &status, 0);
	if (status != 0)
		printf("status %x\n", (unsigned)status);
	fflush(stdout);
}

static void each(void (*one)(size_t i))
{
	other = geteuid() == 0 ? OTHER : geteuid();
	make_gates(1);
	for (size_t i = 0; i < CALLS; i++) {
		pid_t child = fork();

		if (child == 0) {
			if (calls[i].before)
				calls[i].before();
			one(i);
			_exit(0);
		}
		wait_for(child);
	}
	remove_gates();
}

static void main_calls(size_t i) { among_threads(i, 1, yield); }
static void thread_calls(size_t i) { among_threads(i, 0, yield); }
static void main_calls_as_they_come(size_t i) { among_threads(i, 1, block); }

static void main_changes_all(void) { each(main_calls); }
static void a_thread_changes_all(void) { each(thread_calls); }
static void those_that_come_have_it(void) { each(main_calls_as_they_come); }

/* The child goes on as the thread that forked, on its block. */
static void *fork_in_a_thread(void *arg)
{
	size_t i = (size_t)arg;
	pid_t child;

	go_elsewhere(1);
	child = fork();
	if (child == 0) {
		among_threads(i, i % 2, yield);
		_exit(0);
	}
	wait_for(child);
	return NULL;
}

static void grandchild_calls(size_t i)
{
	finish(start(fork_in_a_thread, (void *)i));
}

/* Alone in the child: no other kernel thread. */
static void *fork_alone(void *arg)
{
	pid_t child = fork();

	if (child == 0) {
		tell((size_t)arg);
		_exit(0);
	}
	wait_for(child);
	return NULL;
}

static void lonely_child_calls(size_t i)
{
	finish(start(fork_alone, (void *)i));
}

static void a_threads_child_changes_all(void) { each(grandchild_calls); }
static void a_child_alone_changes_itself(void) { each(lonely_child_calls); }

/* To and fro, by several threads at once: nobody is left behind, nothing hangs. */
static void *change_often(void *arg)
{
	for (long n = scaled(200); n > 0; n--)
		if (seteuid(n % 2 ? other : getuid()) != 0)
			return arg;
	return NULL;
}

static void changes_at_once_all_end(void)
{
	pthread_t t[THREADS];
	long bad = 0;

	other = geteuid() == 0 ? OTHER : geteuid();
	for (long n = 0; n < THREADS; n++)
		t[n] = start(change_often, (void *)1);
	bad += (long)change_often((void *)1);
	for (int n = 0; n < THREADS; n++)
		bad += (long)finish(t[n]);
	printf("%ld %d", bad, seteuid(getuid()));
	printf(" %d\n", all_agree());
}

static const struct compare_case cases[] = {
	COMPARE(main_changes_all),
	COMPARE(a_thread_changes_all),
	COMPARE(those_that_come_have_it),
	COMPARE(a_threads_child_changes_all),
	COMPARE(a_child_alone_changes_itself),
	COMPARE(changes_at_once_all_end),
};

COMPARE_MAIN(cases)

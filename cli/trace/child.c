/* SPDX-License-Identifier: MIT */
/*
 * cli/trace/child.c - the program that weft trace starts
 *
 * It is started as weft run does it; a program that has weft's library already, or that
 * nothing can be loaded into, is started as it is. WEFT_TRACE has its runtime record from
 * its start on, so the first events are there when the reader finds the memory.
 * WEFT_TRACE_PID keeps the programs that it starts from reserving memory that no one reads.
 *
 * Rejected: a runtime that waits for its reader when it starts. It would need another
 * setting, and the program's children would wait too.
 */
#include "cli.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/command.h"

static const char found_weft[] = "";

static const char *note_weft(char *line)
{
	return strncmp(line + strspn(line, " \t"), "libweft.so", 10) == 0 ? found_weft :
									    NULL;
}

static int has_weft(const char *name)
{
	struct weft_cli_program p;
	const char *path = weft_cli_find_program(name);

	if (!path)
		return 0;	/* weft run says so */
	if (weft_cli_refusal(path, &p))
		return p.status == STATUS_CANNOT_RUN;
	return *p.loader && weft_cli_libraries(&p, note_weft) == found_weft;
}

static int run(const struct trace_target *t)
{
	char command[] = "weft run", end[] = "--";
	size_t count = 0;
	char **argv;

	if (t->is_native) {
		execvp(t->program[0], t->program);
		return weft_cli_complain(errno == ENOENT ? STATUS_NOT_FOUND :
					 STATUS_CANNOT_RUN, t->program[0], strerror(errno));
	}
	while (t->program[count])
		count++;
	argv = calloc(count + 3, sizeof(*argv));
	if (!argv)
		return weft_cli_complain(STATUS_OWN, t->program[0], strerror(errno));
	argv[0] = command;
	argv[1] = end;
	memcpy(argv + 2, t->program, count * sizeof(*argv));
	return weft_cli_run((int)count + 2, argv);
}

static volatile sig_atomic_t passes_to;

static void pass_on(int signal)
{
	if (passes_to > 0)
		kill((pid_t)passes_to, signal);
}

/* Under weft run a signal that ends this command would end the program. So it goes there. */
int trace_child_start(struct trace_target *t)
{
	sigset_t ends, before;
	char flight[32], pid[24];

	t->is_native |= has_weft(t->program[0]);
	fflush(NULL);
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigprocmask(SIG_BLOCK, &ends, &before);
	t->child = fork();
	if (t->child == 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		snprintf(flight, sizeof(flight), "flight:%uM", t->mib);
		snprintf(pid, sizeof(pid), "%ld", (long)getpid());
		if (setenv("WEFT_TRACE", flight, 1) != 0 ||
		    setenv("WEFT_TRACE_PID", pid, 1) != 0)
			_exit(STATUS_OWN);
		exit(run(t));
	}
	t->pid = t->child;
	passes_to = (sig_atomic_t)t->child;
	if (t->child > 0) {
		trace_handle(SIGTERM, pass_on);
		trace_handle(SIGHUP, pass_on);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (t->child < 0)
		return -1;
	/* They go to the program too. It decides. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	return 0;
}

static int wait_for(struct trace_target *t, int options)
{
	int status;
	pid_t pid;

	if (t->child == 0)
		return 1;
	do
		pid = waitpid(t->child, &status, options);
	while (pid < 0 && errno == EINTR);
	if (pid == 0)
		return 0;
	t->status = pid < 0 ? STATUS_OWN : WIFEXITED(status) ? WEXITSTATUS(status) :
							       128 + WTERMSIG(status);
	t->child = passes_to = 0;
	return 1;
}

int trace_child_has_ended(struct trace_target *t)
{
	return wait_for(t, WNOHANG);
}

void trace_child_wait(struct trace_target *t)
{
	(void)wait_for(t, 0);
}

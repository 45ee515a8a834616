/* SPDX-License-Identifier: MIT */
/* cli/explore_process.c - weft explore: the process of a run, or of a server of runs */
#include "explore.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS	256

/* What the library is told, behind the seed. */
static void options(const struct weft_cli_explored *run, int served, char text[OPTIONS])
{
	int n = snprintf(text, OPTIONS, ",fd=%d,steps=%lu%s%s%s", run->report_fd,
			 weft_cli_how.steps, run->has_trace ? ",trace" : "",
			 weft_cli_how.searches ? ",forks" : "", weft_cli_how.points);

	if (run->race)
		n += snprintf(text + n, (size_t)(OPTIONS - n), ",race=%lu,location=%lu",
			      (unsigned long)run->race->key,
			      (unsigned long)run->race->location);
	if (served >= 0)
		(void)snprintf(text + n, (size_t)(OPTIONS - n), ",serve=%d", served);
}

/* It has no input and no output, but for its standard error, and leaves no core. */
static int set_descriptors(const struct weft_cli_explored *run, int served)
{
	const struct rlimit none = { 0, 0 };
	const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)setrlimit(RLIMIT_CORE, &none);
	if (served >= 0 && fcntl(served, F_SETFD, 0) != 0)
		return -1;
	return fcntl(run->report_fd, F_SETFD, 0) != 0 || dup2(nothing, 0) < 0 ||
	       dup2(nothing, 1) < 0 || dup2(run->error_fd, 2) < 0 ? -1 : 0;
}

/*
 * The process that becomes the program. It is in no terminal's foreground, and weft alone
 * ends it when it is late. So it ends with weft, whatever has ended that.
 */
static _Noreturn void become(const struct weft_cli_explored *run, int served, pid_t weft)
{
	const char *why;
	char more[OPTIONS];
	sigset_t empty;

	options(run, served, more);
	why = weft_cli_explore_begin(&run->seed, more);
	(void)setpgid(0, 0);
	if (why || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != weft ||
	    set_descriptors(run, served) != 0)
		_exit(STATUS_OWN);
	sigemptyset(&empty);
	(void)sigprocmask(SIG_SETMASK, &empty, NULL);
	execv(weft_cli_how.program, weft_cli_how.argv);
	_exit(STATUS_CANNOT_RUN);
}

void weft_cli_explore_process(struct weft_cli_explored *run, int serves)
{
	const pid_t weft = getpid();
	int ends[2] = { -1, -1 };

	if (serves && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		exit(weft_cli_complain(STATUS_OWN, "socketpair", strerror(errno)));
	run->pid = fork();
	if (run->pid == 0)
		become(run, ends[1], weft);
	if (run->pid < 0)
		exit(weft_cli_complain(STATUS_OWN, "fork", strerror(errno)));
	(void)setpgid(run->pid, run->pid);
	if (serves)
		close(ends[1]);
	run->socket = ends[0];
}

/* The process of a place, and what it has left in its group; a server's run as well. */
void weft_cli_explore_kill(struct weft_cli_explored *run)
{
	const int served = __atomic_load_n(&run->shared->request.pid, __ATOMIC_SEQ_CST);

	if (run->how != WEFT_CLI_ALONE && run->is_busy && served > 0)
		(void)kill(-served, SIGKILL);
	if (run->pid <= 0)
		return;
	(void)kill(-run->pid, SIGKILL);
	(void)waitpid(run->pid, NULL, 0);
	run->pid = 0;
	if (run->socket >= 0)
		close(run->socket);
	run->socket = -1;
}

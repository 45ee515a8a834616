/* SPDX-License-Identifier: MIT */
/*
 * explore/serve.c - a process that has come to its main() makes a child for each run
 *
 * The loader, the constructors and libc's start are the same in each run, and take most of
 * its time. So the program is started once. At its main() the process becomes a server. For
 * each run, weft explore writes a byte to its socket, and the server makes a child. The child
 * takes the run's seed out of shared memory and goes on to main().
 *
 * A run must not see what another run did. Its memory is a copy. Its working directory, its
 * limits and its signal handlers are its own. These are not, so the server cares for them:
 *	descriptors  those that a constructor opened share their place in the file. The server
 *	             sets the place back behind each run
 *	stdio        what constructors have printed is written before the first run
 *	children     what a run leaves in its process group is killed
 *	SIGCHLD      the server has it as at the start of a program, a run as the constructors
 *	             left it
 * Time is virtual and goes on in each run from where the constructors have left it.
 *
 * A program that a run executes in its place is explored as well: it knows itself by the
 * request (start.c).
 *
 * The program's fork handlers are for its own forks, so the child is made by _Fork(), which
 * calls none.
 *
 * The process does not serve if a constructor has made a thread, which no child would have. weft
 * explore then starts the program for each run.
 *
 * Rejected: a server at the first pthread_create(). It would save what main() does before
 * that too, but what that has opened, mapped and connected would be shared by all runs.
 */
#include "explore.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "native.h"
#include "real.h"
#include "start.h"

#define PLACES	64u	/* files that constructors have opened */

int wefti_ex_serves_at = -1;

typedef int main_function(int argc, char **argv, char **environment);
typedef int start_function(main_function *fn, int argc, char **argv, void (*init)(void),
			   void (*fini)(void), void (*loader_fini)(void), void *stack);

static main_function *program_main;

static struct { int fd; off_t at; } places[PLACES];
static unsigned place_count;

static void note_places(void)
{
	DIR *folder = opendir("/proc/self/fd");
	const struct dirent *entry;

	while (folder && (entry = readdir(folder)) && place_count < PLACES) {
		const int fd = atoi(entry->d_name);
		const off_t at = fd > STDERR_FILENO && fd != dirfd(folder) ?
					 lseek(fd, 0, SEEK_CUR) : -1;

		if (at >= 0) {
			places[place_count].fd = fd;
			places[place_count++].at = at;
		}
	}
	if (folder)
		closedir(folder);
}

static void set_places(void)
{
	for (unsigned i = 0; i < place_count; i++)
		(void)lseek(places[i].fd, places[i].at, SEEK_SET);
}

static int tell(int value)
{
	return write(wefti_ex_serves_at, &value, sizeof(value)) == sizeof(value) ? 0 : -1;
}

static pid_t make_child(void)
{
	pid_t (*fork_alone)(void) = (pid_t (*)(void))dlsym(RTLD_DEFAULT, "_Fork");

	return fork_alone ? fork_alone() : -1;
}

void wefti_ex_take_request(void)
{
	const struct wefti_ex_request *request = &wefti_ex_shared->request;

	wefti_ex.seed = request->seed;
	wefti_ex.traces = request->traces != 0;
	wefti_ex.race_to_end = request->race_to_end;
	wefti_ex.location_to_end = request->location_to_end;
	wefti_ex.has_forks = request->has_forks != 0;
	memcpy(wefti_ex.strategy, request->strategy, sizeof(wefti_ex.strategy));
	wefti_ex_list_begin(request->has_list ? request->list : NULL);
}

/* The run that is asked for, in the child. begun: what the report said at main(). */
static void become_run(const struct wefti_ex_report *begun, pid_t server)
{
	(void)setpgid(0, 0);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != server)
		_exit(1);
	close(wefti_ex_serves_at);
	/* The server tells it too, but what the run executes may be here before. */
	__atomic_store_n(&wefti_ex_shared->request.pid, getpid(), __ATOMIC_SEQ_CST);
	memcpy(wefti_ex.report, begun, offsetof(struct wefti_ex_report, text));
	wefti_ex_take_request();
	wefti_ex_pin();
	wefti_ex_crash_begin();
}

static void await_run(pid_t pid)
{
	int status;

	(void)setpgid(pid, pid);
	__atomic_store_n(&wefti_ex_shared->request.pid, pid, __ATOMIC_SEQ_CST);
	while (waitpid(pid, &status, 0) != pid)
		;
	(void)kill(-pid, SIGKILL);	/* what it has left behind */
	set_places();
	if (tell(status) != 0)
		_exit(0);
}

/* Returns in each run; the server ends here. */
static void serve(void)
{
	const struct sigaction usual = { .sa_handler = SIG_DFL };
	static struct wefti_ex_report begun;
	const pid_t server = getpid();
	struct sigaction at_main;
	char order;

	begun = *wefti_ex.report;
	(void)fflush(NULL);
	note_places();
	sigaction(SIGCHLD, &usual, &at_main);
	if (tell((int)WEFTI_EX_SERVES) != 0)
		_exit(0);
	while (read(wefti_ex_serves_at, &order, 1) == 1) {
		const pid_t pid = make_child();

		if (pid == 0) {
			become_run(&begun, server);
			sigaction(SIGCHLD, &at_main, NULL);
			return;
		}
		if (pid < 0)
			break;
		await_run(pid);
	}
	_exit(0);
}

static int main_or_runs(int argc, char **argv, char **environment)
{
	if (wefti_ex.is_on && wefti_ex_serves_at >= 0) {
		if (wefti_ex.report->threads > 1 || !wefti_ex_controlled())
			_exit(0);	/* weft explore starts the program for each run */
		wefti_ex.holder = NULL;	/* what the server itself calls is no point */
		serve();
		wefti_ex.holder = wefti_ex_self;
	}
	if (wefti_ex.is_on && wefti_ex.is_native)
		wefti_ex_native_begin();
	return program_main(argc, argv, environment);
}

/* libc declares it nowhere. */
EXPORT start_function __libc_start_main;

int __libc_start_main(main_function *fn, int argc, char **argv, void (*init)(void),
		      void (*fini)(void), void (*loader_fini)(void), void *stack)
{
	start_function *next = (start_function *)dlsym(RTLD_NEXT, "__libc_start_main");

	program_main = fn;
	return next(main_or_runs, argc, argv, init, fini, loader_fini, stack);
}

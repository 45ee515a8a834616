/* SPDX-License-Identifier: MIT */
/* cli/explore_runs.c - weft explore: the processes that run by seeds */
#include "explore.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/call/clock.h"

#define LOOK_NS		100000000	/* between two looks at runs that are late */

struct weft_cli_how weft_cli_how = {
	.steps = WEFTI_EX_STEPS, .timeout_ns = INT64_C(10000000000), .strategy = "portfolio",
};
int weft_cli_explore_is_to_end;

/*
 * The process that becomes the program. more: "", or ",trace". It is in no terminal's
 * foreground, and weft alone ends it when it is late. So it ends with weft, whatever has
 * ended that.
 */
static _Noreturn void become(const struct weft_cli_explored *run, const char *more,
			     pid_t weft)
{
	static char pthread[PATH_MAX + WEFT_CLI_LIBRARY_NAME];
	const struct rlimit none = { 0, 0 };
	const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	const char *why = weft_cli_library("libweft-pthread.so", pthread);
	char list[96];
	sigset_t empty;

	snprintf(list, sizeof(list), ",fd=%d,steps=%lu%s", run->report_fd, weft_cli_how.steps, more);
	if (!why && weft_cli_preload(pthread) != 0)
		why = strerror(errno);
	if (!why)
		why = weft_cli_explore_begin(&run->seed, list);
	(void)setpgid(0, 0);
	(void)setrlimit(RLIMIT_CORE, &none);
	if (why || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != weft ||
	    fcntl(run->report_fd, F_SETFD, 0) != 0 || dup2(nothing, 0) < 0 ||
	    dup2(nothing, 1) < 0 || dup2(run->error_fd, 2) < 0)
		_exit(STATUS_OWN);
	sigemptyset(&empty);
	(void)sigprocmask(SIG_SETMASK, &empty, NULL);
	execv(weft_cli_how.program, weft_cli_how.argv);
	_exit(STATUS_CANNOT_RUN);
}

static void begin(struct weft_cli_explored *run, const char *more)
{
	const pid_t weft = getpid();

	run->is_late = 0;
	memset(run->report, 0, offsetof(struct wefti_ex_report, choice));
	if (ftruncate(run->error_fd, 0) != 0 || lseek(run->error_fd, 0, SEEK_SET) != 0)
		exit(weft_cli_complain(STATUS_OWN, "explore", strerror(errno)));
	run->since_ns = wefti_os_now_ns();
	run->pid = fork();
	if (run->pid == 0)
		become(run, more, weft);
	if (run->pid < 0)
		exit(weft_cli_complain(STATUS_OWN, "fork", strerror(errno)));
	(void)setpgid(run->pid, run->pid);
}

void weft_cli_explore_place(struct weft_cli_explored *run)
{
	void *memory = MAP_FAILED;

	run->pid = 0;
	run->report_fd = memfd_create("weft-explore", MFD_CLOEXEC);
	run->error_fd = memfd_create("weft-explore", MFD_CLOEXEC);
	if (run->report_fd >= 0 && ftruncate(run->report_fd, sizeof(*run->report)) == 0)
		memory = mmap(NULL, sizeof(*run->report), PROT_READ | PROT_WRITE,
			      MAP_SHARED, run->report_fd, 0);
	if (memory == MAP_FAILED || run->error_fd < 0)
		exit(weft_cli_complain(STATUS_OWN, "explore", strerror(errno)));
	run->report = memory;
}

void weft_cli_explore_begin_run(struct weft_cli_explored *run, unsigned long seed,
				const char *more)
{
	snprintf(run->seed.strategy, sizeof(run->seed.strategy), "%s", weft_cli_how.strategy);
	run->seed.number = seed;
	run->seed.list = NULL;
	begin(run, more);
}

/* Ends those that are late. */
static void look(struct weft_cli_explored *runs)
{
	const int64_t now = wefti_os_now_ns();

	for (unsigned i = 0; i < weft_cli_how.jobs; i++)
		if (runs[i].pid && (weft_cli_explore_is_to_end ||
				    now - runs[i].since_ns > weft_cli_how.timeout_ns)) {
			runs[i].is_late = 1;
			(void)kill(-runs[i].pid, SIGKILL);
		}
}

struct weft_cli_explored *weft_cli_explore_take_end(struct weft_cli_explored *runs)
{
	int status;
	const pid_t pid = waitpid(-1, &status, WNOHANG);

	for (unsigned i = 0; pid > 0 && i < weft_cli_how.jobs; i++)
		if (runs[i].pid == pid) {
			(void)kill(-pid, SIGKILL);	/* what it has left behind */
			runs[i].status = status;
			runs[i].pid = 0;
			return &runs[i];
		}
	return NULL;
}

void weft_cli_explore_wait(const sigset_t *set, struct weft_cli_explored *runs)
{
	const struct timespec time = { 0, LOOK_NS };
	const int signal = sigtimedwait(set, NULL, &time);

	if (signal == SIGINT || signal == SIGTERM)
		weft_cli_explore_is_to_end = 1;
	look(runs);
}

void weft_cli_explore_run_list(struct weft_cli_explored *run, const char *list,
			       const char *more, const sigset_t *set)
{
	strcpy(run->seed.strategy, "list");
	run->seed.number = 0;
	run->seed.list = list;
	begin(run, more);
	while (!weft_cli_explore_take_end(run))
		weft_cli_explore_wait(set, run);
}

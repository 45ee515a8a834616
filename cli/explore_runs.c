/* SPDX-License-Identifier: MIT */
/*
 * cli/explore_runs.c - weft explore: runs begin and end
 *
 * States of a place
 *	free, ALONE    no process                 free, SERVED    its server waits
 *	busy, STARTS   the server starts; the run begins when the server has come to main()
 *	busy, SERVED   the server has made a child   busy, ALONE  the program is the run
 *
 * A server that ends, or is late before it serves, cannot be had. Then the program is
 * started for each run, this one included.
 */
#include "explore.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/call/clock.h"

#define LOOK_MS		100	/* between two looks at runs that are late */
#define TIMES_STARVED	10	/* the time limit, for a run that has had little CPU */

struct weft_cli_how weft_cli_how = {
	.steps = WEFTI_EX_STEPS, .timeout_ns = INT64_C(10000000000), .strategy = "portfolio",
	.points = "",
};
int weft_cli_explore_is_to_end;
static int signals = -1;

int weft_cli_explore_catch_signals(void)
{
	sigset_t set;

	(void)signal(SIGCHLD, SIG_DFL);	/* where it is ignored, no child can be waited for */
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return signals < 0 ? -1 : 0;
}

void weft_cli_explore_place(struct weft_cli_explored *run)
{
	void *memory = MAP_FAILED;

	run->socket = -1;
	run->report_fd = memfd_create("weft-explore", MFD_CLOEXEC);
	run->error_fd = memfd_create("weft-explore", MFD_CLOEXEC);
	if (run->report_fd >= 0 && ftruncate(run->report_fd, sizeof(*run->shared)) == 0)
		memory = mmap(NULL, sizeof(*run->shared), PROT_READ | PROT_WRITE,
			      MAP_SHARED, run->report_fd, 0);
	if (memory == MAP_FAILED || run->error_fd < 0)
		exit(weft_cli_complain(STATUS_OWN, "explore", strerror(errno)));
	run->shared = memory;
	run->report = &run->shared->report;
}

/* What the last run has left. */
static void clear(struct weft_cli_explored *run)
{
	struct wefti_ex_report *r = run->report;

	r->magic = r->verdict = r->choices = r->races = 0;
	r->steps = r->switches = r->threads = r->hash = r->key = r->where = 0;
	r->last_op = r->last_thread = 0;
	memset(r->text, 0, sizeof(r->text));
	run->shared->fork_words = 0;
	if (ftruncate(run->error_fd, 0) != 0 || lseek(run->error_fd, 0, SEEK_SET) != 0)
		exit(weft_cli_complain(STATUS_OWN, "explore", strerror(errno)));
}

static void begin_alone(struct weft_cli_explored *run)
{
	weft_cli_how.starts_each = 1;
	weft_cli_explore_kill(run);
	clear(run);
	run->how = WEFT_CLI_ALONE;
	run->since_ns = wefti_os_now_ns();
	weft_cli_explore_process(run, 0);
}

/* The server is asked for the run. */
static void ask(struct weft_cli_explored *run)
{
	struct wefti_ex_request *r = &run->shared->request;

	clear(run);
	r->seed = run->seed.number;
	r->pid = 0;
	r->traces = run->has_trace != 0;
	r->race_to_end = run->race ? run->race->key : 0;
	r->location_to_end = run->race ? run->race->location : 0;
	r->has_forks = weft_cli_how.searches != 0;
	r->has_list = run->seed.list != NULL;
	snprintf(r->strategy, sizeof(r->strategy), "%s", run->seed.strategy);
	if (run->seed.list)
		snprintf(r->list, sizeof(r->list), "%s", run->seed.list);
	run->how = WEFT_CLI_SERVED;
	run->since_ns = wefti_os_now_ns();
	if (send(run->socket, "", 1, MSG_NOSIGNAL) != 1)
		begin_alone(run);
}

static void start_server(struct weft_cli_explored *run)
{
	clear(run);
	run->how = WEFT_CLI_STARTS;
	run->since_ns = wefti_os_now_ns();
	weft_cli_explore_process(run, 1);
}

static void begin(struct weft_cli_explored *run, int has_trace)
{
	run->has_trace = has_trace;
	run->is_late = run->is_stuck = 0;
	run->is_busy = 1;
	if (weft_cli_how.starts_each)
		begin_alone(run);
	else if (run->socket >= 0)
		ask(run);
	else
		start_server(run);
}

void weft_cli_explore_begin_run(struct weft_cli_explored *run, unsigned long seed,
				int has_trace)
{
	snprintf(run->seed.strategy, sizeof(run->seed.strategy), "%s", weft_cli_how.strategy);
	run->seed.number = seed;
	run->seed.list = NULL;
	begin(run, has_trace);
}

/* Ends a run that is late, or a server that does not come to its main(). */
static void end_late(struct weft_cli_explored *run)
{
	if (run->how == WEFT_CLI_STARTS && !weft_cli_explore_is_to_end) {
		begin_alone(run);
		return;
	}
	run->is_late = 1;
	if (run->how == WEFT_CLI_ALONE)
		(void)kill(-run->pid, SIGKILL);
	else
		weft_cli_explore_kill(run);
}

/* On a busy machine a run that wants a CPU gets more time. */
static int is_late(const struct weft_cli_explored *run, int64_t took_ns)
{
	return took_ns > weft_cli_how.timeout_ns &&
	       (took_ns > TIMES_STARVED * weft_cli_how.timeout_ns ||
		!weft_cli_explore_is_starved(run));
}

static void look(struct weft_cli_explored *runs)
{
	const int64_t now = wefti_os_now_ns();

	for (unsigned i = 0; i < weft_cli_how.jobs; i++) {
		struct weft_cli_explored *run = &runs[i];
		const uint64_t steps = run->report->steps;

		if (!run->is_busy || run->is_late)
			continue;
		if (steps != run->steps_seen)
			run->seen_ns = now;
		run->steps_seen = steps;
		if (!weft_cli_explore_is_to_end && !is_late(run, now - run->since_ns))
			continue;
		run->is_stuck = now - run->seen_ns > weft_cli_how.timeout_ns / 2;
		end_late(run);
	}
}

/* Returns 1 when the run has ended. */
static int take_from_server(struct weft_cli_explored *run)
{
	int value;
	ssize_t n;

	if (run->is_late) {	/* it was killed, and its server too */
		run->status = SIGKILL;
		return 1;
	}
	n = recv(run->socket, &value, sizeof(value), MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n != sizeof(value)) {
		begin_alone(run);
	} else if (run->how == WEFT_CLI_STARTS) {
		ask(run);
	} else {
		run->status = value;
		return 1;
	}
	return 0;
}

static int take_from_kernel(struct weft_cli_explored *run)
{
	if (waitpid(run->pid, &run->status, WNOHANG) != run->pid)
		return 0;
	(void)kill(-run->pid, SIGKILL);	/* what it has left behind */
	run->pid = 0;
	return 1;
}

struct weft_cli_explored *weft_cli_explore_take_end(struct weft_cli_explored *runs)
{
	for (unsigned i = 0; i < weft_cli_how.jobs; i++) {
		struct weft_cli_explored *run = &runs[i];

		if (run->is_busy && (run->how == WEFT_CLI_ALONE ? take_from_kernel(run) :
				     take_from_server(run))) {
			run->is_busy = 0;
			return run;
		}
	}
	return NULL;
}

static void take_signals(void)
{
	struct signalfd_siginfo info;

	while (read(signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD)
			weft_cli_explore_is_to_end = (int)info.ssi_signo;
}

void weft_cli_explore_wait(struct weft_cli_explored *runs)
{
	struct pollfd fds[WEFT_CLI_JOBS_MOST + 1] = { { .fd = signals, .events = POLLIN } };
	nfds_t n = 1;

	for (unsigned i = 0; i < weft_cli_how.jobs; i++)
		if (runs[i].is_busy && runs[i].socket >= 0)
			fds[n++] = (struct pollfd){ .fd = runs[i].socket, .events = POLLIN };
	(void)poll(fds, n, LOOK_MS);
	take_signals();
	look(runs);
}

void weft_cli_explore_begin_list(struct weft_cli_explored *run, const char *list,
				 int has_trace)
{
	strcpy(run->seed.strategy, "list");
	run->seed.number = 0;
	run->seed.list = list;
	begin(run, has_trace);
}

void weft_cli_explore_run_list(struct weft_cli_explored *run, const char *list,
			       int has_trace)
{
	weft_cli_explore_begin_list(run, list, has_trace);
	while (!weft_cli_explore_take_end(run))
		weft_cli_explore_wait(run);
}

/* SPDX-License-Identifier: MIT */
/* cli/explore_process.c - weft explore: the process of a run, or of a server of runs */
#include "explore.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OPTIONS		256
#define NS_PER_S	INT64_C(1000000000)

/* What the library is told, behind the seed. */
static void options(const struct weft_cli_explored *run, int serves_at, char text[OPTIONS])
{
	int n = snprintf(text, OPTIONS, ",fd=%d,steps=%lu%s%s%s", run->report_fd,
			 weft_cli_how.steps, run->has_trace ? ",trace" : "",
			 weft_cli_how.searches ? ",forks" : "", weft_cli_how.points);

	if (run->race)
		n += snprintf(text + n, (size_t)(OPTIONS - n), ",race=%lu,location=%lu",
			      (unsigned long)run->race->key,
			      (unsigned long)run->race->location);
	if (serves_at >= 0)
		(void)snprintf(text + n, (size_t)(OPTIONS - n), ",serve=%d", serves_at);
}

/* It has no input and no output, but for its standard error, and leaves no core. */
static int set_descriptors(const struct weft_cli_explored *run, int serves_at)
{
	const struct rlimit none = { 0, 0 };
	const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)setrlimit(RLIMIT_CORE, &none);
	if (serves_at >= 0 && fcntl(serves_at, F_SETFD, 0) != 0)
		return -1;
	return fcntl(run->report_fd, F_SETFD, 0) != 0 || dup2(nothing, 0) < 0 ||
	       dup2(nothing, 1) < 0 || dup2(run->error_fd, 2) < 0 ? -1 : 0;
}

/*
 * The process that becomes the program. It is in no terminal's foreground, and weft alone
 * ends it when it is late. So it ends with weft, whatever has ended that.
 */
static _Noreturn void become(const struct weft_cli_explored *run, int serves_at, pid_t weft)
{
	const char *why;
	char more[OPTIONS];
	sigset_t empty;

	options(run, serves_at, more);
	why = weft_cli_explore_begin(&run->seed, more);
	(void)setpgid(0, 0);
	if (why || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != weft ||
	    set_descriptors(run, serves_at) != 0)
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

static pid_t served(const struct weft_cli_explored *run)
{
	return __atomic_load_n(&run->shared->request.pid, __ATOMIC_SEQ_CST);
}

/* As the kernel counts it, for all threads of the process; 0: it has ended. */
static int64_t cpu_ns(pid_t pid)
{
	struct timespec used;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &used) != 0)
		return 0;
	return used.tv_sec * NS_PER_S + used.tv_nsec;
}

/* The letter of its state, behind the name, which ends with the last parenthesis. */
static char state_of(pid_t pid, const char *task)
{
	char path[300], line[256];
	const char *end;
	ssize_t bytes;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", (int)pid, task);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 'Z';
	bytes = read(fd, line, sizeof(line) - 1);
	close(fd);
	line[bytes > 0 ? bytes : 0] = 0;
	end = strrchr(line, ')');
	return end && end[1] ? end[2] : 'Z';
}

/* Does a thread of the process want a CPU or the disk, or have all ended? */
static int is_wanting(pid_t pid)
{
	const struct dirent *entry;
	int wants = 0, sleeps = 0;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && !wants && (entry = readdir(tasks))) {
		const char state = entry->d_name[0] == '.' ? 'Z' : state_of(pid, entry->d_name);

		wants = state == 'R' || state == 'D';
		sleeps |= !wants && state != 'Z';
	}
	if (tasks)
		closedir(tasks);
	return wants || !sleeps;
}

int weft_cli_explore_is_starved(const struct weft_cli_explored *run)
{
	const pid_t pid = run->how == WEFT_CLI_SERVED ? served(run) : run->pid;

	return pid > 0 && cpu_ns(pid) < weft_cli_how.timeout_ns / 2 && is_wanting(pid);
}

/* The process of a place, and what it has left in its group; a server's run as well. */
void weft_cli_explore_kill(struct weft_cli_explored *run)
{
	const pid_t child = served(run);

	if (run->how != WEFT_CLI_ALONE && run->is_busy && child > 0)
		(void)kill(-child, SIGKILL);
	if (run->pid <= 0)
		return;
	(void)kill(-run->pid, SIGKILL);
	(void)waitpid(run->pid, NULL, 0);
	run->pid = 0;
	if (run->socket >= 0)
		close(run->socket);
	run->socket = -1;
}

/* SPDX-License-Identifier: MIT */
/* preload/run.c - programs are started, stock or under weft, and end */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <unistd.h>

#include "preload/preload.h"

int preload_by_weft;

/* As the C library will look for it. */
void preload_need(struct bench_ctx *ctx, const char *name)
{
	const char *dirs = getenv("PATH");
	char path[4096];

	for (dirs = dirs ? dirs : ""; *dirs;) {
		size_t length = strcspn(dirs, ":");

		snprintf(path, sizeof(path), "%.*s/%s", (int)length, dirs,
			 name);
		if (access(path, X_OK) == 0)
			return;
		dirs += length;
		dirs += *dirs == ':';
	}
	bench_skip(ctx, "%s is not installed", name);
}

char *preload_own(struct bench_ctx *ctx, const char *name)
{
	char here[4096], *slash, *path;
	ssize_t n = readlink("/proc/self/exe", here, sizeof(here) - 1);

	here[n > 0 ? n : 0] = 0;
	slash = strrchr(here, '/');
	if (slash)
		*slash = 0;
	if (asprintf(&path, "%s/../%s", here, name) < 0)
		bench_fail("out of memory");
	if (access(path, X_OK))
		bench_skip(ctx, "%s was not built", name);
	return path;
}

static char *weft_path;

static void in_child(const char *const *argv, int subject, int in, int out)
{
	const char *whole[PRELOAD_ARGS + 4] = { weft_path, "run", "--" };
	size_t n = 3;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (in < 0)
		in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	dup2(in, 0);
	dup2(out, 1);
	dup2(out, 2);
	while (argv[n - 3]) {
		whole[n] = argv[n - 3];
		n++;
	}
	if (subject && preload_by_weft)
		execv(weft_path, (char **)whole);
	else
		execvp(argv[0], (char **)argv);
	_exit(127);
}

void preload_start(struct preload_run *run, const char *const *argv,
		   int subject, int in)
{
	run->name = argv[0];
	run->said = memfd_create("said", MFD_CLOEXEC);
	if (run->said < 0)
		bench_fail("memfd_create: %s", strerror(errno));
	run->began = bench_wall_now();
	run->pid = fork();
	if (run->pid < 0)
		bench_fail("fork: %s", strerror(errno));
	if (run->pid == 0)
		in_child(argv, subject, in, run->said);
}

char *preload_said(const struct preload_run *run)
{
	struct stat st;
	char *text;

	if (fstat(run->said, &st))
		bench_fail("fstat: %s", strerror(errno));
	text = calloc(1, (size_t)st.st_size + 1);
	if (!text || pread(run->said, text, (size_t)st.st_size, 0) < 0)
		bench_fail("what %s said cannot be read", run->name);
	return text;
}

static __attribute__((noreturn)) void failed(const struct preload_run *run,
					     const char *how, int number)
{
	char *text = preload_said(run);
	size_t length = strlen(text);

	fputs(length > 2000 ? text + length - 2000 : text, stderr);
	bench_fail("%s%s: %s %d", run->name,
		   preload_by_weft ? ", under weft" : "", how, number);
}

static int reap(const struct preload_run *run)
{
	int status;

	while (waitpid(run->pid, &status, 0) < 0)
		if (errno != EINTR)
			bench_fail("waitpid: %s", strerror(errno));
	return status;
}

void preload_wait(struct preload_run *run)
{
	int status = reap(run);

	if (WIFSIGNALED(status))
		failed(run, "signal", WTERMSIG(status));
	if (WEXITSTATUS(status))
		failed(run, "exit status", WEXITSTATUS(status));
}

void preload_kill(struct preload_run *run)
{
	int status;

	kill(run->pid, SIGKILL);
	status = reap(run);
	if (WIFEXITED(status))
		failed(run, "ended too early, exit status",
		       WEXITSTATUS(status));
	if (WTERMSIG(status) != SIGKILL)
		failed(run, "signal", WTERMSIG(status));
}

void preload_do(struct preload_run *run, const char *const *argv, int subject,
		int in)
{
	preload_start(run, argv, subject, in);
	preload_wait(run);
}

/* --- the variants ---------------------------------------------------- */

/* Debian has games and servers where a user's PATH does not look. */
static void enter(struct bench_ctx *ctx, void (*run)(struct bench_ctx *ctx))
{
	const char *dirs = getenv("PATH");
	char *longer;

	if (asprintf(&longer, "%s:/usr/games:/usr/sbin", dirs ? dirs : "") < 0)
		bench_fail("out of memory");
	setenv("PATH", longer, 1);
	free(longer);
	weft_path = preload_own(ctx, "cli/weft");
	bench_pin(ctx->vcpus);
	run(ctx);
}

static void enter_stock(struct bench_ctx *ctx,
			void (*run)(struct bench_ctx *ctx))
{
	enter(ctx, run);
}

static void enter_weft(struct bench_ctx *ctx,
		       void (*run)(struct bench_ctx *ctx))
{
	preload_by_weft = 1;
	enter(ctx, run);
}

static const struct bench_body bodies[] = {
	{ "fixed", preload_fixed_body },
	{ "create", preload_create_body },
	{ "teams", preload_teams_body },
	{ "teams-passive", preload_teams_passive_body },
	{ "idle", preload_idle_body },
	{ "echo", preload_echo_body },
	{ "memcached", preload_memcached_body },
	{ "redis", preload_redis_body },
	{ "mariadb", preload_mariadb_body },
	{ NULL, NULL },
};

const struct bench_variant preload_stock = {
	.name = "pthreads", .bit = BENCH_NOT_PTHREADS, .enter = enter_stock,
	.bodies = bodies,
};

const struct bench_variant preload_weft = {
	.name = "weft", .bit = BENCH_NOT_TLS, .enter = enter_weft,
	.bodies = bodies,
};

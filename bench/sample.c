/* SPDX-License-Identifier: MIT */
/* sample.c - one sample in a process of its own, from both sides */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample.h"

extern char **environ;

const struct bench_body *bench_sample_body(const struct bench_variant *variant,
					   const struct bench_case *question)
{
	const char *name = question->body ? question->body : question->name;

	for (const struct bench_body *b = variant->bodies; b->name; b++)
		if (!strcmp(b->name, name))
			return b;
	return NULL;
}

/* Starts the child with its standard output on a pipe; returns its pid. */
static pid_t start_child(const struct bench_results *r,
			 const struct bench_sample *s, int *from_child)
{
	const struct bench_options *o = r->options;
	char what[128], ms[32], stack[32], steps[32], ns[32], seconds[32];
	char *argv[] = {
		(char *)"bench", (char *)"--sample", what, (char *)"--ms", ms,
		(char *)"--stack", stack, (char *)"--unit-ns", ns,
		(char *)"--preempt", (char *)o->preempt,
		(char *)"--timeout", seconds,
		(char *)"--unit-steps", steps, NULL,
	};
	posix_spawn_file_actions_t actions;
	int pipefd[2], err;
	pid_t pid;

	snprintf(what, sizeof(what), "%s,%s,%u,%u", s->question->name,
		 s->variant->name, s->vcpus, s->threads);
	snprintf(ms, sizeof(ms), "%d", o->target_ms);
	snprintf(stack, sizeof(stack), "%zu", o->stack_bytes);
	snprintf(ns, sizeof(ns), "%.6f", o->unit_ns);
	snprintf(seconds, sizeof(seconds), "%d", o->timeout_s);
	snprintf(steps, sizeof(steps), "%u", o->unit_steps);
	if (!o->unit_steps)
		argv[13] = NULL;
	if (pipe2(pipefd, O_CLOEXEC))
		bench_fail("pipe: %s", strerror(errno));
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pipefd[1], 1);
	err = posix_spawn(&pid, "/proc/self/exe", &actions, NULL, argv,
			  environ);
	posix_spawn_file_actions_destroy(&actions);
	close(pipefd[1]);
	if (err)
		bench_fail("a child process: %s", strerror(err));
	*from_child = pipefd[0];
	return pid;
}

/* All that the child writes, or NULL when the deadline passes first. */
static char *read_all(int fd, int64_t deadline)
{
	size_t size = 4096, used = 0;
	char *text = malloc(size);

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left = (deadline - bench_wall_now()) / 1000000;
		ssize_t got;

		if (!text)
			bench_fail("out of memory");
		if (left <= 0 || poll(&p, 1, (int)left) == 0) {
			free(text);
			return NULL;
		}
		got = read(fd, text + used, size - used - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		used += (size_t)got;
		if (used + 1 == size)
			text = realloc(text, size *= 2);
	}
	text[used] = 0;
	return text;
}

/* Reads the child's lines; 1 when it said that it skips, else 0. */
static int take_lines(struct bench_results *r, const struct bench_sample *s,
		      char *text, struct bench_trouble *trouble)
{
	char *rest;

	for (char *line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *field;
		char *kind = strtok_r(line, "\t", &field);
		char *name = strtok_r(NULL, "\t", &field);
		char *unit = strtok_r(NULL, "\t", &field);
		char *value = strtok_r(NULL, "\t", &field);

		if (kind && name && !strcmp(kind, "skip")) {
			trouble->skipped = 1;
			snprintf(trouble->why, sizeof(trouble->why), "%s",
				 name);
			return 1;
		}
		if (!value || strcmp(kind, "figure"))
			bench_fail("a child said `%s'", line);
		bench_results_add(r, name, unit, s->variant->name, s->vcpus,
				  s->threads, strtod(value, NULL));
	}
	return 0;
}

int bench_sample_take(struct bench_results *r, const struct bench_sample *s)
{
	struct bench_trouble trouble = {
		.bench = s->question->name, .variant = s->variant->name,
		.vcpus = s->vcpus, .threads = s->threads,
	};
	int64_t deadline = bench_wall_now() +
			   r->options->timeout_s * INT64_C(1000000000);
	int from_child, status, ok;
	pid_t pid = start_child(r, s, &from_child);
	char *text = read_all(from_child, deadline);

	if (!text)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	close(from_child);

	if (!text)
		snprintf(trouble.why, sizeof(trouble.why), "longer than %d s",
			 r->options->timeout_s);
	else if (WIFSIGNALED(status))
		snprintf(trouble.why, sizeof(trouble.why), "signal %d",
			 WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		snprintf(trouble.why, sizeof(trouble.why), "exit status %d",
			 WEXITSTATUS(status));
	ok = !trouble.why[0];
	if (ok && take_lines(r, s, text, &trouble))
		ok = 0;
	free(text);
	if (ok)
		return 0;
	bench_results_trouble(r, &trouble);
	return -1;
}

static const struct bench_case *find_case(const struct bench_suite *suite,
					  const char *name)
{
	for (const struct bench_case *c = suite->cases; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	bench_fail("no case `%s'", name);
}

static const struct bench_variant *find_variant(
		const struct bench_suite *suite, const char *name)
{
	for (size_t i = 0; suite->variants[i]; i++)
		if (!strcmp(suite->variants[i]->name, name))
			return suite->variants[i];
	bench_fail("no variant `%s'", name);
}

void bench_sample_run(const struct bench_suite *suite,
		      const struct bench_options *o)
{
	char name[BENCH_NAME_MAX], variant_name[BENCH_NAME_MAX];
	struct bench_ctx ctx = {
		.target_ns = o->target_ms * INT64_C(1000000),
		.timeout_s = o->timeout_s,
		.stack_bytes = o->stack_bytes, .unit_steps = o->unit_steps,
		.unit_ns = o->unit_ns, .preempt = o->preempt, .out = stdout,
	};
	const struct bench_variant *variant;
	const struct bench_body *body;

	if (sscanf(o->sample, "%63[^,],%63[^,],%u,%u", name, variant_name,
		   &ctx.vcpus, &ctx.threads) != 4)
		bench_fail("--sample: not understood");
	ctx.question = find_case(suite, name);
	variant = find_variant(suite, variant_name);
	body = bench_sample_body(variant, ctx.question);
	if (!body)
		bench_fail("%s is not for %s", name, variant_name);
	ctx.wall = ctx.vcpus > 1;
	variant->enter(&ctx, body->run);
	if (fflush(stdout) || ferror(stdout))
		bench_fail("cannot write the figures");
	exit(0);
}

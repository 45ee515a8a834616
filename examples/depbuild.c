/* SPDX-License-Identifier: MIT */
/*
 * depbuild [-j JOBS] FILE - runs commands in the order of what they depend on
 *
 * Each line of the file is "NAME: DEPENDENCIES... ; COMMAND". Every target is a
 * thread. It waits for its dependencies: each is a channel that is closed when
 * the target is built. Then it takes one of JOBS tokens out of a channel, runs
 * its command, and puts the token back. A target is not built if one of its
 * dependencies failed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

#define DEPENDENCIES	32

WEFT_CHAN_OF(tokens, char);

struct target {
	struct target *next;
	char *name, *command;
	char *wants[DEPENDENCIES];
	size_t want_count;
	int mark;
	struct tokens built;		/* closed when it is over */
	int failed;			/* written before that */
	uint64_t id;
};

static struct target *targets;
static struct tokens jobs;

static void must(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "depbuild: %s: %d\n", what, error);
		exit(2);
	}
}

static struct target *find(const char *name)
{
	struct target *t = targets;

	while (t && strcmp(t->name, name))
		t = t->next;
	return t;
}

static int run(const char *command)
{
	int status;

	weft_block_begin();
	status = system(command);
	weft_block_end();
	return status;
}

static void *build(void *arg)
{
	struct target *t = arg;
	char token;

	for (size_t i = 0; i < t->want_count; i++) {
		struct target *want = find(t->wants[i]);

		if (!want) {
			fprintf(stderr, "depbuild: %s: no target %s\n", t->name,
				t->wants[i]);
			t->failed = 1;
			break;
		}
		/* Nothing is ever sent: it ends when that one is built. */
		must(tokens_recv(want->built, &token) == -EPIPE ? 0 : -EINVAL,
		     "wait");
		t->failed |= want->failed;
	}
	if (!t->failed) {
		must(tokens_recv(jobs, &token), "token");
		t->failed = run(t->command) != 0;
		must(tokens_send(jobs, token), "token");
	}
	printf("%s: %s\n", t->name, t->failed ? "failed" : "built");
	must(tokens_close(t->built), "close");
	return NULL;
}

/* NAME: A B ; COMMAND. Returns 0 for a line that is none. */
static int read_target(char *line)
{
	char *colon = strchr(line, ':'), *semicolon, *rest, *word;
	struct target *t;

	semicolon = colon ? strchr(colon, ';') : NULL;
	if (line[0] == '#' || !semicolon)
		return 0;
	*colon = *semicolon = 0;
	t = calloc(1, sizeof(*t));
	must(t ? 0 : -ENOMEM, "target");
	t->name = strdup(line);
	t->command = strdup(semicolon + 1);
	rest = colon + 1;
	while ((word = strtok_r(rest, " \t", &rest))) {
		must(t->want_count < DEPENDENCIES ? 0 : -E2BIG, t->name);
		t->wants[t->want_count++] = strdup(word);
	}
	must(tokens_create(&t->built, 0, 0), "channel");
	t->next = targets;
	targets = t;
	return 1;
}

enum { UNSEEN, ON_THE_WAY, SEEN };

/* Is there a way from t back to a target on it? Then none of them can begin. */
static int is_circular(struct target *t)
{
	int found = t->mark == ON_THE_WAY;

	if (t->mark == UNSEEN) {
		t->mark = ON_THE_WAY;
		for (size_t i = 0; i < t->want_count && !found; i++) {
			struct target *want = find(t->wants[i]);

			found = want && is_circular(want);
		}
		t->mark = SEEN;
	}
	return found;
}

int main(int argc, char **argv)
{
	size_t job_count = 2, failures = 0, count = 0;
	char line[4096];
	FILE *f;

	if (argc > 3 && !strcmp(argv[1], "-j")) {
		job_count = strtoul(argv[2], NULL, 10);
		argv += 2;
	} else if (argc != 2) {
		fprintf(stderr, "usage: depbuild [-j JOBS] FILE\n");
		return 2;
	}
	must(weft_start(NULL), "start");
	f = fopen(argv[1], "r");
	must(f && job_count ? 0 : -ENOENT, argv[1]);
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		count += (size_t)read_target(line);
	}
	fclose(f);
	for (struct target *t = targets; t; t = t->next)
		must(is_circular(t) ? -ELOOP : 0, t->name);
	must(tokens_create(&jobs, job_count, 0), "channel");
	for (size_t i = 0; i < job_count; i++)
		must(tokens_send(jobs, 't'), "token");
	for (struct target *t = targets; t; t = t->next)
		must(weft_spawn(&t->id, NULL, build, t), "spawn");
	for (struct target *t = targets; t; t = t->next) {
		must(weft_join(t->id, NULL), "join");
		failures += t->failed != 0;
	}
	printf("%zu targets, %zu failed\n", count, failures);
	return failures ? 1 : weft_stop();
}

/* SPDX-License-Identifier: MIT */
/* 08_groups - threads that begin and end together; one fails, the others stop */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

struct fetch {
	const char *from;
	int fails;
	int result;		/* set by the thread, read after the wait */
};

static void must(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "%s: %s\n", what, weft_strerror(error));
		exit(1);
	}
}

/* Stands for a long transfer. A result other than 0 is a failure. */
static int fetch(void *arg)
{
	struct fetch *f = arg;

	if (f->fails) {
		weft_sleep(WEFT_MS(10));
		f->result = -ECONNREFUSED;
	} else {
		f->result = weft_sleep(WEFT_SECONDS(3600));
	}
	return f->result;
}

int main(void)
{
	struct fetch f[] = {
		{ .from = "here" }, { .from = "there", .fails = 1 },
		{ .from = "elsewhere" },
	};
	struct weft_group group = WEFT_GROUP_INIT;
	int error = 0;

	must(weft_start(NULL), "start");
	for (int i = 0; i < 3 && !error; i++)
		error = weft_group_spawn(&group, NULL, NULL, fetch, &f[i]);
	if (error)
		weft_group_cancel(&group);
	error = weft_group_wait(&group, WEFT_FOREVER, NULL);
	printf("all: %s\n", weft_strerror(error));
	for (int i = 0; i < 3; i++)
		printf("%s: %s\n", f[i].from, weft_strerror(f[i].result));

	/* The same group once more; the deadline ends it now. */
	f[1].fails = 0;
	for (int i = 0; i < 3; i++)
		must(weft_group_spawn(&group, NULL, NULL, fetch, &f[i]), "spawn");
	error = weft_group_wait(&group, weft_deadline(WEFT_MS(20)), NULL);
	printf("all: %s\n", weft_strerror(error));
	must(weft_stop(), "stop");
	return 0;
}

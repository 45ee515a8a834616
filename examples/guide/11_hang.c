/* SPDX-License-Identifier: MIT */
/* 11_hang - two threads that wait for each other; the runtime says so */
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

static struct weft_mutex bread = WEFT_MUTEX_INIT, butter = WEFT_MUTEX_INIT;
static struct weft_barrier both_have_one;

static void must(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "%s: %s\n", what, weft_strerror(error));
		exit(1);
	}
}

static void eat(struct weft_mutex *first, struct weft_mutex *second)
{
	weft_mutex_lock(first);
	weft_barrier_wait(&both_have_one);
	weft_mutex_lock(second);	/* the other one has it, and waits too */
	weft_mutex_unlock(second);
	weft_mutex_unlock(first);
}

static void *bread_first(void *unused)
{
	eat(&bread, &butter);
	return unused;
}

static void *butter_first(void *unused)
{
	eat(&butter, &bread);
	return unused;
}

int main(void)
{
	static const struct weft_attr ann = { .name = "ann" },
				      bob = { .name = "bob" };
	uint64_t id[2];

	must(weft_start(NULL), "start");
	must(weft_barrier_init(&both_have_one, 2), "barrier");
	must(weft_spawn(&id[0], &ann, bread_first, NULL), "spawn");
	must(weft_spawn(&id[1], &bob, butter_first, NULL), "spawn");
	must(weft_join(id[0], NULL), "join");
	must(weft_join(id[1], NULL), "join");
	must(weft_stop(), "stop");
	return 0;
}

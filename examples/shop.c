/* SPDX-License-Identifier: MIT */
/*
 * shop [hang | crash] - clerks sell, and all write into one book
 *
 * It has faults, which doc/seeing.md finds: a clerk adds up the bill while it has the
 * book. With "hang", bob takes the till before the book, and the others the book first.
 * With "crash", a clerk has no bill after some sales.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

#define CLERKS	4
#define ITEMS	200000

static struct weft_mutex book = WEFT_MUTEX_INIT, till = WEFT_MUTEX_INIT;
static _Atomic unsigned long sales;
static int hangs, crashes;

static void must(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "shop: %s: %s\n", what, weft_strerror(error));
		exit(1);
	}
}

static void add_up(volatile unsigned long *bill)
{
	for (int i = 0; i < ITEMS; i++)
		*bill += (unsigned long)i;
}

static void sell(struct weft_mutex *first, struct weft_mutex *second)
{
	unsigned long bill = 0;

	weft_mutex_lock(first);
	if (hangs)
		weft_yield();
	weft_mutex_lock(second);
	weft_trace_begin("bill");
	add_up(crashes && sales == 100 ? NULL : &bill);
	weft_trace_end();
	sales++;
	weft_mutex_unlock(second);
	weft_mutex_unlock(first);
}

static void *clerk(void *is_bob)
{
	for (;;)
		if (is_bob && hangs)
			sell(&till, &book);
		else
			sell(&book, &till);
	return NULL;
}

int main(int argc, char **argv)
{
	static const char *const name[CLERKS] = { "ann", "bob", "cid", "dot" };

	hangs = argc > 1 && strcmp(argv[1], "hang") == 0;
	crashes = argc > 1 && strcmp(argv[1], "crash") == 0;
	must(weft_start(NULL), "start");
	for (int i = 0; i < CLERKS; i++) {
		const struct weft_attr attr = { .name = name[i], .flags = WEFT_DETACHED };

		must(weft_spawn(NULL, &attr, clerk, i == 1 ? &book : NULL), "spawn");
	}
	for (;;) {
		must(weft_sleep(WEFT_SECONDS(1)), "sleep");
		printf("%lu sales\n", sales);
		fflush(stdout);
	}
}

/* SPDX-License-Identifier: MIT */
/* 06_alt - one thread waits for two channels, and not for ever */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

WEFT_CHAN_OF(fruits, int);

struct tree {
	struct fruits basket;
	int count;
};

static void must(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "%s: %s\n", what, weft_strerror(error));
		exit(1);
	}
}

static void *drop(void *arg)
{
	struct tree *tree = arg;

	for (int i = 0; i < tree->count; i++)
		must(fruits_send(tree->basket, 1), "send");
	fruits_close(tree->basket);
	return NULL;
}

int main(void)
{
	struct tree tree[2] = { { .count = 3 }, { .count = 5 } };
	int got[2] = { 0 }, fruit, open = 2;
	struct weft_alt alt[2] = { { .op = WEFT_ALT_NONE } };
	uint64_t id[2];

	must(weft_start(NULL), "start");
	for (int i = 0; i < 2; i++) {
		must(fruits_create(&tree[i].basket, 0, 0), "channel");
		must(weft_spawn(&id[i], NULL, drop, &tree[i]), "spawn");
		fruits_alt_recv(&alt[i], tree[i].basket, &fruit);
	}
	while (open) {
		int i = weft_alt(alt, 2, weft_deadline(WEFT_SECONDS(60)));

		if (i < 0)
			must(i, "alt");		/* -ETIMEDOUT, for example */
		if (alt[i].error == -EPIPE) {	/* closed: wait for it no more */
			alt[i].op = WEFT_ALT_NONE;
			open--;
			continue;
		}
		must(alt[i].error, "receive");
		got[i] += fruit;
	}
	printf("%d apples, %d pears\n", got[0], got[1]);
	for (int i = 0; i < 2; i++) {
		must(weft_join(id[i], NULL), "join");
		fruits_destroy(tree[i].basket);
	}
	must(weft_stop(), "stop");
	return 0;
}

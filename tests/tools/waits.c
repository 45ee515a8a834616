/* SPDX-License-Identifier: MIT */
/*
 * waits.c - N messages through each of some channels; for test_trace_whole.sh
 *
 * Prints what weft_stat() has counted when nothing moved any more, and then sets a mark.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

#define PAIRS 4

static struct weft_chan *chan[PAIRS];
static long messages;

static void *sends(void *arg)
{
	const long pair = (long)arg;

	for (uint64_t i = 0; i < (uint64_t)messages; i++)
		if (weft_chan_send(chan[pair], &i, WEFT_FOREVER) != 0)
			abort();
	return NULL;
}

static void *receives(void *arg)
{
	const long pair = (long)arg;
	uint64_t got;

	for (uint64_t i = 0; i < (uint64_t)messages; i++)
		if (weft_chan_recv(chan[pair], &got, WEFT_FOREVER) != 0 || got != i)
			abort();
	return NULL;
}

/* A sleep would cost main its VCPU, and main would get one again behind the counts. */
static void let_others_idle(void)
{
	const int64_t until = weft_clock() + WEFT_MS(20);

	while (weft_clock() < until)
		;
}

static struct weft_stat at_rest(void)
{
	struct weft_stat before, after;

	do {
		if (weft_stat(&before) != 0)
			abort();
		let_others_idle();
		if (weft_stat(&after) != 0)
			abort();
	} while (memcmp(&before, &after, sizeof(after)) != 0);
	return after;
}

int main(int argc, char **argv)
{
	uint64_t id[2 * PAIRS];
	struct weft_stat s;

	messages = argc > 1 ? atol(argv[1]) : 1;
	if (weft_start(NULL) != 0)
		return 1;
	for (long i = 0; i < PAIRS; i++)	/* one without a buffer, and three with one */
		if (weft_chan_create(&chan[i], sizeof(uint64_t), (size_t)(i * i), 0) != 0 ||
		    weft_spawn(&id[2 * i], NULL, sends, (void *)i) != 0 ||
		    weft_spawn(&id[2 * i + 1], NULL, receives, (void *)i) != 0)
			return 1;
	for (int i = 0; i < 2 * PAIRS; i++)
		if (weft_join(id[i], NULL) != 0)
			return 1;
	s = at_rest();
	weft_trace_mark("counted");
	printf("spawns=%lu switches=%lu steals=%lu wakes=%lu preemptions=%lu "
	       "compensations=%lu\n", (unsigned long)s.threads_made,
	       (unsigned long)s.switches, (unsigned long)s.steals, (unsigned long)s.wakes,
	       (unsigned long)s.preemptions, (unsigned long)s.compensations);
	return 0;
}

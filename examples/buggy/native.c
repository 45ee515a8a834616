/* SPDX-License-Identifier: MIT */
/*
 * native.c - a bug in the order of weft's own threads: a channel that is closed too early
 *
 * Two threads take items from a channel, and an item may make another one. The first thread
 * closes the channel when no item is left. But a thread counts its item as done before it
 * counts the next one. With -DFIXED it does so behind that.
 *
 *	cc -g -o native native.c $(pkg-config --cflags --libs weft)
 *	weft explore --runs 100 ./native
 */
#include <errno.h>
#include <stdio.h>
#include <weft.h>

#define ITEMS	3

static struct weft_chan *items;
static struct weft_mutex mutex = WEFT_MUTEX_INIT;
static struct weft_cond none_left = WEFT_COND_INIT;
static int left = 1;		/* under mutex */

static void add(int n)
{
	(void)!weft_mutex_lock(&mutex);
	left += n;
	if (left == 0)
		(void)!weft_cond_signal(&none_left);
	(void)!weft_mutex_unlock(&mutex);
}

static void *serve(void *lost)
{
	int item;

	while (weft_chan_recv(items, &item, WEFT_FOREVER) == 0) {
#ifndef FIXED
		add(-1);
#endif
		if (++item < ITEMS) {
			add(1);
			*(int *)lost |= weft_chan_send(items, &item, WEFT_FOREVER) == -EPIPE;
		}
#ifdef FIXED
		add(-1);
#endif
	}
	return NULL;
}

int main(void)
{
	int lost[2] = { 0, 0 }, item = 0;
	uint64_t id[2];

	if (weft_start(NULL) != 0)
		return 2;
	if (weft_chan_create(&items, sizeof(item), ITEMS, 0) != 0)
		return 2;
	for (int i = 0; i < 2; i++)
		if (weft_spawn(&id[i], NULL, serve, &lost[i]) != 0)
			return 2;
	(void)!weft_chan_send(items, &item, WEFT_FOREVER);
	(void)!weft_mutex_lock(&mutex);
	while (left > 0)
		(void)!weft_cond_wait(&none_left, &mutex);
	(void)!weft_mutex_unlock(&mutex);
	(void)!weft_chan_close(items);
	for (int i = 0; i < 2; i++)
		(void)!weft_join(id[i], NULL);
	if (lost[0] || lost[1]) {
		fputs("the channel was closed before an item was sent\n", stderr);
		return 1;
	}
	return weft_stop() != 0;
}

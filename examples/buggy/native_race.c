/* SPDX-License-Identifier: MIT */
/*
 * native_race.c - a data race of weft's own threads: results that are read too early
 *
 * Two threads add up the parts of a sum, and tell by a channel that a part is done. But each
 * tells it before it has added its part. The first thread then reads the sum, which a thread may
 * still change. With -DFIXED each tells it behind that.
 *
 *	weft cc -g -o native_race native_race.c $(pkg-config --cflags --libs weft)
 *	weft explore --runs 100 ./native_race
 */
#include <stdio.h>
#include <weft.h>

#define THREADS	2

static struct weft_chan *done;
static struct weft_mutex mutex = WEFT_MUTEX_INIT;
static int sum;			/* under mutex, until all parts are done */

static void add(int part)
{
	(void)!weft_mutex_lock(&mutex);
	sum += part;
	(void)!weft_mutex_unlock(&mutex);
}

static void *work(void *part)
{
	int number = *(int *)part;

#ifdef FIXED
	add(number);
	(void)!weft_chan_send(done, &number, WEFT_FOREVER);
#else
	(void)!weft_chan_send(done, &number, WEFT_FOREVER);
	add(number);
#endif
	return NULL;
}

int main(void)
{
	static int parts[THREADS] = { 20, 22 };
	uint64_t id[THREADS];
	int number, read;

	if (weft_start(NULL) != 0 || weft_chan_create(&done, sizeof(number), THREADS, 0) != 0)
		return 2;
	for (int i = 0; i < THREADS; i++)
		if (weft_spawn(&id[i], NULL, work, &parts[i]) != 0)
			return 2;
	for (int i = 0; i < THREADS; i++)
		(void)!weft_chan_recv(done, &number, WEFT_FOREVER);
	read = sum;
	for (int i = 0; i < THREADS; i++)
		(void)!weft_join(id[i], NULL);
	printf("%d\n", read);
	return weft_stop() != 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * race.c - a data race: a message is published by a flag that nothing orders
 *
 * Each access is right in each order of the two threads, so no assertion fails here. But
 * the compiler and the processor may let the reader see the flag before the message.
 * With -DFIXED the flag is an atomic, stored with release and loaded with acquire. Compile
 * it by weft cc.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static int message;
#ifdef FIXED
static atomic_int is_there;
#define SET(flag)	atomic_store_explicit(flag, 1, memory_order_release)
#define GET(flag)	atomic_load_explicit(flag, memory_order_acquire)
#else
static int is_there;
#define SET(flag)	(*(flag) = 1)
#define GET(flag)	(*(flag))
#endif

static void publish(int value)
{
	message = value;
	SET(&is_there);
}

static void *writes(void *unused)
{
	publish(42);
	return unused;
}

static void *reads(void *unused)
{
	if (GET(&is_there))
		printf("%d\n", message);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	if (pthread_create(&threads[0], NULL, writes, NULL) != 0 ||
	    pthread_create(&threads[1], NULL, reads, NULL) != 0)
		return 2;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

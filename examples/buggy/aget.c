/* SPDX-License-Identifier: MIT */
/*
 * aget.c - the bug of aget 0.4: what is saved for a later run is torn
 *
 * Threads load parts of a file. Each counts what it has written in its own offset, and then,
 * under a mutex, in the sum of all. At an interrupt another thread saves the sum and the
 * offsets. It does not take the mutex, and the offset is counted outside of it. So the saved
 * numbers need not belong together, and the next run leaves a hole in the file. -DFIXED: both
 * are counted, and saved, under the mutex.
 */
#include <assert.h>
#include <pthread.h>

#define PARTS	2
#define CHUNKS	3

static pthread_mutex_t written_mutex = PTHREAD_MUTEX_INITIALIZER;
static long written;		/* the sum */
static long offset[PARTS];
static struct { long written, offset[PARTS]; } saved;

static void *load(void *part)
{
	for (int i = 0; i < CHUNKS; i++) {
#ifndef FIXED
		++*(long *)part;
#endif
		pthread_mutex_lock(&written_mutex);
#ifdef FIXED
		++*(long *)part;
#endif
		written++;
		pthread_mutex_unlock(&written_mutex);
	}
	return part;
}

static void *save(void *unused)
{
#ifdef FIXED
	pthread_mutex_lock(&written_mutex);
#endif
	saved.written = written;
	for (int i = 0; i < PARTS; i++)
		saved.offset[i] = offset[i];
#ifdef FIXED
	pthread_mutex_unlock(&written_mutex);
#endif
	return unused;
}

int main(void)
{
	pthread_t thread[PARTS], saver;
	long sum = 0;

	for (int i = 0; i < PARTS; i++)
		if (pthread_create(&thread[i], NULL, load, &offset[i]) != 0)
			return 2;
	if (pthread_create(&saver, NULL, save, NULL) != 0)
		return 2;
	for (int i = 0; i < PARTS; i++)
		pthread_join(thread[i], NULL);
	pthread_join(saver, NULL);
	for (int i = 0; i < PARTS; i++)
		sum += saved.offset[i];
	assert(sum == saved.written);
	return 0;
}

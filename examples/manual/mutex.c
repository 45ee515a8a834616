/* SPDX-License-Identifier: MIT */
/* mutex.c - threads add under a mutex; a thread does not wait for it for ever */
#include <errno.h>
#include <stdio.h>
#include <weft.h>

static struct weft_mutex mutex = WEFT_MUTEX_INIT;	/* adaptive */
static long sum;

static void *add(void *unused)
{
	for (int i = 0; i < 1000; i++) {
		weft_mutex_lock(&mutex);
		sum++;
		weft_mutex_unlock(&mutex);
	}
	return unused;
}

static void *hurry(void *arg)
{
	*(int *)arg = weft_mutex_try_lock(&mutex);	/* -EBUSY */
	if (*(int *)arg == -EBUSY)
		*(int *)arg = weft_mutex_lock_until(&mutex, weft_deadline(WEFT_MS(10)));
	return NULL;
}

int main(void)
{
	uint64_t id[3];
	int error = 0;

	if (weft_start(NULL) != 0)
		return 1;
	for (int i = 0; i < 3; i++)
		if (weft_spawn(&id[i], NULL, add, NULL) != 0)
			return 1;
	for (int i = 0; i < 3; i++)
		if (weft_join(id[i], NULL) != 0)
			return 1;
	/* The same mutex anew, given in order of arrival. */
	if (weft_mutex_destroy(&mutex) != 0 ||
	    weft_mutex_init(&mutex, WEFT_MUTEX_STRICT) != 0)
		return 1;
	weft_mutex_lock(&mutex);
	if (weft_spawn(&id[0], NULL, hurry, &error) != 0 || weft_join(id[0], NULL) != 0)
		return 1;
	weft_mutex_unlock(&mutex);
	printf("%ld; %s\n", sum, weft_strerror(error));
	return sum != 3000 || error != -ETIMEDOUT || weft_stop() != 0;
}

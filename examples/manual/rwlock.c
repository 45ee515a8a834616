/* SPDX-License-Identifier: MIT */
/* rwlock.c - many threads read a pair of numbers, and one changes it */
#include <stdio.h>
#include <weft.h>

static struct weft_rwlock lock = WEFT_RWLOCK_INIT;
static long pair[2];	/* always equal under the lock */

static void *look(void *arg)
{
	int *wrong = arg;

	for (int i = 0; i < 1000; i++) {
		weft_rwlock_read(&lock);
		*wrong += pair[0] != pair[1];
		weft_rwlock_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	int wrong[3] = { 0, 0, 0 };
	uint64_t id[3];

	if (weft_start(NULL) != 0)
		return 1;
	for (int i = 0; i < 3; i++)
		if (weft_spawn(&id[i], NULL, look, &wrong[i]) != 0)
			return 1;
	for (int i = 0; i < 100; i++) {
		weft_rwlock_write(&lock);
		pair[0]++;
		pair[1]++;
		weft_rwlock_unlock(&lock);
	}
	for (int i = 0; i < 3; i++)
		if (weft_join(id[i], NULL) != 0)
			return 1;
	printf("%ld, %ld\n", pair[0], pair[1]);
	return wrong[0] || wrong[1] || wrong[2] || pair[0] != 100 ||
	       weft_rwlock_destroy(&lock) != 0 || weft_stop() != 0;
}

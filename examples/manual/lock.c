/* SPDX-License-Identifier: MIT */
/* lock.c - a lock of one word for each counter, in pthreads and in threads of weft */
#include <pthread.h>
#include <stdio.h>
#include <weft.h>

struct counter {
	struct weft_lock lock;	/* 4 bytes */
	int value;
};

static struct counter counter = { .lock = WEFT_LOCK_INIT };

static void *count(void *unused)
{
	for (int i = 0; i < 1000; i++) {
		void *held = weft_preempt_off();	/* for threads of weft */

		if (weft_lock_try_lock(&counter.lock) != 0)
			weft_lock_lock(&counter.lock);
		counter.value++;
		weft_lock_unlock(&counter.lock);
		weft_preempt_on(held);
	}
	return unused;
}

int main(void)
{
	pthread_t foreign;
	uint64_t id;

	if (weft_start(NULL) != 0 || pthread_create(&foreign, NULL, count, NULL) != 0 ||
	    weft_spawn(&id, NULL, count, NULL) != 0 || weft_join(id, NULL) != 0)
		return 1;
	weft_block_begin();
	pthread_join(foreign, NULL);
	weft_block_end();
	printf("%d\n", counter.value);
	return counter.value != 2000 || weft_stop() != 0;
}

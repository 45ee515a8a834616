/* SPDX-License-Identifier: MIT */
/* thread_cancel.c - ask a thread to end; its clean-up is not cancelled */
#include <errno.h>
#include <stdio.h>
#include <weft.h>

static struct weft_sem begun = WEFT_SEM_INIT;

static void *wait_and_clean_up(void *arg)
{
	int *cleaned = arg;
	int error;

	weft_sem_post(&begun);
	do
		error = weft_sleep(WEFT_SECONDS(60));
	while (error == 0);

	/* From now on each call that may be cancelled would return -ECANCELED. */
	weft_cancel_hold();
	if (error == -ECANCELED && weft_is_cancelled() && weft_sleep(WEFT_MS(1)) == 0)
		*cleaned = 1;
	weft_cancel_release();
	return NULL;
}

int main(void)
{
	int cleaned = 0;
	uint64_t id;

	if (weft_start(NULL) != 0 ||
	    weft_spawn(&id, NULL, wait_and_clean_up, &cleaned) != 0)
		return 1;
	weft_sem_wait(&begun);
	weft_cancel(id);
	if (weft_join(id, NULL) != 0 || weft_stop() != 0)
		return 1;
	printf("cleaned up: %d\n", cleaned);
	return !cleaned;
}

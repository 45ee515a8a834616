/* SPDX-License-Identifier: MIT */
/* thread_end.c - a graceful end: detached threads, and one that takes too long */
#include <errno.h>
#include <stdio.h>
#include <weft.h>

static void *work(void *unused)
{
	(void)unused;
	weft_yield();		/* let others run first */
	return NULL;
}

static void *late(void *unused)
{
	(void)unused;
	while (weft_sleep(WEFT_SECONDS(60)) == 0)
		;
	return NULL;		/* it was cancelled */
}

int main(void)
{
	struct weft_attr detached = { .flags = WEFT_DETACHED };
	uint64_t id, another;
	int error;

	if (weft_start(NULL) != 0 || weft_spawn(NULL, &detached, work, NULL) != 0 ||
	    weft_spawn(&another, NULL, work, NULL) != 0 ||
	    weft_spawn(&id, NULL, late, NULL) != 0)
		return 1;
	weft_detach(another);	/* a thread may also be detached later */
	error = weft_wait_all(weft_deadline(WEFT_MS(50)));
	printf("after 50 ms: %s\n", weft_strerror(error));
	weft_cancel(id);
	if (error != -ETIMEDOUT || weft_join(id, NULL) != 0)
		return 1;
	return weft_wait_all(WEFT_FOREVER) != 0 || weft_stop() != 0;
}

/* SPDX-License-Identifier: MIT */
/* group.c - the first failure ends the other threads of its group */
#include <errno.h>
#include <stdio.h>
#include <weft.h>

static int fetch(void *arg)
{
	(void)arg;
	return weft_sleep(WEFT_SECONDS(60));	/* until it is cancelled */
}

static int fail(void *arg)
{
	(void)arg;
	return -EIO;
}

int main(void)
{
	struct weft_group group = WEFT_GROUP_INIT;
	uint64_t id = 0, failed = 0;
	int error;

	if (weft_start(NULL) != 0)
		return 1;
	error = weft_group_spawn(&group, NULL, NULL, fetch, NULL);
	if (!error)
		error = weft_group_spawn(&group, &id, NULL, fail, NULL);
	if (error)
		weft_group_cancel(&group);
	/* Always wait: the group lies on this stack. */
	error = weft_group_wait(&group, weft_deadline(WEFT_SECONDS(30)), &failed);
	printf("the group: %s\n", weft_strerror(error));
	return error != -EIO || failed != id || weft_stop() != 0;
}

/* SPDX-License-Identifier: MIT */
/* base.c - a wait with a deadline, and what its error means */
#include <errno.h>
#include <stdio.h>
#include <weft.h>

int main(void)
{
	struct weft_sem never = WEFT_SEM_INIT;
	int64_t begin, deadline;
	int error;

	if (weft_start(NULL) != 0)
		return 1;
	begin = weft_clock();
	deadline = weft_deadline(WEFT_MS(20));
	error = weft_sem_wait_until(&never, deadline);
	printf("after %lld ms: %s\n", (long long)(weft_clock() - begin) / 1000000,
	       weft_strerror(error));
	return error != -ETIMEDOUT || weft_clock() < deadline || weft_stop() != 0;
}

/* SPDX-License-Identifier: MIT */
/* chan.c - one thread sends numbers, another adds them up, until the channel is closed */
#include <errno.h>
#include <stdio.h>
#include <weft.h>

static void *send_numbers(void *arg)
{
	struct weft_chan *numbers = arg;

	for (int i = 1; i <= 100; i++)
		if (weft_chan_send(numbers, &i, WEFT_FOREVER) != 0)
			break;
	weft_chan_close(numbers);	/* the receiver takes what is left first */
	return NULL;
}

int main(void)
{
	struct weft_chan *numbers;
	int number, sum = 0, error;
	uint64_t id;

	/* A buffer for 8 messages, each an int. */
	if (weft_start(NULL) != 0 || weft_chan_create(&numbers, sizeof(int), 8, 0) != 0 ||
	    weft_spawn(&id, NULL, send_numbers, numbers) != 0)
		return 1;
	while ((error = weft_chan_recv(numbers, &number,
				       weft_deadline(WEFT_SECONDS(30)))) == 0)
		sum += number;
	printf("the sum is %d: %s\n", sum, weft_strerror(error));
	if (weft_chan_length(numbers) != 0 || !weft_chan_is_closed(numbers) ||
	    weft_join(id, NULL) != 0)
		return 1;
	return error != -EPIPE || sum != 5050 || weft_chan_destroy(numbers) != 0 ||
	       weft_stop() != 0;
}

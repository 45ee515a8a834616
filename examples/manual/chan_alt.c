/* SPDX-License-Identifier: MIT */
/* chan_alt.c - a thread waits for requests, for a stop, and for a pause between them */
#include <stdio.h>
#include <weft.h>

WEFT_CHAN_OF(numbers, int);	/* struct numbers, numbers_send() and so on */

static struct numbers requests, stop;

static void *serve(void *arg)
{
	int *sum = arg, number = 0, unused;
	struct weft_alt alt[3] = { { .op = WEFT_ALT_NONE } };

	numbers_alt_recv(&alt[0], requests, &number);
	numbers_alt_recv(&alt[1], stop, &unused);
	for (;;) {
		alt[2].op = WEFT_ALT_TIME;
		alt[2].u.time = weft_deadline(WEFT_SECONDS(1));
		switch (weft_alt(alt, 3, WEFT_FOREVER)) {
		case 0:
			*sum += number;
			break;
		case 2:
			printf("no request for a second\n");
			break;
		default:	/* stop is closed, or an error */
			return NULL;
		}
	}
}

int main(void)
{
	int sum = 0;
	uint64_t id;

	if (weft_start(NULL) != 0 || numbers_create(&requests, 0, 0) != 0 ||
	    numbers_create(&stop, 0, 0) != 0 || weft_spawn(&id, NULL, serve, &sum) != 0)
		return 1;
	for (int i = 1; i <= 10; i++)
		if (numbers_send(requests, i) != 0)
			return 1;
	numbers_close(stop);
	if (weft_join(id, NULL) != 0)
		return 1;
	printf("the sum is %d\n", sum);
	return sum != 55 || numbers_destroy(requests) != 0 || numbers_destroy(stop) != 0 ||
	       weft_stop() != 0;
}

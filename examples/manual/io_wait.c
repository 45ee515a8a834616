/* SPDX-License-Identifier: MIT */
/* io_wait.c - wait for a descriptor of a library, and for the first of two */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <weft.h>

int main(void)
{
	struct pollfd fds[2];
	int first = eventfd(0, EFD_NONBLOCK), second = eventfd(1, EFD_NONBLOCK);
	int ready, timeout;

	/* weft made neither descriptor. Calls on an adopted one are cheaper. */
	if (first < 0 || second < 0 || weft_start(NULL) != 0 || weft_adopt(first) != 0)
		return 1;
	timeout = weft_wait_fd(first, POLLIN, weft_deadline(WEFT_MS(5)));
	printf("the first: %s\n", weft_strerror(timeout));

	fds[0] = (struct pollfd){ .fd = first, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = second, .events = POLLIN };
	ready = weft_poll(fds, 2, WEFT_FOREVER);
	printf("%d is ready: the %s\n", ready, fds[1].revents ? "second" : "first");

	weft_close(first);	/* for it was adopted */
	close(second);
	return timeout != -ETIMEDOUT || ready != 1 || fds[1].revents != POLLIN ||
	       weft_stop() != 0;
}

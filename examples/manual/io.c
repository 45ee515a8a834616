/* SPDX-License-Identifier: MIT */
/* io.c - a thread reads from a pipe, and the others run meanwhile */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <weft.h>

static void *read_all(void *arg)
{
	int fd = *(int *)arg;
	char buf[16];
	ssize_t n, total = 0;

	while ((n = weft_read_until(fd, buf, sizeof(buf),
				    weft_deadline(WEFT_SECONDS(30)))) > 0)
		total += n;
	if (n < 0)
		fprintf(stderr, "read: %s\n", weft_strerror((int)n));
	*(int *)arg = n < 0 ? (int)n : (int)total;
	weft_close(fd);
	return NULL;
}

int main(void)
{
	static const char text[] = "each call blocks its thread, and no VCPU\n";
	int fd[2], result;
	uint64_t id;

	if (weft_start(NULL) != 0 || weft_pipe(fd, 0) != 0)
		return 1;
	result = fd[0];
	if (weft_spawn(&id, NULL, read_all, &result) != 0)
		return 1;
	for (int i = 0; i < 10; i++)
		if (weft_write(fd[1], text, strlen(text)) != (ssize_t)strlen(text))
			return 1;
	weft_close(fd[1]);	/* the reader finds the end */
	if (weft_join(id, NULL) != 0)
		return 1;
	printf("%d bytes\n", result);
	return result != 10 * (int)strlen(text) || weft_stop() != 0;
}

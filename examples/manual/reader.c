/* SPDX-License-Identifier: MIT */
/* reader.c - a line that says how many bytes follow, those bytes, and another line */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft.h>

int main(void)
{
	static const char sent[] = "PUT 5\r\nhello" "QUIT\n";
	struct weft_reader in;
	char buf[64], *line, body[64] = "";
	int64_t deadline;
	size_t bytes;
	int fd[2];

	if (weft_start(NULL) != 0 || weft_pipe(fd, 0) != 0 ||
	    weft_write(fd[1], sent, strlen(sent)) != (ssize_t)strlen(sent))
		return 1;
	weft_close(fd[1]);

	weft_reader_init(&in, fd[0], buf, sizeof(buf));
	deadline = weft_deadline(WEFT_SECONDS(30));
	if (weft_reader_line(&in, &line, deadline) < 0 || strncmp(line, "PUT ", 4) != 0)
		return 1;
	bytes = strtoul(line + 4, NULL, 10);
	if (bytes >= sizeof(body) ||
	    weft_reader_read(&in, body, bytes, deadline) != (ssize_t)bytes)
		return 1;
	printf("%zu bytes: %s\n", bytes, body);
	if (weft_reader_line(&in, &line, deadline) != 4 || strcmp(line, "QUIT") != 0)
		return 1;
	if (weft_reader_line(&in, &line, deadline) != -ENODATA)	/* the end */
		return 1;
	weft_close(fd[0]);
	return strcmp(body, "hello") != 0 || weft_stop() != 0;
}

/* SPDX-License-Identifier: MIT */
/* io_file.c - write a file, and send its middle through a pipe */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <weft.h>

int main(void)
{
	char path[] = "/tmp/weft-manual-XXXXXX", got[6] = "";
	int made = mkstemp(path), file, fd[2];
	off_t at = 6;

	if (made < 0 || weft_start(NULL) != 0)
		return 1;
	close(made);
	file = weft_open(path, O_RDWR, 0);
	unlink(path);
	if (file < 0 || weft_pipe(fd, 0) != 0)
		return 1;
	if (weft_pwrite(file, "Hello, world\n", 13, 0) != 13 || weft_fsync(file) != 0 ||
	    weft_pread(file, got, 5, 0) != 5)
		return 1;
	printf("%s", got);

	/* The kernel copies from the file to the pipe. */
	if (weft_sendfile(fd[1], file, &at, 6) != 6 || weft_read(fd[0], got, 6) != 6)
		return 1;
	printf("%.6s\n", got);
	weft_close(fd[0]);
	weft_close(fd[1]);
	weft_close(file);
	return at != 12 || memcmp(got, " world", 6) != 0 || weft_stop() != 0;
}

/* SPDX-License-Identifier: MIT */
/* process.c - a program that is started, and ended where it takes too long */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <weft.h>

int main(void)
{
	char *argv[] = { "sh", "-c", "exit $ANSWER", NULL };
	char *env[] = { "PATH=/usr/bin:/bin", "ANSWER=42", NULL };
	const struct weft_process how = { .env = env };
	int status = 0, error;
	pid_t pid;

	if (weft_start(NULL) != 0)
		return 1;
	error = weft_process_spawn(&pid, "sh", argv, &how);
	if (error) {
		fprintf(stderr, "sh: %s\n", weft_strerror(error));
		return 1;
	}
	/* Other threads run meanwhile. */
	error = weft_waitpid_until(pid, &status, NULL, weft_deadline(WEFT_SECONDS(30)));
	if (error == -ETIMEDOUT) {
		kill(pid, SIGKILL);
		error = weft_waitpid(pid, &status);
	}
	if (!error && WIFEXITED(status))
		printf("its status is %d\n", WEXITSTATUS(status));
	return error != 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 42 ||
		weft_stop() != 0;
}

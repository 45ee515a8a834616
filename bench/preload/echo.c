/* SPDX-License-Identifier: MIT */
/*
 * preload-echo - a thread-a-connection echo server for pthreads
 *
 * preload-echo FD accepts from FD, which listens, until it is killed.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static void *serve(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char buf[4096];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		if (write(fd, buf, (size_t)n) != n)
			break;
	close(fd);
	return NULL;
}

int main(int argc, char **argv)
{
	int server = argc == 2 ? atoi(argv[1]) : -1;
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (;;) {
		int fd = accept(server, NULL, NULL);
		pthread_t thread;

		if (fd < 0 || pthread_create(&thread, &attr, serve,
					     (void *)(intptr_t)fd))
			return 1;
	}
}

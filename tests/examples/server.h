/* SPDX-License-Identifier: MIT */
/* server.h - an example that serves, as a child of the test */
#ifndef WEFT_TESTS_SERVER_H
#define WEFT_TESTS_SERVER_H

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

struct server {
	pid_t pid;
	FILE *out;		/* its standard output */
	struct sockaddr_in address;
};

#define server_check(x)							\
	((x) ? (void)0 : (fprintf(stderr, "%s:%d: failed: %s: %s\n",	\
	 __FILE__, __LINE__, #x, strerror(errno)), abort()))

/*
 * Runs argv[0] of the build's folder. Returns 0; -1 where it cannot be run, as
 * under an emulator that knows only this process, with a message.
 */
static inline int server_start(struct server *s, char *const argv[])
{
	int fd[2];
	char line[64] = "";
	unsigned port = 0;

	server_check(pipe(fd) == 0);
	s->pid = fork();
	server_check(s->pid >= 0);
	if (s->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fd[1], 1);
		close(fd[0]);
		close(fd[1]);
		execv(argv[0], argv);
		_exit(errno == ENOEXEC ? 126 : 127);
	}
	close(fd[1]);
	s->out = fdopen(fd[0], "r");
	server_check(s->out != NULL);
	(void)!fgets(line, sizeof(line), s->out);
	if (sscanf(line, "listening on 127.0.0.1:%u", &port) != 1) {
		int status = 0;

		fclose(s->out);
		waitpid(s->pid, &status, 0);
		server_check(WIFEXITED(status) && WEXITSTATUS(status) == 126);
		printf("    skipped: %s is for another CPU\n", argv[0]);
		return -1;
	}
	s->address = (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons((in_port_t)port),
	};
	s->address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return 0;
}

/* Asks it to stop; returns its exit status, or -1: it ended otherwise. */
static inline int server_stop(struct server *s)
{
	char line[64] = "";
	int status = 0;

	server_check(kill(s->pid, SIGTERM) == 0);
	(void)!fgets(line, sizeof(line), s->out);
	fclose(s->out);
	server_check(waitpid(s->pid, &status, 0) == s->pid);
	if (strcmp(line, "stopped\n") != 0 || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static inline size_t server_open(const struct server *s, int sockets_only)
{
	char path[64], name[512], target[16];
	struct dirent *entry;
	ssize_t got;
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)s->pid);
	dir = opendir(path);
	server_check(dir != NULL);
	while ((entry = readdir(dir))) {
		snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		got = readlink(name, target, sizeof(target) - 1);
		if (got <= 0)
			continue;
		target[got] = 0;
		n += sockets_only ? !strncmp(target, "socket:", 7) :
				    strncmp(target, "/proc/", 6) != 0;
	}
	closedir(dir);
	return n;
}

/* Its sockets, the one that listens among them. */
static inline size_t server_sockets(const struct server *s)
{
	return server_open(s, 1);
}

/* All that it has open, but what its monitor looks at for a moment. */
static inline size_t server_descriptors(const struct server *s)
{
	return server_open(s, 0);
}

/* Its VmRSS, in KiB. */
static inline long server_memory(const struct server *s)
{
	char path[64], line[256];
	long kib = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)s->pid);
	f = fopen(path, "r");
	server_check(f != NULL);
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, "VmRSS:", 6) == 0)
			kib = strtol(line + 6, NULL, 10);
	fclose(f);
	return kib;
}

static inline size_t server_kernel_threads(const struct server *s)
{
	char path[64];
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)s->pid);
	dir = opendir(path);
	server_check(dir != NULL);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

#endif

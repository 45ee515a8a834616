/* SPDX-License-Identifier: MIT */
/* test_close.c - descriptors are closed, or given to other files, under a wait */
#include "compare.h"

#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

static int fd;

static long by_read(void)
{
	char c;

	return read(fd, &c, 1);
}

static long by_recv(void)
{
	char c;

	return recv(fd, &c, 1, 0);
}

static long by_accept(void)
{
	return accept(fd, NULL, NULL);
}

static long by_poll(void)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n = poll(&p, 1, -1);

	return n == 1 && p.revents == POLLNVAL ? -2 : n;
}

static void *call(void *f)
{
	const long result = ((long (*)(void))f)();

	printf("%ld %d\n", result, result == -1 ? errno == EBADF : 0);
	return NULL;
}

static int make_pipe(void)
{
	int end[2];

	return pipe(end) == 0 ? end[0] : -1;
}

static int make_socket(void)
{
	int end[2];

	return socketpair(AF_UNIX, SOCK_STREAM, 0, end) == 0 ? end[0] : -1;
}

static int make_listener(void)
{
	const int s = socket(AF_UNIX, SOCK_STREAM, 0);
	const struct sockaddr any = { .sa_family = AF_UNIX };

	return bind(s, &any, sizeof(any.sa_family)) == 0 && listen(s, 1) == 0 ? s : -1;
}

static void by_close(void)
{
	close(fd);
}

static void by_its_call(void)
{
	syscall(SYS_close, fd);
}

static void by_dup2(void)
{
	dup2(make_pipe(), fd);
}

static void by_range(void)
{
	close_range((unsigned)fd, (unsigned)fd, 0);
}

/* The kernel's waits go on; ours end, as the file is not held for them. */
static void who_waits_is_told(void)
{
	static int (*const make[])(void) = {
		make_pipe, make_pipe, make_socket, make_listener, make_socket,
	};
	static long (*const wait[])(void) = {
		by_read, by_poll, by_recv, by_accept, by_read,
	};
	static void (*const end[])(void) = {
		by_close, by_its_call, by_dup2, by_range,
	};

	for (int e = 0; e < 4; e++)
		for (int i = 0; i < 5; i++) {
			pthread_t t;

			if (end[e] == by_dup2 && wait[i] == by_poll)
				continue;	/* it waits for the new one */
			fd = make[i]();
			t = start(call, (void *)wait[i]);
			usleep(20000);
			end[e]();
			finish(t);
		}
}

static void *read_for_ever(void *arg)
{
	by_read();
	return arg;
}

/* Numbers of others are not disturbed: many closes beside waits that go on. */
static void others_wait_on(void)
{
	int end[2], other;
	pthread_t t;

	if (pipe(end) != 0)
		return;
	fd = end[0];
	t = start(read_for_ever, NULL);
	for (long i = scaled(2000); i > 0; i--) {
		other = dup(fd);
		close(dup(other));
		close(other);
	}
	printf("%zd\n", write(end[1], "x", 1));
	finish(t);
	printf("%d\n", close(fd));
	printf("%d\n", close(fd));
}

/* --- numbers are used again at once --------------------------------- */

#define PAIRS	8

struct pair {
	sem_t given;
	int fd;
	long wrong;
	pthread_t writer;
};

static void *write_and_close(void *arg)
{
	struct pair *p = arg;

	for (long i = scaled(2000); i > 0; i--) {
		int end;

		while (sem_wait(&p->given) != 0)
			;
		end = p->fd;	/* it gives the next when it has read */
		p->wrong += write(end, "x", 1) != 1;
		close(end);
	}
	return NULL;
}

/* The number that it waits for has been another's a moment ago. */
static void *wait_and_close(void *arg)
{
	struct pair *p = arg;
	long wrong = 0;
	int end[2];
	char c;

	for (long i = scaled(2000); i > 0; i--) {
		struct pollfd in = { .events = POLLIN };

		if (i % 2 ? pipe(end) != 0 :
			    socketpair(AF_UNIX, SOCK_STREAM, 0, end) != 0)
			abort();
		p->fd = end[1];
		sem_post(&p->given);
		in.fd = end[0];
		if (i % 3)
			wrong += poll(&in, 1, i % 3 == 1 ? -1 : 1000000) != 1;
		wrong += read(end[0], &c, 1) != 1 || c != 'x';
		close(end[0]);
	}
	return (void *)wrong;
}

static void a_late_close_ends_no_wait_of_the_next(void)
{
	static struct pair pairs[PAIRS];
	pthread_t t[PAIRS];
	long wrong = 0;

	for (int i = 0; i < PAIRS; i++) {
		sem_init(&pairs[i].given, 0, 0);
		pairs[i].writer = start(write_and_close, &pairs[i]);
		t[i] = start(wait_and_close, &pairs[i]);
	}
	for (int i = 0; i < PAIRS; i++) {
		wrong += (long)finish(t[i]);
		finish(pairs[i].writer);
		wrong += pairs[i].wrong;
	}
	printf("%ld\n", wrong);
}

#define LINE	"-1 1\n"
#define ALL	LINE "-2 0\n" LINE LINE LINE

static const struct compare_case cases[] = {
	WEFT_ONLY(who_waits_is_told, ALL ALL LINE LINE LINE LINE ALL),
	COMPARE(others_wait_on),
	COMPARE(a_late_close_ends_no_wait_of_the_next),
};

COMPARE_MAIN(cases)

/* SPDX-License-Identifier: MIT */
/* test_close.c - descriptors are closed, or given to other files, under a wait */
#include "compare.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "../../support/newer.h"

#define POLLS	1	/* of the waits */
#define BY_DUP2	2	/* of the ends */

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

static long result;
static int error;

static void *call(void *f)
{
	result = ((long (*)(void))f)();
	error = result == -1 ? errno : 0;
	return NULL;
}

static void show_result(void)
{
	printf("%ld %s\n", result, error ? error_name(error) : "");
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

/* Is a descriptor of that number the poller's by now? */
static int is_told_of(FILE *poller)
{
	char line[200];
	int n = -1;

	while (n != fd && fgets(line, sizeof(line), poller))
		(void)!sscanf(line, "tfd: %d", &n);
	return n == fd;
}

static int is_waited_for(void)
{
	DIR *all = opendir("/proc/self/fdinfo");
	struct dirent *one;
	int found = 0;

	while (!found && (one = readdir(all))) {
		char path[300];
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", one->d_name);
		f = fopen(path, "r");
		found = f && is_told_of(f);
		if (f)
			fclose(f);
	}
	closedir(all);
	return found;
}

static void wait_and_end(int by, int n)
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
	pthread_t t;

	fd = make[n]();
	t = start(call, (void *)wait[n]);
	while (!is_waited_for())
		usleep(1000);
	end[by]();
	finish(t);
}

/* The kernel's waits go on; ours end, as the file is not held for them. */
static void a_waiting_thread_is_told(void)
{
	for (int by = 0; by < 4; by++)
		for (int n = 0; n < 5; n++)
			if (by != BY_DUP2 || n != POLLS) {
				wait_and_end(by, n);	/* not for the new one */
				show_result();
			}
}

static _Atomic int is_over;

static void *take_numbers(void *arg)
{
	while (!is_over) {
		int n = open("/dev/null", O_RDONLY);

		sched_yield();
		close(n);
	}
	return arg;
}

/* poll() would be of the new one. */
static void so_is_one_whose_number_is_used_again(void)
{
	pthread_t t = start(take_numbers, NULL);

	for (long i = scaled(50); i > 0; i--)
		for (int n = 0; n < 5; n++)
			if (n != POLLS) {
				wait_and_end((int)(i % 4), n);
				if (error != EBADF)
					show_result();
			}
	is_over = 1;
	finish(t);
	puts("done");
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

#define LINE	"-1 EBADF\n"
#define ALL	LINE "-2 \n" LINE LINE LINE

static const struct compare_case cases[] = {
	WEFT_ONLY(a_waiting_thread_is_told, ALL ALL LINE LINE LINE LINE ALL),
	WEFT_ONLY(so_is_one_whose_number_is_used_again, "done\n"),
	COMPARE(others_wait_on),
	COMPARE(a_late_close_ends_no_wait_of_the_next),
};

COMPARE_MAIN(cases)

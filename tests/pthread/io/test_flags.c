/* SPDX-License-Identifier: MIT */
/* test_flags.c - descriptors: flags of open files, numbers, and what they are */
#include "compare.h"

#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

static sem_t begun;

static int is_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 ? -1 : (flags & O_NONBLOCK) != 0;
}

/* A pipe, or the first of a pair of sockets and the second. */
static void make_ends(int *ends, int sockets)
{
	if (sockets ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : pipe(ends))
		abort();
}

/* The first is one that has been connected, which takes no wait. */
static void make_connected_ends(int *ends)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1, "weft-flags-%d",
		 (int)getpid());
	ends[0] = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) != 0 ||
	    listen(listener, 1) != 0 ||
	    connect(ends[0], (struct sockaddr *)&at, sizeof(at)) != 0)
		abort();
	ends[1] = accept(listener, NULL, NULL);
	close(listener);
}

/* --- other ways to one open file ----------------------------------- */

static int pass_on(int fd)
{
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	char c = 0;
	struct iovec iov = { &c, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *head = CMSG_FIRSTHDR(&m);
	int ends[2], passed = -1;

	make_ends(ends, 1);
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	if (sendmsg(ends[0], &m, 0) != 1 || recvmsg(ends[1], &m, 0) != 1)
		abort();
	memcpy(&passed, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(passed));
	close(ends[0]);
	close(ends[1]);
	return passed;
}

static int by_dup(int fd)
{
	return dup(fd);
}

static int by_dup2(int fd)
{
	return dup2(fd, 45);
}

static int by_dup3(int fd)
{
	return dup3(fd, 45, O_CLOEXEC);
}

static int by_fcntl(int fd)
{
	return fcntl(fd, F_DUPFD, 40);
}

static int by_fcntl_cloexec(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 40);
}

static int by_itself(int fd)
{
	return fd;
}

static const struct way {
	const char *name;
	int (*other)(int fd);
	int in_child;
} ways[] = {
	{ "itself", by_itself, 0 },
	{ "dup", by_dup, 0 },
	{ "dup2", by_dup2, 0 },
	{ "dup3", by_dup3, 0 },
	{ "F_DUPFD", by_fcntl, 0 },
	{ "F_DUPFD_CLOEXEC", by_fcntl_cloexec, 0 },
	{ "SCM_RIGHTS", pass_on, 0 },
	{ "fork", by_itself, 1 },
};

#define WAYS	(sizeof(ways) / sizeof(*ways))

static void set_nonblocking(int fd, int by_ioctl)
{
	int on = 1;

	if (by_ioctl ? ioctl(fd, FIONBIO, &on) :
		       fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK))
		abort();
}

static void in_a_child(void (*does)(int fd, int arg), int fd, int arg)
{
	pid_t child = fork();

	if (child == 0) {
		does(fd, arg);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void *write_late(void *end)
{
	usleep(1000);		/* most likely the other waits */
	if (write(*(int *)end, "x", 1) != 1)
		abort();
	return NULL;
}

/* It is used, with a wait or without, so that it may be remembered to block. */
static void use(int *ends, int waits)
{
	pthread_t t;
	char c;

	if (waits)
		t = start(write_late, &ends[1]);
	else if (write(ends[1], "x", 1) != 1)
		abort();
	if (read(ends[0], &c, 1) != 1)
		abort();
	if (waits)
		finish(t);
}

static void set_by(const struct way *way, int kind, int waits, int by_ioctl)
{
	int ends[2], other;
	char c;

	if (kind < 2)
		make_ends(ends, kind);
	else
		make_connected_ends(ends);
	use(ends, waits);
	other = way->other(ends[0]);
	if (way->in_child)
		in_a_child(set_nonblocking, other, by_ioctl);
	else
		set_nonblocking(other, by_ioctl);
	printf("%s: ", way->name);
	show_errno("read", read(ends[0], &c, 1));
	printf("%d %d\n", is_nonblocking(ends[0]), is_nonblocking(other));
	if (other != ends[0])
		close(other);
	close(ends[0]);
	close(ends[1]);
}

static void *set_by_all_ways(void *arg)
{
	for (size_t i = 0; i < WAYS; i++)
		for (int k = 0; k < 12; k++)
			set_by(&ways[i], k % 3, k / 3 % 2, k / 6);
	return arg;
}

static void what_is_set_by_one_way_is_so_by_all(void)
{
	finish(start(set_by_all_ways, NULL));
}

static void *read_one(void *arg)
{
	char c = 0;

	sem_post(&begun);
	return (void *)(read(*(int *)arg, &c, 1) * 100 + c);
}

static void tell_flags(int fd, int arg)
{
	printf("%d: %d\n", arg, is_nonblocking(fd));
	fflush(stdout);
}

/* A wait here must not change what others see, of this process or not. */
static void a_wait_does_not_show_in_the_flags(void)
{
	sem_init(&begun, 0, 0);
	for (int sockets = 0; sockets < 2; sockets++) {
		int ends[2], other, passed;
		pthread_t t;

		make_ends(ends, sockets);
		other = dup(ends[0]);
		t = start(read_one, &ends[0]);
		while (sem_wait(&begun) != 0)
			;
		usleep(20000);		/* most likely it waits */
		passed = pass_on(ends[0]);
		tell_flags(ends[0], 1);
		tell_flags(other, 2);
		tell_flags(passed, 3);
		in_a_child(tell_flags, other, 4);
		if (write(ends[1], "a", 1) != 1)
			abort();
		printf("%ld\n", (long)finish(t));
		tell_flags(ends[0], 5);
	}
}

/* --- numbers ------------------------------------------------------- */

#define NUMBER	48

static const int number = NUMBER;

/* Pipes and sockets in turn, each under the number that the last one had. */
static void a_number_may_be_another_file_the_next_time(void)
{
	sem_init(&begun, 0, 0);
	for (int i = 0; i < 24; i++) {
		char what = (char)('a' + i);
		int ends[2];
		pthread_t t;

		make_ends(ends, i % 2);
		if (i % 3 == 1)
			dup3(ends[0], NUMBER, O_CLOEXEC);
		else if (i % 3 == 2 && close(NUMBER) == 0)
			fcntl(ends[0], F_DUPFD, NUMBER);
		else
			dup2(ends[0], NUMBER);
		close(ends[0]);
		t = start(read_one, (void *)(uintptr_t)&number);
		while (sem_wait(&begun) != 0)
			;
		if (i % 4 < 2)
			usleep(3000);	/* most likely it waits */
		if (write(ends[1], &what, 1) != 1)
			abort();
		printf("%ld ", (long)finish(t));
		close(ends[1]);
	}
	printf("\n");
}

static struct sockaddr_un address;

/*
 * All by one thread: another's new descriptor might be 0. Again where something
 * else of the process had 0 at that moment.
 */
static int accept_as_0(int listener, int flags)
{
	int fd = -1;

	for (int i = 0; i < 100 && fd != 0; i++) {
		int other = socket(AF_UNIX, SOCK_STREAM, 0);
		char c = 0;

		if (connect(other, (struct sockaddr *)&address, sizeof(address)) ||
		    write(other, "x", 1) != 1)
			abort();
		close(0);
		fd = flags ? accept4(listener, NULL, NULL, flags) :
			     accept(listener, NULL, NULL);
		if (fd != 0)
			dup2(listener, 0);
		if (read(fd, &c, 1) != 1 || c != 'x')
			return -2;
		if (fd != 0)
			close(fd);
		close(other);
	}
	return fd;
}

static void *accept_all(void *arg)
{
	int listener = *(int *)arg;
	char c;

	printf("accept %d\n", accept_as_0(listener, 0));
	show_errno("end", read(0, &c, 1));
	printf("accept4 %d, ", accept_as_0(listener, SOCK_NONBLOCK |
						      SOCK_CLOEXEC));
	printf("%d %d\n", is_nonblocking(0), fcntl(0, F_GETFD));
	return NULL;
}

static void what_is_accepted_may_be_number_0(void)
{
	int null = open("/dev/null", O_RDWR), fd;

	dup2(null, 0);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	address.sun_family = AF_UNIX;
	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/weft-0-%d",
		 (int)getpid());
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(fd, 5) != 0)
		abort();
	finish(start(accept_all, &fd));
	unlink(address.sun_path);
}

static void *read_until_end(void *arg)
{
	long sum = 0;
	char c;

	while (read(*(int *)arg, &c, 1) == 1) {
		sum += c;
		sem_post(&begun);
	}
	return (void *)sum;
}

/* As servers do that begin anew; some thread has waited before. */
static void all_other_numbers_may_be_closed(void)
{
	int ends[2];
	pthread_t t;

	sem_init(&begun, 0, 0);
	make_ends(ends, 1);
	t = start(read_until_end, &ends[0]);
	for (int i = 0; i < 3; i++) {
		usleep(2000);		/* most likely it waits */
		if (write(ends[1], "a", 1) != 1)
			abort();
		while (sem_wait(&begun) != 0)
			;
		for (int fd = 3; fd < 64; fd++)
			if (fd != ends[0] && fd != ends[1])
				close(fd);
	}
	close(ends[1]);
	printf("%ld\n", (long)finish(t));
}

/* --- what is no pipe and no socket --------------------------------- */

static void *use_devices(void *arg)
{
	struct epoll_event event = { .events = EPOLLIN };
	char name[] = "/tmp/weft-flags-XXXXXX", buf[8] = "1234567";
	int file = mkstemp(name), ep = epoll_create1(0), fd;
	struct pollfd p = { .fd = file, .events = POLLIN | POLLOUT };
	size_t much = 0x7ffff000;	/* the most that Linux writes at once */
	void *nothing = mmap(NULL, much, PROT_READ,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			     0);

	unlink(name);
	printf("%d %d\n", poll(&p, 1, -1), p.revents);
	show_errno("watch", epoll_ctl(ep, EPOLL_CTL_ADD, file, &event));
	fd = open("/dev/zero", O_RDWR);
	printf("%zd %d\n", read(fd, buf, 8), buf[7]);
	fd = open("/dev/null", O_RDWR);
	printf("%zd ", read(fd, buf, 8));
	if (nothing != MAP_FAILED)
		printf("%zd\n", write(fd, nothing, much));
	show_errno("full", write(open("/dev/full", O_RDWR), "x", 1));
	show_errno("folder", read(open("/", O_RDONLY), buf, 1));
	show_errno("write only", read(open("/dev/null", O_WRONLY), buf, 1));
	return arg;
}

static void files_and_devices_are_always_ready(void)
{
	finish(start(use_devices, NULL));
}

static void *read_lines(void *arg)
{
	char buf[16] = "";

	sem_post(&begun);
	printf("%zd ", read(*(int *)arg, buf, sizeof(buf)));
	printf("%s", buf);
	return NULL;
}

static void a_terminal_gives_lines(void)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;
	pthread_t t;

	sem_init(&begun, 0, 0);
	show_errno("terminal", master);
	if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
		return;
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	t = start(read_lines, &slave);
	while (sem_wait(&begun) != 0)
		;
	if (write(master, "no", 2) != 2)
		abort();
	usleep(5000);
	if (write(master, " end\nmore", 9) != 9)
		abort();
	finish(t);
}

static void *read_input(void *arg)
{
	char line[16] = "";

	sem_post(&begun);
	while (fgets(line, sizeof(line), stdin))
		printf("%s", line);
	printf("%d\n", feof(stdin) != 0);
	return arg;
}

/* By stdio, which waits where nothing of ours sees it. */
static void standard_input_may_be_a_pipe(void)
{
	int ends[2];
	pthread_t t;

	sem_init(&begun, 0, 0);
	make_ends(ends, 0);
	dup2(ends[0], STDIN_FILENO);
	t = start(read_input, NULL);
	while (sem_wait(&begun) != 0)
		;
	for (int i = 0; i < 3; i++) {
		usleep(2000);
		if (write(ends[1], "line\n", 5) != 5)
			abort();
	}
	close(ends[1]);
	finish(t);
}

static const struct compare_case cases[] = {
	COMPARE(what_is_set_by_one_way_is_so_by_all),
	COMPARE(a_wait_does_not_show_in_the_flags),
	COMPARE(a_number_may_be_another_file_the_next_time),
	COMPARE(what_is_accepted_may_be_number_0),
	COMPARE(all_other_numbers_may_be_closed),
	COMPARE(files_and_devices_are_always_ready),
	COMPARE(a_terminal_gives_lines),
	COMPARE(standard_input_may_be_a_pipe),
};

COMPARE_MAIN(cases)

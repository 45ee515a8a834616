/* SPDX-License-Identifier: MIT */
/* test_sockets.c - what calls on sockets wait for, for how long, and refuse */
#include "compare.h"

#include <netinet/in.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

static _Atomic int handled;
static sem_t late;
static int ends[2];
static char full[1 << 16];

static void count(int signal)
{
	(void)signal;
	handled++;
}

static void handle(int signal, int flags)
{
	struct sigaction action = { .sa_handler = count, .sa_flags = flags };

	sigaction(signal, &action, NULL);
}

static void make_pair(int type)
{
	if (socketpair(AF_UNIX, type, 0, ends) != 0)
		abort();
}

/* --- nobody receives ----------------------------------------------- */

static void send_all_ways(const char *what)
{
	struct iovec iov = { "x", 1 };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
	int copy = dup(ends[0]);

	printf("%s\n", what);
	show_errno("send", send(ends[0], "x", 1, 0));
	show_errno("quietly", send(ends[0], "x", 1, MSG_NOSIGNAL));
	show_errno("sendmsg", sendmsg(ends[0], &message, 0));
	show_errno("write", write(ends[0], "x", 1));
	show_errno("writev", writev(ends[0], &iov, 1));
	show_errno("a copy", write(copy, "x", 1));
	printf("%d\n", handled);
	close(copy);
	close(ends[0]);
}

static void *send_to_nobody(void *arg)
{
	static const int types[] = { SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM };
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = 9 };

	for (int i = 0; i < 3; i++) {
		make_pair(types[i]);
		shutdown(ends[1], SHUT_RD);
		send_all_ways("unix");
		close(ends[1]);
	}
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ends[0] = socket(AF_INET, SOCK_DGRAM, 0);
	if (connect(ends[0], (struct sockaddr *)&to, sizeof(to)) != 0)
		abort();
	shutdown(ends[0], SHUT_WR);
	send_all_ways("UDP");
	return arg;
}

static void streams_alone_have_sigpipe(void)
{
	handle(SIGPIPE, 0);
	finish(start(send_to_nobody, NULL));
}

/* --- an option says for how long ----------------------------------- */

static void set_time(int fd, int option, long ms)
{
	struct timeval time = { 0, ms * 1000 };

	if (setsockopt(fd, SOL_SOCKET, option, &time, sizeof(time)) != 0)
		abort();
}

static void fill(int fd)
{
	while (send(fd, full, sizeof(full), MSG_DONTWAIT) > 0)
		;
}

static void *wait_in_vain(void *arg)
{
	struct iovec iov = { full, 8 };
	int copy;

	make_pair(SOCK_STREAM);
	set_time(ends[0], SO_RCVTIMEO, 40);
	set_time(ends[0], SO_SNDTIMEO, 40);
	fill(ends[0]);
	copy = dup(ends[0]);
	show_errno("read", read(ends[0], full, 8));
	show_errno("readv", readv(ends[0], &iov, 1));
	show_errno("write", write(ends[0], full, 8));
	show_errno("writev", writev(ends[0], &iov, 1));
	show_errno("read a copy", read(copy, full, 8));
	show_errno("write a copy", write(copy, full, 8));
	show_errno("other end", setsockopt(ends[1], SOL_SOCKET, SO_RCVTIMEO,
					   &(struct timeval){ 0, 40000 },
					   sizeof(struct timeval)));
	dup2(ends[1], copy);
	while (read(copy, full, sizeof(full)) > 0)
		;
	show_errno("all is read", read(copy, full, 1));
	return arg;
}

static void times_are_kept_by_every_call(void)
{
	finish(start(wait_in_vain, NULL));
}

/* It waits once without a time, so that this is remembered. */
static void *wait_again(void *arg)
{
	struct iovec iov = { full, 8 };
	struct mmsghdr many = { .msg_hdr = { .msg_iov = &iov, .msg_iovlen = 1 } };
	int copy = dup(ends[0]);

	show_errno("once", recv(ends[0], full, 8, 0) - 1);
	set_time(copy, SO_RCVTIMEO, 60);
	show_errno("recv", recv(ends[0], full, 8, 0));
	show_errno("recvmsg", recvmsg(ends[0], &many.msg_hdr, 0));
	show_errno("recvmmsg", recvmmsg(ends[0], &many, 1, 0, NULL));
	show_errno("read", read(ends[0], full, 8));
	return arg;
}

static void a_time_is_set_by_a_copy(void)
{
	pthread_t t;

	make_pair(SOCK_STREAM);
	t = start(wait_again, NULL);
	usleep(5000);		/* most likely it waits */
	(void)!write(ends[1], "x", 1);
	finish(t);
}

/* --- accept() ------------------------------------------------------ */

static struct sockaddr_in listen_here(int *fd)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t size = sizeof(a);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*fd = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(*fd, (struct sockaddr *)&a, size) != 0 ||
	    getsockname(*fd, (struct sockaddr *)&a, &size) != 0 ||
	    listen(*fd, 5) != 0)
		abort();
	return a;
}

static void *accept_wrongly(void *arg)
{
	int fd, pipes[2];

	show_errno("UDP", accept(socket(AF_INET, SOCK_DGRAM, 0), NULL, NULL));
	make_pair(SOCK_STREAM);
	show_errno("connected", accept(ends[0], NULL, NULL));
	if (pipe(pipes) != 0)
		abort();
	show_errno("pipe", accept(pipes[0], NULL, NULL));
	show_errno("closed", accept(999, NULL, NULL));
	listen_here(&fd);
	show_errno("flags", accept4(fd, NULL, NULL, 0x12345));
	set_time(fd, SO_RCVTIMEO, 40);
	show_errno("time", accept(fd, NULL, NULL));
	return arg;
}

static void what_cannot_accept_says_so(void)
{
	finish(start(accept_wrongly, NULL));
}

/* --- flags --------------------------------------------------------- */

static int connect_here(int *other)
{
	int fd, from = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in a = listen_here(&fd);

	if (connect(from, (struct sockaddr *)&a, sizeof(a)) != 0)
		abort();
	*other = accept(fd, NULL, NULL);
	close(fd);
	return from;
}

static void *receive_what_is_not_there(void *arg)
{
	const int udp = socket(AF_INET, SOCK_DGRAM, 0);
	struct iovec iov = { full, 8 };
	struct mmsghdr many = { .msg_hdr = { .msg_iov = &iov, .msg_iovlen = 1 } };
	int other, tcp = connect_here(&other);

	show_errno("error", recv(udp, full, 8, MSG_ERRQUEUE));
	show_errno("error", recvmsg(udp, &many.msg_hdr, MSG_ERRQUEUE));
	show_errno("error", recvmmsg(udp, &many, 1, MSG_ERRQUEUE, NULL));
	show_errno("urgent", recv(tcp, full, 8, MSG_OOB));
	show_errno("urgent", recvmsg(tcp, &many.msg_hdr, MSG_OOB));
	return arg;
}

static void neither_errors_nor_urgent_data_are_waited_for(void)
{
	finish(start(receive_what_is_not_there, NULL));
}

static void *receive_all(void *arg)
{
	struct iovec iov = { full, 8 };
	struct mmsghdr many = { .msg_hdr = { .msg_iov = &iov, .msg_iovlen = 1 } };

	printf("%d\n", (int)recv(ends[0], full, 8, MSG_WAITALL));
	printf("%d\n", (int)recvmsg(ends[0], &many.msg_hdr, MSG_WAITALL));
	printf("%d", recvmmsg(ends[0], &many, 1, MSG_WAITALL, NULL));
	printf(" %u\n", many.msg_len);
	return arg;
}

static void a_receive_may_wait_for_all(void)
{
	pthread_t t;

	make_pair(SOCK_STREAM);
	t = start(receive_all, NULL);
	for (int i = 0; i < 6; i++) {
		usleep(3000);		/* most likely it waits */
		(void)!write(ends[1], "abcd", 4);
	}
	finish(t);
}

static void set_mark(int fd, int bytes)
{
	if (setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof(bytes)) != 0)
		abort();
}

static void *receive_from_mark_on(void *arg)
{
	struct iovec iov = { full, 16 };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };

	printf("%d\n", (int)recv(ends[0], full, 16, 0));
	sem_post(&late);
	printf("%d\n", (int)recvmsg(ends[0], &message, 0));
	sem_post(&late);
	printf("%d\n", (int)read(ends[0], full, 16));
	sem_post(&late);
	printf("%d\n", (int)readv(ends[0], &iov, 1));
	sem_post(&late);
	set_mark(ends[0], 1);
	printf("%d\n", (int)recv(ends[0], full, 1, 0));
	return arg;
}

/* What is sent next is sent when the call before has returned. */
static void a_mark_is_waited_for(void)
{
	pthread_t t;

	sem_init(&late, 0, 0);
	make_pair(SOCK_STREAM);
	set_mark(ends[0], 8);
	t = start(receive_from_mark_on, NULL);
	for (int i = 0; i < 5; i++) {
		(void)!write(ends[1], "abcd", 4);
		usleep(3000);		/* most likely it waits */
		if (i == 4)
			break;
		(void)!write(ends[1], "efgh", 4);
		sem_wait(&late);
	}
	finish(t);
}

/* --- connect() ----------------------------------------------------- */

static int waiting;

static void *connect_again(void *arg)
{
	struct sockaddr_in *to = arg;

	set_time(waiting, SO_SNDTIMEO, 40);
	show_errno("in time", connect(waiting, arg, sizeof(*to)));
	show_errno("again", connect(waiting, arg, sizeof(*to)));
	set_time(waiting, SO_SNDTIMEO, 0);
	sem_post(&late);
	show_errno("at last", connect(waiting, arg, sizeof(*to)));
	return NULL;
}

/*
 * There is room for one. A client that finds none tries again after a second.
 */
static void a_connection_that_was_begun_is_waited_for(void)
{
	int fd, first = socket(AF_INET, SOCK_STREAM, 0);
	struct sockaddr_in to = listen_here(&fd);
	pthread_t t;

	waiting = socket(AF_INET, SOCK_STREAM, 0);
	sem_init(&late, 0, 0);
	if (listen(fd, 0) != 0 ||
	    connect(first, (struct sockaddr *)&to, sizeof(to)) != 0)
		abort();
	t = start(connect_again, &to);
	sem_wait(&late);
	close(accept(fd, NULL, NULL));
	finish(t);
}

static void *send_first(void *arg)
{
	int from = socket(AF_INET, SOCK_STREAM, 0);

	show_errno("send", sendto(from, "hello", 5, MSG_FASTOPEN, arg,
				  sizeof(struct sockaddr_in)) - 5);
	shutdown(from, SHUT_WR);
	return NULL;
}

static void a_send_may_connect(void)
{
	int fd, from;
	struct sockaddr_in to = listen_here(&fd);
	pthread_t t = start(send_first, &to);

	from = accept(fd, NULL, NULL);
	printf("%d\n", (int)recv(from, full, 8, MSG_WAITALL));
	finish(t);
}

/* --- several messages ---------------------------------------------- */

static struct sockaddr_in bind_udp(int fd)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t size = sizeof(a);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&a, size) != 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &size) != 0)
		abort();
	return a;
}

static void make_udp_pair(void)
{
	struct sockaddr_in a[2];

	for (int i = 0; i < 2; i++) {
		ends[i] = socket(AF_INET, SOCK_DGRAM, 0);
		a[i] = bind_udp(ends[i]);
	}
	for (int i = 0; i < 2; i++)
		if (connect(ends[i], (struct sockaddr *)&a[!i], sizeof(*a)) != 0)
			abort();
}

static void *receive_many(void *arg)
{
	struct iovec iov[2] = { { full, 8 }, { full, 8 } };
	struct mmsghdr many[2] = {
		{ .msg_hdr = { .msg_iov = &iov[0], .msg_iovlen = 1 } },
		{ .msg_hdr = { .msg_iov = &iov[1], .msg_iovlen = 1 } },
	};

	printf("%d\n", recvmmsg(ends[0], many, 2, 0, NULL));
	show_errno("then", recvmmsg(ends[0], many, 2, 0, NULL));
	return arg;
}

static void an_error_behind_a_message_is_kept(void)
{
	pthread_t t;
	int left = 1;

	make_udp_pair();
	(void)!write(ends[1], "x", 1);
	close(ends[1]);
	t = start(receive_many, NULL);
	while (ioctl(ends[0], FIONREAD, &left) != 0 || left > 0)
		usleep(1000);
	usleep(3000);		/* most likely it waits */
	(void)!write(ends[0], "x", 1);
	finish(t);
	show_errno("none", sendmmsg(-1, NULL, 0, 0));
}

static const struct compare_case cases[] = {
	COMPARE(streams_alone_have_sigpipe),
	COMPARE(times_are_kept_by_every_call),
	COMPARE(a_time_is_set_by_a_copy),
	COMPARE(what_cannot_accept_says_so),
	COMPARE(neither_errors_nor_urgent_data_are_waited_for),
	COMPARE(a_receive_may_wait_for_all),
	COMPARE(a_mark_is_waited_for),
	COMPARE(a_connection_that_was_begun_is_waited_for),
	COMPARE(a_send_may_connect),
	COMPARE(an_error_behind_a_message_is_kept),
};

COMPARE_MAIN(cases)

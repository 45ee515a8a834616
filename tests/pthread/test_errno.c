/* SPDX-License-Identifier: MIT */
/* test_errno.c - calls that succeed leave errno as libc's do, waits among them */
#include "compare.h"

#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#define BEFORE	77	/* no call sets it */

#define KEEPS(call) do { \
	errno = BEFORE; \
	int failed_ = (long)(call) < 0, after_ = errno; \
	printf("%s: %s%d\n", #call, failed_ ? "failed, " : "", after_); \
} while (0)

static int pipe_ends[2], ends[2];
static char buf[1 << 16];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t sem;

static void pause_a_moment(void)
{
	usleep(20000);
}

static void *do_nothing(void *arg)
{
	return arg;
}

/* What the waits of each case wait for. */
static void *write_late(void *arg)
{
	pause_a_moment();
	(void)!write(*(int *)arg, "x", 1);
	return arg;
}

static void *read_late(void *arg)
{
	char *more = malloc(sizeof(buf));

	pause_a_moment();
	for (ssize_t n = 1; n > 0; )
		n = read(*(int *)arg, more, sizeof(buf));
	free(more);
	return arg;
}

static void *let_go_late(void *arg)
{
	pause_a_moment();
	sem_post(&sem);
	pthread_mutex_lock(&mutex);
	pthread_cond_signal(&cond);
	pthread_mutex_unlock(&mutex);
	pthread_barrier_wait(&barrier);
	return arg;
}

/* One of the two threads gets -1, which is no error. */
static int meet(void)
{
	const int result = pthread_barrier_wait(&barrier);

	return result == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : result;
}

#define WHILE(function, arg, call) do { \
	pthread_t t_ = start(function, arg); \
	KEEPS(call); \
	finish(t_); \
} while (0)

static void threads_begin_and_end(void)
{
	pthread_t t;

	for (int i = 0; i < 2; i++) {
		KEEPS(pthread_create(&t, NULL, do_nothing, NULL));
		KEEPS(pthread_join(t, NULL));
	}
}

static void so_do_those_of_a_fork(void)
{
	pthread_t t;
	pid_t child;
	int status;

	finish(start(do_nothing, NULL));
	fflush(stdout);
	child = fork();
	if (child == 0) {
		KEEPS(pthread_create(&t, NULL, do_nothing, NULL));
		KEEPS(pthread_join(t, NULL));
		exit(0);
	}
	KEEPS(wait(&status));
	KEEPS(system("true"));
}

static void what_waits_for_data(void)
{
	struct iovec iov = { buf, 1 };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct mmsghdr many = { .msg_hdr = message };
	struct pollfd p = { .events = POLLIN };
	struct epoll_event e = { .events = EPOLLIN };
	int epoll = epoll_create1(0);
	fd_set set;

	(void)!pipe(pipe_ends);
	socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
	p.fd = pipe_ends[0];
	FD_ZERO(&set);
	FD_SET(p.fd, &set);
	WHILE(write_late, &pipe_ends[1], read(pipe_ends[0], buf, 1));
	WHILE(write_late, &pipe_ends[1], readv(pipe_ends[0], &iov, 1));
	for (int i = 0; i < 2; i++) {
		WHILE(write_late, &ends[1], read(ends[0], buf, 1));
		WHILE(write_late, &ends[1], readv(ends[0], &iov, 1));
		WHILE(write_late, &ends[1], recv(ends[0], buf, 1, 0));
		WHILE(write_late, &ends[1], recv(ends[0], buf, 1, MSG_WAITALL));
		WHILE(write_late, &ends[1], recvmsg(ends[0], &message, 0));
		WHILE(write_late, &ends[1], recvmmsg(ends[0], &many, 1, 0, NULL));
	}
	WHILE(write_late, &pipe_ends[1], poll(&p, 1, -1));
	KEEPS(select(p.fd + 1, &set, NULL, NULL, NULL));
	KEEPS(read(p.fd, buf, 1));
	WHILE(write_late, &pipe_ends[1], select(p.fd + 1, &set, NULL, NULL, NULL));
	KEEPS(epoll_ctl(epoll, EPOLL_CTL_ADD, p.fd, &e));
	KEEPS(epoll_wait(epoll, &e, 1, -1));
	KEEPS(read(p.fd, buf, 1));
	WHILE(write_late, &pipe_ends[1], epoll_wait(epoll, &e, 1, -1));
	KEEPS(read(p.fd, buf, 1));
	KEEPS(poll(&p, 1, 5));
	KEEPS(epoll_wait(epoll, &e, 1, 5));
}

/* Each fills its pipe or socket, and goes on when the other thread reads. */
static void send_much(int by)
{
	struct iovec iov = { buf, sizeof(buf) };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
	long sent = 0;

	errno = BEFORE;
	for (int i = 0; i < 20; i++)
		sent += by == 0 ? write(ends[1], buf, sizeof(buf)) :
			by == 1 ? writev(ends[1], &iov, 1) :
			by == 2 ? send(ends[1], buf, sizeof(buf), 0) :
				  sendmsg(ends[1], &message, 0);
	printf("way %d: %d, %d\n", by, errno, sent == 20 * (long)sizeof(buf));
}

static void what_waits_for_room(void)
{
	for (int by = 0; by < 6; by++) {
		pthread_t t;

		if (by < 4)
			socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
		else
			(void)!pipe(ends);
		t = start(read_late, &ends[0]);
		send_much(by < 4 ? by : by - 4);
		close(ends[1]);
		finish(t);
		close(ends[0]);
	}
}

static void what_waits_for_a_thread(void)
{
	struct timespec moment = { .tv_nsec = 1000000 }, past = { 1, 0 };
	pthread_t t;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_mutex_lock(&mutex);
	t = start(let_go_late, NULL);
	KEEPS(sem_wait(&sem));
	KEEPS(pthread_cond_wait(&cond, &mutex));
	KEEPS(pthread_mutex_unlock(&mutex));
	KEEPS(meet());
	finish(t);
	pthread_mutex_lock(&mutex);
	KEEPS(pthread_cond_timedwait(&cond, &mutex, &past));
	KEEPS(pthread_mutex_timedlock(&mutex, &past));
	KEEPS(pthread_mutex_trylock(&mutex));
	KEEPS(nanosleep(&moment, NULL));
	KEEPS(clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL));
	KEEPS(usleep(1000));
	KEEPS(sched_yield());
}

static void connections(void)
{
	struct sockaddr_in at = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(at);
	int listener, one, other;

	finish(start(do_nothing, NULL));
	KEEPS(listener = socket(AF_INET, SOCK_STREAM, 0));
	one = socket(AF_INET, SOCK_STREAM, 0);
	KEEPS(bind(listener, (struct sockaddr *)&at, size));
	KEEPS(listen(listener, 1));
	KEEPS(getsockname(listener, (struct sockaddr *)&at, &size));
	KEEPS(connect(one, (struct sockaddr *)&at, size));
	KEEPS(other = accept(listener, NULL, NULL));
	KEEPS(send(other, "x", 1, 0));
	KEEPS(recv(one, buf, 1, 0));
	KEEPS(shutdown(other, SHUT_WR));
	KEEPS(recv(one, buf, 1, 0));
	KEEPS(close(other));
}

static void ignore(int signal)
{
	(void)signal;
}

static void signals(void)
{
	struct timespec moment = { .tv_nsec = 10000000 };
	sigset_t set;
	int got;

	finish(start(do_nothing, NULL));
	signal(SIGUSR1, ignore);
	KEEPS(raise(SIGUSR1));
	KEEPS(kill(getpid(), SIGUSR1));
	KEEPS(pthread_kill(pthread_self(), SIGUSR1));
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	KEEPS(pthread_sigmask(SIG_BLOCK, &set, NULL));
	KEEPS(raise(SIGUSR1));
	KEEPS(sigwait(&set, &got));
	KEEPS(raise(SIGUSR1));
	KEEPS(sigtimedwait(&set, NULL, &moment));
	KEEPS(pthread_sigmask(SIG_UNBLOCK, &set, NULL));
}

static const struct compare_case cases[] = {
	COMPARE(threads_begin_and_end),
	COMPARE(so_do_those_of_a_fork),
	COMPARE(what_waits_for_data),
	COMPARE(what_waits_for_room),
	COMPARE(what_waits_for_a_thread),
	COMPARE(connections),
	COMPARE(signals),
};

COMPARE_MAIN(cases)

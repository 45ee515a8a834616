/* SPDX-License-Identifier: MIT */
/* test_waits.c - calls that wait for descriptors, children and files */
#include "compare.h"
#include "tasks.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>

static sem_t timed_out;

/*
 * The descriptor that is not open is below 64: Linux looks at no bit past the
 * end of the process's table. The table's size depends on the program that
 * started the process.
 */
static void *select_one(void *arg)
{
	int *ends = arg;
	struct timeval time = { 0, 20000 };
	fd_set in, out;
	char c;
	int n, closed;

	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_SET(ends[0], &in);
	n = select(ends[0] + 1, &in, NULL, NULL, &time);
	printf("%d %d %ld\n", n, FD_ISSET(ends[0], &in), (long)time.tv_usec);
	sem_post(&timed_out);
	FD_SET(ends[0], &in);
	n = select(ends[0] + 1, &in, NULL, NULL, NULL);
	printf("%d %d\n", n, FD_ISSET(ends[0], &in));
	show("read", read(ends[0], &c, 1) == 1 ? 0 : errno);
	FD_SET(ends[1], &out);
	FD_SET(ends[0], &in);
	n = pselect(ends[1] + 1, &in, &out, NULL, NULL, NULL);
	printf("%d %d %d\n", n, FD_ISSET(ends[0], &in),
	       FD_ISSET(ends[1], &out));
	closed = fcntl(ends[0], F_DUPFD, 50);
	close(closed);
	FD_SET(closed, &in);
	show_errno("bad", select(closed + 1, &in, NULL, NULL, NULL));
	return NULL;
}

static void select_tells_what_is_ready(void)
{
	int ends[2];
	pthread_t t;

	if (pipe(ends) != 0)
		abort();
	sem_init(&timed_out, 0, 0);
	t = start(select_one, ends);
	sem_wait(&timed_out);
	usleep(30000);
	if (write(ends[1], "x", 1) != 1)
		abort();
	finish(t);
}

/* --- what the kernel refuses --------------------------------------- */

static void *read_wrongly(void *arg)
{
	const sigset_t none = { 0 };
	const struct {
		const char *name;
		int fd;
	} from[] = {
		{ "eventfd", eventfd(0, 0) },
		{ "timerfd", timerfd_create(CLOCK_MONOTONIC, 0) },
		{ "signalfd", signalfd(-1, &none, 0) },
		{ "epoll", epoll_create1(0) },
	};
	char c[8];
	struct iovec iov = { c, 4 }, much = { c, (size_t)-1 };
	volatile int negative = -1, many = 2000;	/* hidden from the compiler */
	int *ends = arg;

	for (size_t i = 0; i < sizeof(from) / sizeof(*from); i++) {
		printf("%s\n", from[i].name);
		show_errno("read", read(from[i].fd, c, 4));
		show_errno("readv", readv(from[i].fd, &iov, 1));
		close(from[i].fd);
	}
	show_errno("count", readv(ends[0], &iov, negative));
	show_errno("count", readv(ends[0], &iov, many));
	show_errno("bytes", readv(ends[0], &much, 1));
	show_errno("count", writev(ends[1], &iov, negative));
	show_errno("bytes", writev(ends[1], &much, 1));
	return arg;
}

static void what_is_refused_is_so_at_once(void)
{
	int ends[2];

	if (pipe(ends) != 0)
		abort();
	finish(start(read_wrongly, ends));
}

/* --- connect ------------------------------------------------------- */

static struct sockaddr_in listen_here(int *fd)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t size = sizeof(a);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*fd = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(*fd, (struct sockaddr *)&a, size) != 0 ||
	    getsockname(*fd, (struct sockaddr *)&a, &size) != 0)
		abort();
	return a;
}

static void *connect_to(void *arg)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	show_errno("connect", connect(fd, arg, sizeof(struct sockaddr_in)));
	printf("blocks %d\n", !(fcntl(fd, F_GETFL) & O_NONBLOCK));
	show_errno("again", connect(fd, arg, sizeof(struct sockaddr_in)));
	close(fd);
	return NULL;
}

static void a_connection_is_made_or_refused(void)
{
	int fd;
	struct sockaddr_in a = listen_here(&fd);

	if (listen(fd, 5) != 0)
		abort();
	finish(start(connect_to, &a));
	close(fd);
	finish(start(connect_to, &a));
}

/* --- children ------------------------------------------------------ */

static void *wait_for_children(void *arg)
{
	siginfo_t info;
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		usleep(30000);
		_exit(3);
	}
	printf("%d %d\n", waitpid(child, &status, 0) == child,
	       WEXITSTATUS(status));
	show_errno("again", waitpid(child, &status, 0));
	child = fork();
	if (child == 0) {
		usleep(30000);
		_exit(4);
	}
	show_errno("look", waitid(P_PID, (id_t)child, &info,
				  WEXITED | WNOWAIT));
	printf("%d\n", info.si_status);
	printf("%d %d\n", wait(&status) == child, WEXITSTATUS(status));
	return arg;
}

static void children_are_waited_for(void)
{
	finish(start(wait_for_children, NULL));
}

/* --- locks of files ------------------------------------------------ */

static void *lock_it(void *arg)
{
	struct flock lock = { .l_type = F_WRLCK };

	show_errno("flock", flock(*(int *)arg, LOCK_EX));
	show_errno("fcntl", fcntl(*(int *)arg, F_OFD_SETLKW, &lock));
	return NULL;
}

static void a_lock_of_a_file_is_waited_for(void)
{
	char name[] = "/tmp/weft-lock-XXXXXX";
	struct flock lock = { .l_type = F_WRLCK };
	int other, file;
	pthread_t t;

	file = mkstemp(name);
	other = open(name, O_RDWR);
	unlink(name);
	show_errno("flock", flock(file, LOCK_EX));
	show_errno("busy", flock(other, LOCK_EX | LOCK_NB));
	show_errno("fcntl", fcntl(file, F_OFD_SETLK, &lock));
	t = start(lock_it, &other);
	usleep(30000);
	if (flock(file, LOCK_UN) != 0)
		abort();
	lock.l_type = F_UNLCK;
	if (fcntl(file, F_OFD_SETLK, &lock) != 0)
		abort();
	finish(t);
}

static void *flags_later(void *arg)
{
	char c;
	int fd = *(int *)arg;

	/* What is remembered of the number must not outlive a change. */
	show("read", read(fd, &c, 1) == 1 ? 0 : errno);
	show_errno("fcntl", fcntl(fd, F_SETFL, O_NONBLOCK));
	show_errno("read", read(fd, &c, 1));
	return NULL;
}

static void a_descriptor_may_change(void)
{
	int ends[2];
	pthread_t t;

	for (int i = 0; i < 2; i++) {
		if (i ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
			abort();
		t = start(flags_later, &ends[0]);
		usleep(60000);
		if (write(ends[1], "x", 1) != 1)
		abort();
		finish(t);
		close(ends[0]);
		close(ends[1]);
	}
}

/* --- real-time priorities ------------------------------------------ */

static pthread_mutex_t line = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static sem_t taken;
static int in_line, turns, last, ids[5];

static void *wait_in_line(void *priority)
{
	pthread_mutex_lock(&line);
	ids[in_line++] = gettid();
	while (turns == 0)
		pthread_cond_wait(&turn, &line);
	turns--;
	last = (int)(long)priority;
	pthread_mutex_unlock(&line);
	sem_post(&taken);
	return NULL;
}

static int start_at(pthread_t *t, int priority)
{
	struct sched_param param = { .sched_priority = priority };
	pthread_attr_t attr;
	int error;

	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &param);
	error = pthread_create(t, &attr, wait_in_line, (void *)(long)priority);
	pthread_attr_destroy(&attr);
	return error;
}

/*
 * A process that may not have such priorities is told so, and then there is no
 * more to see.
 */
static void the_highest_priority_is_woken_first(void)
{
	static const int priorities[] = { 2, 4, 1, 3, 4 };
	enum { COUNT = sizeof(priorities) / sizeof(*priorities) };
	pthread_t t[COUNT];
	int ready = 0;

	sem_init(&taken, 0, 0);
	for (int i = 0; i < COUNT; i++) {
		int error = start_at(&t[i], priorities[i]);

		show("create", error);
		if (error)
			return;
	}
	while (ready < COUNT) {
		usleep(10000);
		pthread_mutex_lock(&line);
		ready = in_line;
		pthread_mutex_unlock(&line);
	}
	/* Each has given the mutex back; but only one that sleeps is chosen. */
	for (int i = 0; i < COUNT; i++)
		await_sleep_of(ids[i]);
	for (int i = 0; i < COUNT; i++) {
		pthread_mutex_lock(&line);
		turns++;
		pthread_cond_signal(&turn);
		pthread_mutex_unlock(&line);
		sem_wait(&taken);
		printf("%d ", last);
	}
	printf("\n");
	for (int i = 0; i < COUNT; i++)
		finish(t[i]);
}

/* --- select() and poll() at the edge ------------------------------- */

/* The sets end where no more can be read; bits behind that mean nothing. */
static void *select_many(void *arg)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fd_set *in = (void *)(at + page - sizeof(*in));
	struct timeval time = { 0, 0 };
	int ends[2];

	munmap(at + page, page);
	if (pipe(ends) != 0 || write(ends[1], "x", 1) != 1)
		abort();
	FD_ZERO(in);
	FD_SET(ends[0], in);
	printf("%d\n", select(65536, in, NULL, NULL, &time));
	FD_SET(1000, in);
	printf("%d\n", select(FD_SETSIZE, in, NULL, NULL, &time));
	close(ends[0]);
	show_errno("closed", select(FD_SETSIZE, in, NULL, NULL, &time));
	return arg;
}

static void select_looks_at_no_more_than_there_can_be(void)
{
	finish(start(select_many, NULL));
}

static _Atomic int handled;

static void handle(int signal)
{
	(void)signal;
	handled++;
}

/* One is pending, which the mask of the call lets in. */
static void *wait_with_pending(void *arg)
{
	struct timespec zero = { 0, 0 }, *time = arg;
	struct epoll_event event = { .events = EPOLLIN };
	struct pollfd p = { .events = POLLIN };
	sigset_t set, none;
	int ends[2], epoll = epoll_create1(0);

	sigemptyset(&none);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (pipe(ends) != 0)
		abort();
	p.fd = ends[0];
	epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
	for (int ready = 0; ready < 2; ready++) {
		pthread_kill(pthread_self(), SIGUSR1);
		show_errno("poll", ppoll(&p, 1, time, &none));
		printf("%d\n", handled);
		pthread_kill(pthread_self(), SIGUSR1);
		show_errno("no descriptor", ppoll(NULL, 0, time, &none));
		printf("%d\n", handled);
		pthread_kill(pthread_self(), SIGUSR1);
		show_errno("select", pselect(0, NULL, NULL, NULL, time, &none));
		printf("%d\n", handled);
		pthread_kill(pthread_self(), SIGUSR1);
		show_errno("events", epoll_pwait(epoll, &event, 1, 0, &none));
		printf("%d\n", handled);
		show_errno("events", epoll_pwait(epoll, &event, 1, -1, &none));
		printf("%d\n", handled);
		show_errno("let in", ppoll(NULL, 0, &zero, &none));
		printf("%d\n", handled);
		if (write(ends[1], "x", 1) != 1)
			abort();
	}
	return NULL;
}

static void what_is_ready_comes_before_signals(void)
{
	struct timespec zero = { 0, 0 };

	signal(SIGUSR1, handle);
	finish(start(wait_with_pending, &zero));
	finish(start(wait_with_pending, NULL));
}

static const struct compare_case cases[] = {
	COMPARE(what_is_refused_is_so_at_once),
	COMPARE(select_tells_what_is_ready),
	COMPARE(a_connection_is_made_or_refused),
	COMPARE(children_are_waited_for),
	COMPARE(a_lock_of_a_file_is_waited_for),
	COMPARE(a_descriptor_may_change),
	COMPARE(the_highest_priority_is_woken_first),
	COMPARE(select_looks_at_no_more_than_there_can_be),
	COMPARE(what_is_ready_comes_before_signals),
};

COMPARE_MAIN(cases)

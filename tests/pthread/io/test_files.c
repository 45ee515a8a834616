/* SPDX-License-Identifier: MIT */
/* test_files.c - files, FIFOs, and calls that move much at once */
#include "../../support/newer.h"
#include "go_on.h"

#include <fcntl.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

/* What _FORTIFY_SOURCE makes of calls. */
ssize_t __read_chk(int fd, void *buf, size_t bytes, size_t room);
ssize_t __pread64_chk(int fd, void *buf, size_t bytes, off_t at, size_t room);
ssize_t __recv_chk(int fd, void *buf, size_t bytes, size_t room, int flags);
int __open_2(const char *path, int flags);

static int temporary(int flags)
{
	char name[] = "/tmp/weft-file-XXXXXX";
	int fd = mkostemp(name, flags);

	if (fd < 0)
		abort();
	unlink(name);
	return fd;
}

/* --- at a place ---------------------------------------------------- */

static void *use_places(void *arg)
{
	char a[4] = "", b[8] = "", buf[64];
	struct iovec in[2] = { { a, 3 }, { b, 7 } };
	struct iovec out[2] = { { "one", 3 }, { "two", 3 } };
	int fd = *(int *)arg;

	printf("%zd ", pwrite(fd, "hello, world", 12, 0));
	printf("%zd ", pwritev(fd, out, 2, 5000));
	printf("%zd ", pread(fd, buf, sizeof(buf), 4990));
	printf("%.6s %d\n", buf + 10, buf[0]);
	printf("%zd %s %s\n", preadv(fd, in, 2, 2), a, b);
	printf("%zd %zd\n", pread(fd, buf, 10, 9000), pread(fd, buf, 0, 0));
	printf("where: %ld\n", (long)lseek(fd, 0, SEEK_CUR));
	printf("%zd ", pwritev2(fd, out, 2, -1, 0));
	printf("%zd %s%s\n", preadv2(fd, in, 2, -1, 0), a, b);
	printf("%zd ", pwritev2(fd, out, 1, 9, RWF_DSYNC));
	printf("%zd %s%s\n", preadv2(fd, in, 2, 6, RWF_NOWAIT), a, b);
	printf("where: %ld\n", (long)lseek(fd, 0, SEEK_CUR));
	show_errno("negative", pread(fd, buf, 1, -1));
	show_errno("negative", preadv2(fd, in, 1, -2, 0));
	show_errno("negative", pwrite(fd, "x", 1, -1));
	return NULL;
}

static void *use_what_has_no_places(void *arg)
{
	char c;
	int ends[2];

	if (pipe(ends) != 0)
		abort();
	show_errno("pipe", pread(ends[0], &c, 1, 0));
	show_errno("pipe", pwrite(ends[1], "x", 1, 0));
	close(ends[0]);
	show_errno("closed", pread(ends[0], &c, 1, 0));
	show_errno("closed", pwrite(ends[0], "x", 1, 0));
	return arg;
}

static void places_are_read_and_written(void)
{
	const int fds[] = { temporary(0), temporary(O_DSYNC),
			    memfd_create("file in memory", 0) };

	for (int i = 0; i < 3; i++) {
		int fd = fds[i];

		finish(start(use_places, &fd));
		close(fd);
	}
	finish(start(use_what_has_no_places, NULL));
}

/* --- what is not in memory ----------------------------------------- */

#define BYTES	(1 << 20)
#define PARTS	40

static char text[BYTES], again[BYTES];

/* The kernel forgets what of the file is in [from, to). */
static void forget(int fd, long from, long to)
{
	fsync(fd);
	posix_fadvise(fd, from, to - from, POSIX_FADV_DONTNEED);
}

static void tell_read(const char *what, ssize_t n, long from)
{
	printf("%s: %zd %d\n", what, n,
	       memcmp(again, text + from, BYTES - (size_t)from) == 0);
	memset(again, 0, BYTES);
}

static void *read_whole(void *arg)
{
	struct iovec parts[PARTS];
	int fd = *(int *)arg;

	for (int i = 0; i < PARTS; i++)
		parts[i] = (struct iovec){ again + i * (BYTES / PARTS + 1),
					   BYTES / PARTS + 1 };
	parts[PARTS - 1].iov_len = BYTES - (PARTS - 1) * (BYTES / PARTS + 1);
	forget(fd, BYTES / 2, BYTES);
	tell_read("read", read(fd, again, BYTES), 0);
	forget(fd, 0, BYTES / 4);
	tell_read("pread", pread(fd, again, BYTES, 100), 100);
	forget(fd, BYTES / 8, BYTES / 4);
	lseek(fd, 0, SEEK_SET);
	tell_read("readv", readv(fd, parts, PARTS), 0);
	forget(fd, 0, BYTES);
	tell_read("preadv", preadv(fd, parts, PARTS, 0), 0);
	forget(fd, 0, BYTES);
	lseek(fd, 0, SEEK_SET);
	tell_read("fortified", __read_chk(fd, again, BYTES, BYTES), 0);
	tell_read("at its end", read(fd, again, BYTES), BYTES);
	return NULL;
}

static void a_read_of_a_file_is_short_at_its_end_only(void)
{
	int fd = temporary(0);

	for (int i = 0; i < BYTES; i++)
		text[i] = (char)(i * 7 + i / 1000);
	if (write(fd, text, BYTES) != BYTES)
		abort();
	for (int i = 0; i < 3; i++) {
		lseek(fd, 0, SEEK_SET);
		finish(start(read_whole, &fd));
	}
}

static void *write_parts(void *arg)
{
	struct iovec parts[PARTS];

	for (int i = 0; i < PARTS; i++)
		parts[i] = (struct iovec){ text + i * (BYTES / PARTS),
					   BYTES / PARTS };
	return (void *)writev(*(int *)arg, parts, PARTS);
}

static void many_parts_are_written_to_a_pipe(void)
{
	int ends[2];
	ssize_t sum = 0, n;
	pthread_t t;

	if (pipe(ends) != 0)
		abort();
	t = start(write_parts, &ends[1]);
	while (sum < BYTES / PARTS * PARTS &&
	       (n = read(ends[0], again, 5000)) > 0)
		sum += n;
	printf("%zd %ld\n", sum, (long)finish(t));
}

/* --- FIFOs --------------------------------------------------------- */

static char fifo[64];
static sem_t ping;

static void *open_to_read(void *arg)
{
	char buf[8] = "";
	int fd = open(fifo, O_RDONLY);
	ssize_t n = read(fd, buf, 2);

	printf("%zd %s\n", n, buf);
	printf("%zd\n", read(fd, buf, 2));
	close(fd);
	return arg;
}

static void *open_to_write(void *arg)
{
	int fd = __open_2(fifo, O_WRONLY);

	if (write(fd, "hi", 2) != 2)
		abort();
	close(fd);
	return arg;
}

static void the_ends_of_a_fifo_meet(void)
{
	char dir[] = "/tmp/weft-fifo-XXXXXX";

	go_on_init();
	if (!mkdtemp(dir))
		abort();
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	if (mkfifo(fifo, 0600) != 0)
		abort();
	for (int i = 0; i < 6; i++) {
		pthread_t t = start(i % 2 ? open_to_read : open_to_write, NULL);

		go_on(scaled(100));
		(i % 2 ? open_to_write : open_to_read)(NULL);
		finish(t);
	}
	show_errno("nobody reads", open(fifo, O_WRONLY | O_NONBLOCK));
	close(open(fifo, O_RDWR));
	unlink(fifo);
	rmdir(dir);
	show_errno("gone", open(fifo, O_RDONLY));
	show_errno("not made", openat(AT_FDCWD, fifo, O_CREAT | O_WRONLY, 0600));
}

/* --- from descriptor to descriptor --------------------------------- */

static int left[2], right[2], file;

static void *move(void *arg)
{
	printf("splice %zd\n", splice(left[0], NULL, right[1], NULL, 4, 0));
	printf("tee %zd\n", tee(left[0], right[1], 4, 0));
	return arg;
}

static void *send_file(void *arg)
{
	off_t at = 0;

	while (at < BYTES && sendfile(*(int *)arg, file, &at, BYTES) > 0)
		;
	close(*(int *)arg);
	return (void *)at;
}

static void data_goes_from_descriptor_to_descriptor(void)
{
	struct iovec iov = { "piped", 5 };
	char buf[16] = "";
	int ends[2], copy = temporary(0);
	ssize_t moved, n, sum = 0;
	loff_t at = 0;
	pthread_t t;

	if (pipe(left) || pipe(right) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		abort();
	t = start(move, NULL);
	moved = vmsplice(left[1], &iov, 1, 0);
	for (size_t got = 0; got < 5; got += (size_t)n)
		n = read(right[0], buf + got, 5 - got);
	finish(t);
	printf("vmsplice %zd %s\n", moved, buf);
	file = temporary(0);
	if (write(file, text, BYTES) != BYTES)
		abort();
	t = start(send_file, &ends[1]);
	while ((n = read(ends[0], again, BYTES)) > 0)
		sum += n;
	printf("sendfile %zd %ld\n", sum, (long)finish(t));
	printf("copied %zd\n", copy_file_range(file, &at, copy, NULL, 1000, 0));
}

static void *splice_to_nobody(void *arg)
{
	close(right[0]);
	signal(SIGPIPE, SIG_IGN);
	show_errno("ignored", splice(left[0], NULL, right[1], NULL, 1, 0));
	signal(SIGPIPE, SIG_DFL);
	fflush(stdout);
	(void)!splice(left[0], NULL, right[1], NULL, 1, 0);
	printf("not reached\n");
	return arg;
}

static void a_broken_pipe_ends_a_splice_and_the_process(void)
{
	if (pipe(left) || pipe(right) || write(left[1], "hi", 2) != 2)
		abort();
	finish(start(splice_to_nobody, NULL));
}

/* --- several messages ---------------------------------------------- */

#define MESSAGES	8

static int pair[2];

static struct mmsghdr *messages(struct iovec *iov, struct mmsghdr *m)
{
	static char buf[MESSAGES][32];

	memset(m, 0, MESSAGES * sizeof(*m));
	for (int i = 0; i < MESSAGES; i++) {
		iov[i] = (struct iovec){ buf[i], (size_t)i + 1 };
		m[i].msg_hdr.msg_iov = &iov[i];
		m[i].msg_hdr.msg_iovlen = 1;
	}
	return m;
}

static void *receive_all(void *arg)
{
	struct timeval limit = { 0, 20000 };
	struct timespec no_time = { 0, 0 };
	struct iovec iov[MESSAGES];
	struct mmsghdr m[MESSAGES];
	int n = recvmmsg(pair[0], messages(iov, m), MESSAGES, 0, NULL);

	for (int i = 0; i < n; i++)
		printf("%u ", m[i].msg_len);
	printf("of %d\n", n);
	printf("one: %d\n", recvmmsg(pair[0], m, 1, MSG_WAITFORONE, NULL));
	printf("no time: %d\n", recvmmsg(pair[0], m, 3, 0, &no_time));
	sem_wait(&ping);
	printf("at once: %d\n", recvmmsg(pair[0], m, 3, MSG_DONTWAIT, NULL));
	show_errno("none", recvmmsg(pair[0], m, 3, MSG_DONTWAIT, NULL));
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	show_errno("limit", recvmmsg(pair[0], m, 3, 0, NULL));
	no_time.tv_nsec = -1;
	show_errno("no such time", recvmmsg(pair[0], m, 3, 0, &no_time));
	show_errno("closed", recvmmsg(-1, m, 3, 0, NULL));
	return arg;
}

static void several_messages_are_one_call(void)
{
	struct iovec iov[MESSAGES];
	struct mmsghdr m[MESSAGES];
	int sent[3];
	pthread_t t;

	sem_init(&ping, 0, 0);
	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0)
		abort();
	t = start(receive_all, NULL);
	sent[0] = sendmmsg(pair[1], messages(iov, m), 3, 0);
	usleep(10000);
	sent[1] = sendmmsg(pair[1], m, 5, 0);
	sent[2] = sendmmsg(pair[1], m, 4, 0);
	sem_post(&ping);
	finish(t);
	printf("sent %d %d %d\n", sent[0], sent[1], sent[2]);
	show_errno("closed", sendmmsg(-1, m, 1, 0));
}

/* --- fortified ----------------------------------------------------- */

static void *read_fortified(void *arg)
{
	volatile size_t too_many = 9;	/* not for the compiler to see */
	char buf[8] = "";

	printf("%zd ", __read_chk(left[0], buf, 2, sizeof(buf)));
	printf("%s ", buf);
	printf("%zd ", __recv_chk(pair[0], buf, 2, sizeof(buf), 0));
	printf("%s\n", buf);
	show_errno("pipe", __pread64_chk(left[0], buf, 2, 0, sizeof(buf)));
	fflush(stdout);
	printf("not reached: %zd\n", __read_chk(left[0], buf, too_many, sizeof(buf)));
	return arg;
}

static void fortified_calls_wait_and_look_at_sizes(void)
{
	struct rlimit no_core = { 0, 0 };
	pthread_t t;

	setrlimit(RLIMIT_CORE, &no_core);
	dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
	if (pipe(left) || socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
		abort();
	t = start(read_fortified, NULL);
	usleep(10000);
	if (write(left[1], "ab", 2) != 2 || send(pair[1], "cd", 2, 0) != 2)
		abort();
	finish(t);
}

static void *wait_for_event(void *arg)
{
	struct timespec short_time = { 0, 20000000 }, no_time = { 0, -1 };
	struct epoll_event e;
	int fd = *(int *)arg;

	printf("%d ", epoll_pwait2(fd, &e, 1, &short_time, NULL));
	show_errno("time", epoll_pwait2(fd, &e, 1, &no_time, NULL));
	sem_post(&ping);
	printf("%d\n", epoll_pwait2(fd, &e, 1, NULL, NULL));
	return NULL;
}

static void events_are_waited_for_to_the_nanosecond(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = epoll_create1(0);
	pthread_t t;

	sem_init(&ping, 0, 0);
	if (pipe(left) || epoll_ctl(fd, EPOLL_CTL_ADD, left[0], &event))
		abort();
	t = start(wait_for_event, &fd);
	sem_wait(&ping);
	if (write(left[1], "x", 1) != 1)
		abort();
	finish(t);
}

static _Atomic int has_run;

static void *run_later(void *arg)
{
	sched_yield();		/* a new thread runs at once, where it can */
	has_run = 1;
	return arg;
}

/* It finds an event at each look, and nobody takes its VCPU. */
static void an_event_loop_that_never_waits_gives_way(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	int fd = epoll_create1(0), looks = 0;
	pthread_t t;

	setenv("WEFT_VCPUS", "1", 1);
	setenv("WEFT_SLICE", "0", 1);
	if (pipe(left) || write(left[1], "x", 1) != 1 ||
	    epoll_ctl(fd, EPOLL_CTL_ADD, left[0], &event))
		abort();
	t = start(run_later, NULL);
	while (!has_run)
		looks += epoll_wait(fd, &event, 1, -1) != 1;
	printf("%d\n", looks);
	finish(t);
}

/* No result, no place is cut to 32 bits. */
static void *go_far(void *arg)
{
	const off_t far = ((off_t)5 << 30) + 3;
	int fd = memfd_create("far", 0), copy = memfd_create("copy", 0);
	struct iovec iov = { "four", 4 };
	char buf[8] = "";
	off_t at = far;

	printf("%zd ", pwrite(fd, "four", 4, far));
	printf("%zd ", pwritev(fd, &iov, 1, far + 4));
	printf("%zd ", pread(fd, buf, 8, far));
	printf("%.8s %lld\n", buf, (long long)lseek(fd, 0, SEEK_END));
	printf("%zd ", sendfile(copy, fd, &at, 8));
	printf("%lld\n", (long long)at);
	lseek(fd, far, SEEK_SET);
	printf("%zd %lld\n", read(fd, buf, 4),
	       (long long)lseek(fd, 0, SEEK_CUR));
	return arg;
}

static void places_may_be_far(void)
{
	finish(start(go_far, NULL));
}

static const struct compare_case cases[] = {
	COMPARE(places_are_read_and_written),
	COMPARE(a_read_of_a_file_is_short_at_its_end_only),
	COMPARE(many_parts_are_written_to_a_pipe),
	COMPARE(the_ends_of_a_fifo_meet),
	COMPARE(data_goes_from_descriptor_to_descriptor),
	ENDS_BY(SIGPIPE, a_broken_pipe_ends_a_splice_and_the_process),
	COMPARE(several_messages_are_one_call),
	ENDS_BY(SIGABRT, fortified_calls_wait_and_look_at_sizes),
	COMPARE(events_are_waited_for_to_the_nanosecond),
	COMPARE(an_event_loop_that_never_waits_gives_way),
	COMPARE(places_may_be_far),
};

COMPARE_MAIN(cases)

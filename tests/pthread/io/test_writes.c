/* SPDX-License-Identifier: MIT */
/* test_writes.c - writes that end when only a part of them is done */
#include "../../support/sandbox.h"
#include "compare.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define MANY	(1 << 20)

static _Atomic int handled, over;
static int ends[2];		/* what is written to the second comes out here */
static char full[MANY];
static long written;

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

/* --- ways to write ------------------------------------------------- */

static long by_write(void)
{
	return write(ends[1], full, MANY);
}

static long by_writev(void)
{
	struct iovec iov[2] = { { full, MANY / 2 }, { full, MANY / 2 } };

	return writev(ends[1], iov, 2);
}

static long by_vmsplice(void)
{
	struct iovec iov = { full, MANY };

	return vmsplice(ends[1], &iov, 1, 0);
}

static long by_sendfile(void)
{
	FILE *file = tmpfile();
	long n;

	if (!file || ftruncate(fileno(file), MANY) != 0)
		abort();
	n = sendfile(ends[1], fileno(file), NULL, MANY);
	fclose(file);
	return n;
}

static void make_pipe(void)
{
	if (pipe(ends) != 0)
		abort();
}

static void make_fifo(void)
{
	char name[64];

	snprintf(name, sizeof(name), "/tmp/weft-test-fifo.%d", (int)getpid());
	if (mkfifo(name, 0600) != 0)
		abort();
	ends[0] = open(name, O_RDWR);
	ends[1] = open(name, O_WRONLY);
	unlink(name);
	if (ends[0] < 0 || ends[1] < 0)
		abort();
}

static void make_pair(void)
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		abort();
}

/* Its number is that of no socket that the library has seen made. */
static void make_copy(void)
{
	int first;

	make_pair();
	first = ends[1];
	ends[1] = dup(first);
	close(first);
}

static const struct way {
	const char *name;
	void (*make)(void);
	long (*write)(void);
} ways[] = {
	{ "pipe", make_pipe, by_write },
	{ "pipe, two", make_pipe, by_writev },
	{ "pipe, pages", make_pipe, by_vmsplice },
	{ "pipe, file", make_pipe, by_sendfile },
	{ "FIFO", make_fifo, by_write },
	{ "socket", make_pair, by_write },
	{ "socket, two", make_pair, by_writev },
	{ "copy", make_copy, by_write },
};

static void *write_so(void *arg)
{
	const struct way *w = arg;

	written = w->write();
	over = 1;
	return NULL;
}

static void show_written(const struct way *w)
{
	printf("%s: %s", w->name, written < 0 ? "none" :
				  written < MANY ? "a part" : "all");
	printf(", %d\n", handled > 0);
}

/* There is something in it: the write has begun. */
static void wait_for_some(void)
{
	int bytes = 0;

	while (ioctl(ends[0], FIONREAD, &bytes) != 0 || bytes == 0)
		usleep(1000);
}

/* --- the reader goes ----------------------------------------------- */

static void a_reader_goes_in_the_middle(void)
{
	handle(SIGPIPE, 0);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		pthread_t t;

		handled = 0;
		ways[i].make();
		t = start(write_so, (void *)(uintptr_t)&ways[i]);
		wait_for_some();
		close(ends[0]);
		finish(t);
		show_written(&ways[i]);
		close(ends[1]);
	}
}

/* As an old kernel, and an emulator, have no write that does not wait. */
static void a_reader_goes_where_writes_cannot_be_tried(void)
{
	if (!getenv("WEFT_TEST_QEMU"))
		(void)sandbox_refuses(SYS_pwritev2, ENOSYS);
	a_reader_goes_in_the_middle();
}

/* --- a handler runs ------------------------------------------------ */

/* With SA_RESTART or without: what is written is told. */
static void a_handler_runs_in_the_middle(void)
{
	for (size_t i = 0; i < 2 * sizeof(ways) / sizeof(*ways); i++) {
		const struct way *w = &ways[i / 2];
		pthread_t t;

		handle(SIGUSR1, i % 2 ? SA_RESTART : 0);
		handled = over = 0;
		w->make();
		t = start(write_so, (void *)(uintptr_t)w);
		wait_for_some();
		while (!over) {
			usleep(2000);
			if (!over)
				pthread_kill(t, SIGUSR1);
		}
		finish(t);
		printf("%s: %s\n", w->name, written < 0 ? "none" :
					    written < MANY ? "a part" : "all");
		close(ends[0]);
		close(ends[1]);
	}
}

/* --- cancellation -------------------------------------------------- */

static void fill(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	while (write(fd, full, 4096) > 0)
		;
	fcntl(fd, F_SETFL, flags);
}

static void *write_one(void *arg)
{
	(void)!write(ends[1], full, 1);
	return arg;
}

static void a_write_to_what_is_full_is_cancelled(void)
{
	void (*const make[])(void) = { make_pipe, make_fifo, make_pair };

	for (int i = 0; i < 3; i++) {
		pthread_t t;

		make[i]();
		fill(ends[1]);
		t = start(write_one, NULL);
		usleep(5000);		/* most likely it waits */
		pthread_cancel(t);
		printf("%d\n", finish(t) == PTHREAD_CANCELED);
	}
}

static const struct compare_case cases[] = {
	COMPARE(a_reader_goes_in_the_middle),
	COMPARE(a_reader_goes_where_writes_cannot_be_tried),
	COMPARE(a_handler_runs_in_the_middle),
	COMPARE(a_write_to_what_is_full_is_cancelled),
};

COMPARE_MAIN(cases)

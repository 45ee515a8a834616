/* SPDX-License-Identifier: MIT */
/* test_messages.c - a wait for a message, or for requests, as others see it */
#include "compare.h"

#include <aio.h>
#include <fcntl.h>
#include <mqueue.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>

#include "tasks.h"

#define WAITERS	3

static mqd_t queue;
static sem_t begun, received;
static volatile int told, handled;

static void on_notice(int signal)
{
	(void)signal;
	told++;
}

static void count(int signal)
{
	(void)signal;
	handled++;
}

static void handle(int signal, void (*fn)(int), int flags)
{
	const struct sigaction action = { .sa_handler = fn, .sa_flags = flags };

	sigaction(signal, &action, NULL);
}

static void begin(void)
{
	struct mq_attr sizes = { .mq_maxmsg = 4, .mq_msgsize = 8 };
	char name[32];

	snprintf(name, sizeof(name), "/weft-messages-%d", getpid());
	queue = mq_open(name, O_CREAT | O_RDWR, 0600, &sizes);
	mq_unlink(name);
	sem_init(&begun, 0, 0);
	sem_init(&received, 0, 0);
	handle(SIGUSR1, on_notice, 0);
}

static void ask_for_notice(void)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1,
	};

	show_errno("notify", mq_notify(queue, &event));
}

static void *receive(void *arg)
{
	char c[8];

	sem_post(&begun);
	while (mq_receive(queue, c, sizeof(c), NULL) < 0)
		;
	sem_post(&received);
	return arg;
}

static void *receive_in_time(void *arg)
{
	const struct timespec at = soon(CLOCK_REALTIME, 100000);
	char c[8];

	sem_post(&begun);
	while (mq_timedreceive(queue, c, sizeof(c), NULL, &at) < 0)
		;
	sem_post(&received);
	return arg;
}

static void send_one(void)
{
	if (mq_send(queue, "x", 1, 0) != 0)
		abort();
}

static void send_to_one_that_waits(void *(*fn)(void *arg))
{
	pthread_t t = start(fn, NULL);

	sem_wait(&begun);
	await_tasks_in(SYS_mq_timedreceive, 1);
	ask_for_notice();
	send_one();
	finish(t);
	usleep(20000);
	printf("told %d\n", told);
}

/* One that comes when nobody waits is told of. */
static void a_waiter_has_it_without_notice(void)
{
	char c[8];

	begin();
	send_to_one_that_waits(receive);
	mq_notify(queue, NULL);
	send_to_one_that_waits(receive_in_time);
	send_one();
	while (!told)
		usleep(1000);
	printf("told %d, %d bytes\n", told,
	       (int)mq_receive(queue, c, sizeof(c), NULL));
}

static void so_it_is_with_several(void)
{
	pthread_t t[WAITERS];

	begin();
	for (int i = 0; i < WAITERS; i++)
		t[i] = start(receive, NULL);
	for (int i = 0; i < WAITERS; i++)
		sem_wait(&begun);
	await_tasks_in(SYS_mq_timedreceive, WAITERS);
	ask_for_notice();
	for (int i = 0; i < WAITERS; i++) {
		send_one();
		sem_wait(&received);
	}
	for (int i = 0; i < WAITERS; i++)
		finish(t[i]);
	printf("told %d\n", told);
}

static void *receive_once(void *arg)
{
	char c[8];

	sem_post(&begun);
	show_errno("it", mq_receive(queue, c, sizeof(c), NULL));
	return arg;
}

static void end_by_handler(int flags)
{
	pthread_t t;

	handled = 0;
	handle(SIGUSR2, count, flags);
	t = start(receive_once, NULL);
	sem_wait(&begun);
	await_tasks_in(SYS_mq_timedreceive, 1);
	pthread_kill(t, SIGUSR2);
	while (!handled)
		usleep(1000);
	usleep(5000);
	if (flags & SA_RESTART)
		send_one();
	finish(t);
}

static void a_handler_ends_the_wait(void)
{
	begin();
	end_by_handler(0);
	end_by_handler(SA_RESTART);
}

static void a_cancellation_ends_it(void)
{
	pthread_t t;

	begin();
	t = start(receive_once, NULL);
	sem_wait(&begun);
	await_tasks_in(SYS_mq_timedreceive, 1);
	pthread_cancel(t);
	printf("cancelled %d\n", finish(t) == PTHREAD_CANCELED);
}

static void a_time_ends_it(void)
{
	const struct timespec past = { .tv_sec = 1 }, none = { .tv_nsec = -1 };
	struct timespec at;
	char c[8];

	begin();
	finish(start(receive_once, (void *)(send_one(), NULL)));
	at = soon(CLOCK_REALTIME, 20);
	show_errno("soon", mq_timedreceive(queue, c, 8, NULL, &at));
	show_errno("past", mq_timedreceive(queue, c, 8, NULL, &past));
	show_errno("none", mq_timedreceive(queue, c, 8, NULL, &none));
	show_errno("short", mq_timedreceive(queue, c, 1, NULL, &past));
}

/* --- lists of requests --------------------------------------------- */

static int ends[2];
static pthread_t first;
static _Atomic int is_back;	/* from the call */

static void interrupt_first(void)
{
	const int before = handled;

	usleep(50000);
	pthread_kill(first, SIGUSR2);
	while (handled == before)
		usleep(1000);
	usleep(5000);
}

/* The wait goes on, whether the signal came in it or before. */
static void *interrupt_and_end(void *arg)
{
	interrupt_first();
	if (write(ends[1], "word", 4) != 4)
		abort();
	return arg;
}

/* Again, as the wait may not have begun. */
static void *interrupt_until_it_ends(void *arg)
{
	while (!is_back)
		interrupt_first();
	return arg;
}

static void wait_for_list(int mode, int flags)
{
	static struct aiocb request;
	static char buf[4];
	struct aiocb *list[] = { &request };
	const int is_ended = mode == LIO_WAIT && !(flags & SA_RESTART);
	pthread_t t;

	handled = 0;
	first = pthread_self();
	handle(SIGUSR2, count, flags);
	memset(&request, 0, sizeof(request));
	request.aio_fildes = ends[0];
	request.aio_lio_opcode = LIO_READ;
	request.aio_buf = buf;
	request.aio_nbytes = sizeof(buf);
	request.aio_sigevent.sigev_notify = SIGEV_NONE;
	t = start(is_ended ? interrupt_until_it_ends : interrupt_and_end, NULL);
	show_errno("list", lio_listio(mode, list, 1, NULL));
	is_back = 1;
	finish(t);
	if (is_ended)
		return;
	while (aio_error(&request) == EINPROGRESS)
		usleep(1000);
	printf("%d bytes, handled %d\n", (int)aio_return(&request), handled);
}

/*
 * The one that ends comes last, and its request stays: libc counts the requests that are
 * done on the stack of the call, also when that has returned.
 */
static void a_handler_ends_the_wait_for_a_list(void)
{
	if (pipe(ends) != 0)
		abort();
	wait_for_list(LIO_WAIT, SA_RESTART);
	wait_for_list(LIO_NOWAIT, 0);
	is_back = 0;
	wait_for_list(LIO_WAIT, 0);
}

static const struct compare_case cases[] = {
	COMPARE(a_waiter_has_it_without_notice),
	COMPARE(so_it_is_with_several),
	COMPARE(a_handler_ends_the_wait),
	COMPARE(a_cancellation_ends_it),
	COMPARE(a_time_ends_it),
	COMPARE(a_handler_ends_the_wait_for_a_list),
};

COMPARE_MAIN(cases)

/* SPDX-License-Identifier: MIT */
/*
 * test_foreign.c - threads that libc makes for itself call what the program's do
 *
 * Timers and message queues by SIGEV_THREAD, asynchronous files and names: their
 * functions run in kernel threads of libc's, which no pthread_create() of the
 * program's has made.
 */
#include "compare.h"

#include <aio.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netdb.h>
#include <semaphore.h>
#include <signal.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static sem_t ended;
static __thread int mine;
static _Atomic int wrong;
static int count, onces, values_ended;
static long made;

static void do_once(void)
{
	onces++;
}

static void end_value(void *value)
{
	(void)value;
	pthread_mutex_lock(&mutex);
	values_ended++;
	pthread_mutex_unlock(&mutex);
}

static void *add_one(void *arg)
{
	pthread_mutex_lock(&mutex);
	made += (long)arg;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mutex);
	return arg;
}

/* All that a thread of the program's may do, also to wait for one. */
static void notify(union sigval value)
{
	pthread_t t;
	void *result = NULL;

	wrong += mine != 0;
	mine = 1;
	errno = 77;
	pthread_once(&once, do_once);
	wrong += pthread_getspecific(key) != NULL;
	wrong += pthread_setspecific(key, &key) != 0;
	pthread_rwlock_rdlock(&rwlock);
	wrong += pthread_create(&t, NULL, add_one, (void *)1L) != 0 ||
		 pthread_join(t, &result) != 0 || result != (void *)1L;
	pthread_rwlock_unlock(&rwlock);
	pthread_mutex_lock(&mutex);
	while (made < count + 1)
		pthread_cond_wait(&cond, &mutex);
	count++;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mutex);
	sched_yield();
	wrong += !pthread_equal(pthread_self(), pthread_self());
	if (value.sival_ptr)
		sem_post(value.sival_ptr);
}

static struct sigevent by_thread(void)
{
	return (struct sigevent){
		.sigev_notify = SIGEV_THREAD,
		.sigev_notify_function = notify,
		.sigev_value.sival_ptr = &ended,
	};
}

static void *wait_for(void *most)
{
	pthread_mutex_lock(&mutex);
	while (count < (int)(long)most)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

/* Threads of the program wait for what those of libc's tell. */
static void begin(void)
{
	sem_init(&ended, 0, 0);
	pthread_key_create(&key, end_value);
}

static void end(int times)
{
	pthread_t t[4];

	for (int i = 0; i < 4; i++)
		t[i] = start(wait_for, (void *)(long)times);
	for (int i = 0; i < 4; i++)
		finish(t[i]);
	for (int i = 0; i < times; i++)
		while (sem_wait(&ended) != 0)
			;
	printf("%d times, %ld made, once %d, wrong %d, mine %d\n", count, made,
	       onces, wrong, mine);
}

static void timers(void)
{
	struct itimerspec soon = { { 0, 0 }, { 0, 1000000 } };
	struct sigevent event = by_thread();
	timer_t timer;

	begin();
	show_errno("timer", timer_create(CLOCK_MONOTONIC, &event, &timer));
	for (int i = 1; i <= 10; i++) {
		timer_settime(timer, 0, &soon, NULL);
		wait_for((void *)(long)i);
	}
	end(10);
	show_errno("delete", timer_delete(timer));
}

static void message_queues(void)
{
	struct mq_attr attr = { .mq_maxmsg = 4, .mq_msgsize = 16 };
	struct sigevent event = by_thread();
	char name[32], buf[16];
	mqd_t queue;

	begin();
	snprintf(name, sizeof(name), "/weft-f%d", (int)getpid());
	queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr);
	mq_unlink(name);
	show_errno("queue", queue);
	for (int i = 1; i <= 5; i++) {
		show_errno("notify", mq_notify(queue, &event));
		mq_send(queue, "x", 1, 0);
		wait_for((void *)(long)i);
		printf("%d\n", (int)mq_receive(queue, buf, sizeof(buf), NULL));
	}
	end(5);
	mq_close(queue);
}

static void asynchronous_files(void)
{
	enum { CALLS = 8 };
	static char bytes[CALLS][16];
	struct aiocb call[CALLS];
	const struct aiocb *one[1];
	FILE *file = tmpfile();
	int fd = fileno(file);

	begin();
	if (pwrite(fd, "0123456789abcdef", 16, 0) != 16)
		abort();
	for (int i = 0; i < CALLS; i++) {
		call[i] = (struct aiocb){
			.aio_fildes = fd, .aio_buf = bytes[i],
			.aio_nbytes = (size_t)i + 1, .aio_offset = i,
			.aio_sigevent = by_thread(),
		};
		show_errno("read", aio_read(&call[i]));
	}
	for (int i = 0; i < CALLS; i++) {
		one[0] = &call[i];
		while (aio_error(&call[i]) == EINPROGRESS)
			aio_suspend(one, 1, NULL);
		printf("%zd %.*s\n", aio_return(&call[i]), i + 1, bytes[i]);
	}
	end(CALLS);
	fclose(file);
}

static void asynchronous_names(void)
{
	struct gaicb ask[3] = { { .ar_name = "127.0.0.1" },
				{ .ar_name = "::1" },
				{ .ar_name = "127.0.0.2" } };
	struct gaicb *list[3] = { &ask[0], &ask[1], &ask[2] };
	const struct addrinfo numbers = { .ai_flags = AI_NUMERICHOST };
	struct sigevent event = by_thread();

	begin();
	for (int i = 0; i < 3; i++)
		ask[i].ar_request = &numbers;
	printf("%d\n", getaddrinfo_a(GAI_NOWAIT, list, 3, &event));
	end(1);
	for (int i = 0; i < 3; i++) {
		printf("%d %d\n", gai_error(&ask[i]),
		       ask[i].ar_result->ai_family);
		freeaddrinfo(ask[i].ar_result);
	}
}

static const struct compare_case cases[] = {
	COMPARE(timers),
	COMPARE(message_queues),
	COMPARE(asynchronous_files),
	COMPARE(asynchronous_names),
};

COMPARE_MAIN(cases)

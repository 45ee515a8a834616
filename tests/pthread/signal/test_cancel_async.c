/* SPDX-License-Identifier: MIT */
/* test_cancel_async.c - asynchronous cancellation does not come halfway in a wait */
#include "compare.h"

#include <sched.h>

/* --- rwlocks -------------------------------------------------------- */

static void *read_it(void *arg)
{
	return (void *)(long)pthread_rwlock_rdlock(arg);
}

static void *write_it(void *arg)
{
	(void)!pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	pthread_rwlock_wrlock(arg);
	return NULL;
}

/* With libc's threads they would keep them out. */
static void writers_let_readers_in(void)
{
	int wrong = 0;

	for (long i = scaled(500); i > 0; i--) {
		pthread_rwlock_t l =
			PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
		pthread_t writer, reader;

		pthread_rwlock_rdlock(&l);
		writer = start(write_it, &l);
		while (pthread_rwlock_tryrdlock(&l) == 0)
			sched_yield();
		reader = start(read_it, &l);
		pthread_cancel(writer);
		wrong += finish(writer) != PTHREAD_CANCELED;
		wrong += finish(reader) != NULL;
	}
	printf("%d\n", wrong);
}

/* --- conditions ----------------------------------------------------- */

struct condition {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	_Atomic int is_mine;	/* the thread that waits there has the mutex */
	int wrong;
};

static void give_back(void *arg)
{
	struct condition *c = arg;

	c->wrong += pthread_mutex_unlock(&c->mutex) != 0;
}

static void *wait_for_ever(void *arg)
{
	struct condition *c = arg;

	pthread_mutex_lock(&c->mutex);
	pthread_cleanup_push(give_back, c);
	c->is_mine = 1;
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		pthread_cond_wait(&c->cond, &c->mutex);
	pthread_cleanup_pop(0);
	return NULL;
}

/* With libc's it may happen that its handlers do not find the mutex locked. */
static void a_waiter_has_the_mutex_first(void)
{
	int wrong = 0;

	for (long i = scaled(1000); i > 0; i--) {
		struct condition c = {
			.mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP,
			.cond = PTHREAD_COND_INITIALIZER,
		};
		pthread_t t = start(wait_for_ever, &c);

		while (!c.is_mine)
			sched_yield();
		if (i % 2)
			pthread_mutex_lock(&c.mutex);
		pthread_cancel(t);
		if (i % 2)
			pthread_mutex_unlock(&c.mutex);
		if (i % 3)
			pthread_cond_signal(&c.cond);
		wrong += finish(t) != PTHREAD_CANCELED || c.wrong;
	}
	printf("%d\n", wrong);
}

static const struct compare_case cases[] = {
	WEFT_ONLY(writers_let_readers_in, "0\n"),
	WEFT_ONLY(a_waiter_has_the_mutex_first, "0\n"),
};

COMPARE_MAIN(cases)

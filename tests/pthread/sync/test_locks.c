/* SPDX-License-Identifier: MIT */
/* test_locks.c - mutexes, condition variables, rwlocks, and their like */
#include "compare.h"

#include <semaphore.h>
#include <threads.h>

static pthread_mutex_t typed(int type)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t m;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, type);
	pthread_mutex_init(&m, &attr);
	return m;
}

static void *try_it(void *arg)
{
	return (void *)(long)pthread_mutex_trylock(arg);
}

static void *unlock_it(void *arg)
{
	return (void *)(long)pthread_mutex_unlock(arg);
}

static void recursive_mutex_counts(void)
{
	pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

	show("lock", pthread_mutex_lock(&m));
	show("again", pthread_mutex_lock(&m));
	show("try", pthread_mutex_trylock(&m));
	show("other try", (int)(long)finish(start(try_it, &m)));
	show("other unlock", (int)(long)finish(start(unlock_it, &m)));
	for (int i = 0; i < 3; i++)
		show("unlock", pthread_mutex_unlock(&m));
	show("once more", pthread_mutex_unlock(&m));
	show("other try", (int)(long)finish(start(try_it, &m)));
}

static void errorcheck_mutex_checks(void)
{
	pthread_mutex_t m = typed(PTHREAD_MUTEX_ERRORCHECK);

	show("unlock", pthread_mutex_unlock(&m));
	show("lock", pthread_mutex_lock(&m));
	show("again", pthread_mutex_lock(&m));
	show("try", pthread_mutex_trylock(&m));
	show("other unlock", (int)(long)finish(start(unlock_it, &m)));
	show("destroy", pthread_mutex_destroy(&m));
	show("unlock", pthread_mutex_unlock(&m));
	show("destroy", pthread_mutex_destroy(&m));
}

static void *lock_for_a_while(void *arg)
{
	struct timespec at = soon(CLOCK_REALTIME, 20);
	struct timespec mono = soon(CLOCK_MONOTONIC, 20);
	struct timespec bad = { 0, -1 };

	show("timed", pthread_mutex_timedlock(arg, &at));
	show("clock", pthread_mutex_clocklock(arg, CLOCK_MONOTONIC, &mono));
	show("bad time", pthread_mutex_timedlock(arg, &bad));
	show("bad clock", pthread_mutex_clocklock(arg, CLOCK_TAI, &mono));
	return NULL;
}

static void locks_time_out(void)
{
	pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&m);
	finish(start(lock_for_a_while, &m));
	pthread_mutex_unlock(&m);
	finish(start(try_it, &m));
}

static pthread_mutex_t counter_lock = PTHREAD_MUTEX_INITIALIZER;
static long counter;

static void *count(void *arg)
{
	for (int i = 0; i < 2000; i++) {
		pthread_mutex_lock(&counter_lock);
		counter++;
		if (i % 200 == 0)
			sched_yield();
		pthread_mutex_unlock(&counter_lock);
	}
	return arg;
}

static void a_mutex_excludes(void)
{
	pthread_t t[16];

	for (int i = 0; i < 16; i++)
		t[i] = start(count, NULL);
	for (int i = 0; i < 16; i++)
		finish(t[i]);
	printf("%ld\n", counter);
}

/* --- condition variables ------------------------------------------- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int waiting, go, woken;
} gate = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0 };

static void *pass_gate(void *arg)
{
	pthread_mutex_lock(&gate.lock);
	gate.waiting++;
	while (gate.go == 0)
		pthread_cond_wait(&gate.changed, &gate.lock);
	gate.go--;
	gate.woken++;
	pthread_mutex_unlock(&gate.lock);
	return arg;
}

static void wait_until_waiting(int n)
{
	for (;;) {
		pthread_mutex_lock(&gate.lock);
		int there = gate.waiting >= n;
		pthread_mutex_unlock(&gate.lock);
		if (there)
			return;
		sched_yield();
	}
}

static void conditions_wake_one_and_all(void)
{
	pthread_t t[10];

	for (int i = 0; i < 10; i++)
		t[i] = start(pass_gate, NULL);
	wait_until_waiting(10);
	pthread_mutex_lock(&gate.lock);
	gate.go = 3;
	for (int i = 0; i < 3; i++)
		pthread_cond_signal(&gate.changed);
	pthread_mutex_unlock(&gate.lock);
	pthread_mutex_lock(&gate.lock);
	gate.go += 7;
	pthread_cond_broadcast(&gate.changed);
	pthread_mutex_unlock(&gate.lock);
	for (int i = 0; i < 10; i++)
		finish(t[i]);
	printf("%d %d\n", gate.woken, gate.go);
	show("destroy", pthread_cond_destroy(&gate.changed));
}

static void conditions_time_out_on_both_clocks(void)
{
	pthread_mutex_t m = typed(PTHREAD_MUTEX_ERRORCHECK);
	struct timespec at = soon(CLOCK_MONOTONIC, 20);
	struct timespec wall = soon(CLOCK_REALTIME, 20);
	struct timespec bad = { 0, 1000000000 };
	pthread_condattr_t attr;
	pthread_cond_t c, plain = PTHREAD_COND_INITIALIZER;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c, &attr);
	show("not mine", pthread_cond_timedwait(&c, &m, &at));
	pthread_mutex_lock(&m);
	show("monotonic", pthread_cond_timedwait(&c, &m, &at));
	show("wall", pthread_cond_timedwait(&plain, &m, &wall));
	at = soon(CLOCK_MONOTONIC, 20);
	show("clock", pthread_cond_clockwait(&plain, &m, CLOCK_MONOTONIC, &at));
	show("bad", pthread_cond_timedwait(&plain, &m, &bad));
	show("unlock", pthread_mutex_unlock(&m));
}

/* --- rwlocks ------------------------------------------------------- */

static void *try_read(void *arg)
{
	int error = pthread_rwlock_tryrdlock(arg);

	if (!error)
		pthread_rwlock_unlock(arg);
	return (void *)(long)error;
}

static void *try_write(void *arg)
{
	int error = pthread_rwlock_trywrlock(arg);

	if (!error)
		pthread_rwlock_unlock(arg);
	return (void *)(long)error;
}

static void *time_out_writing(void *arg)
{
	struct timespec at = soon(CLOCK_REALTIME, 20);

	return (void *)(long)pthread_rwlock_timedwrlock(arg, &at);
}

static void rwlocks_let_in_readers_or_a_writer(void)
{
	pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;

	show("read", pthread_rwlock_rdlock(&l));
	show("read again", pthread_rwlock_rdlock(&l));
	show("other reads", (int)(long)finish(start(try_read, &l)));
	show("other writes", (int)(long)finish(start(try_write, &l)));
	show("and waits", (int)(long)finish(start(time_out_writing, &l)));
	show("other reads", (int)(long)finish(start(try_read, &l)));
	pthread_rwlock_unlock(&l);
	pthread_rwlock_unlock(&l);
	show("write", pthread_rwlock_wrlock(&l));
	show("write again", pthread_rwlock_wrlock(&l));
	show("read, too", pthread_rwlock_rdlock(&l));
	show("other reads", (int)(long)finish(start(try_read, &l)));
	show("other writes", (int)(long)finish(start(try_write, &l)));
	pthread_rwlock_unlock(&l);
	show("other writes", (int)(long)finish(start(try_write, &l)));
}

static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static int pair[2], torn;

static void *read_pairs(void *arg)
{
	for (int i = 0; i < 1000; i++) {
		pthread_rwlock_rdlock(&shared);
		if (pair[0] != pair[1])
			torn = 1;
		pthread_rwlock_unlock(&shared);
	}
	return arg;
}

static void *write_pairs(void *arg)
{
	for (int i = 0; i < 1000; i++) {
		pthread_rwlock_wrlock(&shared);
		pair[0]++;
		if (i % 100 == 0)
			sched_yield();
		pair[1]++;
		pthread_rwlock_unlock(&shared);
	}
	return arg;
}

static void a_rwlock_excludes(void)
{
	pthread_t t[12];

	for (int i = 0; i < 12; i++)
		t[i] = start(i % 3 ? read_pairs : write_pairs, NULL);
	for (int i = 0; i < 12; i++)
		finish(t[i]);
	printf("%d %d torn %d\n", pair[0], pair[1], torn);
}

static pthread_rwlock_t writers_first =
	PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static void *read_it(void *arg)
{
	return (void *)(long)pthread_rwlock_rdlock(arg);
}

static void writers_that_time_out_let_readers_in(void)
{
	pthread_rwlock_t *l = &writers_first;
	pthread_t writer, reader;

	pthread_rwlock_rdlock(l);
	writer = start(time_out_writing, l);
	reader = start(read_it, l);
	show("writes", (int)(long)finish(writer));
	show("reads", (int)(long)finish(reader));
	show("reads", (int)(long)finish(start(read_it, l)));
}

/* --- the others ---------------------------------------------------- */

static sem_t items, room;
static int box[4], put_at, got_at;
static long taken;

static void *produce(void *arg)
{
	for (int i = 1; i <= 500; i++) {
		sem_wait(&room);
		pthread_mutex_lock(&counter_lock);
		box[put_at++ % 4] = i;
		pthread_mutex_unlock(&counter_lock);
		sem_post(&items);
	}
	return arg;
}

static void *consume(void *arg)
{
	for (int i = 0; i < 500; i++) {
		sem_wait(&items);
		pthread_mutex_lock(&counter_lock);
		taken += box[got_at++ % 4];
		pthread_mutex_unlock(&counter_lock);
		sem_post(&room);
	}
	return arg;
}

static void semaphores_count(void)
{
	struct timespec at = soon(CLOCK_REALTIME, 20);
	pthread_t t[8];
	int value;

	sem_init(&items, 0, 0);
	sem_init(&room, 0, 4);
	show_errno("try", sem_trywait(&items));
	show_errno("timed", sem_timedwait(&items, &at));
	for (int i = 0; i < 8; i++)
		t[i] = start(i % 2 ? produce : consume, NULL);
	for (int i = 0; i < 8; i++)
		finish(t[i]);
	sem_getvalue(&room, &value);
	printf("%ld %d\n", taken, value);
}

static pthread_barrier_t barrier;
static int serials, rounds[50];

static void *meet(void *arg)
{
	for (int i = 0; i < 50; i++) {
		__atomic_fetch_add(&rounds[i], 1, __ATOMIC_SEQ_CST);
		if (pthread_barrier_wait(&barrier) != 0)
			serials++;
		if (__atomic_load_n(&rounds[i], __ATOMIC_SEQ_CST) != 8)
			printf("too early\n");
		pthread_barrier_wait(&barrier);
	}
	return arg;
}

static void barriers_open_when_all_are_there(void)
{
	pthread_t t[8];

	pthread_barrier_init(&barrier, NULL, 8);
	for (int i = 0; i < 8; i++)
		t[i] = start(meet, NULL);
	for (int i = 0; i < 8; i++)
		finish(t[i]);
	printf("%d\n", serials);
	show("destroy", pthread_barrier_destroy(&barrier));
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int times;

static void do_once(void)
{
	usleep(10000);
	times++;
}

static void *call_it(void *arg)
{
	pthread_once(&once, do_once);
	return (void *)(long)(times == 1 ? (long)arg : -100);
}

static void once_is_once(void)
{
	pthread_t t[10];
	long sum = 0;

	for (long i = 0; i < 10; i++)
		t[i] = start(call_it, (void *)i);
	for (int i = 0; i < 10; i++)
		sum += (long)finish(t[i]);
	printf("%ld %d\n", sum, times);
}

static pthread_spinlock_t spinlock;

static void *spin_and_count(void *arg)
{
	for (int i = 0; i < 1000; i++) {
		pthread_spin_lock(&spinlock);
		counter++;
		if (i % 250 == 0)
			sched_yield();
		pthread_spin_unlock(&spinlock);
	}
	return arg;
}

static void a_spin_lock_excludes(void)
{
	pthread_t t[6];

	pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
	for (int i = 0; i < 6; i++)
		t[i] = start(spin_and_count, NULL);
	for (int i = 0; i < 6; i++)
		finish(t[i]);
	printf("%ld\n", counter);
}

static mtx_t mtx;
static cnd_t cnd;
static int c11_state;

static int c11_thread(void *arg)
{
	mtx_lock(&mtx);
	c11_state = 1;
	cnd_signal(&cnd);
	while (c11_state != 2)
		cnd_wait(&cnd, &mtx);
	mtx_unlock(&mtx);
	thrd_exit(*(int *)arg);
}

static void c11_threads_are_threads(void)
{
	struct timespec at;
	int arg = 42, result = 0;
	thrd_t t;

	mtx_init(&mtx, mtx_timed);
	cnd_init(&cnd);
	mtx_lock(&mtx);
	printf("create %d\n",
	       thrd_create(&t, c11_thread, &arg) == thrd_success);
	while (c11_state != 1)
		cnd_wait(&cnd, &mtx);
	timespec_get(&at, TIME_UTC);
	printf("timed out %d\n",
	       cnd_timedwait(&cnd, &mtx, &at) == thrd_timedout);
	c11_state = 2;
	cnd_broadcast(&cnd);
	mtx_unlock(&mtx);
	thrd_join(t, &result);
	printf("%d\n", result);
}

static const struct compare_case cases[] = {
	COMPARE(recursive_mutex_counts),
	COMPARE(errorcheck_mutex_checks),
	COMPARE(locks_time_out),
	COMPARE(a_mutex_excludes),
	COMPARE(conditions_wake_one_and_all),
	COMPARE(conditions_time_out_on_both_clocks),
	COMPARE(rwlocks_let_in_readers_or_a_writer),
	COMPARE(a_rwlock_excludes),
	COMPARE(writers_that_time_out_let_readers_in),
	COMPARE(semaphores_count),
	COMPARE(barriers_open_when_all_are_there),
	COMPARE(once_is_once),
	COMPARE(a_spin_lock_excludes),
	COMPARE(c11_threads_are_threads),
};

COMPARE_MAIN(cases)

#!/bin/sh
# SPDX-License-Identifier: MIT
# test_explore_reduce.sh - weft explore --reduce: what lets go of an object without a step of
# its own counts as the object's past
#
# A thread tries for something that another one lets go of. Later a third thread has to run between
# two steps. So if the orders with and without luck count as the same, the bug is missed.
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

weft=${WEFT_TEST_CLI-cli/weft}
if [ ! -x "$weft" ] || [ ! -f .libs/libweft-explore.so ] ||
    ! command -v "${CC-cc}" >/dev/null; then
	echo "test_explore_reduce.sh: left out, there is no $weft with its library, or no compiler"
	exit 0
fi

# finds NAME SEED
finds()
{
	passes "$1 by seed $2" status_is 1 "$weft" explore --timeout 10m -j 1 -s preempt \
		--bound 2 --reduce --first --runs 100000 --seed "$2" "$work/$1"
	passes "$1: the status" says 'exit status 1$'
}

cat >"$work/release.c" <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, l = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static sem_t ready, go;
static pthread_t waiter;
static int over, got, seen, end[2];
static unsigned from, to;
static void publish(int value)
{
	pthread_mutex_lock(&l);
	got = value;
	pthread_mutex_unlock(&l);
}
static void *waits(void *a)
{
#ifndef JOIN
	pthread_mutex_lock(&m);
#endif
	sem_post(&ready);
	sem_wait(&go);
#ifdef COND
	while (!over)
		pthread_cond_wait(&c, &m);
	pthread_mutex_unlock(&m);
#elif defined(CLOSE)
	close(end[1]);
#elif defined(REQUEUE)
	syscall(SYS_futex, &from, FUTEX_REQUEUE, 0, (void *)1, &to, 0);
#endif
	return a;
}
static int has_it(void)
{
#ifdef JOIN
	return pthread_tryjoin_np(waiter, 0) == 0;
#elif defined(CLOSE)
	char x;
	return read(end[0], &x, 1) == 0;
#elif defined(REQUEUE)
	return syscall(SYS_futex, &to, FUTEX_WAKE, 1, 0, 0, 0) == 1;
#else
	return pthread_mutex_trylock(&m) != EBUSY;
#endif
}
static void *tries(void *a)
{
	int is_had;
	sem_post(&go);
	is_had = has_it();
	publish(is_had);
	publish(0);
#ifdef COND
	if (!is_had)
		pthread_mutex_lock(&m);
	over = 1;
	pthread_cond_broadcast(&c);
	pthread_mutex_unlock(&m);
#endif
	return a;
}
static void *looks(void *a)
{
	pthread_mutex_lock(&l);
	seen = got;
	pthread_mutex_unlock(&l);
	return a;
}
#ifdef REQUEUE
static void *sleeps(void *a)
{
	sem_post(&ready);
	syscall(SYS_futex, &from, FUTEX_WAIT, 0, 0, 0, 0);
	return a;
}
#endif
int main(void)
{
	pthread_mutexattr_t robust;
	pthread_t t[3];
	pthread_mutexattr_init(&robust);
	pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
#ifdef ROBUST
	pthread_mutex_init(&m, &robust);
#endif
	/* Objects have numbers in the order of their first use. */
	publish(0);
	pthread_cond_signal(&c);
	sem_post(&go);
	sem_wait(&go);
	if (pipe2(end, O_NONBLOCK))
		return 2;
#ifdef REQUEUE
	pthread_create(&t[2], 0, sleeps, 0);
	sem_wait(&ready);
	syscall(SYS_futex, &to, FUTEX_WAKE, 1, 0, 0, 0);
	syscall(SYS_futex, &from, FUTEX_WAKE, 0, 0, 0, 0);
	sched_yield();
#endif
	pthread_create(&waiter, 0, waits, 0);
	sem_wait(&ready);
	pthread_create(&t[0], 0, tries, 0);
	pthread_create(&t[1], 0, looks, 0);
	pthread_join(t[0], 0);
	pthread_join(t[1], 0);
#ifndef JOIN
	pthread_join(waiter, 0);
#endif
#ifdef REQUEUE
	from = to = 1;
	syscall(SYS_futex, &to, FUTEX_WAKE, 1, 0, 0, 0);
	syscall(SYS_futex, &from, FUTEX_WAKE, 1, 0, 0, 0);
	pthread_join(t[2], 0);
#endif
	return seen;
}
END
for way in COND JOIN ROBUST CLOSE REQUEUE; do
	# shellcheck disable=SC2086 # CC may have options
	${CC-cc} -g -O1 -pthread -D$way -o "$work/$way" "$work/release.c" || exit 1
	finds $way 3
done

# The same by weft's own threads.
cat >"$work/native.c" <<'END'
#include <errno.h>
#include <weft.h>
static struct weft_mutex m = WEFT_MUTEX_INIT, l = WEFT_MUTEX_INIT;
static struct weft_cond c = WEFT_COND_INIT;
static struct weft_sem ready, go;
static struct weft_group group = WEFT_GROUP_INIT;
static int over, got, seen;
static void publish(int value)
{
	(void)!weft_mutex_lock(&l);
	got = value;
	(void)!weft_mutex_unlock(&l);
}
static int waits(void *a)
{
	(void)a;
	(void)!weft_mutex_lock(&m);
	(void)!weft_sem_post(&ready);
	(void)!weft_sem_wait(&go);
#ifdef COND
	while (!over)
		(void)!weft_cond_wait(&c, &m);
#endif
	(void)!weft_mutex_unlock(&m);
	return 0;
}
static void *tries(void *a)
{
	int is_had;
	(void)!weft_sem_post(&go);
#ifdef COND
	is_had = !weft_mutex_try_lock(&m);
#else
	is_had = !weft_group_wait(&group, WEFT_NO_WAIT, 0);
#endif
	publish(is_had);
	publish(0);
#ifdef COND
	if (!is_had)
		(void)!weft_mutex_lock(&m);
	over = 1;
	(void)!weft_cond_broadcast(&c);
	(void)!weft_mutex_unlock(&m);
#endif
	return a;
}
static void *looks(void *a)
{
	(void)!weft_mutex_lock(&l);
	seen = got;
	(void)!weft_mutex_unlock(&l);
	return a;
}
int main(void)
{
	uint64_t id[2];
	if (weft_start(0))
		return 2;
	publish(0);
	(void)!weft_cond_signal(&c);
	(void)!weft_sem_post(&go);
	(void)!weft_sem_wait(&go);
	(void)!weft_group_wait(&group, WEFT_NO_WAIT, 0);
	if (weft_group_spawn(&group, 0, 0, waits, 0) || weft_sem_wait(&ready) ||
	    weft_spawn(&id[0], 0, tries, 0) || weft_spawn(&id[1], 0, looks, 0))
		return 2;
	(void)!weft_join(id[0], 0);
	(void)!weft_join(id[1], 0);
	(void)!weft_group_wait(&group, WEFT_FOREVER, 0);
	return weft_stop() ? 2 : seen;
}
END
for way in COND GROUP; do
	# shellcheck disable=SC2086 # CC may have options
	${CC-cc} -g -O1 -D$way -I"$top/include" -o "$work/native.$way" "$work/native.c" -L.libs \
		-lweft -Wl,-rpath,"$PWD/.libs" || exit 1
	for seed in 1 2 3 4; do
		finds native.$way $seed
	done
done
finish

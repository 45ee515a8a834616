#!/bin/sh
# SPDX-License-Identifier: MIT
# test_explore_polls.sh - weft explore: a thread that waits for another one in a loop ends
#
# Each loop makes calls that do not wait. The other thread has to get the turn, under each
# strategy, or a correct program would be said to have no end.
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

weft=${WEFT_TEST_CLI-cli/weft}
if [ ! -x "$weft" ] || [ ! -f .libs/libweft-explore.so ] ||
    ! command -v "${CC-cc}" >/dev/null; then
	echo "test_explore_polls.sh: left out, there is no $weft with its library, or no compiler"
	exit 0
fi

cat >"$work/polls.c" <<'END'
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <linux/futex.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t sem, begun;
static int pipes[2], sockets[2], files[2], epoll;
static volatile int done;
static pthread_t other;
static const struct timespec past = { 1, 0 }, none = { 0, 0 }, us = { 0, 1000 };

static int is_done(void)
{
	int is;

	pthread_mutex_lock(&lock);
	is = done;
	pthread_mutex_unlock(&lock);
	return is;
}

/* It holds all locks for some steps. */
static void *work(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_rwlock_wrlock(&rwlock);
	pthread_spin_lock(&spin);
	flock(files[0], LOCK_EX);
	sem_post(&begun);
	for (int i = 0; i < 5; i++)
		is_done();
	flock(files[0], LOCK_UN);
	pthread_spin_unlock(&spin);
	pthread_rwlock_unlock(&rwlock);
	pthread_mutex_unlock(&mutex);
	sem_post(&sem);
	if (write(pipes[1], "x", 1) != 1 || send(sockets[1], "x", 1, 0) != 1)
		exit(9);
	pthread_mutex_lock(&lock);
	done = 1;
	pthread_mutex_unlock(&lock);
	return unused;
}

static int polled(void)
{
	struct pollfd one = { .fd = pipes[0], .events = POLLIN };

	return poll(&one, 1, 0);
}

static int selected(void)
{
	struct timeval no_time = { 0, 0 };
	fd_set set;

	FD_ZERO(&set);
	FD_SET(pipes[0], &set);
	return select(pipes[0] + 1, &set, NULL, NULL, &no_time);
}

static int epolled(void)
{
	struct epoll_event event;

	return epoll_wait(epoll, &event, 1, 0);
}

static int late_cond(void)
{
	int is;

	pthread_mutex_lock(&lock);
	(void)pthread_cond_timedwait(&cond, &lock, &past);
	is = done;
	pthread_mutex_unlock(&lock);
	return is;
}

static int value(void)
{
	int n;

	sem_getvalue(&sem, &n);
	return n;
}

static int futex(void)
{
	static int word;

	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &none, NULL, 0);
	return done;
}

static int no_signal(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	(void)sigtimedwait(&set, NULL, &none);
	return done;
}

static int clock_moved(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return done;
}

static int time_of_day(void)
{
	struct timeval now;

	gettimeofday(&now, NULL);
	return done;
}

static int no_child(void)
{
	(void)waitpid(-1, NULL, WNOHANG);
	return done;
}

static char byte;

#define LOOPS(LOOP) \
	LOOP(flag, is_done()) \
	LOOP(yield, (sched_yield(), done)) \
	LOOP(sleep, (sleep(0), done)) \
	LOOP(usleep, (usleep(0), done)) \
	LOOP(nanosleep, (nanosleep(&none, NULL), done)) \
	LOOP(us, (nanosleep(&us, NULL), done)) \
	LOOP(clock_nanosleep, (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &past, NULL), done)) \
	LOOP(trylock, pthread_mutex_trylock(&mutex) == 0) \
	LOOP(timedlock, pthread_mutex_timedlock(&mutex, &past) == 0) \
	LOOP(tryrdlock, pthread_rwlock_tryrdlock(&rwlock) == 0) \
	LOOP(trywrlock, pthread_rwlock_trywrlock(&rwlock) == 0) \
	LOOP(timedwrlock, pthread_rwlock_timedwrlock(&rwlock, &past) == 0) \
	LOOP(spin_trylock, pthread_spin_trylock(&spin) == 0) \
	LOOP(flock, flock(files[1], LOCK_EX | LOCK_NB) == 0) \
	LOOP(trywait, sem_trywait(&sem) == 0) \
	LOOP(timedwait, sem_timedwait(&sem, &past) == 0) \
	LOOP(getvalue, value()) \
	LOOP(tryjoin, pthread_tryjoin_np(other, NULL) == 0) \
	LOOP(timedjoin, pthread_timedjoin_np(other, NULL, &past) == 0) \
	LOOP(cond, late_cond()) \
	LOOP(futex, futex()) \
	LOOP(sigtimedwait, no_signal()) \
	LOOP(poll, polled()) \
	LOOP(select, selected()) \
	LOOP(epoll, epolled()) \
	LOOP(read, read(pipes[0], &byte, 1) == 1) \
	LOOP(recv, recv(sockets[0], &byte, 1, MSG_DONTWAIT) == 1) \
	LOOP(kill, (pthread_kill(other, 0), done)) \
	LOOP(clock, clock_moved()) \
	LOOP(gettimeofday, time_of_day()) \
	LOOP(waitpid, no_child()) \
	LOOP(never, is_done() == 2)

int main(int argc, char **argv)
{
	const char *which = argv[argc - 1];
	struct epoll_event event = { .events = EPOLLIN };

	sem_init(&sem, 0, 0);
	sem_init(&begun, 0, 0);
	pthread_spin_init(&spin, 0);
	epoll = epoll_create1(0);
	for (int i = 0; i < 2; i++)
		files[i] = open(argv[0], O_RDONLY);
	if (pipe2(pipes, O_NONBLOCK) || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) ||
	    epoll_ctl(epoll, EPOLL_CTL_ADD, pipes[0], &event))
		return 9;
	pthread_create(&other, NULL, work, NULL);
	sem_wait(&begun);
#define LOOP(name, ends) \
	if (strcmp(which, #name) == 0) { \
		while (!(ends)) \
			; \
		return 0; \
	}
	LOOPS(LOOP)
	return 9;
}
END
# shellcheck disable=SC2086 # CC may have options
${CC-cc} -g -O1 -pthread -o "$work/polls" "$work/polls.c" || { echo "cannot compile"; exit 1; }

loops=$(sed -n 's/^\tLOOP(\([a-z_]*\), .*/\1/p' "$work/polls.c" | grep -v never)
passes "all loops are known" [ "$(echo "$loops" | wc -w)" -eq 31 ]

# weft explore's own limit of time says nothing about a loop; that of steps does.
for loop in $loops; do
	for strategy in delay preempt robin random pct pos weights changes; do
		passes "$loop ends, $strategy" status_is 0 "$weft" explore --first --timeout 10m \
			--steps 20000 --runs "${WEFT_TEST_SEEDS-4}" --strategy "$strategy" \
			"$work/polls" "$loop"
	done
done

passes "what nobody ends is told" status_is 1 "$weft" explore --first --timeout 10m \
	--steps 20000 --runs 2 --strategy delay "$work/polls" never
passes "and why" says 'no end after 20000 steps'

finish

#!/bin/sh
# SPDX-License-Identifier: MIT
# test_explore_waits.sh - weft explore: waits for descriptors, at futexes and for signals,
# and programs that do not depend on the order of threads alone
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

weft=${WEFT_TEST_CLI-cli/weft}
if [ ! -x "$weft" ] || [ ! -f .libs/libweft-explore.so ] ||
    ! command -v "${CC-cc}" >/dev/null; then
	echo "test_explore_waits.sh: left out, there is no $weft with its library, or no compiler"
	exit 0
fi

# compile NAME
compile()
{
	# shellcheck disable=SC2086 # CC may have options
	${CC-cc} -g -O1 -pthread -o "$work/$1" "$work/$1.c" ||
		{ echo "cannot compile $1"; exit 1; }
}

explore()
{
	"$weft" explore --timeout 10m "$@"
}

# Each way to wait for a descriptor; another thread writes, and none may keep the turn.
cat >"$work/ready.c" <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>
static int pipes[5][2];
static void *writes(void *unused)
{
	for (int i = 0; i < 5; i++)
		if (write(pipes[i][1], "x", 1) != 1)
			_exit(9);
	return unused;
}
int main(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct pollfd one = { .events = POLLIN };
	const struct timespec hour = { 3600, 0 };
	struct timeval second = { 1, 0 };
	sigset_t none;
	pthread_t thread;
	fd_set set;
	int ep = epoll_create1(0);
	sigemptyset(&none);
	for (int i = 0; i < 5; i++)
		if (pipe(pipes[i]) != 0)
			return 9;
	pthread_create(&thread, NULL, writes, NULL);
	FD_ZERO(&set);
	FD_SET(pipes[0][0], &set);
	if (select(pipes[0][0] + 1, &set, NULL, NULL, NULL) != 1 || !FD_ISSET(pipes[0][0], &set))
		return 1;
	FD_ZERO(&set);
	FD_SET(pipes[1][0], &set);
	if (pselect(pipes[1][0] + 1, &set, NULL, NULL, NULL, &none) != 1)
		return 2;
	one.fd = pipes[2][0];
	if (ppoll(&one, 1, NULL, &none) != 1)
		return 3;
	epoll_ctl(ep, EPOLL_CTL_ADD, pipes[3][0], &event);
	if (epoll_wait(ep, &event, 1, -1) != 1)
		return 4;
	one.fd = pipes[4][0];
	if (poll(&one, 1, -1) != 1)
		return 5;
	pthread_join(thread, NULL);
	/* Time-outs are virtual. */
	FD_ZERO(&set);
	FD_SET(pipes[0][1] + 100, &set);
	FD_ZERO(&set);
	if (select(0, NULL, NULL, NULL, &second) != 0)
		return 6;
	one.fd = pipes[0][1];
	one.events = POLLIN;
	if (ppoll(&one, 1, &hour, NULL) != 0)
		return 7;
	epoll_ctl(ep, EPOLL_CTL_DEL, pipes[3][0], NULL);
	return epoll_wait(ep, &event, 1, 3600 * 1000) != 0 ? 8 : 0;
}
END
# A lock of futexes by syscall(), with a wake for one thread too few as its bug.
cat >"$work/futex.c" <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static _Atomic unsigned gate;
static int wakes = 2;
static long futex(int op, unsigned value, const struct timespec *time)
{
	return syscall(SYS_futex, &gate, op | FUTEX_PRIVATE_FLAG, value, time, NULL,
		       FUTEX_BITSET_MATCH_ANY);
}
static void *waits(void *unused)
{
	while (gate == 0)
		futex(FUTEX_WAIT, 0, NULL);
	return unused;
}
int main(int argc, char **argv)
{
	const struct timespec hour = { 3600, 0 };
	pthread_t threads[2];
	(void)argv;
	if (futex(FUTEX_WAIT, 0, &hour) != -1 || errno != ETIMEDOUT)
		return 1;
	if (futex(FUTEX_WAIT, 7, NULL) != -1 || errno != EAGAIN)
		return 2;
	if (argc > 1)
		wakes = 1;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, waits, NULL);
	gate = 1;
	futex(FUTEX_WAKE, (unsigned)wakes, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END
# The handler's moment is a choice: it may come between the two writes. A sleep ends early.
cat >"$work/moment.c" <<'END'
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <time.h>
static sem_t ready, locks;
static volatile int low, high, torn, slept, woken;
static void look(int unused)
{
	(void)unused;
	torn |= low != high;
}
static void *works(void *unused)
{
	const struct timespec hour = { 3600, 0 };
	struct timespec rest = { 0, 0 };
	sem_post(&ready);
	low++;
	sem_post(&locks);
	high++;
	woken = nanosleep(&hour, &rest) == -1 && errno == EINTR;
	slept = 3600 - (int)rest.tv_sec;
	return unused;
}
int main(int argc, char **argv)
{
	struct sigaction action;
	pthread_t thread;
	(void)argv;
	memset(&action, 0, sizeof(action));
	action.sa_handler = look;
	sigaction(SIGUSR1, &action, NULL);
	sem_init(&ready, 0, 0);
	sem_init(&locks, 0, 0);
	pthread_create(&thread, NULL, works, NULL);
	sem_wait(&ready);
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	if (argc > 1)
		return woken && slept < 10 ? 5 : 0;
	return torn ? 3 : 0;
}
END
# A signal to a thread that waits at a barrier: the barrier is passed all the same.
cat >"$work/barrier.c" <<'END'
#include <pthread.h>
#include <signal.h>
static pthread_barrier_t barrier;
static void handler(int unused) { (void)unused; }
static void *meets(void *unused) { pthread_barrier_wait(&barrier); return unused; }
int main(void)
{
	pthread_t thread;
	signal(SIGUSR1, handler);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, meets, NULL);
	pthread_kill(thread, SIGUSR1);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	return 0;
}
END
# A cancelled thread goes on, for it has no point of cancellation. None of weft's own is one.
cat >"$work/cancel.c" <<'END'
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int pipes[2], done;
static void *locks(void *unused)
{
	for (int i = 0; i < 5; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	done = 1;
	return unused;
}
static void *reads(void *unused)
{
	char c;
	if (read(pipes[0], &c, 1) != 1)
		_exit(2);
	return unused;
}
int main(void)
{
	pthread_t reader, locker;
	if (pipe(pipes) != 0)
		return 2;
	pthread_create(&reader, NULL, reads, NULL);
	sched_yield();
	pthread_create(&locker, NULL, locks, NULL);
	pthread_cancel(locker);
	pthread_join(locker, NULL);
	if (write(pipes[1], "x", 1) != 1)
		return 2;
	pthread_join(reader, NULL);
	return done ? 0 : 7;
}
END
# One call wakes two of three threads: each two of them may be the ones. C11's threads.
cat >"$work/two.c" <<'END'
#define _GNU_SOURCE
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>
static unsigned word;
static int awake[3];
static int waits(void *number)
{
	syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
	awake[*(int *)number] = 1;
	thrd_yield();
	return 0;
}
int main(void)
{
	static int numbers[3] = { 0, 1, 2 };
	thrd_t threads[3];
	for (int i = 0; i < 3; i++)
		thrd_create(&threads[i], waits, &numbers[i]);
	sleep(1);
	syscall(SYS_futex, &word, FUTEX_WAKE, 2, NULL, NULL, 0);
	sleep(1);
	if (!awake[0] && awake[1] && awake[2])
		_exit(7);
	word = 1;
	syscall(SYS_futex, &word, FUTEX_WAKE, 9, NULL, NULL, 0);
	for (int i = 0; i < 3; i++)
		thrd_join(threads[i], NULL);
	return 0;
}
END
# What differs from run to run, though the order of threads does not say so.
cat >"$work/course.c" <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t locks[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static unsigned number(char how)
{
	struct timespec time;
	unsigned n = 0;
	switch (how) {
	case 'c':	/* a clock by syscall() */
		syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
		return (unsigned)time.tv_nsec >> 9;
	case 'a':	/* addresses as keys */
		return (unsigned)((uintptr_t)malloc(1) >> 12 ^ (uintptr_t)&n >> 12);
	case 'r':	/* random bytes */
		return getrandom(&n, sizeof(n), 0) == sizeof(n) ? n : 0;
	case 'p':	/* a process ID */
		return (unsigned)getpid();
#ifdef __x86_64__
	case 't':	/* the processor's clock */
		return (unsigned)(__builtin_ia32_rdtsc() >> 9);
	case 'k':	/* a clock by a system call that no function makes */
		__asm__ volatile("syscall" : "=a" (n) : "0" (SYS_clock_gettime),
				 "D" (CLOCK_MONOTONIC), "S" (&time) : "rcx", "r11", "memory");
		return (unsigned)time.tv_nsec >> 9;
#endif
	}
	return 0;
}
static void *locker(void *how)
{
	for (int i = 0; i < 20; i++) {
		unsigned n = number(*(char *)how);
		n ^= n >> 16;
		n ^= n >> 8;
		n ^= n >> 4;
		n = (n ^ n >> 2 ^ n >> 1) & 1;
		pthread_mutex_lock(&locks[n]);
		pthread_mutex_unlock(&locks[n]);
	}
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t threads[2];
	(void)argc;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, locker, argv[1]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
END

compile ready
passes "descriptors" status_is 0 explore --runs 40 "$work/ready"
passes "in one course" refuses says 'another course'
compile futex
passes "futexes" status_is 0 explore --runs 40 "$work/futex"
passes "a wake too few" status_is 1 explore --runs 40 "$work/futex" x
passes "a wake too few is told" says 'thread [23] waits for futex 1'
compile moment
passes "a signal's moment" status_is 1 explore --runs 100 "$work/moment"
passes "its sender" says 'sends a signal to thread 2'
passes "and what gets it" says '^ *[0-9]*  *gets a signal from thread 1'
passes "a signal ends a sleep" status_is 1 explore --runs 100 "$work/moment" x

compile barrier
passes "a signal at a barrier" status_is 0 explore --runs 40 "$work/barrier"
compile cancel
passes "a cancellation" status_is 0 explore --runs 40 "$work/cancel"
passes "a cancellation, with steps" status_is 0 "$weft" run --seed list: --steps "$work/cancel"
compile two
passes "two woken" status_is 7 "$weft" run --seed list:1w3@9/1w4@10 --steps "$work/two"
passes "places of C11's threads" refuses says 'libweft-explore'

compile course
for kind in c a r; do
	passes "one course: $kind" status_is 0 explore --runs 3 "$work/course" "$kind"
	passes "nothing is told: $kind" refuses says 'another course'
done
case $(uname -m) in
x86_64)
	for kind in t k; do
		passes "courses: $kind" status_is 0 explore --runs 3 "$work/course" "$kind"
		passes "the first step is told: $kind" \
			says 'first in one replay: .*thread [23] .*, course.c:[0-9]'
	done
	;;
esac
# A thread that waits for signals gives its turn away. They come from a thread, or by kill().
cat >"$work/sigwait.c" <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
static sigset_t set;
static int got;
static void *waits(void *unused)
{
	int number;
	for (; got < 2; got++)
		if (sigwait(&set, &number) != 0)
			break;
	return unused;
}
int main(int argc, char **argv)
{
	const struct timespec hour = { 3600, 0 };
	pthread_t thread;
	(void)argv;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (sigtimedwait(&set, NULL, &hour) != -1 || errno != EAGAIN)
		return 2;
	pthread_create(&thread, NULL, waits, NULL);
	kill(getpid(), SIGUSR1);
	if (argc > 1)
		return pthread_join(thread, NULL);
	pthread_kill(thread, SIGTERM);
	pthread_join(thread, NULL);
	return got != 2;
}
END
compile sigwait
passes "sigwait" status_is 0 explore --runs 60 "$work/sigwait"
passes "a signal that does not come" status_is 1 explore --runs 1 --first "$work/sigwait" x
passes "and why" says 'thread 2 waits for a signal'

# So does one in sigsuspend() or pause(). A signal that comes before the pause() is lost.
cat >"$work/suspend.c" <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
static volatile sig_atomic_t got, rang;
static int pauses;
static void handler(int number)
{
	if (number == SIGALRM)
		rang = 1;
	else
		got++;
}
static void *waits(void *unused)
{
	sigset_t none;
	sigemptyset(&none);
	while (!got)
		if (pauses)
			pause();
		else
			sigsuspend(&none);
	return unused;
}
int main(int argc, char **argv)
{
	struct sigaction action;
	pthread_t thread;
	sigset_t set, none;
	(void)argv;
	pauses = argc > 1;
	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	sigemptyset(&none);
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	if (!pauses)
		sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_create(&thread, NULL, waits, NULL);
	sched_yield();
	pthread_kill(thread, SIGUSR1);
	pthread_join(thread, NULL);
	ualarm(1000, 0);
	while (!rang)
		sigsuspend(&none);
	return got != 1;
}
END
compile suspend
passes "sigsuspend" status_is 0 explore --runs 40 "$work/suspend"
passes "a signal before the pause" status_is 1 explore --runs 40 --first "$work/suspend" x
passes "is lost" says 'thread 2 waits for a signal'

# A wait that is not in a loop ends without a signal, if that is asked for.
cat >"$work/once.c" <<'END'
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_set;
static void *set(void *unused)
{
	pthread_mutex_lock(&lock);
	is_set = 1;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	int was_set;
	(void)argv;
	pthread_mutex_lock(&lock);
	pthread_create(&thread, NULL, set, NULL);
	if (!is_set)
		pthread_cond_wait(&changed, &lock);
	while (argc > 1 && !is_set)
		pthread_cond_wait(&changed, &lock);
	was_set = is_set;
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	return !was_set;
}
END
compile once
passes "no wait ends without a signal" status_is 0 explore --runs 60 "$work/once"
passes "a wait ends so" status_is 1 explore --runs 60 --spurious "$work/once"
list=$(sed -n 's/^ *weft run --seed \(list:[^ ]*s[^ ]*\) .*/\1/p' "$work/said" | head -n 1)
passes "by its list" status_is 1 "$weft" run --seed "${list:-none}" "$work/once"
passes "all orders, too" status_is 1 explore -s preempt --spurious "$work/once"
passes "a wait in a loop" status_is 0 explore --runs 60 --spurious "$work/once" x

finish

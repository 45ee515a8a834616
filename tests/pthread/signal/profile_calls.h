/* SPDX-License-Identifier: MIT */
/* profile_calls.h - a use of each public function, that can be checked, for any thread */
#ifndef WEFT_TESTS_PROFILE_CALLS_H
#define WEFT_TESTS_PROFILE_CALLS_H

#include "compare.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>

#define MUST(what)	((what) ? (void)0 : fail(#what))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive, checking, robust;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static mtx_t c_mutex;
static pthread_key_t key;
static long counted, counted_rw, counted_spin;
static mqd_t messages;
static int queue, sems;

static void fail(const char *what)
{
	printf("not so: %s\n", what);
	abort();
}

static void make_objects(void)
{
	struct mq_attr sizes = { .mq_maxmsg = 8, .mq_msgsize = 8 };
	pthread_mutexattr_t attr;
	char name[32];

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&recursive, &attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&checking, &attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_NORMAL);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &attr);
	pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
	mtx_init(&c_mutex, mtx_plain);
	pthread_key_create(&key, NULL);
	snprintf(name, sizeof(name), "/weft-profile-%d", getpid());
	messages = mq_open(name, O_CREAT | O_RDWR, 0600, &sizes);
	mq_unlink(name);
	queue = msgget(IPC_PRIVATE, 0600);
	sems = semget(IPC_PRIVATE, 1, 0600);
	MUST(messages >= 0 && queue >= 0 && sems >= 0);
}

static void remove_objects(void)
{
	msgctl(queue, IPC_RMID, NULL);
	semctl(sems, 0, IPC_RMID);
}

/* --- threads ------------------------------------------------------- */

static void *give_back(void *arg)
{
	return arg;
}

static void create_and_join(void)
{
	MUST(finish(start(give_back, &mutex)) == &mutex);
}

static void create_and_join_in_time(void)
{
	const struct timespec at = soon(CLOCK_REALTIME, 100000);
	pthread_t t = start(give_back, NULL);

	MUST(pthread_timedjoin_np(t, NULL, &at) == 0);
}

static void create_and_detach(void)
{
	MUST(pthread_detach(start(give_back, NULL)) == 0);
}

static void *leave_early(void *arg)
{
	pthread_exit(arg);
}

static void create_and_exit(void)
{
	MUST(finish(start(leave_early, &cond)) == &cond);
}

static void *pause_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void create_and_cancel(void)
{
	pthread_t t = start(pause_for_ever, NULL);

	MUST(pthread_cancel(t) == 0);
	MUST(finish(t) == PTHREAD_CANCELED);
}

static int run_c(void *arg)
{
	return arg != NULL;
}

static void c_create_and_join(void)
{
	thrd_t t;
	int value;

	MUST(thrd_create(&t, run_c, &mutex) == thrd_success);
	MUST(thrd_join(t, &value) == thrd_success && value == 1);
}

static void tell_itself(void)
{
	pthread_attr_t attr;
	char name[16];
	clockid_t clock;
	struct timespec used;
	int state;

	MUST(pthread_getattr_np(pthread_self(), &attr) == 0);
	pthread_attr_destroy(&attr);
	MUST(pthread_setname_np(pthread_self(), "profiled") == 0);
	MUST(pthread_getname_np(pthread_self(), name, sizeof(name)) == 0);
	MUST(pthread_getcpuclockid(pthread_self(), &clock) == 0);
	MUST(clock_gettime(clock, &used) == 0);
	MUST(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state) == 0);
	pthread_testcancel();
	MUST(pthread_setcancelstate(state, NULL) == 0);
	MUST(pthread_setspecific(key, &attr) == 0);
	MUST(pthread_getspecific(key) == &attr);
}

/* --- locks --------------------------------------------------------- */

static void lock_and_count(void)
{
	MUST(pthread_mutex_lock(&mutex) == 0);
	counted++;
	MUST(pthread_mutex_unlock(&mutex) == 0);
}

static void lock_in_time(void)
{
	const struct timespec at = soon(CLOCK_REALTIME, 100000);

	MUST(pthread_mutex_timedlock(&mutex, &at) == 0);
	counted++;
	MUST(pthread_mutex_unlock(&mutex) == 0);
	if (pthread_mutex_trylock(&mutex) == 0)
		MUST(pthread_mutex_unlock(&mutex) == 0);
}

static void lock_others(void)
{
	MUST(pthread_mutex_lock(&recursive) == 0);
	MUST(pthread_mutex_lock(&recursive) == 0);
	MUST(pthread_mutex_unlock(&recursive) == 0);
	MUST(pthread_mutex_unlock(&recursive) == 0);
	MUST(pthread_mutex_lock(&checking) == 0);
	MUST(pthread_mutex_lock(&checking) == EDEADLK);
	MUST(pthread_mutex_unlock(&checking) == 0);
	MUST(pthread_mutex_lock(&robust) == 0);
	MUST(pthread_mutex_unlock(&robust) == 0);
	MUST(mtx_lock(&c_mutex) == thrd_success);
	MUST(mtx_unlock(&c_mutex) == thrd_success);
}

static void signal_and_wait(void)
{
	const struct timespec at = soon(CLOCK_REALTIME, 1);
	int error;

	MUST(pthread_mutex_lock(&mutex) == 0);
	pthread_cond_signal(&cond);
	error = pthread_cond_timedwait(&cond, &mutex, &at);
	MUST(error == 0 || error == ETIMEDOUT);
	counted++;
	pthread_cond_broadcast(&cond);
	MUST(pthread_mutex_unlock(&mutex) == 0);
}

static void read_and_write(void)
{
	const struct timespec at = soon(CLOCK_REALTIME, 100000);

	MUST(pthread_rwlock_rdlock(&rwlock) == 0);
	MUST(pthread_rwlock_unlock(&rwlock) == 0);
	MUST(pthread_rwlock_wrlock(&rwlock) == 0);
	counted_rw++;
	MUST(pthread_rwlock_unlock(&rwlock) == 0);
	MUST(pthread_rwlock_timedrdlock(&rwlock, &at) == 0);
	MUST(pthread_rwlock_unlock(&rwlock) == 0);
}

static void spin_and_count(void)
{
	MUST(pthread_spin_lock(&spin) == 0);
	counted_spin++;
	MUST(pthread_spin_unlock(&spin) == 0);
}

static void *meet(void *barrier)
{
	pthread_barrier_wait(barrier);
	return NULL;
}

static void meet_one(void)
{
	pthread_barrier_t barrier;
	pthread_t t;

	pthread_barrier_init(&barrier, NULL, 2);
	t = start(meet, &barrier);
	meet(&barrier);
	finish(t);
	MUST(pthread_barrier_destroy(&barrier) == 0);
}

static void do_nothing(void)
{
}

static void post_and_take(void)
{
	const struct timespec at = soon(CLOCK_REALTIME, 100000);
	pthread_once_t once = PTHREAD_ONCE_INIT;
	sem_t sem;

	MUST(sem_init(&sem, 0, 0) == 0);
	MUST(sem_post(&sem) == 0 && sem_post(&sem) == 0);
	while (sem_wait(&sem) != 0)
		;
	while (sem_timedwait(&sem, &at) != 0)
		;
	MUST(sem_trywait(&sem) != 0 && errno == EAGAIN);
	sem_destroy(&sem);
	MUST(pthread_once(&once, do_nothing) == 0);
}

static void use_futex(void)
{
	const struct timespec little = { 0, 50000 };
	_Atomic uint32_t word = 1;

	(void)!syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, &little, NULL, 0);
	MUST(syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) == 0);
}

/* --- time, signals, memory ----------------------------------------- */

static void let_time_pass(void)
{
	const struct timespec little = { 0, 20000 };

	(void)!nanosleep(&little, NULL);
	(void)!clock_nanosleep(CLOCK_MONOTONIC, 0, &little, NULL);
	(void)!usleep(10);
	sched_yield();
}

static void change_mask(void)
{
	const struct timespec none = { 0, 0 };
	sigset_t all, before, now;
	sigjmp_buf env;

	sigfillset(&all);
	MUST(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
	MUST(pthread_kill(pthread_self(), SIGUSR2) == 0);
	MUST(sigpending(&now) == 0 && sigismember(&now, SIGUSR2));
	sigemptyset(&now);
	sigaddset(&now, SIGUSR2);
	MUST(sigtimedwait(&now, NULL, &none) == SIGUSR2);
	MUST(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
	if (sigsetjmp(env, 1) == 0)
		siglongjmp(env, 1);
}

static void allocate(void)
{
	void *block[8];

	for (size_t i = 0; i < 8; i++)
		MUST((block[i] = malloc((i + 1) * 700)) != NULL);
	for (size_t i = 0; i < 8; i++)
		free(block[i]);
}

/* --- descriptors --------------------------------------------------- */

static void use_pipe(void)
{
	struct pollfd p = { .events = POLLIN };
	struct iovec v = { .iov_len = 1 };
	int ends[2];
	char c = 'x';
	fd_set set;

	v.iov_base = &c;
	MUST(pipe(ends) == 0);
	MUST(write(ends[1], &c, 1) == 1 && writev(ends[1], &v, 1) == 1);
	p.fd = ends[0];
	while (poll(&p, 1, -1) != 1)
		;
	do {
		FD_ZERO(&set);
		FD_SET(ends[0], &set);
	} while (select(ends[0] + 1, &set, NULL, NULL, NULL) != 1);
	MUST(read(ends[0], &c, 1) == 1 && readv(ends[0], &v, 1) == 1);
	MUST(close(ends[0]) == 0 && close(ends[1]) == 0);
}

static void *send_later(void *fd)
{
	MUST(send((int)(intptr_t)fd, "x", 1, 0) == 1);
	return NULL;
}

static void use_sockets(void)
{
	struct epoll_event e = { .events = EPOLLIN };
	int ends[2], epoll = epoll_create1(0);
	pthread_t t;
	char c;

	MUST(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	MUST(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &e) == 0);
	t = start(send_later, (void *)(intptr_t)ends[1]);
	while (epoll_wait(epoll, &e, 1, -1) != 1)
		;
	MUST(recv(ends[0], &c, 1, 0) == 1);
	finish(t);
	MUST(close(epoll) == 0 && close(ends[0]) == 0 && close(ends[1]) == 0);
}

static void use_file(void)
{
	int fd = open("/proc/self/stat", O_RDONLY), copy;
	char c;

	MUST(fd >= 0 && read(fd, &c, 1) == 1 && pread(fd, &c, 1, 0) == 1);
	copy = dup(fd);
	MUST(copy >= 0 && fcntl(copy, F_GETFL) >= 0 && close(copy) == 0);
	MUST(close(fd) == 0);
}

static void use_messages(void)
{
	struct {
		long type;
		char text[8];
	} m = { 1, "x" };
	struct sembuf up = { 0, 1, 0 }, down = { 0, -1, 0 };
	char c[8];

	while (mq_send(messages, "x", 1, 0) != 0)
		;
	while (mq_receive(messages, c, sizeof(c), NULL) < 0)
		;
	while (msgsnd(queue, &m, 1, 0) != 0)
		;
	while (msgrcv(queue, &m, 8, 0, 0) < 0)
		;
	while (semop(sems, &up, 1) != 0)
		;
	while (semop(sems, &down, 1) != 0)
		;
}

/* --- what is dear -------------------------------------------------- */

static void have_child(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	MUST(child > 0);
	while (waitpid(child, NULL, 0) != child)
		;
}

static void print(void)
{
	FILE *f = fopen("/dev/null", "w");

	MUST(f && fprintf(f, "%d", 1) == 1 && fclose(f) == 0);
}

static void look_up(void)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST };
	struct addrinfo *found;

	MUST(getaddrinfo("127.0.0.1", NULL, &hints, &found) == 0);
	freeaddrinfo(found);
}

#endif

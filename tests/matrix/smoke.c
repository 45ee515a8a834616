/* SPDX-License-Identifier: MIT */
/*
 * smoke.c - a little of all that a libc ties to its threads
 *
 *	smoke CASE	prints what it finds, the same with any threads
 *	smoke		names the cases
 *
 * tests/matrix/run compares what it prints under `weft run` with what it prints without.
 * It uses only what glibc 2.31 has.
 */
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS	50

static void *give_back(void *arg)
{
	return arg;
}

static void start_all(pthread_t *t, void *(*run)(void *))
{
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, run, (void *)i) != 0)
			exit(1);
}

static long join_all(const pthread_t *t)
{
	long sum = 0;
	void *result;

	for (int i = 0; i < THREADS; i++)
		if (pthread_join(t[i], &result) == 0)
			sum += (long)result;
	return sum;
}

static void create(void)
{
	pthread_t t[THREADS];

	start_all(t, give_back);
	printf("sum %ld\n", join_all(t));
}

/* --- cancellation -------------------------------------------------------- */

static sem_t waits, never;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static atomic_int cleaned;

static void clean(void *arg)
{
	(void)arg;
	cleaned++;
}

static void unlock(void *arg)
{
	pthread_mutex_unlock(arg);
}

static void *in_sem(void *arg)
{
	pthread_cleanup_push(clean, NULL);
	sem_post(&waits);
	sem_wait(&never);
	pthread_cleanup_pop(0);
	return arg;
}

static void *in_cond(void *arg)
{
	pthread_mutex_lock(&lock);
	pthread_cleanup_push(unlock, &lock);
	pthread_cleanup_push(clean, NULL);
	sem_post(&waits);
	for (;;)
		pthread_cond_wait(&cond, &lock);
	pthread_cleanup_pop(0);
	pthread_cleanup_pop(0);
	return arg;
}

static void *in_read(void *arg)
{
	char c;

	pthread_cleanup_push(clean, NULL);
	sem_post(&waits);
	while (read((int)(long)arg, &c, 1) != 1)
		;
	pthread_cleanup_pop(0);
	return arg;
}

static void *in_sleep(void *arg)
{
	pthread_cleanup_push(clean, NULL);
	sem_post(&waits);
	for (;;)
		sleep(1000);
	pthread_cleanup_pop(0);
	return arg;
}

static void *in_loop(void *arg)
{
	int old;

	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	pthread_cleanup_push(clean, NULL);
	sem_post(&waits);
	for (;;)
		atomic_signal_fence(memory_order_seq_cst);
	pthread_cleanup_pop(0);
	return arg;
}

static void cancel(void)
{
	void *(*const run[])(void *) = { in_sem, in_cond, in_read, in_sleep, in_loop };
	int ends[2];
	pthread_t t;
	void *result;

	if (pipe(ends) != 0)
		exit(1);
	sem_init(&waits, 0, 0);
	sem_init(&never, 0, 0);
	for (size_t i = 0; i < sizeof(run) / sizeof(*run); i++) {
		pthread_create(&t, NULL, run[i], (void *)(long)ends[0]);
		while (sem_wait(&waits) != 0)
			;
		usleep(5000);
		pthread_cancel(t);
		pthread_join(t, &result);
		printf("%d cancelled %d\n", (int)i, result == PTHREAD_CANCELED);
	}
	printf("cleaned %d\n", cleaned);
}

/* --- thread-local storage, keys ------------------------------------------- */

static _Thread_local int local = 42;
static _Thread_local char zero[5000];
static pthread_key_t keys[100];
static atomic_int destroyed, wrong;

static void destroy(void *value)
{
	(void)value;
	destroyed++;
}

static void *use_tls(void *arg)
{
	wrong += local != 42 || zero[4999] != 0 || errno != 0;
	local = (int)(long)arg;
	zero[4999] = 1;
	errno = local;
	for (int i = 0; i < 10; i++) {
		sched_yield();
		wrong += local != (int)(long)arg || errno != local;
	}
	free(malloc(10000));
	return NULL;
}

static void tls(void)
{
	pthread_t t[THREADS];

	for (int round = 0; round < 20; round++) {
		start_all(t, use_tls);
		join_all(t);
	}
	printf("wrong %d\n", wrong);
}

static void *use_keys(void *arg)
{
	for (int i = 0; i < 100; i++)
		pthread_setspecific(keys[i], arg);
	sched_yield();
	for (int i = 0; i < 100; i++)
		wrong += pthread_getspecific(keys[i]) != arg;
	return NULL;
}

static void use_all_keys(void)
{
	pthread_t t[THREADS];

	for (int i = 0; i < 100; i++)
		pthread_key_create(&keys[i], destroy);
	start_all(t, use_keys);
	join_all(t);
	/* The first thread's values are NULL. */
	printf("wrong %d destroyed %d\n", wrong, destroyed);
}

/* A library with thread-local variables comes when the threads are there. */
static void *open_library(void *arg)
{
	void *library = dlopen("libgomp.so.1", RTLD_NOW);
	int (*threads)(void) = NULL;

	if (library)
		*(void **)&threads = dlsym(library, "omp_get_thread_num");
	return (void *)(long)(threads ? threads() : 0);
	(void)arg;
}

static void load(void)
{
	pthread_t t[THREADS];

	start_all(t, open_library);
	printf("numbers %ld\n", join_all(t));
}

/* --- locks ------------------------------------------------------------------ */

static long counted;

static void *count(void *arg)
{
	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&lock);
		counted++;
		pthread_cond_signal(&cond);
		pthread_mutex_unlock(&lock);
	}
	return arg;
}

static void locks(void)
{
	pthread_t t[THREADS];

	start_all(t, count);
	pthread_mutex_lock(&lock);
	while (counted < THREADS * 1000)
		pthread_cond_wait(&cond, &lock);
	pthread_mutex_unlock(&lock);
	join_all(t);
	printf("counted %ld\n", counted);
}

static void *lock_and_end(void *m)
{
	pthread_mutex_lock(m);
	return NULL;
}

static void robust(void)
{
	pthread_mutexattr_t attr;
	pthread_mutex_t m;
	pthread_t t;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&m, &attr);
	pthread_create(&t, NULL, lock_and_end, &m);
	pthread_join(t, NULL);
	printf("dead %d\n", pthread_mutex_lock(&m) == EOWNERDEAD);
	printf("made well %d\n", pthread_mutex_consistent(&m));
	printf("unlocked %d\n", pthread_mutex_unlock(&m));
}

/* --- processes, signals, ids ------------------------------------------------ */

static void *have_child(void *arg)
{
	const pid_t child = fork();
	int status = 0;

	if (child == 0) {
		pthread_t t;

		pthread_create(&t, NULL, give_back, arg);
		pthread_join(t, NULL);
		_exit((int)(long)arg);
	}
	waitpid(child, &status, 0);
	return (void *)(long)WEXITSTATUS(status);
}

static void forks(void)
{
	pthread_t t[THREADS];

	start_all(t, have_child);
	printf("sum %ld\n", join_all(t));
}

static atomic_int handled;

static void handle(int signal)
{
	(void)signal;
	handled++;
}

static void *be_signalled(void *arg)
{
	const int before = handled;

	pthread_kill(pthread_self(), SIGUSR1);
	return (void *)(long)(handled == before);
	(void)arg;
}

static void signals(void)
{
	const struct sigaction action = { .sa_handler = handle };
	pthread_t t;

	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < THREADS; i++) {
		void *late;

		pthread_create(&t, NULL, be_signalled, NULL);
		pthread_join(t, &late);
		wrong += late != NULL;
	}
	printf("handled %d late %d\n", handled, wrong);
}

static void *tell_id(void *arg)
{
	return (void *)(long)geteuid();
	(void)arg;
}

static void ids(void)
{
	pthread_t t[THREADS];

	start_all(t, give_back);
	join_all(t);
	if (geteuid() == 0 && seteuid(65534) != 0)
		exit(1);
	start_all(t, tell_id);
	printf("same %d\n", join_all(t) == THREADS * (long)geteuid());
}

/* --- descriptors, time ------------------------------------------------------- */

static void *answer(void *arg)
{
	const int fd = (int)(long)arg;
	char c;

	while (recv(fd, &c, 1, 0) == 1)
		if (send(fd, &c, 1, 0) != 1)
			break;
	close(fd);
	return NULL;
}

static void sockets(void)
{
	pthread_t t[THREADS];
	int fds[THREADS];
	char c = 'x';

	for (int i = 0; i < THREADS; i++) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
			exit(1);
		fds[i] = pair[0];
		pthread_create(&t[i], NULL, answer, (void *)(long)pair[1]);
	}
	for (int round = 0; round < 20; round++)
		for (int i = 0; i < THREADS; i++)
			wrong += send(fds[i], &c, 1, 0) != 1 ||
				 recv(fds[i], &c, 1, 0) != 1;
	for (int i = 0; i < THREADS; i++)
		close(fds[i]);
	join_all(t);
	printf("wrong %d\n", wrong);
}

static void told(union sigval value)
{
	sem_post(value.sival_ptr);
}

static void timers(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD,
				  .sigev_notify_function = told };
	const struct itimerspec soon = { { 0, 0 }, { 0, 1000000 } };
	timer_t timer;
	sem_t done;

	sem_init(&done, 0, 0);
	event.sigev_value.sival_ptr = &done;
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
		exit(1);
	timer_settime(timer, 0, &soon, NULL);
	while (sem_wait(&done) != 0)
		;
	timer_delete(timer);
	printf("told\n");
}

static void disk(void)
{
	static char buf[100] = "written";
	struct aiocb c = { .aio_buf = buf, .aio_nbytes = sizeof(buf) };
	const struct aiocb *list[1] = { &c };
	FILE *f = tmpfile();

	if (!f)
		exit(1);
	c.aio_fildes = fileno(f);
	aio_write(&c);
	while (aio_error(&c) == EINPROGRESS)
		aio_suspend(list, 1, NULL);
	printf("bytes %zd\n", aio_return(&c));
}

static void *look_up(void *arg)
{
	struct addrinfo *list = NULL;
	const int error = getaddrinfo("127.0.0.1", "80", NULL, &list);

	if (!error)
		freeaddrinfo(list);
	return (void *)(long)error;
	(void)arg;
}

static void names(void)
{
	pthread_t t[THREADS];

	start_all(t, look_up);
	printf("errors %ld\n", join_all(t));
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "create", create }, { "cancel", cancel }, { "tls", tls },
	{ "keys", use_all_keys }, { "load", load }, { "locks", locks },
	{ "robust", robust }, { "fork", forks }, { "signals", signals },
	{ "ids", ids }, { "sockets", sockets }, { "timers", timers },
	{ "aio", disk }, { "names", names },
};

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (argc < 2) {
			puts(cases[i].name);
		} else if (strcmp(argv[1], cases[i].name) == 0) {
			cases[i].run();
			return 0;
		}
	}
	return argc < 2 ? 0 : 2;
}

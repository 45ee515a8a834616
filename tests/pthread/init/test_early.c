/* SPDX-License-Identifier: MIT */
/*
 * test_early.c - what runs before all constructors, and a malloc() of its own
 *
 * The malloc() of this program asks for threads' things whenever it is called, as
 * jemalloc does when it is first: also where the library has only begun to find
 * libc's functions.
 */
#include "compare.h"

#include <dirent.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>

/* The loader and libc are to find them. */
#define OURS	__attribute__((visibility("default")))

#define HEAP	((size_t)256 << 20)

static struct {
	pthread_mutex_t mutex;
	pthread_once_t once;
	long asked;
	size_t used;
	_Alignas(max_align_t) char memory[HEAP];
} heap = { .mutex = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT };

static void ask_once(void)
{
	heap.asked++;
}

/* None of these allocates, or they would call us again. */
static void ask(void)
{
	pthread_once(&heap.once, ask_once);
	(void)syscall(SYS_getpid);
	sched_yield();
	(void)access("/", R_OK);
}

OURS void *malloc(size_t bytes)
{
	size_t at;

	ask();
	pthread_mutex_lock(&heap.mutex);
	at = heap.used + sizeof(max_align_t);
	heap.used = (at + bytes + 63) & ~(size_t)63;
	pthread_mutex_unlock(&heap.mutex);
	if (heap.used > HEAP)
		return NULL;
	*(size_t *)(void *)(heap.memory + at - sizeof(size_t)) = bytes;
	return heap.memory + at;
}

OURS void free(void *p)
{
	(void)p;
}

OURS void *calloc(size_t n, size_t bytes)
{
	return malloc(n * bytes);	/* it is used once */
}

OURS void *realloc(void *p, size_t bytes)
{
	void *to = malloc(bytes);

	if (p && to) {
		size_t old = ((size_t *)p)[-1];

		memcpy(to, p, old < bytes ? old : bytes);
	}
	return to;
}

/* --- before all constructors --------------------------------------- */

static struct {
	int mutex, once, cond, closed, polled, blocked, masked;
	long id;
} early;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void count(void)
{
	early.once++;
}

static void before_all(void)
{
	pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	struct timespec past = { 0, 0 };
	sigset_t set;

	early.closed = close(-1) < 0 ? errno : 0;
	early.mutex = pthread_mutex_lock(&mutex);
	early.cond = pthread_cond_timedwait(&cond, &mutex, &past);
	early.mutex += pthread_mutex_unlock(&mutex);
	pthread_once(&once, count);
	pthread_once(&once, count);
	early.id = syscall(SYS_gettid);
	early.polled = poll(NULL, 0, 1);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	early.blocked = pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_sigmask(SIG_UNBLOCK, NULL, &set);
	early.masked = sigismember(&set, SIGUSR1);
	sigemptyset(&set);
	pthread_sigmask(SIG_SETMASK, &set, NULL);
}

__attribute__((section(".preinit_array"), used))
static void (*const first)(void) = before_all;

static void calls_before_all_constructors(void)
{
	show("mutex", early.mutex);
	show("cond", early.cond);
	show("close", early.closed);
	printf("once %d, poll %d, mask %d %d, id %d\n", early.once,
	       early.polled, early.blocked, early.masked,
	       early.id == getpid());
}

/* --- a malloc() that calls us -------------------------------------- */

static void *allocate(void *arg)
{
	long sum = 0;

	for (long i = 0; i < 200; i++) {
		long *p = malloc(sizeof(*p));

		*p = i + (long)arg;
		if (i % 50 == 0)
			closedir(opendir("/"));
		sum += *p;
		free(p);
	}
	return (void *)sum;
}

static void threads_of_a_program_with_its_own_malloc(void)
{
	pthread_t t[8];
	long sum = 0;

	for (long i = 0; i < 8; i++)
		t[i] = start(allocate, (void *)i);
	for (int i = 0; i < 8; i++)
		sum += (long)finish(t[i]);
	printf("%ld, asked %ld\n", sum, heap.asked);
}

/*
 * With such a malloc() threads stay libc's, and so does what they wait for: a mutex that
 * inherits priorities has its owner's id in it, for the kernel.
 */
#define ID	0x3fffffff

static sem_t sem, begun;
static pthread_mutex_t mutex;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void make_mutex(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	show("inherits", pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT));
	show("mutex", pthread_mutex_init(&mutex, &attr));
}

static void unlock(void *arg)
{
	printf("is its own: %d\n", (mutex.__data.__lock & ID) == gettid());
	show("unlock", pthread_mutex_unlock(arg));
}

static void *wait_for_sem(void *arg)
{
	sem_post(&begun);
	sem_wait(&sem);
	return arg;
}

static void *wait_for_cond(void *arg)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(unlock, &mutex);
	sem_post(&begun);
	for (;;)
		pthread_cond_wait(&cond, &mutex);
	pthread_cleanup_pop(0);
	return arg;
}

static void cancel(void *(*fn)(void *arg))
{
	pthread_t t = start(fn, NULL);
	int error;

	sem_wait(&begun);
	/* It has the mutex until it waits. */
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	error = pthread_cancel(t);
	printf("%s\n", finish(t) == PTHREAD_CANCELED ? "cancelled" : "not");
	show("cancel", error);
}

static void waits_are_libcs_own_there(void)
{
	sem_init(&sem, 0, 0);
	sem_init(&begun, 0, 0);
	make_mutex();
	cancel(wait_for_sem);
	cancel(wait_for_cond);
	show("mutex", pthread_mutex_destroy(&mutex));
}

static const struct compare_case cases[] = {
	COMPARE(calls_before_all_constructors),
	COMPARE(threads_of_a_program_with_its_own_malloc),
	COMPARE(waits_are_libcs_own_there),
};

COMPARE_MAIN(cases)

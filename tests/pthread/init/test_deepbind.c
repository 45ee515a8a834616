/* SPDX-License-Identifier: MIT */
/*
 * test_deepbind.c - a plug-in that finds libc's functions first (RTLD_DEEPBIND)
 *
 * It has the program's locks, and waits as the program does.
 */
#include "compare.h"

#include <dlfcn.h>
#include <limits.h>

#include "deepbind.h"

#define THREADS	4

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static long n, times;
static int go, ends[2];

static struct {
	__typeof__(plug_in_add) *add;
	__typeof__(plug_in_wait) *wait;
	__typeof__(plug_in_thread) *thread;
	__typeof__(plug_in_read) *read;
} plug_in;

static void load(int mode)
{
	char path[PATH_MAX + 32];
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
	void *library;

	path[length > 0 ? length : 0] = 0;
	strcpy(strrchr(path, '/') + 1, "deepbind_module.so");
	library = dlopen(path, mode | RTLD_DEEPBIND);
	if (!library) {		/* no two processes say the same */
		printf("%d: %s\n", getpid(), dlerror());
		exit(1);
	}
	plug_in.add = (__typeof__(plug_in_add) *)dlsym(library, "plug_in_add");
	plug_in.wait = (__typeof__(plug_in_wait) *)dlsym(library, "plug_in_wait");
	plug_in.thread = (__typeof__(plug_in_thread) *)dlsym(library,
							     "plug_in_thread");
	plug_in.read = (__typeof__(plug_in_read) *)dlsym(library,
							 "plug_in_read");
}

static void *add(void *unused)
{
	for (long i = 0; i < times; i++) {
		pthread_mutex_lock(&mutex);
		n++;
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

static void *add_there(void *unused)
{
	plug_in.add(&mutex, &n, times);
	return unused;
}

static void *wait_there(void *unused)
{
	plug_in.wait(&mutex, &cond, &go);
	return unused;
}

static void use(void)
{
	pthread_t t[THREADS], waiter = start(wait_there, NULL);

	times = scaled(50000);
	for (int i = 0; i < THREADS; i++)
		t[i] = start(i & 1 ? add : add_there, NULL);
	for (int i = 0; i < THREADS; i++)
		finish(t[i]);
	printf("counted all: %d\n", n == THREADS * times);
	pthread_mutex_lock(&mutex);
	go = 1;
	pthread_cond_broadcast(&cond);
	pthread_mutex_unlock(&mutex);
	finish(waiter);
	printf("its thread: %ld\n", plug_in.thread(21));
}

static void *nothing(void *arg)
{
	return arg;
}

static void locks_are_the_programs(void)
{
	load(RTLD_NOW);
	use();
}

static void what_is_bound_later_too(void)
{
	load(RTLD_LAZY);
	use();
}

static void one_that_comes_when_there_are_threads(void)
{
	finish(start(nothing, NULL));
	load(RTLD_LAZY);
	use();
}

static void *read_there(void *unused)
{
	printf("read %c\n", plug_in.read(ends[0]));
	return unused;
}

/* On one VCPU too: a thread that waits in the plug-in is parked. */
static void a_wait_is_the_programs(void)
{
	pthread_t t[THREADS];

	load(RTLD_NOW);
	if (pipe(ends) != 0)
		abort();
	for (int i = 0; i < THREADS; i++)
		t[i] = start(read_there, NULL);
	sched_yield();
	(void)!write(ends[1], "wwww", THREADS);
	for (int i = 0; i < THREADS; i++)
		finish(t[i]);
}

static const struct compare_case cases[] = {
	COMPARE(locks_are_the_programs),
	COMPARE(what_is_bound_later_too),
	COMPARE(one_that_comes_when_there_are_threads),
	COMPARE(a_wait_is_the_programs),
};

COMPARE_MAIN(cases)

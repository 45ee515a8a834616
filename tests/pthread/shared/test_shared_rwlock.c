/* SPDX-License-Identifier: MIT */
/* test_shared_rwlock.c - threads of several processes read and write in turn */
#include "compare.h"

#include <sys/mman.h>
#include <sys/wait.h>

#define THREADS		5
#define PROCESSES	3

struct shared {
	pthread_rwlock_t lock;
	long written, seen_twice;
	_Atomic long refused;
};

static struct shared *shared;

/* Long enough for others to come while it is held. */
static void *write_and_read(void *arg)
{
	for (long i = scaled(60); i > 0; i--) {
		if (pthread_rwlock_wrlock(&shared->lock) == 0) {
			long before = shared->written;

			sched_yield();
			shared->seen_twice += shared->written != before;
			shared->written = before + 1;
			if (pthread_rwlock_unlock(&shared->lock) != 0)
				shared->refused++;
		} else {
			shared->refused++;
		}
		if (pthread_rwlock_rdlock(&shared->lock) != 0 ||
		    pthread_rwlock_unlock(&shared->lock) != 0)
			shared->refused++;
	}
	return arg;
}

static void live(void)
{
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		t[i] = start(write_and_read, NULL);
	for (int i = 0; i < THREADS; i++)
		finish(t[i]);
}

static void make_shared(void)
{
	pthread_rwlockattr_t attr;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_rwlockattr_init(&attr);
	pthread_rwlockattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_rwlock_init(&shared->lock, &attr);
}

static void tell(void)
{
	while (wait(NULL) > 0)
		;
	printf("%d %ld %ld\n", shared->written ==
	       PROCESSES * THREADS * scaled(60), shared->seen_twice,
	       (long)shared->refused);
}

static void processes_take_turns(void)
{
	make_shared();
	for (int i = 1; i < PROCESSES; i++)
		if (fork() == 0) {
			live();
			_exit(0);
		}
	live();
	tell();
}

/* Their threads are made after others have been there: the same numbers, in each. */
static void so_do_those_made_by_one_with_threads(void)
{
	make_shared();
	live();
	for (int i = 2; i < PROCESSES; i++)
		if (fork() == 0) {
			live();
			_exit(0);
		}
	live();
	tell();
}

static const struct compare_case cases[] = {
	COMPARE(processes_take_turns),
	COMPARE(so_do_those_made_by_one_with_threads),
};

COMPARE_MAIN(cases)

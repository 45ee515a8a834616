/* SPDX-License-Identifier: MIT */
/* test_shared_barrier.c - barriers and spin locks that processes share */
#include "compare.h"

#include <sys/mman.h>
#include <sys/wait.h>

#define PROCESSES	3
#define THREADS		4	/* in each */

static struct shared {
	pthread_barrier_t barrier;
	pthread_spinlock_t lock;
	_Atomic int serial, torn;
	int rounds[PROCESSES * THREADS];
	long counter;
} *s;

static void make_shared(void)
{
	pthread_barrierattr_t attr;

	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	show("barrier", pthread_barrier_init(&s->barrier, &attr,
					     PROCESSES * THREADS));
	show("lock", pthread_spin_init(&s->lock, PTHREAD_PROCESS_SHARED));
}

/* Between two waits all are in the same round. */
static void *meet(void *arg)
{
	const long me = (long)arg, rounds = scaled(100);

	for (int i = 1; i <= rounds; i++) {
		s->rounds[me] = i;
		if (pthread_barrier_wait(&s->barrier) ==
		    PTHREAD_BARRIER_SERIAL_THREAD)
			s->serial++;
		for (int k = 0; k < PROCESSES * THREADS; k++)
			s->torn += s->rounds[k] != i;
		pthread_barrier_wait(&s->barrier);
	}
	return NULL;
}

static void *count(void *arg)
{
	for (long i = 0; i < scaled(3000); i++) {
		pthread_spin_lock(&s->lock);
		s->counter++;
		pthread_spin_unlock(&s->lock);
	}
	return arg;
}

static void run_threads(void *(*fn)(void *arg), long first)
{
	pthread_t t[THREADS];

	for (long i = 0; i < THREADS; i++)
		t[i] = start(fn, (void *)(first + i));
	for (int i = 0; i < THREADS; i++)
		finish(t[i]);
}

static void in_all_processes(void *(*fn)(void *arg))
{
	pid_t children[PROCESSES];
	int status = 0;

	fflush(stdout);
	for (int i = 1; i < PROCESSES; i++) {
		children[i] = fork();
		if (children[i] == 0) {
			run_threads(fn, (long)i * THREADS);
			_exit(0);
		}
	}
	run_threads(fn, 0);
	for (int i = 1; i < PROCESSES; i++) {
		waitpid(children[i], &status, 0);
		printf("child: %d\n", status);
	}
}

static void processes_meet_at_a_barrier(void)
{
	make_shared();
	in_all_processes(meet);
	printf("%d, torn %d\n", s->serial == scaled(100), s->torn);
	show("destroy", pthread_barrier_destroy(&s->barrier));
}

static void processes_exclude_each_other_by_a_spin_lock(void)
{
	make_shared();
	in_all_processes(count);
	printf("%d\n", s->counter == scaled(3000) * PROCESSES * THREADS);
	show("destroy", pthread_spin_destroy(&s->lock));
}

static const struct compare_case cases[] = {
	COMPARE(processes_meet_at_a_barrier),
	COMPARE(processes_exclude_each_other_by_a_spin_lock),
};

COMPARE_MAIN(cases)

/* SPDX-License-Identifier: MIT */
/* test_switch.c - sched/switch: each thread keeps its TLS wherever it runs */
#include "threads.h"

#include <ctype.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "lockfree/atomic.h"

#define THREADS		32
#define ROUNDS		300

/* What g++ calls for a thread_local with a destructor. */
extern int __cxa_thread_atexit_impl(void (*fn)(void *), void *object,
				    void *dso);
extern void *__dso_handle;

static _Thread_local uint64_t mine;
static _Thread_local char buffer[256];
static _Atomic size_t destroyed, migrations;

static void destroy(void *object)
{
	must(*(uint64_t *)object == mine);	/* of the thread that ends */
	fetch_add_relaxed(&destroyed, 1);
}

static void look(pthread_t self, uint64_t id, char *kept)
{
	must(mine == id);
	must(errno == (int)(id % 100) + 1);
	must(pthread_equal(self, pthread_self()));
	must(strcmp(kept, buffer) == 0);
	must(isalpha('w') && !isalpha('7') && toupper('w') == 'W');
	must(strcmp(strerror(2), "No such file or directory") == 0);
	must(sched_getcpu() >= 0);
}

static void *live(void *arg)
{
	uint64_t id = weft_self();
	pthread_t self = pthread_self();
	pid_t tid = gettid();
	char *kept = malloc(256);

	(void)arg;
	must(mine == 0 && buffer[0] == 0);	/* new, also on a used stack */
	mine = id;
	must(__cxa_thread_atexit_impl(destroy, &mine, &__dso_handle) == 0);
	snprintf(buffer, sizeof(buffer), "%llx", (unsigned long long)id);
	strcpy(kept, buffer);
	for (int i = 0; i < ROUNDS; i++) {
		char *p = malloc((size_t)i + 1);

		errno = (int)(id % 100) + 1;
		if (i % 8 == 0)
			must(weft_sleep(1000) == 0);
		else
			weft_yield();
		look(self, id, kept);
		if (gettid() != tid) {
			tid = gettid();
			fetch_add_relaxed(&migrations, 1);
		}
		free(kept);	/* from another thread's time on this VCPU */
		kept = strdup(buffer);
		free(p);
	}
	free(kept);
	return NULL;
}

static void *tell_self(void *arg)
{
	pthread_t *self = arg;

	*self = pthread_self();
	while (weft_sleep(1000) == 0)
		;
	return NULL;
}

static void threads_alive_at_once_have_different_pthread_selfs(void)
{
	pthread_t self[THREADS + 1];
	uint64_t id[THREADS];

	if (!own_tls_at_start())
		return;
	runtime_begin();
	self[THREADS] = pthread_self();
	for (int i = 0; i < THREADS; i++)
		id[i] = spawn(tell_self, &self[i]);
	CU_ASSERT_EQUAL(weft_sleep(2000000), 0);
	for (int i = 0; i < THREADS; i++)
		CU_ASSERT_EQUAL(weft_cancel(id[i]), 0);
	for (int i = 0; i < THREADS; i++)
		join(id[i]);
	for (int i = 0; i <= THREADS; i++)
		for (int k = 0; k < i; k++)
			CU_ASSERT_FALSE(pthread_equal(self[i], self[k]));
	runtime_end();
}

static void each_thread_keeps_its_tls_over_switches_and_migration(void)
{
	uint64_t id[THREADS];

	if (!own_tls_at_start())
		return;		/* nothing is promised then */
	runtime_begin();
	store_relaxed(&migrations, 0);
	store_relaxed(&destroyed, 0);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < THREADS; i++)
			id[i] = spawn(live, NULL);
		for (int i = 0; i < THREADS; i++)
			join(id[i]);
	}
	CU_ASSERT_EQUAL(load_relaxed(&destroyed), 2 * THREADS);
	printf("    %zu migrations\n", load_relaxed(&migrations));
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(threads_alive_at_once_have_different_pthread_selfs),
	TEST(each_thread_keeps_its_tls_over_switches_and_migration),
};

TEST_MAIN("sched/switch", cases)

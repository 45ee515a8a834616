/* SPDX-License-Identifier: MIT */
/*
 * test_arenas.c - os/tls_malloc: how many arenas threads with TLS share
 *
 * libc does not forget how many it may make: each case is a process of its own.
 */
#include <malloc.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "threads.h"

#define THREADS	64

/* Too large for a thread's own cache; none ends before all have begun. */
static void *allocate(void *all)
{
	void *volatile p = malloc(5000);	/* not to be left out */

	must(p != NULL);
	free(p);
	must(weft_sem_wait(all) == 0);
	return NULL;
}

static size_t arenas(void)
{
	char *text = NULL;
	size_t length, n = 0;
	FILE *f = open_memstream(&text, &length);

	must(f != NULL && malloc_info(0, f) == 0 && fclose(f) == 0);
	for (char *at = text; (at = strstr(at, "<heap nr=")); at++)
		n++;
	free(text);
	return n;
}

/* How many there are when many threads have allocated. */
static size_t arenas_of_many(size_t *vcpus)
{
	struct weft_sem all = WEFT_SEM_INIT;
	uint64_t id[THREADS];
	struct weft_stat stat;
	size_t n;

	must(weft_start(NULL) == 0);
	must(weft_stat(&stat) == 0);
	*vcpus = wefti_rt.vcpu_count;
	for (int i = 0; i < THREADS; i++)
		id[i] = spawn(allocate, &all);
	for (int i = 0; i < THREADS; i++)
		must(weft_sem_post(&all) == 0);
	for (int i = 0; i < THREADS; i++)
		join(id[i]);
	n = stat.own_tls ? arenas() : 0;
	must(weft_stop() == 0);
	return n;
}

static void in_child(void (*look)(void))
{
	pid_t child;
	int status;

#ifdef TEST_IS_SANITIZED
	return;		/* malloc is the sanitizer's, and all threads are light */
#endif
	child = fork();
	must(child >= 0);
	if (child == 0) {
		look();
		_exit(0);
	}
	must(waitpid(child, &status, 0) == child);
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void look_at_ours(void)
{
	size_t vcpus, n = arenas_of_many(&vcpus);

	if (n > 2 * vcpus)
		fprintf(stderr, "%zu arenas, %zu VCPUs\n", n, vcpus);
	must(n <= 2 * vcpus);
}

static void look_at_given(void)
{
	size_t vcpus, n;

	must(setenv("MALLOC_ARENA_MAX", "19", 1) == 0);
	must(mallopt(M_ARENA_MAX, 19) == 1);	/* as libc's start would have */
	n = arenas_of_many(&vcpus);
	if (n != 19 && n != 0)
		fprintf(stderr, "%zu arenas\n", n);
	must(n == 19 || n == 0);
}

static void look_at_tunable(void)
{
	size_t vcpus, n;

	must(setenv("GLIBC_TUNABLES", "glibc.malloc.check=0:"
		    "glibc.malloc.arena_max=19", 1) == 0);
	must(mallopt(M_ARENA_MAX, 19) == 1);
	n = arenas_of_many(&vcpus);
	must(n == 19 || n == 0);
}

static void there_are_no_more_than_two_a_vcpu(void)
{
	in_child(look_at_ours);
}

static void the_environment_has_its_way(void)
{
	in_child(look_at_given);
	in_child(look_at_tunable);
}

static const struct test_case cases[] = {
	TEST(there_are_no_more_than_two_a_vcpu),
	TEST(the_environment_has_its_way),
};

TEST_MAIN("os/arenas", cases)

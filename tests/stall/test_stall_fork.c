/* SPDX-License-Identifier: MIT */
/*
 * test_stall_fork.c - a process forks while one of its kernel threads is at
 * each step of serving an object's waiters; the child uses the object
 *
 * The child has neither the server nor the waiters. What it posts is its own to take.
 */
#include "steer.h"

#include <sys/wait.h>
#include <unistd.h>

#define WAITERS	2
#define POSTS	4

static struct scene {
	struct stall_victim victim;
	struct weft_sem sem;
} scene;

static void *wait_for_it(void *arg)
{
	must(weft_sem_wait(&scene.sem) == 0);
	return arg;
}

static void *post_it(void *arg)
{
	STALL_STEPS(&scene.victim, must(weft_sem_post(&scene.sem) == 0));
	return arg;
}

static _Noreturn void live_as_child(void)
{
	int got = 0;

	if (weft_start(NULL) != 0)
		_exit(2);
	for (int i = 0; i < POSTS; i++) {
		if (weft_sem_post(&scene.sem) != 0)
			_exit(3);
		got += weft_sem_try_wait(&scene.sem) == 0;
	}
	_exit(got > 0 ? 0 : 1);
}

static void fork_and_wait(void)
{
	pid_t child = fork();
	int status;

	must(child >= 0);
	if (child == 0)
		live_as_child();
	must(waitpid(child, &status, 0) == child);
	must(WIFEXITED(status));
	must(WEXITSTATUS(status) == 0);
}

static int run_step(size_t n)
{
	uint64_t id[WAITERS];
	int stopped;

	scene.victim = (struct stall_victim){ .n = n };
	must(weft_sem_init(&scene.sem, 0) == 0);
	for (int i = 0; i < WAITERS; i++) {
		id[i] = spawn_with(WEFT_LIGHT, wait_for_it, NULL);
		stall_await_parked(id[i]);
	}
	scene.victim.id = spawn_with(WEFT_LIGHT, post_it, NULL);
	stopped = stall_await_stop(&scene.victim);
	if (stopped)
		fork_and_wait();
	steps_release();
	join(scene.victim.id);
	for (int i = 1; i < WAITERS; i++)
		must(weft_sem_post(&scene.sem) == 0);
	for (int i = 0; i < WAITERS; i++)
		join(id[i]);
	return stopped;
}

static void *steer(void *arg)
{
	size_t n = 1;

	while (run_step(n))
		n++;
	printf("    forked at %zu steps\n", n - 1);
	must(n > 5);
	return arg;
}

static void the_child_does_not_wait_for_its_parents_server(void)
{
	stall_steer(steer, NULL);
}

static const struct test_case cases[] = {
	TEST(the_child_does_not_wait_for_its_parents_server),
};

TEST_MAIN("stall/fork", cases)

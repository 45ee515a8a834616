/* SPDX-License-Identifier: MIT */
/*
 * test_atfork.c - threads that are made by handlers of a fork, in the child
 *
 * As by a library that has a thread of its own, in each process: it registers its
 * handlers before it makes the first, which may be before all other code.
 */
#include "compare.h"

#include <semaphore.h>
#include <stdint.h>
#include <sys/wait.h>

static sem_t asked, answered;

static void *serve(void *arg)
{
	for (;;) {
		sem_wait(&asked);
		sem_post(&answered);
	}
	return arg;
}

static void make_server(void)
{
	pthread_t thread;

	sem_init(&asked, 0, 0);
	sem_init(&answered, 0, 0);
	if (pthread_create(&thread, NULL, serve, NULL) != 0)
		_exit(90);
	pthread_detach(thread);
}

/* Each process that is run for one case has such a library. */
__attribute__((constructor)) static void library(int argc, char **argv)
{
	if (argc < 2 || strncmp(argv[1], "the_child", 9) != 0)
		return;
	pthread_atfork(NULL, NULL, make_server);
	make_server();
}

static void ask(int times)
{
	while (times-- > 0) {
		sem_post(&asked);
		sem_wait(&answered);
	}
}

static void *fork_again(void *depth);

static int live(intptr_t depth, int in_thread)
{
	ask(20);
	if (depth == 0)
		return 3;
	if (in_thread)
		return (int)(intptr_t)finish(start(fork_again, (void *)depth));
	return (int)(intptr_t)fork_again((void *)depth);
}

/* Returns how the child has ended. */
static void *fork_again(void *depth)
{
	intptr_t left = (intptr_t)depth - 1;
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(live(left, (int)left % 2));
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return (void *)91;
	ask(20);
	return (void *)(intptr_t)WEXITSTATUS(status);
}

static void the_child_has_the_librarys_thread(void)
{
	printf("%d\n", live(1, 0));
}

static void the_childrens_children_have_it_too(void)
{
	for (long i = scaled(5); i > 0; i--)
		printf("%d %d\n", live(4, 0), live(3, 1));
}

/* A daemon's two forks: the parents end at once. */
static void the_child_of_one_that_has_ended_has_it(void)
{
	int end[2];
	char told;

	if (pipe(end) != 0)
		return;
	ask(1);
	if (fork() == 0) {
		ask(1);
		if (fork() == 0) {
			ask(20);
			(void)!write(end[1], "x", 1);
		}
		_exit(0);
	}
	close(end[1]);
	printf("%zd\n", read(end[0], &told, 1));
	while (wait(NULL) > 0)
		;
}

static void handlers_that_come_after_the_first_thread_make_some(void)
{
	make_server();
	pthread_atfork(NULL, NULL, make_server);
	printf("%d %d\n", live(2, 0), live(2, 1));
}

static const struct compare_case cases[] = {
	COMPARE(the_child_has_the_librarys_thread),
	COMPARE(the_childrens_children_have_it_too),
	COMPARE(the_child_of_one_that_has_ended_has_it),
	COMPARE(handlers_that_come_after_the_first_thread_make_some),
};

COMPARE_MAIN(cases)

/* SPDX-License-Identifier: MIT */
/*
 * test_child.c - waits for children and messages: each gets its own, and none
 * is lost
 */
#include "compare.h"

#include <semaphore.h>
#include <sys/msg.h>
#include <sys/wait.h>

static int ends[2];	/* of a pipe: a child ends when it is closed */

static pid_t child(void)
{
	pid_t pid;
	char c;

	if (pipe(ends) != 0)
		abort();
	pid = fork();
	if (pid != 0)
		return pid;
	close(ends[1]);
	(void)!read(ends[0], &c, 1);
	_exit(7);
}

static void let_it_end(void)
{
	close(ends[1]);
}

static void *wait_for_others(void *arg)
{
	siginfo_t info;

	show_errno("itself", waitid(P_PID, (id_t)getpid(), &info, WEXITED));
	show_errno("parent", waitid(P_PID, (id_t)getppid(), &info, WEXITED));
	show_errno("nobody", waitid(P_PID, 0x3fffffff, &info, WEXITED));
	show_errno("any", waitid(P_ALL, 0, &info, WEXITED));
	return arg;
}

static void another_process_is_not_waited_for(void)
{
	finish(start(wait_for_others, NULL));
}

static void *wait_in_ways(void *arg)
{
	pid_t pid = child();
	siginfo_t info = { .si_pid = 0 };

	show_errno("for nothing", waitid(P_PID, (id_t)pid, &info, 0));
	show_errno("not now", waitid(P_PID, (id_t)pid, &info,
				     WEXITED | WNOHANG));
	printf("%d\n", info.si_pid);
	let_it_end();
	show_errno("look", waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT));
	printf("%d %d\n", info.si_pid == pid, info.si_status);
	show_errno("none wanted", waitid(P_PID, (id_t)pid, NULL, WEXITED));
	show_errno("again", waitid(P_PID, (id_t)pid, &info, WEXITED));
	return arg;
}

static void a_child_is_waited_for_in_all_ways(void)
{
	finish(start(wait_in_ways, NULL));
}

/* --- what a cancelled thread has been told of ---------------------- */

static sem_t begun;
static int told;

static void *wait_any(void *arg)
{
	int status;

	sem_post(&begun);
	if (waitpid(-1, &status, 0) > 0)
		told = WEXITSTATUS(status);
	return arg;
}

static void *wait_any_by_id(void *arg)
{
	siginfo_t info;

	sem_post(&begun);
	if (waitid(P_ALL, 0, &info, WEXITED) == 0)
		told = info.si_status;
	return arg;
}

/* With libc's threads it may be lost, where its signal comes just after it. */
static void a_childs_end_is_told_once(void)
{
	void *(*const ways[])(void *) = { wait_any, wait_any_by_id };

	sem_init(&begun, 0, 0);
	for (int i = 0; i < 2; i++) {
		pthread_t t;
		int status;

		told = 0;
		child();
		t = start(ways[i], NULL);
		sem_wait(&begun);
		usleep(20000);
		pthread_cancel(t);
		let_it_end();
		finish(t);
		if (waitpid(-1, &status, 0) > 0)
			told += WEXITSTATUS(status);
		printf("%d\n", told);
	}
}

static struct {
	long type;
	char text[8];
} message = { 1, "text" };

static int queue;

static void *receive(void *arg)
{
	sem_post(&begun);
	if (msgrcv(queue, &message, sizeof(message.text), 0, 0) > 0)
		told = 1;
	return arg;
}

static void a_message_is_had_once(void)
{
	pthread_t t;

	sem_init(&begun, 0, 0);
	queue = msgget(IPC_PRIVATE, 0600);
	t = start(receive, NULL);
	sem_wait(&begun);
	usleep(20000);
	pthread_cancel(t);
	msgsnd(queue, &message, sizeof(message.text), 0);
	finish(t);
	if (msgrcv(queue, &message, sizeof(message.text), 0, IPC_NOWAIT) > 0)
		told++;
	msgctl(queue, IPC_RMID, NULL);
	printf("%d\n", told);
}

static void *copy(void *arg)
{
	long r = msgrcv(queue, &message, sizeof(message.text), 0, MSG_COPY);

	show_errno("waiting", r);
	return arg;
}

static void a_copy_of_a_message_is_not_waited_for(void)
{
	queue = msgget(IPC_PRIVATE, 0600);
	msgsnd(queue, &message, sizeof(message.text), 0);
	finish(start(copy, NULL));
	msgctl(queue, IPC_RMID, NULL);
}

static const struct compare_case cases[] = {
	COMPARE(another_process_is_not_waited_for),
	COMPARE(a_child_is_waited_for_in_all_ways),
	WEFT_ONLY(a_childs_end_is_told_once, "7\n7\n"),
	WEFT_ONLY(a_message_is_had_once, "1\n"),
	COMPARE(a_copy_of_a_message_is_not_waited_for),
};

COMPARE_MAIN(cases)

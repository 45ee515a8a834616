/* SPDX-License-Identifier: MIT */
/*
 * bank - a lock in each account; processes and their threads move money
 *
 * The accounts lie in memory that two processes share. A lock takes four bytes
 * and one instruction, so that each account has its own. A thread that moves
 * money locks two accounts, the one with the smaller number first. The runtime
 * is not used.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/lock.h>

#define ACCOUNTS	8
#define CREW		2
#define TURNS		50000
#define START		1000

static struct account {
	struct weft_plock lock;
	int32_t money;
} *account;

static void move(unsigned from, unsigned to, int32_t money)
{
	unsigned first = from < to ? from : to;
	unsigned second = from < to ? to : from;

	weft_plock_lock(&account[first].lock);
	weft_plock_lock(&account[second].lock);
	if (account[from].money >= money) {
		account[from].money -= money;
		account[to].money += money;
	}
	weft_plock_unlock(&account[second].lock);
	weft_plock_unlock(&account[first].lock);
}

static void *clerk(void *arg)
{
	uint32_t random = (uint32_t)(uintptr_t)arg;

	for (int i = 0; i < TURNS; i++) {
		unsigned from, to;

		random = random * 1664525u + 1013904223u;
		from = (random >> 28) % ACCOUNTS;
		to = (random >> 24) % ACCOUNTS;
		if (from != to)
			move(from, to, (int32_t)(random >> 16 & 127));
	}
	return NULL;
}

static int work(unsigned process)
{
	pthread_t crew[CREW];

	for (uintptr_t i = 0; i < CREW; i++)
		if (pthread_create(&crew[i], NULL, clerk,
				   (void *)(process * CREW + i + 1)))
			return 1;
	for (int i = 0; i < CREW; i++)
		pthread_join(crew[i], NULL);
	return 0;
}

int main(void)
{
	int status = 0, failed;
	long all = 0;
	pid_t child;

	account = mmap(NULL, ACCOUNTS * sizeof(*account),
		       PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		       0);
	if (account == MAP_FAILED)
		return 1;
	for (int i = 0; i < ACCOUNTS; i++)
		account[i].money = START;
	child = fork();
	if (child < 0)
		return 1;
	if (child == 0)
		_exit(work(1));
	failed = work(0);
	if (waitpid(child, &status, 0) != child || status != 0)
		failed = 1;
	for (int i = 0; i < ACCOUNTS; i++)
		all += account[i].money;
	printf("%d accounts have %ld\n", ACCOUNTS, all);
	return failed || all != (long)ACCOUNTS * START;
}

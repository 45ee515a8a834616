/* SPDX-License-Identifier: MIT */
/* sem.c - a signal handler posts a semaphore, and a thread acts on it */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
#include <weft.h>

static struct weft_sem asked = WEFT_SEM_INIT;

static void on_signal(int number)
{
	(void)number;
	weft_sem_post(&asked);	/* one of the few calls that a handler may make */
}

static void *reload(void *arg)
{
	int *reloads = arg;

	if (weft_sem_wait_until(&asked, weft_deadline(WEFT_SECONDS(30))) == 0)
		++*reloads;
	return NULL;
}

int main(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct weft_sem places;
	int reloads = 0;
	uint64_t id;

	if (weft_start(NULL) != 0 || sigaction(SIGUSR1, &action, NULL) != 0 ||
	    weft_spawn(&id, NULL, reload, &reloads) != 0)
		return 1;
	kill(getpid(), SIGUSR1);	/* to the process, as from another one */
	if (weft_join(id, NULL) != 0)
		return 1;
	printf("%d reload\n", reloads);

	/* A semaphore can also count places: here there are two. */
	if (weft_sem_init(&places, 2) != 0 || weft_sem_try_wait(&places) != 0 ||
	    weft_sem_value(&places) != 1 || weft_sem_try_wait(&places) != 0 ||
	    weft_sem_try_wait(&places) != -EAGAIN)
		return 1;
	return reloads != 1 || weft_sem_destroy(&places) != 0 || weft_stop() != 0;
}

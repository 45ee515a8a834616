/* SPDX-License-Identifier: MIT */
/*
 * deadlock.c - two transfers between the same two accounts, in opposite directions
 *
 * Each locks its source first. With -DFIXED both lock in the order of the accounts.
 */
#include <pthread.h>

static struct account {
	pthread_mutex_t lock;
	long money;
} accounts[2] = {
	{ PTHREAD_MUTEX_INITIALIZER, 100 }, { PTHREAD_MUTEX_INITIALIZER, 100 },
};

static void transfer(struct account *from, struct account *to, long money)
{
	struct account *first = from, *second = to;

#ifdef FIXED
	if (to < from) {
		first = to;
		second = from;
	}
#endif
	pthread_mutex_lock(&first->lock);
	pthread_mutex_lock(&second->lock);
	from->money -= money;
	to->money += money;
	pthread_mutex_unlock(&second->lock);
	pthread_mutex_unlock(&first->lock);
}

static void *back(void *unused)
{
	transfer(&accounts[1], &accounts[0], 10);
	return unused;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, back, NULL) != 0)
		return 2;
	transfer(&accounts[0], &accounts[1], 10);
	return pthread_join(thread, NULL);
}

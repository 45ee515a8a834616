/* SPDX-License-Identifier: MIT */
/* note.c - two notes at once, with an answer each */
#include <u.h>
#include <libc.h>
#include <thread.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

static volatile int stage;

/* usr1's answer stands while another thread says NCONT of usr2. */
static void answers(void *unused, char *text)
{
	USED(unused);
	if (strcmp(text, "sys: usr1") != 0) {
		noted(NCONT);
		return;
	}
	noted(NDFLT);
	__atomic_store_n(&stage, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&stage, __ATOMIC_SEQ_CST) != 2)
		sched_yield();
}

static void *usr1(void *v)
{
	raise(SIGUSR1);
	return v;
}

static void *usr2(void *v)
{
	while (__atomic_load_n(&stage, __ATOMIC_SEQ_CST) != 1)
		sched_yield();
	raise(SIGUSR2);
	__atomic_store_n(&stage, 2, __ATOMIC_SEQ_CST);
	return v;
}

void threadmain(int argc, char *argv[])
{
	pthread_t a, b;

	USED(argc);
	USED(argv);
	notify(answers);
	if (pthread_create(&a, nil, usr1, nil) || pthread_create(&b, nil, usr2, nil))
		sysfatal("pthread_create");
	pthread_join(a, nil);
	pthread_join(b, nil);
	print("usr1 was taken\n");
}

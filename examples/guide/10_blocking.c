/* SPDX-License-Identifier: MIT */
/* 10_blocking - a call that blocks in the kernel, and a thread of pthread_create() */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <weft.h>

WEFT_CHAN_OF(words, const char *);

static struct words words;
static int ends[2];

static void must(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "%s: %s\n", what, weft_strerror(error));
		exit(1);
	}
}

/* Stands for a library's function that knows nothing of weft. */
static char read_one(int fd)
{
	char byte;

	return read(fd, &byte, 1) == 1 ? byte : '?';
}

static void *wait_in_kernel(void *unused)
{
	char byte;

	weft_block_begin();
	byte = read_one(ends[0]);
	weft_block_end();
	printf("the pipe said %c\n", byte);
	return unused;
}

/* A foreign thread: weft did not make it, and it may call weft all the same. */
static void *foreign(void *unused)
{
	must(words_send(words, "hello from a kernel thread"), "send");
	return unused;
}

int main(void)
{
	const char *word;
	pthread_t kernel;
	uint64_t id;

	must(weft_start(NULL), "start");
	must(words_create(&words, 0, 0), "channel");
	if (pipe(ends) != 0)
		must(-errno, "pipe");

	/* Even on one VCPU: while one thread sleeps in read(), this one runs. */
	must(weft_spawn(&id, NULL, wait_in_kernel, NULL), "spawn");
	if (write(ends[1], "x", 1) != 1)
		must(-errno, "write");
	must(weft_join(id, NULL), "join");

	must(pthread_create(&kernel, NULL, foreign, NULL), "pthread_create");
	must(words_recv(words, &word), "receive");
	printf("%s\n", word);
	weft_block_begin();		/* pthread_join() knows nothing of weft */
	must(pthread_join(kernel, NULL), "pthread_join");
	weft_block_end();
	words_destroy(words);
	must(weft_stop(), "stop");
	return 0;
}

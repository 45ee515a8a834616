/* SPDX-License-Identifier: MIT */
/* trace.c - the last events of a program, with marks of its own, in a file */
#include <stdio.h>
#include <weft.h>

static struct weft_sem end = WEFT_SEM_INIT;

static void *work(void *unused)
{
	weft_trace_begin("waits for the end");
	weft_sem_wait(&end);
	weft_trace_end();
	return unused;
}

int main(void)
{
	struct weft_attr attr = { .name = "worker" };
	FILE *file = tmpfile();
	uint64_t id;

	if (!file || weft_start(NULL) != 0 || weft_trace_start(0) != 0 ||
	    weft_spawn(&id, &attr, work, NULL) != 0)
		return 1;
	weft_trace_mark("all threads are there");
	weft_sem_post(&end);
	if (weft_join(id, NULL) != 0 || weft_trace_stop() != 0 ||
	    weft_trace_write(fileno(file)) != 0)
		return 1;
	printf("%s\n", ftell(file) >= 0 ? "the events are in the file" : "no file");
	return weft_stop() != 0;
}

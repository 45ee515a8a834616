/* SPDX-License-Identifier: MIT */
/* spsc.c - a child process sends numbers through a ring in shared memory */
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft.h>

#define CAPACITY	64
#define NUMBERS		1000

static void produce(void *memory, size_t bytes)
{
	struct weft_spsc *ring;

	if (weft_spsc_attach(&ring, memory, bytes) != 0)
		_exit(1);
	for (int i = 1; i <= NUMBERS; i++)
		while (weft_spsc_push(ring, &i) != 0)
			sched_yield();		/* it is full */
	_exit(0);
}

int main(void)
{
	size_t bytes = weft_spsc_bytes(CAPACITY, sizeof(int));
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int number, sum = 0, status;
	struct weft_spsc *ring;
	pid_t child;

	if (memory == MAP_FAILED ||
	    weft_spsc_init(&ring, memory, bytes, CAPACITY, sizeof(int)) != 0)
		return 1;
	child = fork();
	if (child == 0)
		produce(memory, bytes);
	for (int i = 0; child > 0 && i < NUMBERS; sum += number, i++)
		while (weft_spsc_pop(ring, &number) != 0)
			sched_yield();		/* it is empty */
	printf("the sum is %d\n", sum);
	return waitpid(child, &status, 0) != child || status != 0 ||
	       sum != NUMBERS * (NUMBERS + 1) / 2 || weft_spsc_count_hint(ring) != 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * samples - one process measures, another one reads, a ring is between them
 *
 * The one that measures never waits: what finds no room is counted as lost. The
 * runtime is not started, and the ring lies in memory that both have mapped.
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/spsc.h>

#define CAPACITY	256
#define SAMPLES		100000
#define LAST		UINT32_MAX

struct sample {
	uint32_t number;
	uint32_t value;
};

static void measure(struct weft_spsc *ring)
{
	uint32_t lost = 0;
	struct sample s = { .number = 0, .value = 1 };

	for (; s.number < SAMPLES; s.number++) {
		s.value = s.value * 1664525 + 1013904223;
		lost += weft_spsc_push(ring, &s) != 0;
	}
	s = (struct sample){ .number = LAST, .value = lost };
	while (weft_spsc_push(ring, &s) != 0)
		usleep(100);
}

int main(void)
{
	size_t bytes = weft_spsc_bytes(CAPACITY, sizeof(struct sample));
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct weft_spsc *ring;
	struct sample batch[64];
	uint32_t got = 0;

	if (memory == MAP_FAILED ||
	    weft_spsc_init(&ring, memory, bytes, CAPACITY, sizeof(*batch)))
		return 1;
	if (fork() == 0) {
		measure(ring);
		_exit(0);
	}
	for (;;) {
		size_t n = weft_spsc_pop_many(ring, batch, 64);

		if (n == 0) {
			usleep(10);
			continue;
		}
		if (batch[n - 1].number == LAST) {
			got += (uint32_t)n - 1;
			printf("%u samples, %u read, %u lost\n", SAMPLES, got,
			       batch[n - 1].value);
			wait(NULL);
			return got + batch[n - 1].value != SAMPLES;
		}
		got += (uint32_t)n;
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * test_silent.c - alts that time out on channels on which nothing happens leave
 * no memory behind
 *
 * A thousandth of what is promised; tools/run-full runs the whole.
 */
#include <string.h>

#include "crowd.h"
#include "lockfree/atomic.h"
#include "sync/segment.h"

#define ALTS		100000	/* 10^8 at a scale of 1,000 */
#define CROWD		4
#define LATE		64	/* one in so many has a time to come */
#define GROWTH_MOST	4096	/* KiB; the kernel does not count exactly */

#ifdef TEST_IS_SANITIZED
#define memory_is_ours()	0
#else
#define memory_is_ours()	1
#endif

enum { RENDEZVOUS, EMPTY, FULL, CHANS };

struct silence {
	struct weft_chan *chan[CHANS];
	size_t alts;			/* of each */
	struct weft_barrier warm, go_on;
};

static void set_all(struct silence *s, struct weft_alt a[CHANS], long *x)
{
	for (int i = 0; i < CHANS; i++)
		a[i] = (struct weft_alt){
			.op = i == FULL ? WEFT_ALT_SEND : WEFT_ALT_RECV,
			.chan = s->chan[i], .elem = x,
		};
}

/* In front of all that time out, so that they wait behind another. */
static void *stay(void *arg)
{
	struct weft_alt a[CHANS];
	long x = 0;

	set_all(arg, a, &x);
	return (void *)(intptr_t)weft_alt(a, CHANS, WEFT_FOREVER);
}

static void meet(struct weft_barrier *b)
{
	int ret = weft_barrier_wait(b);

	must(ret == 0 || ret == WEFT_BARRIER_SERIAL);
}

static void *time_out(void *arg)
{
	struct silence *s = arg;
	uint64_t random = test_seed((uint64_t)weft_self());
	struct weft_alt a[CHANS];
	long x = 0;

	set_all(s, a, &x);
	for (size_t i = 0; i < s->alts; i++) {
		int64_t deadline = 1;

		if (i % LATE == 0)
			deadline = weft_clock() +
				   (int64_t)test_random_below(&random, 5000);
		must(weft_alt(a, 1 + i % CHANS, deadline) == -ETIMEDOUT);
		if (i == s->alts / 10) {
			meet(&s->warm);
			meet(&s->go_on);
		}
	}
	return NULL;
}

/* In KiB. */
static long resident(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	must(f != NULL);
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, "VmRSS:", 6) == 0)
			kib = strtol(line + 6, NULL, 10);
	fclose(f);
	return kib;
}

static void begin(struct silence *s)
{
	long x = 7;

	s->alts = test_scaled(ALTS) / CROWD + 1;
	for (int i = 0; i < CHANS; i++)
		must(weft_chan_create(&s->chan[i], sizeof(long), i, 0) == 0);
	for (int i = 0; i < FULL; i++)
		must(weft_chan_send(s->chan[FULL], &x, WEFT_NO_WAIT) == 0);
	must(weft_barrier_init(&s->warm, CROWD + 1) == 0);
	must(weft_barrier_init(&s->go_on, CROWD + 1) == 0);
}

static void end(struct silence *s)
{
	for (int i = 0; i < CHANS; i++)
		must(weft_chan_destroy(s->chan[i]) == 0);
	must(weft_barrier_destroy(&s->warm) == 0);
	must(weft_barrier_destroy(&s->go_on) == 0);
}

static void alts_that_time_out_leave_no_memory(void)
{
	struct silence s;
	uint64_t first, id[CROWD];
	long before, after;

	runtime_begin();
	begin(&s);
	first = spawn(stay, &s);
	crowd_await_parked(first);
	for (int i = 0; i < CROWD; i++)
		id[i] = spawn_with(i % 2 ? WEFT_LIGHT : 0, time_out, &s);
	meet(&s.warm);
	before = resident();
	meet(&s.go_on);
	for (int i = 0; i < CROWD; i++)
		join(id[i]);
	after = resident();
	printf("    %zu alts timed out; VmRSS %ld KiB after a tenth of them, "
	       "%ld KiB after all\n", s.alts * CROWD, before, after);
	CU_ASSERT_TRUE(!memory_is_ours() || after - before <= GROWTH_MOST);
	for (int i = 0; i < CHANS; i++)
		must(wefti_seg_count(&wefti_chan_side(s.chan[i],
			i == FULL ? WEFT_ALT_SEND : WEFT_ALT_RECV)->first) <= 3);
	must(weft_cancel(first) == 0);
	CU_ASSERT_EQUAL((intptr_t)join(first), -ECANCELED);
	end(&s);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(alts_that_time_out_leave_no_memory),
};

TEST_MAIN("chan/silent", cases)

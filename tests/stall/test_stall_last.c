/* SPDX-License-Identifier: MIT */
/*
 * test_stall_last.c - a channel is ended as soon as its last message has come,
 * while the kernel thread of its sender is stopped
 */
#include "steer.h"

struct scene {
	struct stall_victim victim;
	struct weft_chan *chan;
};

static void *send_it(void *arg)
{
	struct scene *s = arg;
	long x = 1;

	STALL_STEPS(&s->victim, (void)!weft_chan_send(s->chan, &x,
						       WEFT_FOREVER));
	return NULL;
}

/*
 * A sender waits behind a full buffer, stopped. If its message comes all the
 * same, its call has taken effect, and the receiver ends the channel's life.
 */
static int run_step(size_t n, size_t *destroyed)
{
	struct scene s = { .victim.n = n };
	long x = 2;
	int stopped;

	must(weft_chan_create(&s.chan, sizeof(long), 1, 0) == 0);
	must(weft_chan_send(s.chan, &x, WEFT_NO_WAIT) == 0);
	s.victim.id = spawn(send_it, &s);
	stopped = stall_await_stop(&s.victim);
	must(weft_chan_recv(s.chan, &x, WEFT_NO_WAIT) == 0 && x == 2);
	if (stopped && weft_chan_recv(s.chan, &x, WEFT_NO_WAIT) == 0) {
		must(weft_chan_destroy(s.chan) == 0);
		++*destroyed;
		s.chan = NULL;
	}
	steps_release();
	if (s.chan)
		must(weft_chan_recv(s.chan, &x, WEFT_FOREVER) == 0);
	must(x == 1);
	join(s.victim.id);
	must(!s.chan || weft_chan_destroy(s.chan) == 0);
	return stopped;
}

static void *steer(void *arg)
{
	size_t n = 1, destroyed = 0;

	while (n < STALL_STEPS_MOST && run_step(n, &destroyed))
		n++;
	printf("    stopped at %zu steps, destroyed at %zu\n", n - 1, destroyed);
	must(destroyed > 0 && destroyed < n - 1);
	return arg;
}

static void after_its_message_the_channel_is_not_touched(void)
{
	stall_steer(steer, NULL);
}

static const struct test_case cases[] = {
	TEST(after_its_message_the_channel_is_not_touched),
};

TEST_MAIN("stall/last", cases)

/* SPDX-License-Identifier: MIT */
/*
 * plan9/bodies.h - the experiment of the Plan 9 talk: what a lock does to
 * programs of many threads and channels
 *
 * program: 600 threads send 10,000 messages in all through one channel of 16
 * places, 600 receive them; from the first start to the last end. With one VCPU
 * all threads are in one proc; with pthreads each is one of its own, a kernel
 * thread. Free is weft's channel, also between kernel threads, which are foreign
 * threads to it.
 * pacer: pacer.h. cas, rmw: cas.c.
 */
#ifndef WEFT_BENCH_PLAN9_BODIES_H
#define WEFT_BENCH_PLAN9_BODIES_H

#include <stdlib.h>
#include <sys/resource.h>

#include "ask_go.h"
#include "enter.h"
#include "plan9/locked.h"
#include "plan9/mutexed.h"
#include "plan9/pacer.h"

#define MESSAGES	10000

struct program {
	uint64_t under;
	struct weft_chan *free;
	struct locked_chan locked;
	struct mutexed_chan mutexed;
	unsigned pairs;
	_Atomic unsigned sends, receives;	/* threads that have begun */
};

static void send_one(struct program *p, uint64_t x)
{
	if (p->under == UNDER_NOTHING)
		must(weft_chan_send(p->free, &x, WEFT_FOREVER), "chan_send");
	else if (p->under == UNDER_MUTEX)
		mutexed_send(&p->mutexed, x);
	else
		locked_send(&p->locked, x);
}

static uint64_t recv_one(struct program *p)
{
	uint64_t x;

	if (p->under == UNDER_MUTEX)
		return mutexed_recv(&p->mutexed);
	if (p->under != UNDER_NOTHING)
		return locked_recv(&p->locked);
	must(weft_chan_recv(p->free, &x, WEFT_FOREVER), "chan_recv");
	return x;
}

/* How many of the messages the next thread sends, or receives. */
static unsigned share(struct program *p, _Atomic unsigned *begun)
{
	return (MESSAGES + fetch_add_relaxed(begun, 1u)) / p->pairs;
}

static void *sender(void *arg)
{
	struct program *p = arg;

	for (unsigned left = share(p, &p->sends); left > 0; left--)
		send_one(p, left);
	return NULL;
}

static void *receiver(void *arg)
{
	struct program *p = arg;

	for (unsigned left = share(p, &p->receives); left > 0; left--)
		(void)recv_one(p);
	return NULL;
}

static void program_init(struct program *p, const struct bench_ctx *ctx)
{
	p->under = ctx->question->arg;
	p->pairs = ctx->threads / 2;
	store_relaxed(&p->sends, 0u);
	store_relaxed(&p->receives, 0u);
	must(weft_chan_create(&p->free, sizeof(uint64_t), CAPACITY, 0),
	     "chan_create");
	locked_create(&p->locked, p->under == UNDER_GREASED);
	mutexed_create(&p->mutexed);
}

static void begin_all(struct program *p, face_thread *id,
		      void *(*send)(void *), void *(*receive)(void *))
{
	for (unsigned i = 0; i < 2 * p->pairs; i++)
		must(face_spawn(&id[i], i % 2 ? receive : send, p), "spawn");
}

static void end_all(struct program *p, const face_thread *id)
{
	for (unsigned i = 0; i < 2 * p->pairs; i++)
		must(face_join(id[i]), "join");
	must(weft_chan_destroy(p->free), "chan_destroy");
}

static double used_ms(const struct timeval *t)
{
	return (double)t->tv_sec * 1e3 + (double)t->tv_usec / 1e3;
}

static double user_ms, system_ms;	/* of the last measurement, a program */

static void run_program(const struct bench_ctx *ctx, face_thread *id)
{
	struct program p;

	program_init(&p, ctx);
	begin_all(&p, id, sender, receiver);
	end_all(&p, id);
}

static face_thread *room_for_ids(const struct bench_ctx *ctx)
{
	face_thread *id = calloc(ctx->threads, sizeof(*id));

	must(id ? 0 : ENOMEM, "calloc");
	return id;
}

static double program_rounds(struct bench_ctx *ctx, uint64_t n)
{
	face_thread *id = room_for_ids(ctx);
	struct rusage before, after;
	int64_t begin;

	must(getrusage(RUSAGE_SELF, &before), "getrusage");
	begin = bench_wall_now();
	for (uint64_t i = 0; i < n; i++)
		run_program(ctx, id);
	begin = bench_wall_now() - begin;
	must(getrusage(RUSAGE_SELF, &after), "getrusage");
	user_ms = (used_ms(&after.ru_utime) - used_ms(&before.ru_utime)) /
		  (double)n;
	system_ms = (used_ms(&after.ru_stime) - used_ms(&before.ru_stime)) /
		    (double)n;
	free(id);
	return (double)begin;
}

static void need_threads(struct bench_ctx *ctx)
{
	bench_need_kernel_threads(ctx, FACE_IS_WEFT ? 1 : ctx->threads);
}

static void program(struct bench_ctx *ctx)
{
	need_threads(ctx);
	bench_emit(ctx, "", "ms", bench_measure(ctx, 1, program_rounds) / 1e6);
	bench_emit(ctx, "-user", "ms", user_ms);
	bench_emit(ctx, "-system", "ms", system_ms);
}

static void pacer(struct bench_ctx *ctx)
{
	static struct pacer p;
	face_thread *id, thread;

	need_threads(ctx);
	id = room_for_ids(ctx);
	must(face_spawn(&thread, pacer_main, &p), "spawn");
	while (!load_relaxed(&p.over))
		run_program(ctx, id);
	must(face_join(thread), "join");
	free(id);
	pacer_emit(ctx, &p);
}

/* For plan9/cas.c, which counts. */
static void rounds(struct bench_ctx *ctx)
{
	(void)program_rounds(ctx, 10);
}

static void cas(struct bench_ctx *ctx)
{
	char question[BENCH_NAME_MAX];

	need_threads(ctx);
	snprintf(question, sizeof(question), "%s %s", FACE_TEXT(FACE_NAME),
		 ctx->question->name);
	bench_ask_go(ctx, "plan9-cas", question);
}

static const struct bench_body plan9_bodies[] = {
	{ "program", program },
	{ "pacer", pacer },
	{ "rounds", rounds },
	{ "cas", cas },
	{ NULL, NULL },
};

/*
 * Kernel threads use weft's channels and semaphores, so the runtime is there,
 * with one VCPU, which idles: the first thread, in it, waits in the kernel.
 */
static void plan9_enter(struct bench_ctx *ctx,
			void (*run)(struct bench_ctx *ctx))
{
	const struct weft_options one = { .vcpus = 1 };

	if (FACE_IS_WEFT) {
		face_enter(ctx, run);
		return;
	}
	bench_pin(ctx->vcpus);	/* those that weft starts, too */
	must(weft_start(&one), "start");
	weft_block_begin();
	face_enter(ctx, run);
	weft_block_end();
	must(weft_stop(), "stop");
}

const struct bench_variant FACE_SYMBOL(bench_plan9_) = {
	.name = FACE_TEXT(FACE_NAME),
	.bit = FACE_BIT,
	.enter = plan9_enter,
	.bodies = plan9_bodies,
};

#endif

/* SPDX-License-Identifier: MIT */
/* mini.c - the least that test_tls.c needs of a thread */
#include "mini.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "cpu.h"
#include "os/call/vm.h"
#include "support.h"

static struct wefti_arch_next mini_main(void *value)
{
	struct mini *self = value;

	wefti_tls_thread_begin();
	self->body(self);
	wefti_tls_thread_exit();
	self->done = 1;
	wefti_arch_tp_set(self->carrier_tp);
	return (struct wefti_arch_next){ self->carrier, NULL };
}

void mini_make(struct mini *f, uintptr_t id, void (*body)(struct mini *))
{
	*f = (struct mini){ .id = id, .body = body };
	f->stack = wefti_os_vm_reserve(MINI_STACK);
	if (!f->stack || wefti_tls_build(f->stack, f->stack + MINI_STACK,
					 &f->tls) != 0)
		abort();
	wefti_arch_context_init(&f->context, f->tls.low, mini_main);
}

void mini_renew(struct mini *f, void (*body)(struct mini *))
{
	f->body = body;
	f->done = 0;
	wefti_tls_reset(f->tls.tp);
	wefti_arch_context_init(&f->context, f->tls.low, mini_main);
}

void mini_free(struct mini *f)
{
	wefti_tls_destroy(f->tls.tp);
	wefti_os_vm_unmap(f->stack, MINI_STACK);
}

__attribute__((noinline)) void mini_run(struct mini *f)
{
	struct wefti_context back;
	uintptr_t tp = wefti_arch_tp_get();

	f->carrier = &back;
	f->carrier_tp = tp;
	wefti_arch_tp_set(f->tls.tp);
	wefti_arch_switch(&back, &f->context, f);
}

__attribute__((noinline)) void mini_yield(struct mini *self)
{
	wefti_arch_tp_set(self->carrier_tp);
	wefti_arch_switch(&self->context, self->carrier, NULL);
}

static struct {
	pthread_mutex_t lock;
	struct mini **ready;
	size_t ready_count, left, moves;
	uint64_t random;
} crowd = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* The last one is the other's if none has moved: a busy machine may run one alone. */
static int is_for(uintptr_t tp)
{
	return crowd.ready_count > 0 &&
	       (crowd.left > 1 || crowd.moves > 0 ||
		crowd.ready[0]->carrier_tp != tp);
}

static struct mini *take(uintptr_t tp)
{
	struct mini *f = NULL;
	size_t i;

	pthread_mutex_lock(&crowd.lock);
	if (is_for(tp)) {
		i = (size_t)test_random_below(&crowd.random,
					      crowd.ready_count);
		f = crowd.ready[i];
		crowd.ready[i] = crowd.ready[--crowd.ready_count];
	}
	pthread_mutex_unlock(&crowd.lock);
	return f;
}

static int give(struct mini *f, int moved)
{
	int left;

	pthread_mutex_lock(&crowd.lock);
	crowd.moves += (size_t)moved;
	if (f && f->done)
		crowd.left--;
	else if (f)
		crowd.ready[crowd.ready_count++] = f;
	left = crowd.left != 0;
	pthread_mutex_unlock(&crowd.lock);
	return left;
}

static void *carrier(void *arg)
{
	uintptr_t tp = wefti_arch_tp_get();
	int left = 1;

	(void)arg;
	while (left) {
		struct mini *f = take(tp);
		int moved = f && f->carrier_tp && f->carrier_tp != tp;

		if (f)
			mini_run(f);
		else
			sched_yield();
		left = give(f, moved);
	}
	return NULL;
}

size_t minis_run(struct mini *f, size_t count)
{
	pthread_t threads[2];

	crowd.ready = calloc(count, sizeof(*crowd.ready));
	if (!crowd.ready)
		abort();
	for (size_t i = 0; i < count; i++)
		crowd.ready[i] = &f[i];
	crowd.ready_count = crowd.left = count;
	crowd.moves = 0;
	crowd.random = test_seed(1);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, carrier, NULL) != 0)
			abort();
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	free(crowd.ready);
	return crowd.moves;
}

/* SPDX-License-Identifier: MIT */
/*
 * seat.c - scenarios: the monitor takes the VCPU of a thread, which meanwhile
 * calls, parks, or ends and has another begin in its struct
 *
 * sched/seat.c and thread/bare.c are the runtime's. One thread of the scenario is
 * the kernel thread that carries VCPU 0 and runs green threads on it, one after the
 * other. The other is the monitor, and then the next carrier, which uses what
 * belongs to the VCPU: two that use it at once are a race. A thread that has lost
 * its VCPU goes on with VCPU 1.
 */
#include "model.h"

#include "os/call/clock.h"
#include "sched/seat.h"
#include "sched/switch.h"
#include "thread/bare.h"

struct wefti_runtime wefti_rt;
_Atomic(wefti_take_hook_fn *) wefti_take_hook;
struct wefti_dense wefti_slots;
_Thread_local struct wefti_thread *wefti_tls_self;
_Atomic uint32_t wefti_tp_is_plain;

#define VICTIM	1u			/* slots */
#define OTHER	2u
#define FOREIGN	3u
#define THREADS	4u

static struct wefti_thread thread[THREADS], loop[2];
static struct wefti_cold body[THREADS];
static struct wefti_vcpu vcpu[2];
static struct wefti_kthread kthread[2];
static struct wefti_thread *self_slot[2], gone;
static char owned[2];			/* what belongs to each VCPU */
static int is_taken;			/* the monitor's */
static int has_conceded;		/* the victim's */

static struct wefti_thread *const victim = &thread[VICTIM];
static struct wefti_thread *const other = &thread[OTHER];

struct wefti_thread *model_self(void)
{
	return NULL;
}

int64_t wefti_os_now_ns(void)
{
	return 0;
}

static void nothing(struct wefti_thread *t)
{
	(void)t;
}

/* Whoever has lost its VCPU is picked by the other one. */
void wefti_inject(struct wefti_thread *t)
{
	m_check(!t->vcpu);
	wefti_take_seat(&vcpu[1], &loop[1], t);
}

/* Only from a thread that concedes to the loop of its kernel thread. */
void *wefti_arch_switch(struct wefti_context *from,
			const struct wefti_context *to, void *value)
{
	struct wefti_thread *t = value;

	m_check(from == &t->ctx && to == &loop[0].ctx);
	has_conceded = 1;
	t->post(t);
	return &gone;
}

static void begin(struct wefti_thread *t)
{
	store_relaxed(&t->in_runtime, 1);
	t->cold = &body[t->slot];
}

static void turn(unsigned slot, enum wefti_kind kind)
{
	struct wefti_thread *t = &thread[slot];

	store_relaxed(&t->depot_next, 0);
	t->kind = kind & 15;
	wefti_thread_bare_free(t);
	m_check(wefti_thread_bare(kind, NULL) == t);
}

static void init(void)
{
	store_relaxed(&wefti_slots.chunk[0], (char *)thread);
	model_entry_fence = 1;
	store_relaxed(&wefti_rt.blocked_ns, 0);
	gone.post = nothing;
	is_taken = has_conceded = 0;
	for (unsigned i = 0; i < 2; i++) {
		vcpu[i].index = i;
		vcpu[i].kthread = &kthread[i];
		kthread[i].sched = &loop[i];
		kthread[i].self_slot = &self_slot[i];
		store_relaxed(&kthread[i].again, WEFTI_AGAIN_NONE);
		store_relaxed(&vcpu[i].current, NULL);
		store_relaxed(&vcpu[i].ticks, (uint64_t)7);
		m_data_write(&owned[i]);
	}
	for (unsigned i = 1; i < THREADS; i++) {
		thread[i] = (struct wefti_thread){ .slot = i };
		store_relaxed(&thread[i].attention, WEFTI_SEAT_HELD);
		store_relaxed(&body[i].carrier_tid, 0);
		begin(&thread[i]);
	}
	/* The depots of bare.c are made by a turn in each. */
	turn(FOREIGN, WEFTI_KIND_FOREIGN);
	turn(VICTIM, WEFTI_KIND_GREEN);
	begin(victim);
	wefti_take_seat(&vcpu[0], &loop[0], victim);
	wefti_leave(victim);
}

/* Inside the runtime the VCPU is the thread's. */
static void use(struct wefti_thread *self)
{
	m_data_write(&owned[self->vcpu->index]);
}

static void call(struct wefti_thread *self)
{
	wefti_enter_as(self);
	use(self);
	wefti_leave(self);
}

static void switch_to(struct wefti_thread *from, struct wefti_thread *to)
{
	struct wefti_vcpu *v = from->vcpu;

	use(from);
	wefti_take_seat(v, from, to);
	use(to);
}

static void take(void)
{
	is_taken = wefti_seat_take(&vcpu[0], victim, 0);
	if (is_taken)
		m_data_write(&owned[0]);
}

static void check(void)
{
	uint32_t attention = load_relaxed(&victim->attention);

	m_check(is_taken || (attention == WEFTI_SEAT_HELD && !has_conceded));
	m_check(is_taken == !load_relaxed(&vcpu[0].current));
}

static void call_twice(void)
{
	call(victim);
	call(victim);
}

/* The other one runs meanwhile, and calls. */
static void park_and_return(void)
{
	wefti_enter_as(victim);
	switch_to(victim, other);
	wefti_leave(other);
	wefti_enter_as(other);
	switch_to(other, victim);
	wefti_leave(victim);
	call(victim);
}

/* The same, but the victim goes on with the other VCPU. */
static void park_and_move(void)
{
	wefti_enter_as(victim);
	switch_to(victim, other);
	wefti_take_seat(&vcpu[1], &loop[1], victim);
	wefti_leave(victim);
	call(victim);
	use(other);
	wefti_leave(other);
}

/* By the other one: the struct was the victim's. */
static void end(void)
{
	wefti_enter_as(victim);
	switch_to(victim, other);
	wefti_thread_bare_free(victim);
}

static void end_and_begin(void)
{
	end();
	m_check(wefti_thread_bare(WEFTI_KIND_GREEN, NULL) == victim);
	begin(victim);
	switch_to(other, victim);
	wefti_leave(victim);
	call(victim);
}

/* It calls from a kernel thread of its own, which weft does not know. */
static void end_and_be_foreign(void)
{
	end();
	m_check(wefti_thread_bare(WEFTI_KIND_FOREIGN, &body[VICTIM]) == victim);
	wefti_enter_as(victim);
	m_check(!victim->vcpu);
	wefti_leave(victim);
	use(other);
	wefti_leave(other);
}

/*
 * The monitor has asked for the VCPU, and has seen the thread inside. No fence of an
 * entry is between what the thread does with the VCPU and its concession.
 */
static void init_inside(void)
{
	init();
	store_relaxed(&victim->in_runtime, 1);
	store_relaxed(&victim->attention, wefti_seat_taken(&vcpu[0]));
	body[VICTIM].carrier = &kthread[0];
}

static void use_and_concede(void)
{
	use(victim);
	wefti_seat_lost(victim);
}

/* As the end of wefti_seat_take(). */
static void go_back(void)
{
	uint32_t taken = wefti_seat_taken(&vcpu[0]);

	if (cas_seq_cst(&victim->attention, &taken, WEFTI_SEAT_HELD))
		return;
	(void)load_acquire(&victim->attention);
	m_data_write(&owned[0]);
	is_taken = 1;
	store_seq_cst(&vcpu[0].current, NULL);
}

/* The monitor looks at a VCPU that another kernel thread has begun to carry. */
static void init_carried(void)
{
	init();
	m_data_write(&vcpu[1].kthread);
}

static void carry(void)
{
	m_data_write(&vcpu[1].kthread);
	wefti_take_seat(&vcpu[1], &loop[1], other);
}

static void look(void)
{
	if (load_seq_cst(&vcpu[1].current) == other)
		m_data_read(&vcpu[1].kthread);
}

static void check_carried(void)
{
	m_check(load_relaxed(&vcpu[1].current) == other);
}

SCENARIO(seat_inside) = { init_inside, { use_and_concede, go_back }, check };
SCENARIO(seat_carried) = { init_carried, { carry, look }, check_carried };
SCENARIO(seat_calls) = { init, { call_twice, take }, check };
SCENARIO(seat_parks) = { init, { park_and_return, take }, check };
SCENARIO(seat_moves) = { init, { park_and_move, take }, check };
SCENARIO(seat_ends) = { init, { end_and_begin, take }, check };
SCENARIO(seat_foreign) = { init, { end_and_be_foreign, take }, check };

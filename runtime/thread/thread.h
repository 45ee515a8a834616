/* SPDX-License-Identifier: MIT */
/*
 * thread/thread.h - what a thread is
 *
 * Two cache lines that every switch and every wait touch, in the type-stable slab of
 * mem/slot.h. Beside them a cold part, at the top of the thread's own stack, in a page
 * that is resident anyway. A pointer to a struct wefti_thread stays one for ever; a
 * pointer to a cold part does only while the thread lives.
 */
#ifndef WEFT_THREAD_THREAD_H
#define WEFT_THREAD_THREAD_H

#include "base/compiler.h"
#include "context.h"
#include "lockfree/atomic.h"
#include "mem/slot.h"
#include "mem/stack.h"

struct wefti_vcpu;
struct wefti_kthread;
struct wefti_thread;

enum wefti_kind {
	WEFTI_KIND_FREE,	/* in a pool */
	WEFTI_KIND_GREEN,
	WEFTI_KIND_MAIN,	/* green, on the stack of the process */
	WEFTI_KIND_FOREIGN,	/* a kernel thread that weft did not make */
	WEFTI_KIND_SCHED,	/* the scheduler loop of a kernel thread */
};

/* What a thread waits for, for dumps. */
enum wefti_why {
	WEFTI_WHY_NOTHING,
	WEFTI_WHY_JOIN,
	WEFTI_WHY_SLEEP,
	WEFTI_WHY_MUTEX,
	WEFTI_WHY_COND,
	WEFTI_WHY_READ_LOCK,
	WEFTI_WHY_WRITE_LOCK,
	WEFTI_WHY_SEM,
	WEFTI_WHY_BARRIER,
	WEFTI_WHY_ONCE,
	WEFTI_WHY_SEND,
	WEFTI_WHY_RECV,
	WEFTI_WHY_ALT,
	WEFTI_WHY_DESCRIPTOR,
	WEFTI_WHY_DISK,
	WEFTI_WHY_SEAT,		/* ready, but its VCPU was taken */
	WEFTI_WHY_FUTEX,	/* a word that says nothing of an owner: weft run */
	WEFTI_WHY_COUNT
};

/*
 * An entry in a queue of waiters: one episode of waiting (thread/wait.h). The queue
 * that holds it says which thread owns it.
 */
struct wefti_node {
	union {
		struct wefti_node *next;
		uint64_t stamp;	/* sync/mutex_line.c, before next is used */
	};
	struct wefti_thread *thread;
	uint64_t seq;
	/* The queue's own use. Atomic: see sync/mutex_line.c. */
	_Atomic uint64_t data;
};

/*
 * node->data of a node that has left its queue. What it has in a queue is in
 * sync/mutex_line.h and sync/waitlist.h.
 */
#define WEFTI_NODE_SIGNALLED	0u	/* condition variable: its thread is woken */
#define WEFTI_NODE_PASSED	1u	/* its thread waits for the mutex from now on */
#define WEFTI_NODE_TAKEN	2u	/* its one waker ends it: a SOLE wait */
#define WEFTI_NODE_IS_SERIAL	1u	/* barrier: its thread gets the serial result */
#define WEFTI_NODE_IS_COUNTED	2u	/* with or without SERIAL: it timed out, but had arrived */

/*
 * The join word is the ticket of the joining thread (at least 2^40, since slot 0 is
 * unused), or generation:32 | state:2. As it contains the generation, a CAS by the id
 * of a thread that has ended does not hit the next one in its slot.
 */
#define WEFTI_JOIN_NONE		0u
#define WEFTI_JOIN_DETACHED	1u
#define WEFTI_JOIN_DONE		2u

static inline uint64_t wefti_join_word(uint32_t gen, unsigned state)
{
	return (uint64_t)gen << 2 | state;
}

static inline int wefti_join_is_ticket(uint64_t word)
{
	return word >> 40 != 0;
}

/* word must not be a ticket. */
static inline unsigned wefti_join_state(uint64_t word)
{
	return (unsigned)word & 3;
}

struct wefti_thread {
	/* Line 0: the switch. */
	struct wefti_context ctx;	/* valid while the thread does not run */
	uintptr_t tp;			/* thread pointer; 0: its carrier's */
	struct wefti_vcpu *vcpu;	/* its seat; valid inside the runtime */
	_Atomic uint32_t in_runtime;	/* > 0: not preempted, seat not taken */
	_Atomic uint32_t attention;	/* sched/seat.c */
	_Atomic uint64_t wait;		/* thread/wait.h */
	void (*post)(struct wefti_thread *self);	/* sched/switch.h */
	struct wefti_cold *cold;
	uint32_t slot;
	uint8_t kind : 4;		/* enum wefti_kind */
	uint8_t light : 1;		/* shares its carrier's TLS */
	uint8_t keep : 1;		/* its body stays its own until the join */
	_Atomic uint8_t node_lent;	/* node is in a queue: sync/node.h */
	uint8_t why;			/* enum wefti_why */
	_Atomic uint8_t cancel;		/* life/cancel.c */

	/* Line 1: waiting and ending. */
	struct wefti_node node;
	_Atomic uint64_t join;		/* a ticket, or WEFTI_JOIN_* */
	union {
		void *(*fn)(void *arg);	/* until it runs */
		void *alts;		/* while it waits: chan/chan.h */
		void *gives_up;		/* the same: sync/cond.c */
		void *result;		/* when it has ended */
		uint64_t summoned;	/* a ticket: sched/summons.c */
	};
	union {
		/* The object, for dumps. Atomic: a slow pop may read the
		 * link of a slot that is no more in the depot. */
		_Atomic(const void *) waits_for;
		_Atomic uint32_t depot_next;	/* in a depot: the next one */
	};
	_Atomic uint32_t gen;		/* odd while the id is valid */
	uint32_t fifo_node;		/* its node in lockfree/fifo.h */
};

_Static_assert(sizeof(struct wefti_thread) == WEFTI_THREAD_SIZE,
	       "a thread is two cache lines");

/* The timer of a thread; the argument is in sched/timer.c. */
struct wefti_timer {
	/* The heap's: they belong to its server (sched/timer.c). */
	struct wefti_timer *child, *sibling, *prev;
	struct wefti_timer *queued_next;	/* in the queue of changes */
	_Atomic int64_t key;		/* when it expires; INT64_MAX: not in the heap */
	/* The thread's. */
	_Atomic int64_t deadline;	/* INT64_MAX: none */
	_Atomic uint64_t ticket;	/* of the wait that it ends */
	struct wefti_vcpu *home;	/* NULL until it is first armed */
	_Atomic uint32_t queued;
};

/*
 * The body of a thread: stack, TLS and cold part are one. A thread has it from spawn to
 * exit (to the join if it was spawned to keep it), while the struct lives until the
 * join.
 */
struct wefti_cold {
	/* Line 0: what waits and spawns touch. Each spawn clears most of it. */
	struct wefti_cold *pool_next;
	uintptr_t tp;			/* of the TLS block above; 0: light */
	struct wefti_thread *parent;	/* is compared, never followed */
	void *arg;
	int64_t since;			/* of the wait; coarse */
	uint32_t cancel_hold;
	uint32_t block_depth;		/* life/block.c */
	uint16_t preempt_asked;		/* sched/preempt.c */
	uint16_t preempt_near;		/* sched/slice.c */
	uint32_t forks;			/* forks now, and has malloc's locks for that */
	uint32_t served;		/* CPU time in us, in its slices: sched/share.c */
	uint16_t overtaken;		/* life/spawn.c; set by sched/ready.c */
	uint16_t spawned_behind;	/* the same */
	_Atomic uint32_t block_region;	/* odd: in one; the monitor reads it */
	_Atomic uint32_t preempt_insists;	/* sched/preempt.c */
	_Atomic uint32_t carrier_tid;	/* sched/seat.c, as carrier below */
	uint32_t over_malloc;		/* handlers on top of malloc: sched/busy.c */

	struct wefti_stack stack;	/* the memory it came from */
	void *keys;			/* life/key.c; NULL until the first */
	void (*keys_end)(struct wefti_thread *self);	/* with keys */
	struct wefti_kthread *carrier;	/* sched/seat.c */
	int64_t taken_at;		/* the same: when its VCPU was taken */
	uintptr_t preempt_at;		/* sched/slice.c */
	uint64_t overtaken_at;		/* in ticks of its VCPU then; as overtaken */
	void *fiber;			/* sched/sanitizer.c */
	/* Its work for other threads, which the child of a fork must finish. */
	const void *serves;		/* sync/waitlist.c */
	void *sweeps;			/* sync/mutex_line.c */
	struct wefti_timer timer;
	const void *stack_low;		/* for dumps and sanitizers */
	size_t stack_bytes;
	char name[32];
};

#endif

/* SPDX-License-Identifier: MIT */
/* sched/vcpu.h - a VCPU, the kernel thread that carries it, and the runtime */
#ifndef WEFT_SCHED_VCPU_H
#define WEFT_SCHED_VCPU_H

#include <stdalign.h>
#include "base/compiler.h"
#include "base/settings.h"
#include "lockfree/atomic.h"
#include "lockfree/depot.h"
#include "lockfree/fifo.h"
#include "lockfree/ready_ring.h"
#include "os/kthread/kthread.h"
#include "os/signal/retry.h"
#include "os/tls/tls.h"
#include "record/events.h"
#include "thread/thread.h"

#define WEFTI_VCPUS_MAX		256
#define WEFTI_IDLE_WORDS	(WEFTI_VCPUS_MAX / 64)

#define WEFTI_WHEEL_LEVELS	8
#define WEFTI_WHEEL_LISTS	64

/* Timers that are due later; see sched/timer_wheel.h. */
struct wefti_timer_wheel {
	uint64_t now, next;		/* slots */
	uint64_t held, early;		/* how many */
	uint64_t used[WEFTI_WHEEL_LEVELS];	/* a bit for each list that is not empty */
	struct wefti_timer *first[WEFTI_WHEEL_LEVELS][WEFTI_WHEEL_LISTS];
};

/* The timers of one VCPU; see sched/timer.c. */
struct wefti_timers {
	_Atomic uint64_t word;		/* BUSY | top of the queue of changes */
	_Atomic int64_t next;		/* the earliest key; INT64_MAX: none */
	struct wefti_timer *root;	/* of the server, which has set BUSY */
	_Atomic uint64_t session;	/* counted by the server */
	struct wefti_timer_wheel wheel;	/* the server's, as `root` */
};

/* Bodies of one kind and stack class, for the next threads. */
struct wefti_body_list {
	struct wefti_cold *top;
	unsigned count;
};

/* Structs of threads that have been joined. */
struct wefti_slot_list {
	struct wefti_node *top;		/* thread->node.next links them */
	unsigned count;
};

/* What a VCPU notes of its threads' yields; see sched/park.c. */
struct wefti_yields {
	uint32_t left;			/* until the next look */
	uint32_t apart;			/* from the last look to the next */
	uint64_t ticks;			/* at the last look */
	int64_t looked_ns;
	int64_t glanced_ns;
	int64_t offer_ns;		/* when the CPU may be offered again */
	int64_t rare_ns;		/* from an offer in vain to the next */
	uint64_t in_row;		/* since an offer, or another switch */
};

struct wefti_kthread;

/* vcpu->resched */
#define WEFTI_FIFO_TURN		1u	/* set by the monitor, at most once in half a slice */
#define WEFTI_LOOK_AGAIN	2u	/* set by slow picks, and by a summons */

/* vcpu->shared: not 0 with WEFT_SCHED=shared; see sched/ready.c */
#define WEFTI_SHARED		1u
#define WEFTI_SHARED_EXPLORED	2u	/* WEFT_SCHED=explore */

/* vcpu->next of a VCPU without queues of its own (WEFT_SCHED=shared), for good */
#define WEFTI_NEXT_SHUT		((struct wefti_thread *)1)

struct wefti_vcpu {
	struct wefti_ring ring;
	/* Parents that were overtaken by their child's child; see ready.c. */
	struct wefti_ring parents;

	/* LIFO slot before the ring; written by the owner and by thieves */
	alignas(CACHE_LINE) _Atomic(struct wefti_thread *) next;

	/* The owner's, that is of the kernel thread that carries this VCPU. */
	alignas(CACHE_LINE) _Atomic(struct wefti_thread *) current;
	_Atomic uint64_t ticks;		/* number of switches; the monitor reads it */
	struct wefti_kthread *kthread;
	_Atomic uint32_t resched;	/* the next pick is a slow one; values above */
	uint32_t index;
	uint64_t injected_at;		/* in ticks; see sched/ready.c */
	uint64_t parent_at;		/* the same */
	uint64_t turn_ticks;		/* at the last end of a slice: sched/share.c */
	int64_t turn_cpu;		/* the same: used by then */
	_Atomic uint32_t spent;		/* a position in the ring; see sched/ready.h */
	_Atomic uint32_t served;	/* see sched/share.c */
	int64_t quiet_since;		/* see sched/steal.c */
	uint32_t quiet_shift;		/* the same */
	uint32_t next_is_parent;	/* next was filled by a spawn */
	uint32_t random;
	_Atomic uint32_t records;	/* WEFTI_RECORDS_*: sched/record.h */
	struct wefti_yields yields;
	uint32_t announce_skip;		/* see sched/idle.h */
	_Atomic uint32_t next_shift;	/* the same; set by searchers, monitor */
	_Atomic uint32_t next_lay;	/* see sched/ready.h; also set by thieves */
	_Atomic uint64_t spared;	/* see sched/slice.c */
	uint32_t heirs;			/* see sched/idle.h */
	uint32_t heirs_near;		/* the same */
	int64_t heirs_at;
	struct wefti_ring_array *larger[WEFTI_RING_SIZES];	/* see sched/ready_grow.c */
	uint64_t refused_until;		/* in ticks; the same */
	uint32_t shared;		/* values above */
	uint32_t stack_turn, spawn_turn;	/* see sched/stacks.c */
	void (*post_yield)(struct wefti_thread *t);	/* see sched/ready.c */
	struct wefti_record_writer recorder;	/* written before `records` */
	struct wefti_slot_list slots;
	struct wefti_body_list bodies[2][WEFTI_STACK_CLASSES];
	/* Statistics; written by the owner, except wakes. */
	_Atomic uint64_t stat_made, stat_ended, stat_released, stat_steals;
	_Atomic uint64_t stat_preemptions, stat_wakes;

	alignas(CACHE_LINE) _Atomic uint32_t wake;	/* futex while idle */

	alignas(CACHE_LINE) struct wefti_timers timers;

	/* The monitor's notes. */
	alignas(CACHE_LINE) uint64_t seen_ticks;
	int64_t seen_since;
	int64_t seen_cpu;
	int64_t seen_cpu_at;
	_Atomic int64_t slice_cpu;	/* used at its begin; see sched/slice.c */
	int64_t turn_asked;		/* when a FIFO turn was last asked of it */
	int64_t end_asked;		/* when a thread was last asked to end its slice */
	uint64_t seen_preemptions;	/* see sched/slice.c */
	uint64_t seen_spared;		/* the same */
	uint64_t only_preempted;	/* the same */
	uint32_t seen_region;
	int64_t region_since;	/* when it was first seen */
	uint64_t seen_session;		/* see sched/stuck.c */
	int64_t seen_session_since;
};

enum wefti_again { WEFTI_AGAIN_NONE, WEFTI_AGAIN_WANTED, WEFTI_AGAIN_UNWANTED };

/* A kernel thread: it carries a VCPU, is spare, or carries a blocked thread. */
struct wefti_kthread {
	struct wefti_thread *sched;	/* kind SCHED: its scheduler loop */
	struct wefti_vcpu *vcpu;	/* NULL: spare, or its thread lost it */
	struct wefti_thread **self_slot;	/* its own wefti_tls_self */
	uintptr_t tp;			/* its own thread pointer */
	void *reader;			/* os/kthread/quiescent.h; for init/fork.c */
	_Atomic uint32_t wake;		/* futex while spare */
	_Atomic(struct wefti_vcpu *) given;	/* set by the monitor, for a spare */
	_Atomic(struct wefti_thread *) adopt;	/* at a stop: main comes home */
	struct wefti_kthread *spare_next;
	_Atomic(struct wefti_kthread *) all_next;
	struct wefti_kthread *again_next;
	_Atomic uint32_t again;		/* sched/again.c */
	_Atomic uint32_t ends;		/* a spare that is not needed any more */
	_Atomic uint32_t reserved;	/* sched/spare.c */
	_Atomic uint32_t listed;	/* in the stack of spares */
	int tid;
	uint32_t number;
	uint64_t mask;			/* its own signal mask */
	struct wefti_os_retry retry;	/* sched/preempt.c */
	struct wefti_os_kthread handle;
	struct wefti_cold cold;		/* of the thread sched */
	void *alt_stack;
};

enum wefti_rt_state { WEFTI_RT_OFF, WEFTI_RT_ON, WEFTI_RT_STOPPING };

struct wefti_runtime {
	_Atomic uint32_t state;
	unsigned vcpu_count;
	uint32_t own_tls;
	uint32_t crowding;		/* VCPUs for each CPU, less 1, rounded up */
	int process;			/* in which it was started */
	_Atomic uint32_t fence_on_entry; /* 0, or fences for membarrier; seat.h */
	int64_t slice_ns;
	uint64_t program_mask;		/* of weft_start()'s caller, then */
	char process_name[WEFTI_OS_KTHREAD_NAME];	/* the same */
	struct wefti_vcpu *vcpu[WEFTI_VCPUS_MAX];
	struct wefti_settings settings;
	unsigned stack_class;		/* of settings.stack */
	struct wefti_thread *main;
	_Atomic uint64_t main_waits;	/* life/exit.c: a ticket, or 0 */

	alignas(CACHE_LINE) _Atomic uint32_t idle_count;
	_Atomic uint32_t searching;
	_Atomic uint32_t announcer;	/* 1 + the VCPU whose `next` was announced last
					 * and not looked for */
	_Atomic uint64_t idle[WEFTI_IDLE_WORDS];
	_Atomic uint32_t timekeeper;	/* sched/timer.c */
	_Atomic int64_t kept_until;

	alignas(CACHE_LINE) struct wefti_fifo inject;

	alignas(CACHE_LINE) _Atomic int64_t coarse_now;
	_Atomic(struct wefti_kthread *) spares;	/* pushed by all, popped by
						 * the monitor alone */
	_Atomic(struct wefti_kthread *) again;	/* the same; again.c */
	_Atomic uint32_t spare_count;
	_Atomic uint32_t kthread_count;
	_Atomic uint32_t kthreads_made;
	_Atomic uint32_t monitor_wake;
	_Atomic uint32_t monitor_asleep;
	_Atomic uint32_t monitor_hurry;	/* a region was announced: look soon */
	_Atomic uint32_t monitor_stop;
	_Atomic(struct wefti_thread *) monitor;	/* its thread struct, of kind FOREIGN */
	_Atomic uint32_t few_blocked;	/* see life/block.c */
	_Atomic uint32_t served;	/* see sched/share.c */
	_Atomic uint64_t compensations;
	_Atomic int64_t blocked_ns;	/* of threads whose VCPU was taken */
	_Atomic uint64_t foreign_made, foreign_released;
	_Atomic uint64_t threads_peak;	/* see observe/stat.c */
	uint32_t cap_reported;
	_Atomic(struct wefti_kthread *) all;	/* except the first; changed by start,
						 * stop and the monitor */
};

extern struct wefti_runtime wefti_rt;

static inline struct wefti_vcpu *wefti_vcpu_at(unsigned index)
{
	return wefti_rt.vcpu[index];
}

/* Called by the owner: xorshift. */
static inline uint32_t wefti_vcpu_random(struct wefti_vcpu *v)
{
	uint32_t x = v->random;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	return v->random = x;
}

#endif

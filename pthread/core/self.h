/* SPDX-License-Identifier: MIT */
/* pthread/core/self.h - what this layer knows about each thread */
#ifndef WEFT_PTHREAD_CORE_SELF_H
#define WEFT_PTHREAD_CORE_SELF_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <ucontext.h>

#include "lockfree/atomic.h"
#include "sched/seat.h"
#include "thread/thread.h"

/* What can interrupt a wait. */
#define WEFTI_URGENT_SIGNAL	1u	/* a signal that the thread does not block */
#define WEFTI_URGENT_CANCEL	2u	/* it is cancelled, and has that enabled */
#define WEFTI_URGENT_ASKED	4u	/* it was cancelled; alone interrupts nothing */
#define WEFTI_URGENT_LOOK	8u	/* a wait for a descriptor has to check again */

/* What the program has set, and reads back. This is a copy of a thread's, or for one. */
struct wefti_schedule {
	int policy;			/* from here to raised: kept as one word */
	int8_t priority, nice;
	int8_t ceiling;			/* the highest held; pthread/sync/ceiling.c */
	int8_t raised;			/* its priority is at least this; or 0 */
	uint32_t io_priority;		/* WEFTI_IO_PRIORITY and the value; 0: not set */
	uint32_t slice_ns;		/* as sched_setattr() set it; 0: the kernel's */
	const cpu_set_t *cpus;		/* NULL: the process's */
	const struct wefti_memory_policy *memory;	/* the same */
	unsigned long timer_slack_ns;	/* 0: the process's */
	uint8_t is_own;			/* set at its creation, not inherited */
};

#define WEFTI_IO_PRIORITY	0x10000u	/* as ioprio_set() set it */

/* A thread's schedule. Other threads read and change it: pthread/kthread/scheduled.c. */
struct wefti_scheduled {
	_Atomic uint64_t word;		/* policy to raised of struct wefti_schedule */
	_Atomic uint32_t io_priority;
	_Atomic uint32_t slice_ns;
	_Atomic(const cpu_set_t *) cpus;
	_Atomic(const struct wefti_memory_policy *) memory;
	unsigned long timer_slack_ns;	/* its thread's alone */
	uint8_t is_own;			/* set before others know the thread */
	uint8_t fork_sets;		/* pthread/kthread/schedule_fork.c */
};

/* What sigaltstack() has set; bytes 0: none. */
struct wefti_altstack {
	char *low;
	size_t bytes;
};

/* How long a real-time thread has had its VCPU; pthread/kthread/real_time.c. */
struct wefti_turn {
	uint32_t stint;		/* as wefti_seat_taken(); 0: none */
	uint32_t over;		/* the thread has to yield */
	int64_t since;		/* when it began; if over: until when it is */
	int64_t used;		/* CPU time of its kernel thread when it began */
};

enum wefti_guard { WEFTI_GUARD_NONE, WEFTI_GUARD_ADVISED, WEFTI_GUARD_FORBIDDEN };

/* What a new thread runs, and where. */
struct wefti_begin {
	void *(*fn)(void *arg);
	void *arg;
	void *stack;		/* given by the program; NULL: none */
	size_t stack_bytes;
	size_t room;		/* how much it may use of our stack; 0: all, for its given one */
	size_t told_bytes;	/* the size reported for it: as asked for, as in libc */
	size_t guard_bytes;	/* the guard size reported; in whole pages */
	size_t more_guard;	/* how much that is more than the runtime's page */
	enum wefti_guard has_guard;	/* of that rest: pthread/thread/own_stack.c */
	uint8_t opens;		/* lets in what its creator blocks: it may wait already */
};

/* A thread's CPU time; pthread/kthread/cpu_clock.c. */
struct wefti_cpu_note {
	_Atomic int64_t used_ns;	/* until it came to its kernel thread */
	_Atomic int64_t since_ns;	/* CPU time of that kernel thread then */
	_Atomic uint32_t tid;		/* that kernel thread; 0: none, or not known */
};

/*
 * In each thread's TLS. Other threads find it by wefti_pt_of(), and write only the atomic
 * fields.
 */
struct wefti_pt {
	int id;			/* as owner of locks; 0: not known yet */
	_Atomic int tid;	/* gettid()'s result; green threads but the first */
	_Atomic uint8_t cancel_disabled;
	uint8_t cancel_async, cancel_held;	/* pthread/signal/cancel.h */
	uint8_t exiting;
	uint8_t cancel_told;	/* as the program set it: 1 is disabled */
	uint8_t cancel_shown;	/* to libc, which acts on it; pthread/signal/cancel.c */
	uint8_t ends;		/* what ends its region's call; pthread/signal/interrupt.h */
	_Atomic uint8_t real_time;	/* pthread/kthread/real_time.c; 0: no such policy */
	_Atomic uint32_t ended;		/* its function has returned */
	_Atomic uint32_t outlives;	/* ... and those of all others: it exits */
	_Atomic(struct wefti_pt *) joiner;	/* awaits its end; pthread/thread/join.c */
	void *result;
	_Atomic uint32_t urgent;
	_Atomic uint32_t awaits_child;	/* by a descriptor; pthread/process/ptrace.c */
	_Atomic uint64_t wait_seq;	/* of a wait in the lot or for descriptors; 0: none */
	_Atomic uint64_t mask;		/* signals that it blocks; green only */
	_Atomic uint64_t pending;	/* signals sent to it alone */
	_Atomic uint64_t waited;	/* sigwait() waits for these; 0: none */
	uint32_t handled;		/* how many handlers have run in it */
	uint32_t handled_no_restart;	/* ... those without SA_RESTART */
	uint32_t robust_held;		/* mutexes; pthread/shared/robust.c */
	uint32_t pi_held;		/* mutexes; pthread/shared/pi.c */
	struct wefti_deputy *deputy;	/* NULL: it needs none; pthread/shared/deputy.h */
	uint32_t rooms_used;		/* of the list; pthread/signal/room.h */
	_Atomic uint32_t taking;	/* it takes a signal; wefti_signal_taken() */
	_Atomic uint32_t told;		/* another signal came meanwhile */
	ucontext_t *interrupted;	/* where; for the next handler */
	struct wefti_room *room;
	siginfo_t *infos;		/* of pending, by signal; or NULL */
	struct wefti_scheduled schedule;
	struct wefti_turn turn;
	struct wefti_ceilings *ceilings;	/* NULL: none yet; pthread/sync/ceiling.c */
	struct wefti_altstack altstack;
	struct wefti_begin begin;
	char name[16];			/* its own, or its creator's */
	_Atomic(char *) comm;		/* written by the program; pthread/kthread/proc.c */
	int *tid_address;		/* NULL: libc's own */
	long answers;			/* the system call, by a function; pthread/init/tied_call.c */
	_Atomic uint32_t cpu_turn;	/* its lowest bit: the note in force */
	struct wefti_cpu_note cpu[2];
};

extern _Thread_local struct wefti_pt wefti_pt
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

int wefti_pt_make_id(void);

/*
 * A new number for gettid(). It differs for each thread while numbers last. Called inside
 * the runtime. forget: in the child of a fork, since a child has numbers of its own.
 */
int wefti_pt_make_tid(void);
void wefti_pt_forget_tids(void);

/*
 * The caller's id as an owner of locks. It stays the same all its life, through a fork.
 */
static inline int wefti_pt_id(void)
{
	int id = wefti_pt.id;

	return likely(id) ? id : wefti_pt_make_id();
}

/* Is the caller a kernel thread of libc's? So is each while the runtime is off. */
static inline int wefti_pt_is_libcs(void)
{
	const struct wefti_thread *self = wefti_self();

	return !self || self->kind == WEFTI_KIND_FOREIGN;
}

/* self is the caller, or NULL: the same, if it is a green thread outside the runtime. */
static inline struct wefti_thread *wefti_pt_green_as(struct wefti_thread *self)
{
	if (!self || (self->kind != WEFTI_KIND_GREEN &&
		      self->kind != WEFTI_KIND_MAIN) ||
	    load_relaxed(&self->in_runtime))
		return NULL;
	return self;
}

static inline struct wefti_thread *wefti_pt_green(void)
{
	return wefti_pt_green_as(wefti_self());
}

static inline struct wefti_pt *wefti_pt_at(uintptr_t tp)
{
	return (struct wefti_pt *)((uintptr_t)&wefti_pt - wefti_arch_tp_get() + tp);
}

/* The same struct of another thread, while that thread lives. */
static inline struct wefti_pt *wefti_pt_of(const struct wefti_thread *t)
{
	return wefti_pt_at(t->tp);
}

/*
 * The same for what stands in the table of threads: t may end, and another thread begin
 * in its place, at any moment. So only atomic fields are read, by load_seq_cst, and count
 * only if wefti_pt_is_same() after that. NULL: t is no live thread of the program.
 */
struct wefti_pt *wefti_pt_peek(const struct wefti_thread *t, uint32_t *gen);

static inline int wefti_pt_is_same(const struct wefti_thread *t, uint32_t gen)
{
	return load_seq_cst(&t->gen) == gen;
}

/* t has not been joined yet. The thread that exits for all counts as alive again. */
static inline int wefti_pt_has_ended(const struct wefti_thread *t)
{
	const struct wefti_pt *pt = wefti_pt_of(t);

	return load_relaxed(&pt->ended) && !load_relaxed(&pt->outlives);
}

static inline int wefti_pt_is_urgent(uint32_t what)
{
	return (load_seq_cst(&wefti_pt.urgent) & what) != 0;
}

/*
 * A wait that other threads may interrupt. They set the reason, then check for a wait.
 * The thread begins a wait, then checks for a reason. Threads wait far more often than
 * they are interrupted, so the interrupting thread pays for the fence.
 */
static inline void wefti_pt_wait_begins(uint64_t seq)
{
	store_relaxed(&wefti_pt.wait_seq, seq);
	wefti_membarrier_light();	/* of self.c: P1 */
}

static inline void wefti_pt_wait_ends(void)
{
	store_relaxed(&wefti_pt.wait_seq, (uint64_t)0);
}

/* Gives t a reason, ends its wait if it is in one, and interrupts it elsewhere. */
void wefti_pt_urge(struct wefti_thread *t, uint32_t why);

/* The green thread with this pthread_t; NULL: it is a kernel thread of libc's. */
struct wefti_thread *wefti_pt_thread(pthread_t thread);

/*
 * The same, and also for a thread that has ended, as long as no kernel thread uses its
 * block. The result is that thread, or already another. libc's calls would wait for it
 * for ever.
 */
struct wefti_thread *wefti_pt_was_thread(pthread_t thread);
pthread_t wefti_pt_handle(const struct wefti_thread *t);

/*
 * The thread whose gettid() is id, if a green thread asks; 0 is the caller itself. NULL:
 * no green thread has that id, or a kernel thread asks; then the kernel has to answer.
 * As with the kernel's ids, the id of a thread that ends now may soon be another's.
 */
struct wefti_thread *wefti_pt_find(pid_t id);

/* The same for any caller, with the id that libc has for a green thread made here. */
struct wefti_thread *wefti_pt_find_made(pid_t id);

/* The same for anybody, the first thread included. */
struct wefti_thread *wefti_thread_by_id(pid_t id);

#define WEFTI_KERNEL_IDS	(1 << 22)	/* its own are below */

pid_t wefti_thread_id_process(pid_t id);

/* The process, where a green thread is named: to the kernel that is the same. */
static inline pid_t wefti_process_of(pid_t id)
{
	return likely(id < WEFTI_KERNEL_IDS) ? id : wefti_thread_id_process(id);
}

#endif

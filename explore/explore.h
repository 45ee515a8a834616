/* SPDX-License-Identifier: MIT */
/* explore/explore.h - threads that take turns, and the objects that they share */
#ifndef WEFT_EXPLORE_EXPLORE_H
#define WEFT_EXPLORE_EXPLORE_H

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

#include "report.h"

#define WEFTI_EX_NEVER	INT64_MAX	/* no deadline */

/* What a thread does at a step. The words are those of a report and a trace. */
#define WEFTI_EX_OPS(OP) \
	OP(BEGIN, "begins") OP(END, "ends") OP(CREATE, "creates") \
	OP(CREATED, "has created") OP(JOIN, "joins") OP(DETACH, "detaches") \
	OP(CANCEL, "cancels") OP(KILL, "sends a signal to") OP(HANDLE, "gets a signal from") \
	OP(LOCK, "locks") OP(TRYLOCK, "tries to lock") OP(UNLOCK, "unlocks") \
	OP(DESTROY, "destroys") OP(WAIT, "waits for") OP(RELOCK, "locks again") \
	OP(SIGNAL, "signals") OP(BROADCAST, "broadcasts") \
	OP(POST, "posts") OP(TAKE, "takes") OP(TRYTAKE, "tries to take") \
	OP(READ, "locks for reading") OP(TRYREAD, "tries to lock for reading") \
	OP(WRITE, "locks for writing") OP(TRYWRITE, "tries to lock for writing") \
	OP(MEET, "comes to") OP(ONCE, "runs once") \
	OP(YIELD, "yields") OP(SLEEP, "sleeps") OP(IN, "reads a descriptor") \
	OP(OUT, "writes a descriptor") OP(POLL, "polls") OP(SIGWAIT, "waits for a signal") \
	OP(LOAD, "reads") OP(STORE, "writes") OP(ATOMIC_LOAD, "reads the atomic") \
	OP(ATOMIC_STORE, "changes the atomic") \
	OP(CHILD, "waits for a child") OP(FILE_LOCK, "locks a file") \
	OP(FILE_UNLOCK, "unlocks a file") OP(CONNECT, "connects") OP(LOOK, "looks at") \
	OP(SEND, "sends a message") OP(RECEIVE, "receives a message") \
	OP(SEMOP, "changes System V semaphores") OP(OPEN, "opens a named pipe") \
	OP(CHAN_SEND, "sends to") OP(CHAN_RECEIVE, "receives from") OP(CLOSE, "closes") \
	OP(CLOSE_FD, "closes a descriptor") OP(ALT, "waits for the first of several") \
	OP(GROUP_WAIT, "waits for the threads of") \
	OP(PUSH, "puts into") OP(POP, "takes from") \
	OP(ASK, "asks again and again")

enum wefti_ex_op {
#define WEFTI_EX_NAME(name, text)	WEFTI_EX_##name,
	WEFTI_EX_OPS(WEFTI_EX_NAME)
#undef WEFTI_EX_NAME
};

enum wefti_ex_kind { WEFTI_EX_NOTHING, WEFTI_EX_MUTEX, WEFTI_EX_COND, WEFTI_EX_RWLOCK,
		     WEFTI_EX_SEM, WEFTI_EX_BARRIER, WEFTI_EX_SPIN, WEFTI_EX_FLAG,
		     WEFTI_EX_LOCATION, WEFTI_EX_FUTEX, WEFTI_EX_CHAN, WEFTI_EX_GROUP,
		     WEFTI_EX_RING, WEFTI_EX_STACK, WEFTI_EX_STREAM };

/* What is known of an object at an address: of the lock that the program sees there. */
struct wefti_ex_object {
	const void *at;
	uint32_t number;	/* in the order of their first use */
	uint32_t kind;
	uint32_t holder;	/* a thread's number; of a mutex, a writer, a running once; or 0 */
	uint32_t depth;		/* of a recursive mutex */
	const void *locker;	/* the key of the thread that has locked the mutex last */
	uint32_t was_held;	/* a constructor may have locked it before the run began */
	uint32_t readers;
	uint32_t count, arrived;	/* barrier */
	uint32_t is_destroyed;
	uint64_t past;			/* fork.c */
};

/* The steps of each thread that happen before (clock.c). */
struct wefti_ex_clock {
	uint32_t n, room;
	uint32_t *at;		/* [thread - 1] */
};

struct wefti_ex_frame {
	const void *at;		/* on the stack */
	uint32_t stack;		/* its number */
};

/* A handler has run; and one without SA_RESTART. */
enum wefti_ex_interrupts { WEFTI_EX_HANDLED = 1, WEFTI_EX_NO_RESTART = 2 };

/* A thread of weft's own (native_memory.c) */
struct wefti_ex_native_state {
	uintptr_t stack_top, stack_low;	/* of what its functions have used */
	uint32_t stays;		/* sections in which it must not yield */
	uint32_t blocks;	/* in regions where it may run beside others */
};

enum wefti_ex_state { WEFTI_EX_READY, WEFTI_EX_BLOCKED, WEFTI_EX_ENDED };

/* What a thread runs. entry: the program's function, which fn calls or is */
struct wefti_ex_call {
	void *(*fn)(void *arg);
	void *arg;
	const void *entry;
	const void *group;	/* that it is of; or NULL */
};

struct wefti_ex_thread {
	uint32_t number;
	enum wefti_ex_state state;
	sem_t turn;			/* posted when the thread gets the turn */
	struct wefti_ex_thread *next;	/* all that are not joined, in order of creation */
	pthread_t id;
	struct wefti_ex_call call;
	int is_detached, ends;
	/* the step that it is about to make, or in which it waits */
	enum wefti_ex_op op;
	struct wefti_ex_object *object;
	const void *where;
	uint32_t peer;			/* the thread that the step is about; 0: none */
	/* while BLOCKED */
	const void *waits_at;
	const void *waited_at;		/* the same at the end of a wait: a requeue moves it */
	int64_t deadline;
	struct pollfd *fds;		/* that it waits for; or NULL */
	nfds_t fd_count;
	const struct wefti_ex_try *again;	/* that it waits for: it is made anew; or NULL */
	const sigset_t *awaits;		/* signals that it waits for; or NULL */
	const sigset_t *suspends;	/* the mask of its sigsuspend(), while it waits; or NULL */
	volatile int is_handled;	/* a handler has run there without the turn */
	int is_timed_out, is_signalled;
	const void *meets_at;		/* the barrier that it waits at; or NULL */
	uint64_t signals;		/* sent to it; it gets them with the turn (signal.c) */
	uint32_t sender;
	int is_interrupted;		/* a handler has run while it waited */
	uint64_t priority;		/* see strategy.c */
	/* signs that it waits for another thread in a loop (strategy.c) */
	uint32_t in_row;		/* steps in this turn while others could run */
	uint32_t fruitless;		/* calls in this turn that have found nothing */
	uint32_t asked;			/* calls since its last point that are none */
	int is_due;			/* its deadline had come when it began to wait */
	struct wefti_ex_passing *passing;	/* once.c */
	uint32_t choices;		/* that it has made */
	uint32_t choices_at_step;	/* how many there were (native.c) */
	uint64_t past;			/* fork.c */
	uint64_t weight;		/* strategy.c */
	/* accesses to memory: race.h */
	struct wefti_ex_clock clock;
	struct wefti_ex_clock seen;	/* by relaxed loads, for an acquire fence */
	struct wefti_ex_clock fenced;	/* by release fences, for relaxed stores */
	struct wefti_ex_frame *frames;
	uint32_t frame_count, frame_room;
	struct wefti_ex_native_state native;
	uint64_t accesses;
	const volatile void *spun_at;	/* it reads this location again and again: spun times */
	uint64_t spun;
};

struct wefti_ex_state_of_run {
	int is_watched;			/* weft explore reads the report */
	int is_on, traces, has_forks;
	int has_spurious;		/* waits end without a signal, too: spurious.c */
	int is_native;			/* a program of libweft.so: native.c */
	char strategy[WEFTI_EX_STRATEGY];
	uint64_t seed;
	uint64_t steps_most;
	struct wefti_ex_thread *holder;	/* the thread that has the turn */
	int leaving;			/* the kernel's number of the last holder; 0: it goes on */
	volatile int is_choosing;	/* a handler may interrupt the holder there */
	int leaves_races;		/* they are not to be looked for */
	int looks_for_races;		/* a module is instrumented, and they are */
	int learns, has_sites;		/* sites.c */
	uint64_t one_in;		/* one access in so many is a point; 0: sites */
	uint64_t race_to_end;		/* the run ends at a race with this key; 0: at none */
	uint64_t location_to_end;	/* the same */
	struct wefti_ex_thread *all, *last;
	struct wefti_ex_report *report;
	uint64_t early;		/* one step in so many lets a deadline come early; 0: none */
	int watches;			/* a thread has waited for descriptors */
	int64_t now;			/* virtual, in ns since the run's begin */
};

extern struct wefti_ex_state_of_run wefti_ex;
extern __thread struct wefti_ex_thread *wefti_ex_self;

/* The caller if it has the turn; NULL: its calls are the next library's alone. */
static inline struct wefti_ex_thread *wefti_ex_controlled(void)
{
	struct wefti_ex_thread *self = wefti_ex_self;

	return self && self == wefti_ex.holder && !wefti_ex.is_choosing ? self : NULL;
}

/* The library's data is about to change: what a handler calls is the next library's. */
static inline int wefti_ex_shut(void)
{
	const int was = wefti_ex.is_choosing;

	wefti_ex.is_choosing = 1;
	return was;
}

static inline void wefti_ex_open(int was)
{
	wefti_ex.is_choosing = was;
}

/* schedule.c. A point: another thread may get the turn before the caller's step. */
void wefti_ex_point(struct wefti_ex_thread *self, enum wefti_ex_op op,
		    struct wefti_ex_object *object, const void *where);

/* The same, of a step that is about another thread. */
void wefti_ex_point_of(struct wefti_ex_thread *self, enum wefti_ex_op op, uint32_t peer,
		       const void *where);

/* Waits until a thread wakes `at`, or the deadline. Returns 1 after the deadline. */
int wefti_ex_block(struct wefti_ex_thread *self, const void *at, int64_t deadline);
void wefti_ex_wake_all(const void *at);
/* Wakes one of the waiting threads, which is a choice. */
void wefti_ex_wake_one(const void *at);
void wefti_ex_note(struct wefti_ex_thread *self, enum wefti_ex_op op,
		   struct wefti_ex_object *object, const void *where);
/* The caller has ended: gives the turn away for good. */
void wefti_ex_leave(struct wefti_ex_thread *self);
void wefti_ex_wait_turn(struct wefti_ex_thread *self);
/* Around what the library itself calls, where a cancellation must not come. */
int wefti_ex_no_cancel(void);
void wefti_ex_cancel_again(int state);
void wefti_ex_add(struct wefti_ex_thread *t);
void wefti_ex_remove(struct wefti_ex_thread *t);

/*
 * The same file. A choice of self begins, as a step. Which of the ready threads runs next; they
 * are in the order of creation, and one at least.
 */
void wefti_ex_begin_choice(struct wefti_ex_thread *self);
struct wefti_ex_thread *wefti_ex_choose(struct wefti_ex_thread *self,
					struct wefti_ex_thread **ready, unsigned n);

/* strategy.c */
int wefti_ex_strategy_is_known(const char *name);
void wefti_ex_strategy_begin(const char *name, uint64_t seed);
void wefti_ex_strategy_thread(struct wefti_ex_thread *t);
struct wefti_ex_thread *wefti_ex_pick(struct wefti_ex_thread **ready, unsigned n,
				      struct wefti_ex_thread *self);
/* Does the next step belong to another thread, whatever the strategy? */
int wefti_ex_yields(const struct wefti_ex_thread *t);
/* That, or it goes on for so long that another thread may be what it waits for. */
int wefti_ex_gives_way(const struct wefti_ex_thread *t, uint32_t row);
/* The caller's call has found a lock taken, or no data, and does not wait. */
void wefti_ex_found_nothing(void);
void wefti_ex_stepped(struct wefti_ex_thread *self);
/* Counts the step, unless it needs no bound. Returns how many there were. */
uint64_t wefti_ex_count_step(const struct wefti_ex_thread *self);
uint64_t wefti_ex_random(void);

/* choice.c: runs by a list of choices, where there is a list; and what a run has chosen */
void wefti_ex_list_begin(const char *list);	/* NULL: there is none */
int wefti_ex_has_list(void);
/* The TO of the list for this choice of the thread; 0: the list has none. */
uint32_t wefti_ex_listed(const struct wefti_ex_thread *by, char what);
void wefti_ex_chosen(const struct wefti_ex_thread *by, char what, uint32_t to);
/* What a run without a list of choices does. */
struct wefti_ex_thread *wefti_ex_plain(struct wefti_ex_thread **ready, unsigned n,
				       struct wefti_ex_thread *self);
struct wefti_ex_thread *wefti_ex_by_list(struct wefti_ex_thread **ready, unsigned n,
					 struct wefti_ex_thread *self);
/*
 * fork.c: what a search needs of a run. A step, and the end of a wait, add to the past. A
 * fork is a choice among n threads, of which `plain` is the plain one.
 */
void wefti_ex_past(struct wefti_ex_thread *self, enum wefti_ex_op op,
		   struct wefti_ex_object *object);
void wefti_ex_past_choice(struct wefti_ex_thread *by, struct wefti_ex_thread *chosen);
void wefti_ex_fork_of(const struct wefti_ex_thread *by, char what,
		      struct wefti_ex_thread **ready, unsigned n, uint32_t plain);
#define WEFTI_EX_THREADS	1024u	/* that are alive at one time */

/*
 * descriptor.c: threads that wait for descriptors which are ready, or for signals that are
 * pending, can run. waits: until there is one. Returns 0 if there is none.
 */
int wefti_ex_descriptors(int waits);

/*
 * The same file. Waits until a call that does not wait finds something, or for the deadline;
 * fds: when to make it again; NULL: at each step of the others, unless signals are
 * awaited. Returns what the call does: 0 if it has found nothing.
 */
struct wefti_ex_try {
	int (*now)(void *arguments);
	void *arguments;
};
int wefti_ex_wait_ready(const struct wefti_ex_try *call, struct pollfd *fds, nfds_t n,
			int64_t deadline, enum wefti_ex_op op, const void *where);

/*
 * The same file. As wefti_ex_wait_ready(), for a call that goes on behind a handler with
 * SA_RESTART. Waits ns of real time, but not for long, for a child that a thread waits for.
 */
int wefti_ex_wait_restarted(const struct wefti_ex_try *call, struct pollfd *fds, nfds_t n,
			    int64_t deadline, enum wefti_ex_op op, const void *where);
int wefti_ex_child_ends_in(int64_t ns);

/* object.c */
struct wefti_ex_object *wefti_ex_object(const void *at, enum wefti_ex_kind kind,
					const void *where);
/* A point of a call on the object, and the object behind it. */
struct wefti_ex_object *wefti_ex_object_point(const void *at, enum wefti_ex_kind kind,
					      enum wefti_ex_op op, const void *where);
struct wefti_ex_object *wefti_ex_object_again(const struct wefti_ex_object *copy);
void wefti_ex_object_begins(const void *at, enum wefti_ex_kind kind);
void wefti_ex_object_ends(struct wefti_ex_object *o, void *memory);
/* The thread ends with these mutexes: a later try of a robust one gets it. For a search. */
void wefti_ex_leaves_objects(struct wefti_ex_thread *self);
const char *wefti_ex_kind_name(uint32_t kind);
void *wefti_ex_memory(size_t bytes);
/* A location in memory, which may be the first one of another object. */
struct wefti_ex_object *wefti_ex_location(const volatile void *at);

/* tell.c. Writes the verdict and ends the process by SIGABRT. */
_Noreturn void wefti_ex_misuse(const void *where, const struct wefti_ex_object *o,
			       const char *what);
_Noreturn void wefti_ex_stuck(enum wefti_ex_verdict verdict);
_Noreturn void wefti_ex_limit(const char *what);
/* The line at the end of a run that no program looks at. */
void wefti_ex_tell_end(void);
void wefti_ex_trace(const struct wefti_ex_thread *t);
void wefti_ex_put(const char *text, size_t n);
#define WEFTI_EX_PLACE_TEXT	256
const char *wefti_ex_place_name(const void *where, char line[WEFTI_EX_PLACE_TEXT]);
_Noreturn void wefti_ex_end_run(enum wefti_ex_verdict verdict);

/*
 * clock.c. The thread's acts so far happen before those of another one behind its take() of
 * the same key; a child's begin is behind its creation. A key is the address of
 * what orders the two.
 */
void wefti_ex_give(struct wefti_ex_thread *self, const volatile void *key);
void wefti_ex_take(struct wefti_ex_thread *self, const volatile void *key);
void wefti_ex_forget_key(const volatile void *key);
void wefti_ex_begins_after(struct wefti_ex_thread *child, struct wefti_ex_thread *self);

/* heap.c: a thread begins on memory that others may have had. */
void wefti_ex_forget_own(void);

/* mutex.c, for cond.c and c11.c */
int wefti_ex_lock(pthread_mutex_t *m, int64_t deadline, enum wefti_ex_op op,
		  const void *where);
int wefti_ex_trylock(pthread_mutex_t *m, const void *where);
int wefti_ex_unlock(pthread_mutex_t *m, const void *where);
int wefti_ex_mutex_destroy(pthread_mutex_t *m, const void *where);
/* Unlocks without a point. misuse: the words if the caller does not hold it, or NULL. */
int wefti_ex_release(pthread_mutex_t *m, const char *misuse, const void *where);

/* time.c: so many ns from now on; negative: never */
int64_t wefti_ex_in(int64_t ns);
int64_t wefti_ex_earliest(void);	/* deadline of all waits, or WEFTI_EX_NEVER */
void wefti_ex_expire(void);		/* ends the waits whose deadline has come */
/* At each step. first: the earliest deadline. It may come early, which is a choice. */
void wefti_ex_pass_time(struct wefti_ex_thread *self, int64_t first);
/* Has the deadline come for a wait that begins now? The wait's first step takes time, too. */
int wefti_ex_is_due(int64_t deadline);

/* cond.c, for c11.c */
int wefti_ex_cond_wait(pthread_cond_t *c, pthread_mutex_t *m, int64_t deadline,
		       const void *where);
int wefti_ex_cond_signal(pthread_cond_t *c, const void *where);
int wefti_ex_cond_broadcast(pthread_cond_t *c, const void *where);
int wefti_ex_cond_destroy(pthread_cond_t *c, const void *where);

/* spurious.c. A choice at a step of self. */
void wefti_ex_wake_without_reason(struct wefti_ex_thread *self);
/* The thread among some whose wait ends so; NULL: none. */
struct wefti_ex_thread *wefti_ex_is_spurious(struct wefti_ex_thread *self,
					     struct wefti_ex_thread **some, unsigned n);

/*
 * sigwait.c. Is such a signal pending, or has a handler run? The wait for the turn of a
 * thread in sigsuspend(). May a signal come, without another process?
 */
int wefti_ex_is_awaited(const struct wefti_ex_thread *t);
int wefti_ex_wait_suspended(struct wefti_ex_thread *self);
int wefti_ex_signals_may_come(void);

/* signal.c. With the turn: the signals that were sent to the caller. */
void wefti_ex_deliver(struct wefti_ex_thread *self);
struct wefti_ex_thread *wefti_ex_find(pthread_t id);	/* life.c */

/* life.c, for c11.c */
int wefti_ex_create(pthread_t *id, const pthread_attr_t *attr,
		    const struct wefti_ex_call *call, const void *where);
int wefti_ex_detach(pthread_t id, const void *where);
int wefti_ex_join(pthread_t id, void **result, int64_t deadline, const void *where);
void wefti_ex_cancel_point(struct wefti_ex_thread *self);

/*
 * time.c. The virtual deadline of a clock's time. Returns 0, or EINVAL, which libc's
 * functions return for such a time.
 */
int wefti_ex_deadline(clockid_t clock, const struct timespec *time, int64_t *deadline);
int wefti_ex_yield(const void *where);	/* returns 0 */
/* At a call that is no point, and that a loop may make until a thread or time ends it. */
void wefti_ex_asks(const void *where);
/* Returns 0, or -1 with EINTR. */
int wefti_ex_sleep(struct wefti_ex_thread *self, int64_t deadline, const void *where);

#endif

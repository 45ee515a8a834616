/* SPDX-License-Identifier: MIT */
/*
 * record/format.h - the recorder's memory, as other processes and files have it
 *
 * The recorder's memory is one sealed memfd, mapped shared. A file that
 * weft_trace_write() has made is a copy of it, byte for byte. A reader finds the memory
 * of a living process in either of two ways:
 *   - a descriptor whose link in /proc/PID/fd begins with "/memfd:weft-record". A reader
 *     opens it for reading only. The seals forbid another size.
 *   - a mapping of that name in /proc/PID/maps, read through /proc/PID/mem. It is there
 *     also if the program has closed the descriptor.
 * The kernel lets the same user and root do either, as it lets them trace the process.
 *
 * All numbers have the byte order of the machine. The parts, in this order:
 *
 *   struct wefti_record_head	at 0; says where the others begin
 *   struct wefti_record_name	head.name_count of them, at head.names_at
 *   struct wefti_record_ring	head.ring_count of them, at head.rings_at
 *   struct wefti_event		head.ring_count times head.ring_events, at
 *				head.events_at: ring after ring
 *
 * Rings
 *   Ring i < head.vcpus is VCPU i's: only the kernel thread that carries the VCPU
 *   writes it. Ring head.vcpus, the common ring, is that of spares, kernel threads whose
 *   VCPU was taken, foreign threads, and handlers that interrupted the runtime. Ring
 *   head.vcpus + 1 is the monitor's. A reader has no use for telling one ring from
 *   head.vcpus on from another, and a later version may have more of them.
 *   Event number n of a ring, counted from 0, is in slot n % head.ring_events.
 *   ring.count is how many there were; the last head.ring_events are still there.
 *
 * Torn and overwritten events
 *   Event n has (uint32_t)(n + 1) in the upper half of event.word. A writer first sets
 *   event.word to that number with the kind WEFTI_EVENT_NONE, then the other words, then
 *   event.word with the kind. A reader loads event.word, the others, and event.word
 *   again, each with acquire (on x86 in this order). The event is whole if both loads
 *   of event.word are the same, the kind is not NONE, and the number is that of the
 *   slot's event. Else it was overwritten, or its writer was stopped or killed: the
 *   reader leaves it out. In the common ring a slot whose writer is stopped is passed
 *   over by later writers, and counted in ring.lost. It then has an older number.
 *
 * Time
 *   event.time is in ticks of head.clock: the CPU's counter, or nanoseconds of
 *   CLOCK_MONOTONIC where the counter does not run at one rate. An event's time in
 *   nanoseconds of CLOCK_MONOTONIC is
 *	head.start_ns + (event.time - head.start_ticks) * 1e9 / head.ticks_per_second
 *   A live reader can get a better rate: head.start_* and its own reading of both
 *   clocks. The events of one VCPU's ring are in the order of their times. Between two
 *   rings the counter is read in no strict order: a thread's RUN on another VCPU may
 *   seem a few nanoseconds earlier than its READY.
 *
 * Names
 *   A thread's id is gen:32 | slot:32. Name number i is that of slot i; the names of
 *   threads in later slots are only in NAME events. There is one when a thread gets its
 *   name. When recording begins, there is one for each such thread that has a name, up to
 *   a quarter of the common ring: 2,730 threads, in a ring of 1 MiB. A word of a name is
 *   gen:32 | four bytes, and counts if gen is the thread's. A thread without a name has
 *   none. SPAWN has the function with which it began.
 */
#ifndef WEFT_RECORD_FORMAT_H
#define WEFT_RECORD_FORMAT_H

#include <stdint.h>

#include "lockfree/atomic.h"

#define WEFTI_RECORD_MAGIC	"weftrec"	/* 8 bytes, with the NUL */
#define WEFTI_RECORD_VERSION	2u
#define WEFTI_RECORD_FILE	"weft-record"	/* the memfd's name */
#define WEFTI_RECORD_OTHERS	2u	/* rings that are no VCPU's */

/* head.clock */
#define WEFTI_RECORD_CYCLES	0u	/* the CPU's counter: TSC, CNTVCT, time */
#define WEFTI_RECORD_NS		1u	/* CLOCK_MONOTONIC */

struct wefti_record_head {
	char magic[8];
	uint32_t version;
	uint32_t head_bytes;	/* of this struct, in this version */
	uint32_t event_bytes;	/* 32 */
	uint32_t vcpus;
	uint32_t ring_count;	/* vcpus + WEFTI_RECORD_OTHERS */
	uint32_t ring_events;	/* of each ring; a power of two */
	uint32_t name_count;
	uint32_t clock;
	uint64_t names_at, rings_at, events_at;	/* in bytes from the start */
	uint64_t bytes;		/* of the whole memory */
	uint64_t start_ticks;	/* the same moment in three clocks: head.clock, */
	int64_t start_ns;	/* CLOCK_MONOTONIC, */
	int64_t start_real_ns;	/* CLOCK_REALTIME */
	_Atomic uint64_t ticks_per_second;
	_Atomic uint32_t pid;	/* of the process that writes */
	_Atomic uint32_t on;	/* 1 while it records */
	_Atomic uint32_t starts;	/* how often recording was switched on */
	_Atomic uint32_t stacks;	/* WEFTI_RECORD_STACKS */
};

#define WEFTI_RECORD_RATE_NS	INT64_C(100000000)	/* a shorter time gives no better rate */

/*
 * Takes the rate of so many ticks in ns, if that is a better one. The counter may be another
 * one than at the start: the reader's, of a process under an emulator, or that of the
 * machine to which the process was moved. Then the rate is far from the known one.
 */
static inline void wefti_record_rate(struct wefti_record_head *head, uint64_t ticks, int64_t ns)
{
	const uint64_t known = load_relaxed(&head->ticks_per_second);
	unsigned __int128 rate;

	if (ns < WEFTI_RECORD_RATE_NS)
		return;
	rate = (unsigned __int128)ticks * 1000000000 / (uint64_t)ns;
	if (rate > known - known / 4 && rate < known + known / 4)
		store_relaxed(&head->ticks_per_second, (uint64_t)rate);
}

#define WEFTI_RECORD_NAME_BYTES	32u

struct wefti_record_name {
	_Atomic uint64_t word[WEFTI_RECORD_NAME_BYTES / 4];
};

struct wefti_record_ring {
	_Atomic uint64_t count;	/* events since the memory was made, with lost ones */
	_Atomic uint64_t lost;	/* only in the common ring */
	uint64_t reserved[6];
};

/*
 * word = number:32 | detail:24 | kind:8. What the fields mean, each kind says. An event
 * stands in the ring of the VCPU on which it happens, in the monitor's, or in the common ring.
 */
struct wefti_event {
	_Atomic uint64_t word;
	_Atomic uint64_t time;
	_Atomic uint64_t thread;	/* a thread's id; 0: none */
	_Atomic uint64_t arg;
};

_Static_assert(sizeof(struct wefti_event) == 32, "half a cache line");

#define WEFTI_EVENT_KIND(word)		((unsigned)((word) & 0xff))
#define WEFTI_EVENT_DETAIL(word)	((uint32_t)((word) >> 8 & 0xffffff))
#define WEFTI_EVENT_NUMBER(word)	((uint32_t)((word) >> 32))
#define WEFTI_EVENT_WORD(number, detail, kind) \
	((uint64_t)(uint32_t)(number) << 32 | (uint64_t)((detail) & 0xffffff) << 8 | \
	 (uint64_t)(kind))

enum wefti_event_kind {
	WEFTI_EVENT_NONE,	/* never written, or being written */
	/*
	 * A switch. From here on this VCPU runs `thread`; 0: its scheduler loop, which
	 * looks for work. detail: how the thread that ran before has left
	 * (enum wefti_event_left). arg: the address that it waits for, or 0; for
	 * WEFTI_LEFT_SPAWNED the child is the thread that runs now. The first RUN of a
	 * thread is its first run. The thread that ran before is that of the ring's last
	 * RUN.
	 */
	WEFTI_EVENT_RUN,
	/*
	 * `thread` is ready now. detail: enum wefti_event_ready, and WEFTI_READY_INJECTED.
	 * arg: the id of the thread that made it ready; 0: the scheduler loop, or a
	 * handler.
	 */
	WEFTI_EVENT_READY,
	/* A foreign thread goes to sleep in a wait, and goes on. detail and arg of SLEEP
	 * are those of a RUN. */
	WEFTI_EVENT_SLEEP,
	WEFTI_EVENT_GO_ON,
	/* In front of a RUN: the wait of the thread that leaves ends at `arg` at the
	 * latest, in nanoseconds of CLOCK_MONOTONIC. */
	WEFTI_EVENT_DEADLINE,
	/* `thread` was spawned. arg: the function with which it begins. STACK may follow. */
	WEFTI_EVENT_SPAWN,
	/* `thread` has ended, and its id with it: it was joined, or detached. arg: the
	 * id of the thread that joined it; 0: it was detached. */
	WEFTI_EVENT_RELEASED,
	/* TEXT follows: the name that `thread` gets. */
	WEFTI_EVENT_NAME,
	/*
	 * Continues the last event that was no TEXT: time, thread and arg are up to 24
	 * bytes of text, in this order. detail: how many bytes. The text goes on in the
	 * next event if that is TEXT too.
	 */
	WEFTI_EVENT_TEXT,
	/*
	 * Continues the last event that was no STACK. That is a RUN, a SAMPLE or a SPAWN. Time,
	 * thread and arg are words of a struct wefti_record_stack, and behind it of the
	 * stack from its sp on. detail: how many of the three. Behind a RUN it is the stack
	 * with which `thread` has waited, behind a SPAWN that of the spawning thread.
	 */
	WEFTI_EVENT_STACK,
	/*
	 * This VCPU took ready threads from VCPU number `arg`. thread: the one that it
	 * runs. detail: how many. The others are known by their RUN, which is in another
	 * ring than their READY. The thief moves all of them at once. When it could look
	 * at them, they may already be another thief's.
	 */
	WEFTI_EVENT_STEAL,
	/* The slice of `thread` is over. arg: where it was. RUN follows if it gives
	 * way. */
	WEFTI_EVENT_PREEMPT,
	/*
	 * VCPU number `detail` was taken from `thread`, which blocks or computes.
	 * arg: the system call's number; UINT64_MAX: none, or not known.
	 */
	WEFTI_EVENT_TAKEN,
	/* `thread` has noticed that its VCPU was taken, and waits for another. READY is
	 * next. arg: for how long it was without, in nanoseconds. */
	WEFTI_EVENT_SEAT_LOST,
	/* `thread` enters a region in which it may block, and leaves it. */
	WEFTI_EVENT_BLOCK_BEGIN,
	WEFTI_EVENT_BLOCK_END,
	/* This VCPU's kernel thread goes to sleep, and goes on. */
	WEFTI_EVENT_IDLE,
	WEFTI_EVENT_AWAKE,
	/* `thread`, or the scheduler loop (0), wakes idle VCPU number `detail`. */
	WEFTI_EVENT_WAKE,
	/* The kernel thread with the number `detail` carries this VCPU from now on.
	 * arg: its id, as gettid() has it. */
	WEFTI_EVENT_CARRY,
	/* A kernel thread was made, and has ended. detail: its number. arg: its id; 0:
	 * not known yet. */
	WEFTI_EVENT_KTHREAD_MADE,
	WEFTI_EVENT_KTHREAD_ENDED,
	/* `thread` owned the lock at `arg` when the thread that leaves next began to
	 * wait for it. In front of a RUN. */
	WEFTI_EVENT_OWNER,
	/* A handler of signal number `detail` is about to run in `thread`. */
	WEFTI_EVENT_SIGNAL,
	/* Marks of the program's, by `thread`. TEXT follows, except behind END. arg:
	 * the value that the program has given. */
	WEFTI_EVENT_MARK,
	WEFTI_EVENT_BEGIN,
	WEFTI_EVENT_END,
	/*
	 * `thread`, or a scheduler loop (0), has used the CPU for `arg` nanoseconds since
	 * its kernel thread's last SAMPLE, and is where the stack says. STACK follows.
	 */
	WEFTI_EVENT_SAMPLE,
	WEFTI_EVENT_KINDS
};

/* What a stack begins with. Only a debugger's tables can tell the calls in it. */
struct wefti_record_stack {
	uint64_t why;		/* enum wefti_why << 32 | for how many of its kind it stands */
	uint64_t object;	/* that the thread has waited for */
	uint64_t pc, sp, fp, link;	/* link: 0 where the CPU has no such register */
};

#define WEFTI_RECORD_STACK_WORDS \
	(sizeof(struct wefti_record_stack) / sizeof(uint64_t))

/* head.stacks: which stacks are recorded. All 0: none. */
#define WEFTI_RECORD_STACKS(hz, kib, every) \
	((uint32_t)(hz) << 22 | (uint32_t)(kib) << 16 | (uint32_t)(every))
#define WEFTI_RECORD_STACKS_HZ(stacks)		((stacks) >> 22)	/* samples */
#define WEFTI_RECORD_STACKS_KIB(stacks)		((stacks) >> 16 & 63)	/* of a stack */
#define WEFTI_RECORD_STACKS_EVERY(stacks)	((stacks) & 0xffff)	/* of short waits, and spawns */

/*
 * How a thread has left its VCPU. From WEFTI_LEFT_WAITS on it waits; value minus
 * WEFTI_LEFT_WAITS is enum wefti_why (thread/thread.h): for a join, a mutex, ...
 */
enum wefti_event_left {
	WEFTI_LEFT_NONE,	/* the scheduler loop ran before */
	WEFTI_LEFT_YIELDED,	/* ready: it gave way, or its slice was over */
	WEFTI_LEFT_SPAWNED,	/* ready: its child runs first */
	WEFTI_LEFT_ENDED,	/* has ended */
	WEFTI_LEFT_WAITS = 16
};

/* Why a thread is ready. */
enum wefti_event_ready {
	WEFTI_READY_WOKEN,	/* the wait was ended by a thread */
	WEFTI_READY_HANDED,	/* the same, and the thread owns what it waited for */
	WEFTI_READY_TIMEDOUT,
	WEFTI_READY_CANCELLED,
	WEFTI_READY_SPAWNED,	/* new, and not run at once */
	WEFTI_READY_SEAT,	/* its VCPU was taken; it waits for another */
};

/* With any of these: it went through the injection queue, from which any VCPU takes it. */
#define WEFTI_READY_INJECTED		0x100u
#define WEFTI_READY_WHY(detail)		((detail) & 0xff)	/* enum wefti_event_ready */

#endif

/* SPDX-License-Identifier: MIT */
/*
 * pthread/kthread/cpu_clock.c - the CPU time of a green thread
 *
 * Linux counts CPU time for kernel threads. So after the process has first asked for a
 * thread's time, each switch reads the clock of its kernel thread, and adds the time to
 * the thread that leaves. Before that a switch costs nothing more (os/tls/tp.h), and no
 * time is known. The clocks of threads that live then begin with 0. Only the first
 * thread's begins with the time that the process used alone.
 *
 * Structure, States
 *   Each thread has two notes. The lowest bit of cpu_turn says which is in force. The
 *   kernel thread that makes the thread run, or stops it, fills in the other note and
 *   turns. The switch orders these, so there is one writer at a time. A note with tid
 *   0: the thread does not run, or has not switched since the first question.
 *
 * Writers
 *   cpu_note.since_ns  turn
 *   cpu_note.tid  turn
 *   cpu_note.used_ns  turn
 *   pt.cpu_turn  turn
 *   asked  ask
 *   counting  begin_counting, wefti_cpu_clock_forget
 *
 * Linearization, Progress
 *   At the turn. If the turn changes while a reader reads, the reader reads again: it is
 *   lock-free. The writer is wait-free.
 *
 * ABA and reclamation
 *   Notes are in the thread's block. A reader finds another thread's block as all calls
 *   do that name a thread (pthread/core/self.h). A reader would be misled only if 2^32
 *   turns wrapped during one read.
 *
 * Pairs
 *   P1  a note's fields, release  ->  a reader's loads of them: a reader that sees a
 *       field of the note after next sees the turn before that, and reads again
 *   P2  the turn, release  ->  the reader's: it sees the whole note
 */
#include "pthread/kthread/cpu_clock.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "os/kthread/kthread.h"
#include "os/tls/tls.h"
#include "os/tls/tp.h"
#include "pthread/core/answer.h"
#include "pthread/core/real.h"
#include "pthread/core/self.h"
#include "pthread/core/started.h"
#include "pthread/core/time.h"
#include "sched/preempt.h"
#include "thread/peek.h"

#define NS		INT64_C(1000000000)
#define THIS_KTHREAD	0

/* In a clock's id (pthread/core/time.h) the first thread is above those made here. */
#define FIRST_THREADS	WEFTI_TLS_TIDS

static _Atomic uint32_t asked;		/* a call has asked, maybe before a start */
static _Atomic uint32_t counting;	/* after that: the switches count */

static void turn(struct wefti_pt *pt, int64_t used, int64_t since, uint32_t tid)
{
	uint32_t next = load_relaxed(&pt->cpu_turn) + 1;
	struct wefti_cpu_note *n = &pt->cpu[next % 2];

	store_release(&n->used_ns, used);	/* P1 */
	store_release(&n->since_ns, since);	/* P1 */
	store_release(&n->tid, tid);		/* P1 */
	store_release(&pt->cpu_turn, next);	/* P2 */
}

static struct wefti_cpu_note *note(struct wefti_pt *pt)
{
	return &pt->cpu[load_relaxed(&pt->cpu_turn) % 2];
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The thread stops running on this kernel thread. */
static void leaves(struct wefti_pt *pt, int64_t now)
{
	const struct wefti_cpu_note *n = note(pt);

	if (load_relaxed(&n->tid))
		turn(pt, load_relaxed(&n->used_ns) +
		     later(now - load_relaxed(&n->since_ns), 0), 0, 0);
}

/* t runs on this kernel thread from now on. The caller is inside the runtime. */
static void comes(struct wefti_thread *t, int64_t now)
{
	struct wefti_pt *pt = wefti_pt_of(t);

	turn(pt, load_relaxed(&note(pt)->used_ns), now,
	     (uint32_t)t->vcpu->kthread->tid);
}

static int is_green(const struct wefti_thread *t)
{
	return t && (t->kind == WEFTI_KIND_GREEN ||
		     t->kind == WEFTI_KIND_MAIN) && t->tp;
}

/* The thread pointer is still the leaving thread's. A loop's block has no note. */
static void on_switch(uintptr_t tp)
{
	int64_t now = wefti_os_kthread_cpu_ns(THIS_KTHREAD);
	struct wefti_thread *to =
		*(struct wefti_thread **)(tp + wefti_self_offset());

	leaves(&wefti_pt, now);
	if (is_green(to) && to->tp == tp)
		comes(to, now);
}

/* Inside the runtime the caller cannot move to another kernel thread in between. */
void wefti_cpu_clock_count_self(void)
{
	struct wefti_thread *self;

	if (!load_seq_cst(&counting) || load_relaxed(&note(&wefti_pt)->tid))
		return;
	self = wefti_enter();
	if (!load_relaxed(&note(&wefti_pt)->tid))
		comes(self, wefti_os_kthread_cpu_ns(THIS_KTHREAD));
	wefti_leave(self);
}

/*
 * A thread that sees that counting has begun is counted, at its next switch at the
 * latest. Threads that run now may go on without a switch, so they are interrupted.
 */
static void begin_counting(void)
{
	wefti_tp_watch(on_switch);
	store_seq_cst(&counting, 1);
	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++) {
		struct wefti_vcpu *v = wefti_vcpu_at(i);
		struct wefti_thread *t = v ? load_seq_cst(&v->current) : NULL;

		if (t && t != wefti_self() &&
		    wefti_peek_kind(t) != WEFTI_KIND_SCHED)
			wefti_preempt_insist(t);
	}
}

/* Starts all threads' clocks. Returns the caller if it is green, else NULL. */
static struct wefti_thread *ask(void)
{
	struct wefti_thread *self = wefti_self();

	if (!load_seq_cst(&counting)) {
		store_seq_cst(&asked, 1);
		if (wefti_pt_is_started())
			begin_counting();
	}
	if (!is_green(self) || !wefti_pt_is_started())
		return NULL;
	wefti_cpu_clock_count_self();
	return self;
}

void wefti_cpu_clock_begin(void)
{
	turn(&wefti_pt, wefti_os_kthread_cpu_ns(THIS_KTHREAD), 0, 0);
}

void wefti_cpu_clock_started(void)
{
	if (!load_seq_cst(&asked))
		return;
	begin_counting();
	wefti_cpu_clock_count_self();
}

void wefti_cpu_clock_forget(void)
{
	store_seq_cst(&counting, 0);
	wefti_tp_watch(NULL);
	turn(&wefti_pt, 0, 0, 0);
}

static int64_t used_ns(struct wefti_thread *t)
{
	struct wefti_pt *pt = wefti_pt_of(t);
	int64_t used, since, now;
	uint32_t seen, tid;

	do {
		struct wefti_cpu_note *n;

		seen = load_acquire(&pt->cpu_turn);	/* P2 */
		n = &pt->cpu[seen % 2];
		used = load_acquire(&n->used_ns);	/* P1 */
		since = load_acquire(&n->since_ns);	/* P1 */
		tid = load_acquire(&n->tid);		/* P1 */
		now = tid ? wefti_os_kthread_cpu_ns((int)tid) : since;
	} while (load_acquire(&pt->cpu_turn) != seen);	/* P1 */
	return used + later(now - since, 0);
}

/* --- clocks -------------------------------------------------------- */

static struct wefti_thread *thread_of(clockid_t clock)
{
	unsigned id = (unsigned)clock << 1 >> (WEFTI_CLOCK_BITS + 1);

	if (!wefti_pt_is_started())
		return NULL;
	return id == FIRST_THREADS ? wefti_rt.main :
		wefti_pt_find_made((pid_t)(WEFTI_TLS_FIRST_TID + id));
}

EXPORT int pthread_getcpuclockid(pthread_t thread, clockid_t *clock)
{
	struct wefti_thread *t = wefti_pt_was_thread(thread);
	unsigned id = FIRST_THREADS;

	(void)ask();
	if (!t)
		return REAL(pthread_getcpuclockid)(thread, clock);
	if (t->kind == WEFTI_KIND_FREE || load_relaxed(&wefti_pt_of(t)->ended))
		return ESRCH;
	if (t != wefti_rt.main)
		id = (unsigned)load_relaxed(&wefti_pt_of(t)->tid) -
		     WEFTI_TLS_FIRST_TID;
	*clock = (clockid_t)(WEFTI_CLOCK_SIGN | id << WEFTI_CLOCK_BITS | WEFTI_CLOCK_KIND);
	return 0;
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *to)
{
	struct wefti_thread *t;
	int64_t used;

	if (likely(clock != CLOCK_THREAD_CPUTIME_ID &&
		   !wefti_clock_is_of_thread(clock)))
		return REAL(clock_gettime)(clock, to);
	t = ask();
	if (!t && clock == CLOCK_THREAD_CPUTIME_ID)
		return REAL(clock_gettime)(clock, to);
	if (clock != CLOCK_THREAD_CPUTIME_ID)
		t = thread_of(clock);
	if (!t)
		return wefti_answer(EINVAL);
	used = used_ns(t);
	*to = (struct timespec){ .tv_sec = used / NS, .tv_nsec = used % NS };
	return 0;
}

EXPORT int clock_getres(clockid_t clock, struct timespec *to)
{
	if (!wefti_clock_is_of_thread(clock))
		return REAL(clock_getres)(clock, to);
	if (!thread_of(clock))
		return wefti_answer(EINVAL);
	if (to)
		*to = (struct timespec){ .tv_nsec = 1 };
	return 0;
}

/* Only the total is known: system time and faults are counted for kernel threads only. */
EXPORT int getrusage(__rusage_who_t who, struct rusage *to)
{
	struct wefti_thread *t = who == RUSAGE_THREAD ? ask() : NULL;
	int result = REAL(getrusage)(who, to);
	int64_t used;

	if (!t || result != 0)
		return result;
	used = used_ns(t);
	*to = (struct rusage){ .ru_maxrss = to->ru_maxrss };
	to->ru_utime.tv_sec = used / NS;
	to->ru_utime.tv_usec = used % NS / 1000;
	return 0;
}

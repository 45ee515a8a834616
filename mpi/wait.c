/* SPDX-License-Identifier: MIT */
/*
 * mpi/wait.c - the waiting threads, and the one of them that makes MPI's progress
 *
 * A thread whose call cannot end yet joins the others that wait. One of them leads: it
 * looks by MPI_Test() which requests are complete, wakes their threads, and yields.
 * The others are parked. When the leader's own request is complete, it hands the lead to
 * another waiting thread, or to none if none waits. So no thread makes progress that has
 * nothing to wait for, and a program with one waiting thread never switches.
 *
 * After a look that has found something the leader yields, so all threads that it has
 * woken run before its next look. A new leader yields first, if woken threads have not
 * gone on: what they send next may be what the other rank waits for. After some looks
 * in vain it sleeps for a moment that is over when no other thread is ready. A yield
 * would offer the CPU to other programs then (sched/park.c), and the answer of another
 * rank would wait for them. If looks find nothing for a while (WEFT_MPI_SPIN), it
 * sleeps, twice as long each time, up to WEFT_MPI_PAUSE. Later a sleep is a hundredth
 * of the time in which nothing was found, and at most WEFT_MPI_IDLE, unless there are
 * windows: other ranks may wait for a look then, whatever it finds. A thread that
 * begins to wait ends the sleep. Where a look takes far longer than others, a message
 * comes in parts, and the pauses grow anew. Timers are looked at by the monitor too, so
 * a leader that sleeps runs again at the end of a slice at the latest, however many
 * threads compute.
 *
 * Structure (all under the lock)
 *   table, looks  (look.c) what is looked at
 *   wants         (receive.c) receives that are not made yet
 *   woken         waits that are done or get the lead; woken at the unlock
 *   leader        the waiting thread that leads; NULL: none waits
 *   to_run        posts that are decided on, and not taken yet
 *
 * Writers
 *   wefti_mpi_is_on  init.c: begin_use, child, end_use
 *   windows          wefti_mpi_count_windows
 *
 * Invariants
 *   I1  If any thread is in the table, in looks or in wants, there is a leader.
 *   I2  The leader is one of them, or it is about to hand the lead on, with the lock held.
 *   I3  A wait leaves its place at most once: by done, or by its own thread at a deadline.
 *       It is posted once for done, once for the lead, and once for each sleep that is
 *       ended early, which a sleeping leader's flag shows.
 *   I4  A thread that was posted takes the post before it leaves.
 *
 * Model: tests/model (ranks).
 */
#include "wait.h"

#include <errno.h>

#include "lock.h"
#include "lockfree/atomic.h"
#include "look.h"

#define FIRST_PAUSE_NS	5000
#define IDLE_SHARE	100		/* of the time in vain, for the next pause */
#define LONG_LOOK_NS	20000		/* over LONG_LOOK times the shortest look */
#define LONG_LOOK	4
#define LOOKS_IN_ROW	64u		/* in vain, before others may run */
#define SHORT_NS	1000		/* others may run, but the CPU stays ours */
#define ENDS_IN_ROW	4u		/* of calls at once, before woken threads run */

_Atomic int wefti_mpi_is_on;
int64_t wefti_mpi_spin_ns, wefti_mpi_pause_ns, wefti_mpi_idle_ns;
static _Atomic int windows;

static unsigned waiting;
static unsigned to_run;
static struct wefti_mpi_wait *leader;
static struct wefti_mpi_list woken;	/* by `after`; last is used */

unsigned wefti_mpi_waiting(void)
{
	return waiting + to_run;
}

int wefti_mpi_is_alone(void)
{
	return waiting == 0 && to_run == 0;
}

void wefti_mpi_end_at_once(void)
{
	static unsigned ends;
	const int yields = to_run > 0 && ++ends % ENDS_IN_ROW == 0;

	wefti_mpi_unlock();
	if (yields)
		wefti_mpi_yield();
}

void wefti_mpi_count_windows(int more)
{
	fetch_add_relaxed(&windows, more);
}

static void wake_later(struct wefti_mpi_wait *w)
{
	w->after = NULL;
	if (woken.last)
		woken.last->after = w;
	else
		woken.first = w;
	woken.last = w;
	to_run++;
}

/* Wakes what was noted. A wait is gone as soon as it is posted. */
static void unlock_and_wake(void)
{
	struct wefti_mpi_wait *w = woken.first;

	woken.first = woken.last = NULL;
	wefti_mpi_unlock();
	while (w) {
		struct wefti_mpi_wait *after = w->after;

		wefti_mpi_sem_post(&w->sem);
		w = after;
	}
}

static void leave(struct wefti_mpi_wait *w)
{
	wefti_mpi_take_out(w);
	waiting--;
}

void wefti_mpi_done(struct wefti_mpi_wait *w, int error)
{
	leave(w);
	w->error = error;
	w->done = 1;
	if (w != leader)
		wake_later(w);
}

/* The lead goes to a thread that waits, if there is one. */
static void hand_on(void)
{
	leader = wefti_mpi_any_waiting();
	if (leader) {
		leader->leads = 1;
		wake_later(leader);
	}
}

/*
 * Takes the post that another thread has decided on and makes behind its unlock. The lock
 * is held, and given up meanwhile.
 */
static void take_post(struct wefti_mpi_wait *w)
{
	int held = wefti_mpi_hold_locked();

	wefti_mpi_unlock();
	while (wefti_mpi_sem_wait(&w->sem, WEFT_FOREVER) != 0)
		;
	wefti_mpi_lock();
	to_run--;
	wefti_mpi_release(held);
}

/* Only a long sleep of a waiting thread is ended early. */
enum sleep { AWAKE, LONG, SHORT };

struct pace {
	int64_t since;		/* nothing was found; 0: something was */
	int64_t pause;
	int64_t shortest;	/* look at everything; 0: not known */
	unsigned looks;		/* since the leader has let others run */
	int sleeps;		/* one look, and then a pause */
};

/*
 * Returns -ECANCELED if the wait was cancelled, else 0. If a thread that begins to wait has
 * ended the sleep, the pauses begin anew.
 */
static int sleep_until(struct wefti_mpi_wait *w, struct pace *p, int64_t until,
		       enum sleep how)
{
	int rc;

	w->sleeps = how;
	wefti_mpi_unlock();
	rc = wefti_mpi_sem_wait(&w->sem, until);
	wefti_mpi_lock();
	if (rc == 0)
		to_run--;
	else if (!w->sleeps)	/* I4 */
		take_post(w);
	if (!w->sleeps)
		*p = (struct pace){ .since = 0 };
	w->sleeps = AWAKE;
	return rc == -ECANCELED ? rc : 0;
}

/* The pause after this one, where nothing was found up to now. */
static int64_t next_pause(const struct pace *p, int64_t now)
{
	const int64_t share = (now - p->since) / IDLE_SHARE;
	int64_t most = share < wefti_mpi_idle_ns ? share : wefti_mpi_idle_ns;

	if (most < wefti_mpi_pause_ns || load_relaxed(&windows) > 0)
		most = wefti_mpi_pause_ns;
	return 2 * p->pause < most ? 2 * p->pause : most;
}

/*
 * How much of the table the next look is for. Behind a pause longer than WEFT_MPI_PAUSE it
 * is more, so no request waits longer for its turn.
 */
static unsigned next_chunks(const struct pace *p)
{
	return p->pause < wefti_mpi_pause_ns ? WEFTI_MPI_ALL_CHUNKS :
	       (unsigned)(p->pause / wefti_mpi_pause_ns);
}

/*
 * A look between two sleeps took so long, and has found nothing. If that is far more than
 * looks in vain take, MPI has moved a part of a message, and the next part may be there
 * soon. The pauses then grow anew.
 */
static void note_time(struct pace *p, int64_t took)
{
	if (p->shortest && took > LONG_LOOK * p->shortest + LONG_LOOK_NS)
		p->pause = FIRST_PAUSE_NS;
	else if (next_chunks(p) == WEFTI_MPI_ALL_CHUNKS &&
		 (!p->shortest || took < p->shortest))
		p->shortest = took;
}

/* One look, by the leader. Returns how many waits are done. */
static unsigned look_once(struct pace *p, unsigned chunks)
{
	const int64_t begin = p->sleeps ? wefti_mpi_now_ns() : 0;
	const unsigned found = wefti_mpi_look(chunks);

	if (p->sleeps && !found)
		note_time(p, wefti_mpi_now_ns() - begin);
	return found;
}

/*
 * Woken threads run, and may make more calls. The lock is held, and given up meanwhile.
 * Returns -ECANCELED if the wait was cancelled, else 0.
 */
static int let_run(struct wefti_mpi_wait *w)
{
	int rc;

	unlock_and_wake();
	wefti_mpi_yield();
	/* No post is there. Where each look finds something, there is no sleep. */
	rc = wefti_mpi_sem_wait(&w->sem, WEFT_NO_WAIT);
	wefti_mpi_lock();
	return rc == -ECANCELED ? rc : 0;
}

/*
 * Lets others run, or time pass. The lock is held, and given up meanwhile. Returns
 * -ECANCELED if the wait was cancelled, else 0.
 */
static int pause_for(struct wefti_mpi_wait *w, struct pace *p, unsigned found,
		     int64_t deadline)
{
	int64_t now, until;

	if (found) {
		*p = (struct pace){ .since = 0 };
		return let_run(w);
	}
	if (!p->sleeps && ++p->looks % LOOKS_IN_ROW != 0) {
		wefti_mpi_unlock();
		wefti_mpi_lock();
		return 0;
	}
	now = wefti_mpi_now_ns();
	if (!p->since) {
		p->since = now;
		p->pause = FIRST_PAUSE_NS;
	}
	if (now - p->since < wefti_mpi_spin_ns)
		return sleep_until(w, p, now + SHORT_NS, SHORT);
	p->sleeps = 1;
	until = now + p->pause;
	p->pause = next_pause(p, now);
	return sleep_until(w, p, until < deadline ? until : deadline, LONG);
}

/*
 * The caller leads, with the lock held, until it is done or the deadline has passed.
 * Returns with the lock held, and the lead handed on.
 */
static int lead(struct wefti_mpi_wait *w, int64_t deadline)
{
	struct pace pace = { .since = 0 };
	unsigned found = 1;
	int rc = to_run > 0 ? let_run(w) : 0;

	while (rc == 0) {
		found = look_once(&pace, found ? WEFTI_MPI_ALL_CHUNKS : next_chunks(&pace));
		if (w->done)
			break;
		if (deadline != WEFT_FOREVER && wefti_mpi_now_ns() >= deadline) {
			rc = -ETIMEDOUT;
			break;
		}
		rc = pause_for(w, &pace, found, deadline);
	}
	if (rc != 0)
		leave(w);
	hand_on();
	return rc;
}

/* A leader that sleeps looks again at once. */
static void rouse(void)
{
	if (leader && leader->sleeps == LONG) {
		leader->sleeps = AWAKE;
		wake_later(leader);
	}
}

/* Parks until the wait is done, or has the lead, or the deadline. Returns as park does. */
static int follow(struct wefti_mpi_wait *w, int64_t deadline)
{
	int rc;

	rouse();
	unlock_and_wake();
	rc = wefti_mpi_sem_wait(&w->sem, deadline);
	wefti_mpi_lock();
	if (rc == 0)
		to_run--;
	else if (w->done || w->leads)	/* I4 */
		take_post(w);
	if (w->done)
		return 0;
	if (rc == 0)
		return lead(w, deadline);
	leave(w);
	if (w->leads)
		hand_on();
	return rc;
}

int wefti_mpi_park(struct wefti_mpi_wait *w, enum wefti_mpi_place place,
		   int64_t deadline)
{
	int rc;

	wefti_mpi_sem_begin(&w->sem);
	w->done = w->leads = w->sleeps = 0;
	waiting++;
	if (place == WEFTI_MPI_TABLE)
		wefti_mpi_to_table(w);
	else if (place == WEFTI_MPI_LOOKS)
		wefti_mpi_to_looks(w);
	else
		w->place = place;
	if (leader) {
		rc = follow(w, deadline);
	} else {
		leader = w;
		rc = lead(w, deadline);
	}
	unlock_and_wake();
	wefti_mpi_sem_end(&w->sem);
	return rc;
}

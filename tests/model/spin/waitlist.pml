/* SPDX-License-Identifier: MIT */
/*
 * waitlist.pml - the wait list of runtime/sync/waitlist.c, as a semaphore's
 *
 * WAITERS wait once each; the last TIMED of them may time out at any moment
 * while they wait. POSTERS post POSTS times each. The wait word is one step
 * here; its own steps are in wait.pml. What a CAS compares is the word's fields.
 *
 * Properties: one server at a time; a waiter is woken once, while it waits, and
 * with one of its own; nothing is lost: when nobody can move any more, posts
 * are with waiters or in the value, and nobody waits while there is one; nodes
 * are given back; who left first is served first (without time-outs).
 *
 * Controls: LEAVE_BLIND (the server leaves by a store, without a look at what
 * was left), NO_KEEP (the server takes a wait that is over for one that it
 * woke), TWO_SERVERS (BUSY is not looked at), SERVES_NEWEST (the stack is not
 * turned round), NO_REPORT (who timed out tells nobody).
 */
#ifndef WAITERS
#define WAITERS	3
#endif
#ifndef TIMED
#define TIMED	0
#endif
#ifndef POSTERS
#define POSTERS	2
#endif
#ifndef POSTS
#define POSTS	1
#endif

#define NONE	0		/* nodes and threads are 1 .. WAITERS */

/* The word. count: FREE, the value; else requests newer than top. */
typedef word_t {
	bit busy, queued, many, dirty;
	byte top, count
}
word_t word;

/* Nodes: in the stack next is the older one; before: count moved to it. */
byte next[WAITERS + 1];
byte before[WAITERS + 1];

/* The server's. */
byte list[WAITERS];
byte length;
byte servers;

mtype = { IDLE, WAITS, HANDED, TIMEDOUT };
mtype state[WAITERS + 1] = IDLE;	/* the wait word, and its cause */
bit kept[WAITERS + 1];		/* a time-out comes too late */
mtype:node = { FREE, LENT, OUT, GONE };
mtype:node node[WAITERS + 1] = FREE;
byte turn[WAITERS + 1], turns, served;

byte posted, taken, ended;

#define SAME(w)	(word.busy == w.busy && word.queued == w.queued && \
		 word.many == w.many && word.dirty == w.dirty && \
		 word.top == w.top && word.count == w.count)

inline load()
{
	d_step {
		w.busy = word.busy;
		w.queued = word.queued;
		w.many = word.many;
		w.dirty = word.dirty;
		w.top = word.top;
		w.count = word.count
	}
}

/* wefti_waitlist_taken(): in the caller's atomic block */
inline take()
{
	word.queued = 1;
	word.busy = 1;
	word.many = 0;
	word.dirty = 0;
	word.top = NONE;
	word.count = 0
}

inline begin_serving()
{
	servers++;
	assert(servers == 1);
	value = 0;
	woken[0] = 0
}

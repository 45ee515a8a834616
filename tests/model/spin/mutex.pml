/* SPDX-License-Identifier: MIT */
/*
 * mutex.pml - the hand-off mutex of runtime/sync/mutex.c, both policies
 *
 * THREADS lock and unlock, the first one twice; the last TIMED of them may
 * time out at any moment while they wait. The wait word is one step here; its
 * own steps are in wait.pml.
 *
 * Properties: mutual exclusion; when nothing can move any more, every thread
 * has ended (no lost wake-up) and the mutex is clean; no thread is made ready
 * that is not waiting; unlock does not touch the mutex after it has let go.
 * STRICT: who queued first is served first, and nobody takes it past waiters.
 *
 * Controls: NO_REVERSE (the arrivals are served newest first), LET_GO_BLIND
 * (the mutex is released by a store, not by comparing the word), NO_WOKEN (who
 * wakes a waiter does not say so in the word), FORGET_LOST (a waiter that timed
 * out counts as served), TOUCH_AFTER (QUEUED is cleared after the hand-over).
 */
#ifndef THREADS
#define THREADS	3
#endif
#ifndef TIMED
#define TIMED	0
#endif

#define NONE	0		/* nodes and threads are 1 .. THREADS */

/* The word. */
typedef word_t {
	bit locked, woken, queued, grant;
	byte top		/* newest arrival */
}
word_t word;

/* list: oldest first; the owner's. next: of a node, in the stack. */
byte list[THREADS];
byte list_len;
byte next[THREADS + 1];
byte node_seq[THREADS + 1];

/* Each thread's wait word. */
mtype = { IDLE, ARMED, PARKED, WOKEN, HANDED, TIMEDOUT, LOST };
mtype phase[THREADS + 1] = IDLE;
mtype cause[THREADS + 1];
byte seq[THREADS + 1];
bit ready[THREADS + 1];

byte inside;		/* in the critical section */
byte ended;
bit let_go_by[THREADS + 1];	/* unlock may not touch the mutex any more */

byte ticket, served;	/* order of queueing */
byte number[THREADS + 1];

#define TOUCH		assert(!let_go_by[me])
#define SAME(w)		(word.locked == w.locked && word.woken == w.woken && \
			 word.queued == w.queued && word.grant == w.grant && \
			 word.top == w.top)

inline load()
{
	d_step {
		TOUCH;
		w.locked = word.locked;
		w.woken = word.woken;
		w.queued = word.queued;
		w.grant = word.grant;
		w.top = word.top
	}
}

inline clear_locals()
{
	d_step {
		w.locked = 0;
		w.woken = 0;
		w.queued = 0;
		w.grant = 0;
		w.top = 0;
		head = 0;
		hseq = 0;
		was = IDLE
	}
}

inline entered()
{
	atomic {
		inside++;
		assert(inside == 1)
	}
}

/*
 * begin of an episode; nobody else changes an IDLE word. Two numbers are enough
 * here: a waiter has one node, and begins again only when it was taken up.
 */
inline begin()
{
	d_step {
		assert(phase[me] == IDLE);
		seq[me] = 1 - seq[me];
		phase[me] = ARMED;
		cause[me] = IDLE
	}
}

/* The post-switch action, and the wait for being run again. */
inline park()
{
	atomic {
		if
		:: phase[me] == ARMED -> phase[me] = PARKED
		:: else -> ready[me] = 1
		fi
	}
	atomic {
		ready[me] -> ready[me] = 0
	}
	assert(phase[me] == IDLE && cause[me] != IDLE)
}

/* was: LOST, ARMED or PARKED. In the caller's atomic block. */
inline resolve(t, s, how)
{
	if
	:: seq[t] == s && phase[t] != IDLE ->
		was = phase[t];
		phase[t] = IDLE;
		cause[t] = how
	:: else -> was = LOST
	fi
}

inline make_ready(t)
{
	atomic {
		assert(!ready[t]);
		ready[t] = 1
	}
}

/* The list's first leaves. In the caller's atomic block; list is the owner's. */
inline shift()
{
	list_len--;
	i = 0;
	do
	:: i < list_len -> list[i] = list[i + 1]; i++
	:: else -> break
	od;
	list[list_len] = 0;
	i = 0
}

inline pop_head()
{
	atomic {
		TOUCH;
		shift()
	}
#ifndef TOUCH_AFTER
	atomic {
		if
		:: list_len == 0 -> word.queued = 0
		:: else
		fi
	}
#endif
}

inline take_free()
{
#ifdef STRICT
	assert(word.top == NONE && list_len == 0);
#endif
	word.locked = 1;
	won = 1
}

inline lock()
{
	/* take_if_free(), and take_or_queue() */
	atomic {
		if
		:: !word.locked -> take_free()
		:: else
		fi
	}
	if
	:: !won ->
		begin();
		node_seq[me] = seq[me];
		do
		:: true ->
			load();
			next[me] = w.top;
			atomic {
				if
				:: !SAME(w)
				:: SAME(w) && !w.locked ->
					take_free();
					phase[me] = IDLE;	/* park_end */
					break
				:: SAME(w) && w.locked ->
					word.top = me;
#ifdef STRICT
					ticket++;
					number[me] = ticket;
#endif
					break
				fi
			}
		od
	:: won
	fi
}

/* compete(): 1 the owner, 0 parks again, 2 gives up */
inline compete()
{
	late = 0;
	if
	:: me > THREADS - TIMED -> late = 1
	:: true -> begin(); node_seq[me] = seq[me]
	fi;
	atomic {
		assert(word.woken);
		if
		:: word.grant ->
			word.grant = 0;
			word.woken = 0;
			won = 1
		:: !word.grant && !word.locked ->
			word.locked = 1;
			word.woken = 0;
			won = 1
		:: !word.grant && word.locked ->
			word.woken = 0;
			if
			:: late -> won = 2
			:: else -> won = 0
			fi
		fi;
		late = 0
	}
	if
	:: won == 1 ->
		atomic {
			if
			:: phase[me] == ARMED -> phase[me] = IDLE
			:: else
			fi;
			/* leave_list() */
			assert(list_len > 0 && list[0] == me)
		}
		pop_head()
	:: else
	fi
}

inline arrive()
{
	do
	:: won == 1 -> break
	:: won == 2 -> break
	:: won == 0 ->
		park();
		if
		:: cause[me] == HANDED -> won = 1
		:: cause[me] == TIMEDOUT -> won = 2
		:: cause[me] == WOKEN -> compete()
		fi
	od
}

/* Hands over to the list's first; done = 0 if its wait was over. */
inline hand_to_head()
{
	atomic {
		TOUCH;
		head = list[0];
		hseq = node_seq[head]
	}
	pop_head();
	atomic {
		resolve(head, hseq, HANDED);
		if
		:: was != LOST ->
			let_go_by[me] = 1;
			done = 1;
#ifdef STRICT
			assert(number[head] > served);
			served = number[head]
#endif
		:: else
		fi;
	}
#ifdef TOUCH_AFTER
	atomic {
		if
		:: list_len == 0 -> TOUCH; word.queued = 0
		:: else
		fi
	}
#endif
	if
	:: was == PARKED -> make_ready(head)
	:: else
	fi;
#ifdef FORGET_LOST
	done = 1
#endif
}

/* Wakes the list's first to compete, then lets go. */
inline wake_head()
{
	atomic {
		TOUCH;
		head = list[0];
#ifndef NO_WOKEN
		word.woken = 1
#endif
	}
	atomic {
		resolve(head, node_seq[head], WOKEN)
	}
	if
	:: was == LOST ->
		word.woken = 0;
		pop_head()
	:: else ->
		atomic {
			TOUCH;
			if
#ifndef NO_WOKEN
			:: !word.woken		/* it parked again */
#endif
			:: else ->
				word.locked = 0;
				let_go_by[me] = 1;
				done = 1
			fi
		}
		if
		:: done && was == PARKED -> make_ready(head)
		:: else
		fi
	fi
}

inline let_go()
{
	atomic {
#ifndef LET_GO_BLIND
		if
		:: SAME(w) ->
#endif
			TOUCH;
			word.locked = 0;
			let_go_by[me] = 1;
			done = 1
#ifndef LET_GO_BLIND
		:: else
		fi
#endif
	}
}

inline unlock()
{
	done = 0;
	atomic {
		inside--
	}
	do
	:: done -> break
	:: else ->
		load();
		if
		:: !w.queued && w.top == NONE && !w.woken ->
			let_go()
		:: !w.queued && w.top != NONE ->
			/* take_arrivals(): all at once, and reversed */
			atomic {
				TOUCH;
				assert(list_len == 0);
				head = word.top;
				word.top = NONE;
				word.queued = 1;
				do
				:: head != NONE ->
#ifdef NO_REVERSE
					list[list_len] = head;
					list_len++;
#else
					i = list_len;
					do
					:: i > 0 -> list[i] = list[i - 1]; i--
					:: else -> break
					od;
					list[0] = head;
					list_len++;
#endif
					head = next[head]
				:: else -> break
				od;
				i = 0
			}
		:: !w.queued && w.top == NONE && w.woken -> assert(false)
#ifdef STRICT
		:: w.queued -> hand_to_head()
#else
		:: w.queued && w.woken ->
			if
			:: true ->	/* not yet expired */
				let_go()
			:: true ->	/* expired: GRANTED */
			   atomic {
				if
				:: SAME(w) ->
					TOUCH;
					word.grant = 1;
					let_go_by[me] = 1;
					done = 1
				:: else
				fi
			   }
			fi
		:: w.queued && !w.woken ->
			if
			:: true -> hand_to_head()
			:: true -> wake_head()
			fi
#endif
		fi
	od;
	clear_locals();
	let_go_by[me] = 0
}

proctype thread(byte me)
{
	word_t w;
	byte head, hseq, won, i, rounds;
	mtype was = IDLE;
	bit done, late;

	rounds = (me == 1 -> 2 : 1);
	do
	:: rounds > 0 ->
		rounds--;
		won = 0;
		lock();
		clear_locals();
		arrive();
		if
		:: won == 1 ->
			entered();
			unlock()
		:: else
		fi
	:: else -> break
	od;
	won = 0;
	ended++
}

/* A timer of a thread's waits: at any moment, or never. */
proctype timer(byte t)
{
	mtype was;

	do
	:: atomic {
		phase[t] != IDLE ->
		resolve(t, seq[t], TIMEDOUT);
		if
		:: was == PARKED -> assert(!ready[t]); ready[t] = 1
		:: else
		fi;
		was = 0;
		break
	   }
	:: break
	od
}

init
{
	byte n;

	atomic {
		for (n : 1 .. THREADS) {
			run thread(n);
			if
			:: n > THREADS - TIMED -> run timer(n)
			:: else
			fi
		}
	}
	timeout;
	assert(ended == THREADS);
	assert(!word.locked && !word.woken && !word.grant)
}

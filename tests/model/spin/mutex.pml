/* SPDX-License-Identifier: MIT */
/*
 * mutex.pml - the hand-off mutex of runtime/sync/mutex.c, both policies, and
 * its line, runtime/sync/mutex_line.c
 *
 * THREADS lock and unlock, the first one twice; the last TIMED of them may
 * time out at any moment while they wait, and then sweep the line, if no other
 * does. The wait word is one step here; its own steps are in wait.pml.
 *
 * Properties:
 *   - mutual exclusion
 *   - when nothing can move any more, every thread has ended (no lost wake-up)
 *     and the mutex is clean
 *   - no thread is made ready that does not wait
 *   - unlock does not touch the mutex after it has let go
 *   - in the end every node has been given back, once
 *   - STRICT: the thread that queued first is served first, and nobody takes
 *     the mutex past waiters. A wait without a time-out begins off the stack
 *     there, PARKED, as it is published.
 *
 * Controls:
 *   - NO_REVERSE: the arrivals are served newest first
 *   - LET_GO_BLIND: the mutex is released by a store, without a comparison of
 *     the word
 *   - NO_WOKEN: the waker of a waiter does not say so in the word
 *   - FORGET_LOST: a waiter that timed out counts as served
 *   - TOUCH_AFTER: the list changes after the hand-off
 *   - TAKE_PLAIN: a swept line is read without changing the links
 *   - SWEEP_ALL: the sweep takes out waiters that still wait
 *   - SWEEP_STAYS: the owner that takes the line does not tell the sweeper
 *   - RUN_ON: a thread that found the mutex taken, but free when it was off its
 *     stack, is the owner, and nobody makes it ready
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
	bit locked, woken, grant, sweep;
	byte top		/* newest arrival */
}
word_t word;

/* list: oldest first; the owner's. next: of a node, in the stack. */
byte list[THREADS];
byte list_len;
byte next[THREADS + 1];
byte version[THREADS + 1];	/* with next, in one word; 0: no link */
mtype = { FREE, LENT, OUT, GONE };
mtype node[THREADS + 1] = FREE;
bit sweeper;
byte node_seq[THREADS + 1];

/* Each thread's wait word. */
mtype = { IDLE, ARMED, PARKED, WOKEN, HANDED, TIMEDOUT, LOST };
mtype phase[THREADS + 1] = IDLE;
mtype cause[THREADS + 1];
byte seq[THREADS + 1];
bit ready[THREADS + 1];
bit kept[THREADS + 1];	/* no time-out can end the wait any more */

byte inside;		/* in the critical section */
byte ended;
bit let_go_by[THREADS + 1];	/* unlock may not touch the mutex any more */

byte ticket, served;	/* order of queueing */
byte number[THREADS + 1];

/* Queues when it has left its stack: strict, and no time-out. */
#ifdef STRICT
#define OFF_STACK	(me <= THREADS - TIMED)
#else
#define OFF_STACK	false
#endif

#define TOUCH		assert(!let_go_by[me])
#define SAME(w)		(word.locked == w.locked && word.woken == w.woken && \
			 word.sweep == w.sweep && word.grant == w.grant && \
			 word.top == w.top)

inline load()
{
	d_step {
		TOUCH;
		w.locked = word.locked;
		w.woken = word.woken;
		w.sweep = word.sweep;
		w.grant = word.grant;
		w.top = word.top
	}
}

inline clear_locals()
{
	d_step {
		w.locked = 0;
		w.woken = 0;
		w.sweep = 0;
		w.grant = 0;
		w.top = 0;
		head = 0;
		i = 0;
		swept = 0;
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
		phase[me] = (OFF_STACK -> PARKED : ARMED);
		kept[me] = 0;
		cause[me] = IDLE
	}
}

/* The post-switch action, and the wait for being run again. */
inline park()
{
	atomic {
		if
		:: OFF_STACK	/* it is done */
		:: !OFF_STACK && phase[me] == ARMED -> phase[me] = PARKED
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

/* was: LOST, or not. */
inline keep(t)
{
	atomic {
		if
		:: seq[t] == node_seq[t] && phase[t] != IDLE ->
			kept[t] = 1;
			was = IDLE
		:: else -> was = LOST
		fi
	}
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
}

/* Gives a node back. */
inline give_back(n)
{
	assert(node[n] != FREE);
	node[n] = FREE
}

/* Its wait was over, and the caller has taken it out. */
inline let_out(n)
{
	atomic {
		assert(node[n] == LENT || node[n] == GONE);
		if
		:: node[n] == GONE -> give_back(n)
		:: else -> node[n] = OUT
		fi
	}
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
			atomic {
				next[me] = w.top;
				node[me] = LENT;
				version[me] = 1 + seq[me]
			}
			atomic {
				if
				:: !SAME(w)
				:: SAME(w) && !w.locked && OFF_STACK ->
					take_free();
					won = 3;
					break
				:: SAME(w) && !w.locked && !OFF_STACK ->
					take_free();
					phase[me] = IDLE;	/* park_end */
					node[me] = FREE;
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
		od;
		if
		:: won == 3 ->	/* handed to itself: it runs no more */
			won = 0;
			atomic {
				resolve(me, seq[me], HANDED);
				assert(was == PARKED)
			}
#ifndef RUN_ON
			make_ready(me)
#endif
		:: else
		fi
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
			assert(list_len > 0 && list[0] == me)
		}
		pop_head();
		give_back(me)
	:: else
	fi
}

/* One walk of the only sweeper. above: the node whose link leads to cur. */
inline walk()
{
	atomic {
		if
		:: word.top != NONE -> word.sweep = 1; cur = word.top
		:: else
		fi
	}
	do
	:: cur == NONE -> break
	:: else ->
		atomic {
			link = next[cur];
			link_version = version[cur]
		}
#ifdef SWEEP_ALL
		gone = 1;
#else
		gone = (node[cur] == GONE);
#endif
		if
		:: !word.sweep -> break
		:: else
		fi;
		atomic {
			if
			:: !gone ->
				above = cur;
				above_version = link_version;
				cur = link
			:: gone && above != NONE && next[above] == cur &&
			   version[above] == above_version ->
				next[above] = link;
				give_back(cur);
				cur = link
			:: gone && above == NONE && word.sweep &&
			   word.top == cur ->
				word.top = link;
				give_back(cur);
				cur = link
			:: else ->
				cur = word.top;
				above = NONE
			fi
		}
	od;
	word.sweep = 0;
	atomic {
		cur = NONE;
		above = NONE;
		link = 0;
		link_version = 0;
		above_version = 0;
		gone = 0;
		sweeper = 0
	}
}

/* The wait is over, without the mutex. */
inline leave()
{
	atomic {
		if
		:: node[me] == LENT -> node[me] = GONE
		:: else ->
			assert(node[me] == OUT);
			give_back(me)
		fi
	}
	atomic {
		if
		:: !sweeper -> sweeper = 1; swept = 1
		:: else
		fi
	}
	if
	:: swept -> walk()
	:: else
	fi;
	swept = 0
}

inline arrive()
{
	do
	:: won == 1 -> break
	:: won == 2 -> leave(); break
	:: won == 0 ->
		park();
		if
		:: cause[me] == HANDED -> won = 1; give_back(me)
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
		head = list[0]
	}
	keep(head);
	if
	:: was == LOST ->
		pop_head();
		let_out(head);
#ifdef FORGET_LOST
		done = 1
#endif
	:: else ->
#ifndef TOUCH_AFTER
		pop_head();
#endif
		atomic {
			resolve(head, node_seq[head], HANDED);
			assert(was != LOST);
			let_go_by[me] = 1;
			done = 1;
#ifdef STRICT
			assert(number[head] > served);
			served = number[head]
#endif
		}
#ifdef TOUCH_AFTER
		pop_head();
#endif
		if
		:: was == PARKED -> make_ready(head)
		:: else
		fi
	fi
}

/* Lets go, then wakes the list's first to compete. */
inline wake_head()
{
	atomic {
		TOUCH;
		head = list[0]
	}
	keep(head);
	if
	:: was == LOST ->
		pop_head();
		let_out(head)
	:: else ->
		atomic {
			TOUCH;
#ifndef NO_WOKEN
			word.woken = 1;
#endif
			word.locked = 0;
			let_go_by[me] = 1;
			done = 1
		}
		atomic {
			resolve(head, node_seq[head], WOKEN);
			assert(was != LOST)
		}
		if
		:: was == PARKED -> make_ready(head)
		:: else
		fi
	fi
}

/* take(): all at once, and reversed. */
inline take_arrivals()
{
	atomic {
		TOUCH;
		assert(list_len == 0);
		head = word.top;
		swept = word.sweep;
		word.top = NONE;
#ifndef SWEEP_STAYS
		word.sweep = 0
#endif
	}
	do
	:: head != NONE ->
		atomic {
#ifdef NO_REVERSE
			list[list_len] = head;
#else
			i = list_len;
			do
			:: i > 0 -> list[i] = list[i - 1]; i--
			:: else -> break
			od;
			list[0] = head;
#endif
			list_len++;
			i = head;
			head = next[i];
#ifndef TAKE_PLAIN
			if
			:: swept -> version[i] = 0
			:: else
			fi;
#endif
			i = 0
		}
	:: else -> break
	od;
	swept = 0
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
			if
			:: list_len == 0 -> word.sweep = 0
			:: else
			fi;
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
		:: list_len == 0 && w.top == NONE ->
			assert(!w.woken);
			let_go()
		:: list_len == 0 && w.top != NONE -> take_arrivals()
#ifdef STRICT
		:: list_len > 0 -> hand_to_head()
#else
		:: list_len > 0 && w.woken ->
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
		:: list_len > 0 && !w.woken ->
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
	byte head, won, i, rounds;
	byte cur, above, link, link_version, above_version;
	mtype was = IDLE;
	bit done, late, swept, gone;

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
		phase[t] != IDLE && !kept[t] ->
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
	assert(!word.locked && !word.woken && !word.grant && !word.sweep);
	for (n : 1 .. THREADS) {
		assert(node[n] == FREE)
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * waitlist.pml - the wait list of runtime/sync/waitlist.c, as a semaphore's
 *
 * WAITERS wait once each; the last TIMED of them may time out at any moment
 * while they wait. Each of POSTERS posts POSTS times. The wait word is one step
 * here; its own steps are in wait.pml. A CAS compares all fields of the word.
 *
 * Properties:
 *   - there is one server at a time
 *   - a waiter is woken once, and while it waits
 *   - when nothing can move any more, each post is with a waiter or in the
 *     value, and nobody waits while there is a value. A list without waiters is
 *     free, with every node given back.
 *   - without time-outs, the thread that queued first is taken out first
 *
 * Controls:
 *   - LEAVE_BLIND: the server leaves without a look at what was left to it
 *   - NO_KEEP: the server takes a wait that is over for one that it ends
 *   - TWO_SERVERS: a poster does not look at BUSY
 *   - SERVES_NEWEST: the stack is not turned round
 *   - NO_REPORT: a waiter that timed out tells nobody
 *   - NO_DIRTY: the server is told, and does not sweep
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

/* count: FREE, the value; else posts that are newer than top. */
typedef word_t {
	bit busy, queued, many, dirty;
	byte top, count
}
word_t word;

/* A node in the stack: the older one, and the posts between the two. */
byte next[WAITERS + 1];
byte before[WAITERS + 1];

/* The server's: oldest first. */
byte list[WAITERS];
byte length, stale, servers;

mtype = { IDLE, WAITS, HANDED, TIMEDOUT };
mtype state[WAITERS + 1] = IDLE;
bit kept[WAITERS + 1];		/* a time-out comes too late */
mtype:node = { FREE, LENT, OUT, GONE };
mtype:node node[WAITERS + 1] = FREE;

byte turns, served, turn[WAITERS + 1];
byte posted, taken, waiting;

#define SAME	(word.busy == w.busy && word.queued == w.queued && \
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

/* What the word becomes for a server; in the caller's atomic block. */
inline take()
{
	word.busy = 1;
	word.queued = 1;
	word.many = 0;
	word.dirty = 0;
	word.top = NONE;
	word.count = 0
}

inline let_out(n)
{
	if
	:: node[n] == GONE -> node[n] = FREE
	:: else -> node[n] = OUT
	fi
}

inline pop()
{
	d_step {
		head = list[0];
		length--;
		i = 0;
		do
		:: i < length -> list[i] = list[i + 1]; i++
		:: else -> break
		od;
		list[length] = NONE;
		i = 0
	}
}

/* The wait of head is ended by the server alone from here on; or was over. */
inline keep()
{
	atomic {
		if
#ifdef NO_KEEP
		:: true ->
#else
		:: state[head] == WAITS ->
#endif
			kept[head] = 1;
			value--;
			woken[wakes] = head;
			wakes++;
#if TIMED == 0
			served++;
			assert(turn[head] == served);
#endif
		:: else -> let_out(head)
		fi;
		head = NONE
	}
}

inline hand_out()
{
	do
	:: value > 0 && length > 0 -> pop(); keep()
	:: else -> break
	od;
	skip
}

/* The stack into order[], oldest last. */
inline walk()
{
	d_step {
		n = 0;
		do
		:: w.top != NONE ->
			order[n] = w.top;
			n++;
			w.top = next[w.top]
		:: else -> break
		od
	}
}

/* The posts before an arrival; head is needed in between. */
inline hand_out_before()
{
	d_step {
		new = head;
		head = NONE
	}
	hand_out()
}

inline replay()
{
	walk();
	do
	:: n > 0 ->
		d_step {
			n--;
#ifdef SERVES_NEWEST
			i = 0;
			head = order[0];
			do
			:: i < n -> order[i] = order[i + 1]; i++
			:: else -> break
			od;
			i = 0;
#else
			head = order[n];
#endif
			value = value + before[head]
		}
		hand_out_before();
		d_step {
			list[length] = new;
			length++;
			new = NONE
		}
		hand_out()
	:: else -> break
	od;
	value = value + w.count;
	hand_out()
}

inline sweep()
{
	n = length;
	do
	:: n > 0 ->
		pop();
		n--;
		atomic {
			if
			:: state[head] == WAITS || kept[head] ->
				list[length] = head;
				length++
			:: else -> let_out(head)
			fi;
			head = NONE
		}
	:: else -> break
	od;
	stale = 0
}

/* The word w was taken, with posts of the caller's own added to its count. */
inline serve()
{
	d_step {
		servers++;
		assert(servers == 1);
		value = 0;
		wakes = 0
	}
	do
	:: true ->
		replay();
		if
#ifdef NO_DIRTY
		:: stale > length / 2 -> sweep()
#else
		:: w.dirty || stale > length / 2 -> sweep()
#endif
		:: else
		fi;
		hand_out();
		atomic {
			assert(length == 0 || value == 0);
			if
#ifdef LEAVE_BLIND
			:: true ->
#else
			:: !word.many && word.top == NONE && !word.dirty &&
			   word.count == 0 ->
#endif
				word.busy = 0;
				word.queued = (length > 0);
				word.many = (length > 0);
				word.count = value;
				word.top = NONE;
				word.dirty = 0;
				servers--;
				break
			:: else ->
				assert(word.busy);
				w.top = word.top;
				w.count = word.count;
				w.dirty = word.dirty;
				take()
			fi
		}
	od;
	do
	:: wakes > 0 ->
		atomic {
			wakes--;
			i = woken[wakes];
			assert(state[i] == WAITS && kept[i]);
			state[i] = HANDED;
			woken[wakes] = NONE;
			i = 0
		}
	:: else -> break
	od;
	value = 0
}

/* withdraw(): tells the server, or is it. */
inline report()
{
	do
	:: true ->
		load();
		if
		:: !w.queued -> break
		:: w.queued && !w.busy ->
			atomic {
				if
				:: SAME -> take(); stale++; now = 1
				:: else
				fi
			}
			if
			:: now ->
				now = 0;
				w.count = 0;
				serve();
				break
			:: else
			fi
		:: w.busy ->
			atomic {
				if
				:: SAME -> word.dirty = 1; break
				:: else
				fi
			}
		fi
	od
}

proctype waiter(byte me)
{
	word_t w;
	byte order[WAITERS], woken[WAITERS];
	byte i, n, head, new, value, wakes;
	bit now;

	do
	:: true ->
		load();
		if
		:: !w.queued && w.count > 0 ->
			atomic {
				if
				:: SAME -> word.count--; taken++; goto done
				:: else
				fi
			}
		:: else ->
			d_step {
				next[me] = w.top;
				before[me] = w.count;
				node[me] = LENT;
				state[me] = WAITS
			}
			atomic {
				if
				:: SAME ->
					word.many = w.queued;
					word.queued = 1;
					word.top = me;
					word.count = 0;
					turns++;
					turn[me] = turns;
					break
				:: else -> node[me] = FREE; state[me] = IDLE
				fi
			}
		fi
	od;
	waiting++;
end_waits:
	atomic {
		if
		:: state[me] == HANDED ->
			node[me] = FREE;
			taken++
		:: me > WAITERS - TIMED && state[me] == WAITS && !kept[me] ->
			state[me] = TIMEDOUT
		fi;
		waiting--
	}
	if
	:: state[me] == TIMEDOUT ->
#ifndef NO_REPORT
		if
		:: node[me] == LENT -> report()
		:: node[me] != LENT
		fi;
#endif
		atomic {
			if
			:: node[me] == LENT -> node[me] = GONE
			:: else -> node[me] = FREE
			fi
		}
	:: else
	fi;
done:	skip
}

proctype poster()
{
	word_t w;
	byte order[WAITERS], woken[WAITERS];
	byte i, n, head, new, value, wakes, posts;
	bit now;

again:	if
	:: posts == POSTS -> goto done
	:: else -> posts++; posted++
	fi;
	do
	:: true ->
		load();
		if
#ifdef TWO_SERVERS
		:: w.queued && w.many ->
#else
		:: w.queued && !w.busy && w.many ->
#endif
			atomic {
				if
				:: SAME -> take(); now = 1
				:: else
				fi
			}
			if
			:: now ->
				now = 0;
				w.count++;
				serve();
				break
			:: else
			fi
		:: w.queued && !w.busy && !w.many ->
			/* the only one: the word is cleared, and it is woken */
			atomic {
				if
				:: SAME ->
					word.queued = 0;
					word.top = NONE;
					word.count = 0;
#if TIMED == 0
					served++;
					assert(turn[w.top] == served);
#endif
					now = 1
				:: else
				fi
			}
			if
			:: now ->
				now = 0;
				atomic {
					if
					:: state[w.top] == WAITS ->
						state[w.top] = HANDED;
						break
					:: else -> let_out(w.top)
					fi
				}
			:: else
			fi
		:: !w.queued || w.busy ->
			atomic {
				if
				:: SAME -> word.count++; break
				:: else
				fi
			}
		fi
	od;
	goto again;
done:	skip
}

init
{
	byte i;

	atomic {
		i = 1;
		do
		:: i <= WAITERS -> run waiter(i); i++
		:: else -> break
		od;
		i = 0;
		do
		:: i < POSTERS -> run poster(); i++
		:: else -> break
		od
	}
	timeout;
	assert(!word.busy && servers == 0);
	assert(posted == POSTERS * POSTS);
	if
	:: waiting > 0 -> assert(posted == taken && word.queued)
	:: else ->
		assert(posted == taken + word.count && !word.queued);
		i = 1;
		do
		:: i <= WAITERS -> assert(node[i] == FREE); i++
		:: else -> break
		od
	fi
}

/* SPDX-License-Identifier: MIT */
/*
 * wait.pml - the wait word of runtime/thread/wait.h
 *
 * One thread goes through EPISODES of waiting. In each, a waker, a timer and a
 * canceller get the ticket and try to resolve it, at any time later: also in
 * the next episode. A canceller may find the wait not cancellable.
 *
 * Properties: an episode is resolved exactly once, and by a ticket of its own;
 * the thread is never made ready twice, and never before its context is saved;
 * with a waker there is no wait without end.
 *
 * Controls: BLIND_COMMIT (PARKED is stored, not compared and swapped),
 * READY_IF_ARMED (who resolves ARMED makes the thread ready too), NO_SEQ (a
 * ticket without its number), NOT_ABORTABLE_IGNORED (a time-out resolves what
 * asked for none).
 */
#define EPISODES	2

mtype = { IDLE, ARMED, PARKED };
mtype:how = { NONE, WOKEN, TIMEDOUT, CANCELLED };

/* The word; always read and changed as a whole. */
mtype phase = IDLE;
mtype:how why = NONE;
byte seq;
bit timed, cancellable;

byte ticket;		/* what the wakers got; 0: nothing yet */
byte ready;		/* in how many ready queues */
bit saved;		/* the thread's context is */
byte resolved[EPISODES + 1];
byte episodes_done;

/* commit, in the post-switch action; it may be on another CPU than the rest. */
inline commit()
{
	saved = 1;
#ifdef BLIND_COMMIT
	phase = PARKED
#else
	atomic {
		if
		:: phase == ARMED -> phase = PARKED
		:: else -> ready++
		fi
	}
#endif
}

proctype thread()
{
	byte n = 0;

	do
	:: n < EPISODES ->
		n++;
		/* begin: nobody else changes an IDLE word */
		d_step {
			assert(phase == IDLE);
			seq++;
			phase = ARMED;
			why = NONE
		}
		if
		:: timed = 1
		:: timed = 0
		fi;
		cancellable = 1;
		ticket = n;
		if
		:: phase == IDLE	/* seen before the switch */
		:: true ->
			commit();
			ready > 0;
			d_step {
				assert(ready == 1);
				ready--;
				assert(saved);
				saved = 0
			}
		fi;
		assert(phase == IDLE && why != NONE);
		assert(resolved[n] == 1)
	:: else -> break
	od;
	episodes_done = n
}

inline resolve(with, cause)
{
	do
	:: true ->
		d_step {
			p = phase;
			s = seq;
			t = timed;
			c = cancellable
		}
		if
#ifndef NO_SEQ
		:: s != with -> break
#endif
		:: else
		fi;
		if
		:: p == IDLE -> break
#ifndef NOT_ABORTABLE_IGNORED
		:: cause == TIMEDOUT && !t -> break
#endif
		:: cause == CANCELLED && !c -> break
		:: else
		fi;
		atomic {
			if
			:: phase == p && seq == s && timed == t &&
			   cancellable == c ->
				assert(cause != TIMEDOUT || timed);
				phase = IDLE;
				why = cause;
				resolved[seq]++;
				assert(seq == with);
#ifdef READY_IF_ARMED
				ready++;
#else
				if
				:: p == PARKED ->
					assert(saved);
					ready++
				:: else
				fi;
#endif
				assert(ready <= 1);
				break
			:: else
			fi
		}
	od
}

/* Gets each ticket, and uses it when it likes. */
proctype waker(mtype:how cause)
{
	mtype p;
	byte s, mine;
	bit t, c;

	do
	:: mine < EPISODES ->
		if
		:: ticket > mine -> mine = ticket
		:: episodes_done > 0 -> break
		fi;
		if
		:: cause == WOKEN -> resolve(mine, cause)
		:: cause != WOKEN -> resolve(mine, cause)
		:: cause != WOKEN	/* not this time */
		fi
	:: else -> break
	od
}

init
{
	atomic {
		run thread();
		run waker(WOKEN);
		run waker(TIMEDOUT);
		run waker(CANCELLED)
	}
	timeout;
	assert(episodes_done == EPISODES);
	assert(ready == 0)
}

/* SPDX-License-Identifier: MIT */
/*
 * wait.pml - the wait word of runtime/thread/wait.h
 *
 * One thread goes through EPISODES of waiting. Each begins ARMED, on its stack,
 * and is committed off it, or begins PARKED, off its stack already
 * (sched/park_by.h). What is done off the stack is another CPU's: it may still
 * go on when the thread was ended, and waits again. A waker and a timer get the
 * tickets, a canceller reads the word; each tries to resolve at any time later:
 * also in the next episode. A canceller may find the wait not cancellable.
 *
 * Properties:
 *   - an episode is resolved exactly once, and by a ticket of its own
 *   - the thread is never made ready twice, and never before its context is
 *     saved
 *   - with a waker there is no wait without end
 *
 * Controls:
 *   - BLIND_COMMIT: PARKED is stored, not compared and swapped
 *   - READY_IF_ARMED: a resolve of ARMED makes the thread ready, too
 *   - NO_SEQ: a ticket has no number
 *   - NOT_ABORTABLE_IGNORED: a time-out resolves a wait that asked for none
 *   - BEGINS_ON_STACK: PARKED is begun before the switch
 *   - TELLS_FIRST: the ticket is made known before PARKED is begun
 */
#define EPISODES	2

mtype = { IDLE, ARMED, PARKED };
mtype:how = { NONE, WOKEN, TIMEDOUT, CANCELLED };

/* The word; always read and changed as a whole. */
mtype phase = IDLE;
mtype:how why = NONE;
byte seq;
bit timed, cancellable;

bit told[EPISODES + 1];	/* the ticket is known to the waker and the timer */
byte ready;		/* in how many ready queues */
bit saved;		/* the thread's context is */
byte resolved[EPISODES + 1];
byte episodes_done;

/* One store; nobody else changes an IDLE word. */
inline begin(n, as, may_time_out)
{
	atomic {
		assert(phase == IDLE);
		seq++;
		assert(seq == n);
		phase = as;
		why = NONE;
		if
		:: may_time_out -> timed = 1
		:: timed = 0
		fi;
		if
		:: cancellable = 1
		:: cancellable = 0
		fi
	}
}

/* The post-switch action of a thread that is ARMED. */
proctype commit()
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

/* That of a thread that waits when it is off its stack: without a deadline. */
proctype post(byte n)
{
	saved = 1;
#ifdef TELLS_FIRST
	told[n] = 1;
#endif
#ifndef BEGINS_ON_STACK
	begin(n, PARKED, 0);
#endif
	told[n] = 1
}

proctype thread()
{
	byte n = 0;

	do
	:: n < EPISODES ->
		n++;
		if
		:: begin(n, ARMED, 1);
			told[n] = 1;
			if
			:: phase == IDLE -> goto over	/* seen on its stack */
			:: run commit()
			fi
		::
#ifdef BEGINS_ON_STACK
			begin(n, PARKED, 0);
#endif
			run post(n)
		fi;
		ready > 0;
		d_step {
			assert(ready == 1);
			ready--;
			assert(saved);
			saved = 0
		}
over:		assert(phase == IDLE && why != NONE);
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
			:: else ->
				p = IDLE; s = 0; t = 0; c = 0
			fi
		}
	od
}

/*
 * Gets each ticket, in any order: the action that tells an old one may be late.
 * The waker uses all of them, when it likes.
 */
proctype waker(mtype:how cause)
{
	mtype p;
	byte s, mine;
	bit t, c, used[EPISODES + 1];

	do
	:: atomic {
		if
		:: told[1] && !used[1] -> mine = 1
		:: told[2] && !used[2] -> mine = 2
		:: episodes_done > 0 -> break
		fi;
		used[mine] = 1
	}
		if
		:: resolve(mine, cause)
		:: cause != WOKEN	/* not this time */
		fi
	od
}

/* Goes by the word, as life/cancel.c does: no ticket need be known. */
proctype canceller()
{
	mtype p;
	byte s, mine;
	bit t, c;

	do
	:: atomic { phase != IDLE && seq > mine -> mine = seq }
		if
		:: resolve(mine, CANCELLED)
		:: true			/* not this time */
		fi
	:: episodes_done > 0 -> break
	od
}

init
{
	atomic {
		run thread();
		run waker(WOKEN);
		run waker(TIMEDOUT);
		run canceller()
	}
	timeout;
	assert(episodes_done == EPISODES);
	assert(ready == 0)
}

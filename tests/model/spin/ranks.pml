/* SPDX-License-Identifier: MIT */
/*
 * ranks.pml - the lead among threads that wait for MPI (mpi/wait.c)
 *
 * THREADS threads wait for a request each. Its message comes at any time. One of them
 * leads. It looks, sleeps, and hands the lead on. The last thread has a deadline, which
 * passes at any time, or is cancelled: also in its sleep, and then it does not look again.
 * The others are on hold, as in a collective call. What the lock protects is one atomic
 * step.
 *
 * Properties:
 *   - no complete request stays unseen while its thread is parked: each thread ends
 *   - a thread that is woken has its request complete, or the lead
 *   - no thread leaves with a post that is still to come, or that it has not taken
 *   - a thread that is on hold ends when its request is complete
 *
 * Controls:
 *   - KEEPS_LEAD: a leader that is done does not hand the lead on
 *   - KEEPS_LEAD_LATE: the same at its deadline
 *   - LEAVES_POST: a sleep that is over takes no post, though it was ended early
 *   - DROPS_POST: a follower at its deadline takes no post, though it was woken
 *   - WAKES_SELF: a leader that is done posts itself
 *   - KEEPS_LEAD_CANCELLED: a leader that is cancelled in its sleep does not hand it on
 *   - NOT_ON_HOLD: a leader in a collective call is cancelled as if it were not on hold
 */
#ifndef THREADS
#define THREADS	3
#endif
#define NONE	THREADS
#define LATE	(THREADS - 1)	/* it has a deadline */

byte leader = NONE;
bit waits[THREADS], complete[THREADS], done[THREADS], leads[THREADS], sleeps[THREADS];
byte posts[THREADS];

/* The thread that begins to wait ends a leader's sleep. */
inline rouse()
{
	if
	:: leader != NONE && sleeps[leader] -> sleeps[leader] = 0; posts[leader]++
	:: else
	fi
}

inline hand_on()
{
	j = 0;
	do
	:: j < THREADS && !waits[j] -> j++
	:: else -> break
	od;
	leader = j;
	if
	:: j < THREADS -> leads[j] = 1; posts[j]++
	:: else
	fi
}

inline look()
{
	j = 0;
	do
	:: j < THREADS ->
		if
		:: waits[j] && complete[j] ->
			waits[j] = 0;
			done[j] = 1;
			if
#ifdef WAKES_SELF
			:: 1 -> posts[j]++
#else
			:: j != me -> posts[j]++
			:: else
#endif
			fi
		:: else
		fi;
		j++
	:: else -> break
	od
}

proctype thread(byte me)
{
	byte j;

	atomic {
		waits[me] = 1;
		if
		:: leader == NONE -> leader = me; j = 0; goto lead
		:: else -> rouse(); j = 0
		fi
	}
	if
	:: atomic { posts[me] > 0 -> posts[me]-- }
	:: me == LATE ->	/* its deadline has passed */
		atomic {
			if
#ifndef DROPS_POST
			:: done[me] || leads[me] ->
				goto take
#endif
			:: else -> waits[me] = 0; goto end
			fi
		};
take:
		atomic {
			posts[me] > 0 -> posts[me]--;
			if
			:: !done[me] -> waits[me] = 0;
#ifndef KEEPS_LEAD_LATE
				hand_on();
#endif
				j = 0
			:: else
			fi
		};
		goto end
	fi;
	assert(done[me] || leads[me]);
	if
	:: done[me] -> goto end
	:: else
	fi;
lead:
	atomic {
		assert(leader == me);
		look();
		if
		:: done[me] ->
#ifndef KEEPS_LEAD
			hand_on();
#endif
			j = 0;
			goto end
		:: else -> j = 0
		fi
	};
	if
	:: me == LATE ->
		atomic {
			waits[me] = 0;
#ifndef KEEPS_LEAD_LATE
			hand_on();
#endif
			j = 0;
			goto end
		}
	:: goto lead		/* it yields */
	:: sleeps[me] = 1
	fi;
	if
	:: atomic { posts[me] > 0 -> posts[me]-- }
	:: atomic {		/* the time is over */
		true;		/* or the else would be that of the outer if */
		if
		:: sleeps[me] -> sleeps[me] = 0
#ifndef LEAVES_POST
		:: else -> (posts[me] > 0); posts[me]--
#else
		:: else
#endif
		fi
	   }
	fi;
	if
	:: sleeps[me] = 0; goto lead
#ifdef NOT_ON_HOLD
	:: skip
#else
	:: me == LATE			/* cancelled */
#endif
	fi;
	atomic {
		sleeps[me] = 0;
		waits[me] = 0;
#ifndef KEEPS_LEAD_CANCELLED
		hand_on();
#endif
		j = 0
	};
end:
	assert(posts[me] == 0);
	assert(done[me] || me == LATE);
	assert(!waits[me]);
}

proctype message(byte to)
{
	complete[to] = 1
}

init {
	byte i = 0;

	atomic {
		do
		:: i < THREADS -> run thread(i); run message(i); i++
		:: else -> break
		od
	}
}

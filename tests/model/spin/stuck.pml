/* SPDX-License-Identifier: MIT */
/*
 * stuck.pml - deadlines at a home whose server was stopped
 * (runtime/sched/stuck.c, runtime/sched/timer.c)
 *
 * Two threads wait at one home. The deadline of the first, in its heap, has passed.
 * The second arms its timer for a later time. VCPU 0 serves the heap, and
 * may stop for good at any step, or take long. VCPU 1 idles and keeps the time;
 * when something is due and the heap has no server, it serves the heap too. The monitor
 * looks: it walks at the second look with the same session; while a VCPU does not idle
 * it runs timers too. It makes no look that would change nothing.
 *
 * Shown: no thread is made ready twice; when nothing can move any more all have
 * been, but for the one in the hands of a server that is stopped, and VCPU 1
 * sleeps. It never looks often in vain.
 *
 * Controls:
 *   - NO_WALK: the monitor finds a stuck home, and leaves it at that
 *   - NO_CAS: the walk ends a wait that it found a moment ago
 *   - COUNTS_BUSY: a home with a server keeps VCPU 1 from sleep
 *   - TELLS_NOBODY: the server does not tell the keeper of what is left
 */
#define NEVER	2	/* 0, 1: as early as the timer of that thread */
#define NONE	2
#define LOOKS	5	/* in vain, of VCPU 1 */

bit busy = 1, stopped, asleep;
byte session;
bit armed[2], waits[2] = 1, heap[2], queued;
bit due[2];
byte ready[2];
byte next = 0;
byte hand = NONE;	/* its wait ended by VCPU 0, and not yet ready */
bit keeps, wake;	/* VCPU 1 is the keeper; its futex */
byte kept = NEVER;
byte vain;

#define may_stop							\
	if								\
	:: atomic { mine && !stopped -> stopped = 1; goto end_stopped }	\
	:: true								\
	fi

inline make_ready(t)
{
	atomic {
		ready[t]++;
		assert(ready[t] == 1);
		wake = 1
	}
}

inline wake_keeper()
{
	if
	:: keeps && next < kept -> wake = 1
	:: else
	fi
}

inline expire(t)
{
	if
	:: heap[t] && due[t] ->
		heap[t] = 0;
		may_stop;
		atomic {
			if
			:: waits[t] ->
				waits[t] = 0;
				won = 1;
				hand = (mine -> t : hand)
			:: else
			fi
		}
		if
		:: won ->
			may_stop;
			atomic {
				won = 0;
				hand = (mine -> NONE : hand);
				make_ready(t)
			}
		:: else
		fi;
		may_stop
	:: else
	fi
}

/* BUSY is ours. */
inline work()
{
	may_stop;
	session++;
	do
	:: d_step {
		heap[1] = heap[1] || queued;
		queued = 0
	   };
		may_stop;
		expire(0);
		expire(1);
		next = (heap[0] -> 0 : (heap[1] -> 1 : NEVER));
		may_stop;
		atomic {
			if
			:: !queued -> busy = 0; break
			:: else
			fi
		}
	od;
	may_stop;
#ifndef TELLS_NOBODY
	if
	:: next != NEVER -> wake_keeper()
	:: else
	fi
#endif
}

proctype vcpu0()
{
	bit won, mine = 1;

	work();
end_stopped:
	false
}

proctype armer()
{
	bit had, won, mine;

	armed[1] = 1;
	atomic {
		queued = 1;
		had = busy;
		busy = 1
	}
	if
	:: !had -> work()
	:: else
	fi;
end_stopped:
	false
}

#ifdef COUNTS_BUSY
#define counts	(next != NEVER)
#else
#define counts	(next != NEVER && !busy)
#endif

proctype vcpu1()
{
	byte until = NEVER;
	bit had, won, mine;

	do
	:: wake = 0;
		if
		:: counts && due[next] ->
			atomic {
				had = busy;
				busy = 1
			}
			if
			:: !had -> work()
			:: had && stopped ->
				vain++;
				assert(vain < LOOKS)
			:: else
			fi
		:: else ->
			keeps = 1;
			until = NEVER;
			do
			:: kept = until;
				if
				:: counts && next < until -> until = next
				:: else -> break
				fi
			od;
			asleep = 1;
end_asleep:
			atomic {
				(wake || (until != NEVER && due[until])) ->
				asleep = 0
			}
			keeps = 0
		fi
	od;
end_stopped:
	false
}

#define is_late(t)	(armed[t] && due[t] && waits[t])

inline walk_at(t)
{
	if
	:: is_late(t) ->
#ifdef NO_CAS
		waits[t] = 0;
		make_ready(t)
#else
		atomic {
			if
			:: waits[t] -> waits[t] = 0; won = 1
			:: else
			fi
		}
		if
		:: won ->
			won = 0;
			make_ready(t)
		:: else
		fi
#endif
	:: else
	fi
}

#ifdef NO_WALK
#define is_to_walk	false
#else
#define is_to_walk	(is_late(0) || is_late(1))
#endif

proctype monitor()
{
	byte now, seen;
	bit had, won, mine;

end_look:
	do
	:: stopped && !busy && next != NEVER && due[next] ->
		atomic {
			had = busy;
			busy = 1
		}
		if
		:: !had -> work()
		:: else
		fi
	:: busy && (session + 1 != seen || is_to_walk) ->
		atomic {
			now = (busy -> session + 1 : 0)
		}
		if
		:: now && now == seen && is_to_walk -> walk_at(0); walk_at(1)
		:: else
		fi;
		seen = now
	od;
end_stopped:
	false
}

init {
	atomic {
		armed[0] = 1;
		heap[0] = 1;
		due[0] = 1;
		run vcpu0();
		run vcpu1();
		run armer();
		run monitor()
	}
	due[1] = 1;
	timeout;
	assert(ready[0] || hand == 0);
	assert(ready[1] || hand == 1);
	assert(hand == NONE || stopped);
	assert(asleep)
}

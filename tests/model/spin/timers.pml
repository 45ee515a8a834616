/* SPDX-License-Identifier: MIT */
/*
 * timers.pml - a deadline that somebody else puts into the heap
 * (runtime/sched/timer.c, the keeper's place in idle.c: sleep_on)
 *
 * A VCPU works on the heap when another arms a timer of it: the one at work takes
 * the change up. A third idles. Each then idles. The first of them is the keeper:
 * it sleeps until the earliest deadline that it has seen.
 *
 * Shown: when all sleep, the keeper's time is not later than the deadline.
 *
 * Control: TELLS_EARLY (the thread that arms the timer tells the keeper before
 * the timer is in the heap; the one that puts it there does not).
 */
#define VCPUS	3
#define DUE	1
#define NEVER	2

bit busy = 1;		/* VCPU 0 is at work */
bit queued, armed, in_heap;
byte next = NEVER;	/* as published, of the heap */
byte keeper;		/* VCPU + 1; 0: none */
byte kept = NEVER;	/* until when it sleeps */
byte wake[VCPUS];
byte asleep;

inline wake_keeper()
{
	k = keeper;
	if
	:: k != 0 && DUE < kept -> wake[k - 1]++
	:: else
	fi;
	k = 0
}

inline work()
{
	do
	:: d_step {
		in_heap = in_heap || queued;
		queued = 0
	   };
	   next = (in_heap -> DUE : NEVER);
	   atomic {
		if
		:: !queued -> busy = 0; break
		:: else
		fi
	   }
	od;
#ifndef TELLS_EARLY
	if
	:: next == DUE -> wake_keeper()
	:: else
	fi
#endif
}

inline arm()
{
	armed = 1;
	atomic {
		queued = 1;
		had = busy;
		busy = 1
	}
	if
	:: !had -> work()
	:: else
	fi;
#ifdef TELLS_EARLY
	wake_keeper()
#endif
}

inline idle()
{
end_idle:
	do
	:: seen = wake[me];
	   atomic {
		if
		:: keeper == 0 -> keeper = me + 1; mine = 1
		:: else -> mine = 0
		fi
	   }
	   if
	   :: mine ->
		until = NEVER;
		do
		:: kept = until;
		   if
		   :: next >= until -> break
		   :: else -> until = next
		   fi
		od
	   :: else
	   fi;
	   asleep++;
end_asleep:
	   atomic {
		wake[me] != seen -> asleep--
	   }
	   if
	   :: mine -> keeper = 0
	   :: else
	   fi
	od
}

proctype vcpu(byte me)
{
	byte seen, until, k;
	bit mine, had;

	if
	:: me == 0 -> work()
	:: me == 1 -> arm()
	:: else
	fi;
	idle()
}

init {
	byte n;

	atomic {
		for (n : 0 .. VCPUS - 1) {
			run vcpu(n)
		}
	}
	timeout;
	assert(asleep == VCPUS);
	assert(armed && in_heap && !busy);
	assert(keeper != 0 && kept == DUE)
}

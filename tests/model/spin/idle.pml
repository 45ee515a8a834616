/* SPDX-License-Identifier: MIT */
/*
 * idle.pml - the idle protocol of runtime/sched/idle.c
 *
 * VCPUS seats look for work as sched/loop.c does: own ring, injection queue,
 * and, if they get the role, the others' rings. VCPU 0 spawns, FOREIGN foreign
 * threads inject. Every access that another may come between is a step.
 *
 * What runs may end, or compute for ever, as long as one VCPU is left.
 *
 * Property: when nothing can move any more and a VCPU is asleep, no thread is
 * ready; if none computes, all have been run.
 *
 * Controls:
 *   - NO_RECHECK: a VCPU sleeps without a look behind its idle bit
 *   - NO_HANDOVER: a searcher that finds work does not look whether there is
 *     more
 *   - NO_SECOND_CLAIM: an announcer that had the role and found nobody to wake
 *     does not look again
 */
#ifndef VCPUS
#define VCPUS	2
#endif
#ifndef FOREIGN
#define FOREIGN	1
#endif
#ifndef SPAWNS
#define SPAWNS	2
#endif
#define TOTAL	(SPAWNS + FOREIGN)

byte ring[VCPUS];	/* ready threads */
byte inject;
byte ran;
byte computing;		/* VCPUs that will never look again */
byte asleep;

bit idle[VCPUS];
byte idle_count;
bit searching;
byte wake[VCPUS];	/* the futex word */

/*
 * Each atomic block below reads or changes one shared object, and moves locals
 * along with it. Locals are cleared when they are dead: fewer states.
 */

/* wefti_idle_wake_one() */
inline wake_one()
{
	do
	:: atomic {
		searching -> break
	   }
	:: atomic {
		!searching -> searching = 1; i = 0
	   };
		/* claim_idle() */
		do
		:: atomic {
			i < VCPUS && idle[i] -> idle[i] = 0; break
		   }
		:: atomic {
			i < VCPUS && !idle[i] -> i++
		   }
		:: i == VCPUS -> break
		od;
		if
		:: i < VCPUS ->
			idle_count--;
			wake[i]++;
			break
		:: else
		fi;
		atomic {
			searching = 0;
			i = 0
		}
#ifdef NO_SECOND_CLAIM
		break;
#endif
		/* any_idle() */
		do
		:: atomic {
			i < VCPUS && !idle[i] -> i++
		   }
		:: i == VCPUS || idle[i] -> break
		od;
		if
		:: i == VCPUS -> break
		:: else
		fi
	od;
	i = 0
}

inline announce()
{
	if
	:: idle_count > 0 ->
		if
		:: !searching -> wake_one()
		:: searching
		fi
	:: idle_count == 0
	fi
}

/* Looks at one source after the other; `found` tells. */
inline work_waits()
{
	atomic {
		found = (inject > 0);
		i = 0
	}
	do
	:: atomic {
		!found && i < VCPUS -> found = (ring[i] > 0); i++
	   }
	:: atomic {
		found || i == VCPUS -> i = 0; break
	   }
	od
}

inline take(queue)
{
	atomic {
		if
		:: queue > 0 -> queue--; found = 1
		:: else
		fi
	}
}

inline try_search()
{
	atomic {
		if
		:: !searching -> searching = 1; role = 1
		:: else
		fi
	}
}

/* From the others' rings; of two or more, one goes to the own ring. */
inline steal()
{
	do
	:: atomic {
		i < VCPUS && (i == me || ring[i] == 0) -> i++
	   }
	:: atomic {
		i < VCPUS && i != me && ring[i] == 1 ->
		ring[i]--; found = 1; i = 0; break
	   }
	:: atomic {
		i < VCPUS && i != me && ring[i] > 1 ->
		ring[i] = ring[i] - 2; found = 1; i = 0
	   };
		ring[me]++;		/* published later than taken */
		break
	:: atomic {
		i == VCPUS -> i = 0; break
	   }
	od
}

inline idle_wait()
{
	if
	:: role -> searching = 0
	:: !role
	fi;
	idle_count++;
	idle[me] = 1;
	role = 1;
	do
	:: seen = wake[me];
		if
		:: !idle[me] -> break
		:: idle[me]
		fi;
#ifndef NO_RECHECK
		work_waits();
#endif
		if
		:: found ->
			atomic {
				found = 0;
				if
				:: idle[me] -> idle[me] = 0; role = 0
				:: !idle[me]	/* an announcer was first */
				fi
			}
			if
			:: !role ->
				idle_count--;
				try_search()
			:: role
			fi;
			break
		:: !found
		fi;
		/* the futex */
		atomic {
			asleep++;
end_asleep:		wake[me] != seen -> seen = 0; asleep--
		}
	od;
	seen = 0
}

inline compute()
{
	if
	:: atomic {
		computing + 1 < VCPUS -> computing++
	   };
end_computing:	false
	:: true
	fi
}

proctype vcpu(byte me)
{
	byte i, spawns, seen;
	bit found, role;

	/* The thread that VCPU 0 runs first spawns others. */
	do
	:: me == 0 && spawns < SPAWNS ->
		atomic {
			ring[0]++;
			spawns++
		}
		announce()
	:: else -> break
	od;
	spawns = 0;
	compute();

	do
	:: true ->
		take(inject);
		if
		:: !found -> take(ring[me])
		:: found
		fi;
		if
		:: !found && !role -> try_search()
		:: else
		fi;
		if
		:: !found && role -> steal()
		:: else
		fi;
		if
		:: found ->
			atomic {
				found = 0;
				ran++
			}
			if
			:: role ->
				/* wefti_idle_found() */
				atomic {
					searching = 0;
					role = 0
				}
#ifndef NO_HANDOVER
				if
				:: idle_count > 0 ->
					work_waits();
					if
					:: found -> found = 0; wake_one()
					:: !found
					fi
				:: idle_count == 0
				fi
#endif
			:: !role
			fi;
			compute()
		:: !found -> idle_wait()
		fi
	od
}

proctype foreign()
{
	byte i;

	inject++;
	announce()
}

init
{
	byte n;

	atomic {
		for (n : 0 .. VCPUS - 1) {
			run vcpu(n)
		}
		n = 0;
		do
		:: n < FOREIGN -> run foreign(); n++
		:: else -> n = 0; break
		od
	}
	timeout;
	if
	:: asleep > 0 ->
		assert(inject == 0);
		for (n : 0 .. VCPUS - 1) {
			assert(ring[n] == 0)
		}
		assert(computing > 0 || ran == TOTAL)
	:: else
	fi;
	assert(asleep + computing == VCPUS);

	/* No VCPU is counted as idle that is not, and the role is free. */
	assert(idle_count == asleep);
	assert(!searching)
}

/* SPDX-License-Identifier: MIT */
/*
 * poller.pml - the keeper's place in the idle protocol (runtime/sched/idle.c,
 * runtime/sched/poller.c)
 *
 * VCPUS seats run threads and idle. One idle VCPU keeps the time: with the poller
 * ON it sleeps in epoll, else in its futex, as the others do. EDGES events come
 * from outside, each after the descriptor was watched; VCPU 0 turns the poller
 * on. FOREIGN threads inject work. Every access that another may come between is
 * a step. The searching role is left out (idle.pml has it): any announcer wakes
 * any idle VCPU.
 *
 * Property: when nothing can move any more, all edges were handled, all work was
 * run, and all VCPUs idle, one of them in epoll. (While one computes the others
 * may all sleep in their futex; then the monitor looks. That is left out.)
 *
 * Controls:
 *   - NO_WAKE: turning on does not tell the keeper
 *   - NO_LOOK_AT_WAKE: the sleeper does not look at its wake word after it has
 *     said where it sleeps
 *   - EDGE_EVENTFD: a look takes the eventfd's wake-up away
 *   - FUTEX_ONLY: a wake-up goes to the futex wherever the VCPU sleeps
 */
#ifndef VCPUS
#define VCPUS	2
#endif
#ifndef FOREIGN
#define FOREIGN	1
#endif
#ifndef EDGES
#define EDGES	1
#endif

byte inject;		/* ready threads */
byte ready[VCPUS];	/* own rings; nobody steals here */
byte ran;
byte pending;		/* edges in epoll */
byte handled;
byte asleep;
bit on;			/* the poller */
bit eventfd;
byte keeper;		/* VCPU + 1; 0: none */
byte sleeper;
bit idle[VCPUS];
byte wake[VCPUS];

/* wefti_poller_wake_vcpu(v) */
inline wake_vcpu(v)
{
	wake[v]++;
#ifndef FUTEX_ONLY
	if
	:: sleeper == v + 1 -> eventfd = 1
	:: else		/* the futex: it compares the word */
	fi
#endif
}

/* Claims one idle VCPU, if there is any, and wakes it. */
inline announce()
{
	i = 0;
	do
	:: atomic {
		i < VCPUS && idle[i] -> idle[i] = 0
	   };
		wake_vcpu(i);
		break
	:: atomic {
		i < VCPUS && !idle[i] -> i++
	   }
	:: i == VCPUS -> break
	od;
	i = 0
}

/* Takes what epoll has, without waiting; only while nobody sleeps there. */
inline poll()
{
	if
	:: on && sleeper == 0 ->
		atomic {
			got = pending;
			pending = 0;
#ifdef EDGE_EVENTFD
			eventfd = 0
#endif
		}
	:: else
	fi
}

/* As it wakes threads: they are in the own ring then. */
inline handle()
{
	atomic {
		ready[me] = ready[me] + got;
		handled = handled + got;
		got = 0
	}
}

inline sleep_on()
{
	if
	:: atomic {
		keeper == 0 -> keeper = me + 1
	   };
		if
		:: on ->
			sleeper = me + 1;
			if
#ifndef NO_LOOK_AT_WAKE
			:: wake[me] != seen
			:: wake[me] == seen ->
#else
			:: true ->
#endif
				atomic {
					asleep++;
end_epoll:				pending > 0 || eventfd ->
					asleep--;
					got = pending;
					pending = 0
				}
			fi;
			sleeper = 0;
			eventfd = 0	/* read(2); late ones come again */
		:: !on ->
			atomic {
				asleep++;
end_keeper:			wake[me] != seen -> asleep--
			}
		fi;
		keeper = 0
	:: keeper != 0 ->
		atomic {
			asleep++;
end_futex:		wake[me] != seen -> asleep--
		}
	fi
}

inline idle_wait()
{
	idle[me] = 1;
	do
	:: seen = wake[me];
		if
		:: !idle[me] -> break
		:: idle[me]
		fi;
		if
		:: got > 0 || inject > 0 || ready[me] > 0 ->
			idle[me] = 0;
			break
		:: else
		fi;
		sleep_on()
	od;
	seen = 0;
	handle()
}

proctype vcpu(byte me)
{
	byte i, got, seen;
	bit watched;

	do
	:: me == 0 && !watched ->
		/* wefti_poller_start(), by a thread that it runs */
		watched = 1;
		on = 1;
#ifndef NO_WAKE
		i = keeper;
		if
		:: i > 0 ->
			i--;
			wake_vcpu(i)
		:: else
		fi;
		i = 0
#endif
	:: atomic {
		inject > 0 -> inject--; ran++
	   }
	:: atomic {
		ready[me] > 0 -> ready[me]--; ran++
	   }
	:: inject == 0 && ready[me] == 0 && (me != 0 || watched) ->
		poll();
		handle();
		if
		:: ready[me] == 0 -> idle_wait()
		:: else
		fi
	od
}

proctype foreign()
{
	byte i;

	inject++;
	announce()
}

proctype network()
{
	byte n;

	do
	:: n < EDGES ->
		on;
		pending++;
		n++
	:: n == EDGES -> break
	od
}

init
{
	byte n;

	atomic {
		for (n : 0 .. VCPUS - 1) {
			run vcpu(n)
		}
		run network();
		n = 0;
		do
		:: n < FOREIGN -> run foreign(); n++
		:: else -> break
		od
	}
	timeout;
	assert(asleep == VCPUS);
	assert(inject == 0);
	assert(pending == 0);
	assert(handled == EDGES);
	assert(ran == FOREIGN + EDGES);
	assert(keeper != 0 && sleeper == keeper);

	/* A VCPU that sleeps without its bit would never be woken. */
	for (n : 0 .. VCPUS - 1) {
		assert(idle[n])
	}
}

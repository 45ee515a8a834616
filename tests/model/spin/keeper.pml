/* SPDX-License-Identifier: MIT */
/*
 * keeper.pml - the monitor in the place of a keeper that was stopped
 * (runtime/sched/monitor.c, runtime/sched/idle.c)
 *
 * A foreign thread makes a thread ready, which arms a timer at home on VCPU 0
 * and parks; when its time has come it runs again. Two VCPUs look for work as
 * sched/loop.c does, and one that idles keeps the time. The kernel thread of one
 * VCPU stops for good, at any step of going idle, of idling or of leaving it;
 * not while it serves the heap. What the monitor does at its looks is a step that
 * is taken when there is something to do; "at two looks" is at any moment.
 *
 * That a keeper is late is left out: the monitor may come before it.
 *
 * Property: when nothing can move any more, the thread has run twice.
 *
 * Controls:
 *   - COUNTS_LATE: a VCPU sets its idle bit before it is counted
 *   - ASKS_FOR_ROLE: work is left to idle VCPUs unless somebody searches
 *   - SLEEPS_ON: the monitor's sleep has no end
 *   - LEAVES_IT: while all idle, the monitor leaves the timers to the keeper
 *   - TRUSTS_IDLE: the monitor sleeps when all idle, without a look for work
 *   - TRUSTS_SEARCHER: a thread that is injected while a VCPU searches does not
 *     wake the monitor
 *   - READS_FIRST: the monitor reads the earliest deadline before it says that
 *     it sleeps
 */
#define VCPUS	2
#define DUE	1
#define NEVER	2

byte next = NEVER;	/* the earliest key */
bit is_due;		/* for each look at the clock */
byte keeper;		/* VCPU + 1; 0: none */
byte kept = NEVER;
bit idle[VCPUS];
byte idle_count;
bit searching;
bit wake[VCPUS];	/* futexes: counted up since it was read */
byte inject, ran;
bit stopped;
bit monitor_asleep;
bit monitor_wake;

#define may_stop						\
	if							\
	:: atomic {						\
		!stopped -> stopped = 1;			\
		until = 0; k = 0;				\
		found = 0; role = 0; mine = 0;			\
		goto end_stopped				\
	   }							\
	:: true							\
	fi

/* wefti_idle_wake_one(): idle.pml has its steps */
inline wake_one()
{
	atomic {
		if
		:: !searching && idle[0] ->
			searching = 1; idle[0] = 0; idle_count--; wake[0] = 1;
			monitor_wake = monitor_wake || monitor_asleep
		:: !searching && !idle[0] && idle[1] ->
			searching = 1; idle[1] = 0; idle_count--; wake[1] = 1;
			monitor_wake = monitor_wake || monitor_asleep
		:: else
		fi
	}
}

inline announce()
{
	if
	:: idle_count > 0 -> wake_one()
	:: idle_count == 0
	fi
}

#define time_is_up	(next == DUE && is_due)

/* By its server, which is not stopped there. */
inline run_timers()
{
	if
	:: atomic {
		time_is_up -> next = NEVER; inject++
	   };
		announce()
	:: !time_is_up
	fi
}

/* wefti_idle_found() */
inline hand_on()
{
	searching = 0;
	if
	:: idle_count > 0 && inject > 0 -> wake_one()
	:: else
	fi
}

/* The first time the thread arms its timer, at home on VCPU 0. */
inline run_thread()
{
	if
	:: atomic {
		ran == 0 -> ran = 1; next = DUE
	   };
		k = keeper;
		if
		:: k != 0 && DUE < kept -> wake[k - 1] = 1
		:: else
		fi;
		k = 0
	:: atomic {
		ran > 0 -> ran++
	   }
	fi
}

inline take()
{
	atomic {
		if
		:: inject > 0 -> inject--; found = 1
		:: else
		fi
	}
}

inline sleep_on()
{
	atomic {
		if
		:: keeper == 0 -> keeper = me + 1; mine = 1; until = NEVER
		:: else -> until = NEVER
		fi
	}
	if
	:: mine ->
		may_stop;
		do
		:: kept = until;
			if
			:: next >= until -> break
			:: else -> until = next
			fi
		od
	:: else
	fi;
end_asleep:
	atomic {
		(wake[me] || (until == DUE && is_due)) -> until = 0
	}
	if
	:: atomic {
		mine -> keeper = 0; mine = 0
	   };
		may_stop
	:: !mine
	fi
}

/* A stop is told from another by what has been stored before. */
inline idle_wait()
{
	if
	:: role -> searching = 0; may_stop
	:: !role
	fi;
#ifdef COUNTS_LATE
	idle[me] = 1;
	may_stop;
	idle_count++;
#else
	idle_count++;
	may_stop;
	idle[me] = 1;
#endif
	role = 1;
	may_stop;
	do
	:: wake[me] = 0;
		if
		:: !idle[me] -> break
		:: idle[me]
		fi;
		if
		:: inject > 0 || time_is_up ->
			atomic {
				if
				:: idle[me] -> idle[me] = 0; role = 0
				:: !idle[me]	/* an announcer was first */
				fi
			}
			if
			:: !role ->
				may_stop;
				idle_count--;
				may_stop;
				try_search()
			:: role
			fi;
			break
		:: else
		fi;
		sleep_on()
	od;
	may_stop;
	monitor_wake = monitor_wake || monitor_asleep;
	may_stop
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

proctype vcpu(byte me)
{
	byte until, k;
	bit found, role, mine;

	do
	:: true ->
		if
		:: me == 0 -> run_timers()
		:: else
		fi;
		take();
		if
		:: !found && !role -> try_search()
		:: else
		fi;
		if
		:: !found && role ->
			run_timers();
			take()
		:: else
		fi;
		if
		:: found ->
			found = 0;
			if
			:: role -> hand_on(); role = 0
			:: !role
			fi;
			run_thread()
		:: !found -> idle_wait()
		fi
	od;
end_stopped:
	false
}

#define all_idle	(idle[0] && idle[1])
#ifdef LEAVES_IT
#define stands_in	(!all_idle)
#else
#define stands_in	true
#endif

proctype monitor()
{
	byte until;

end_awake:
	do
	/* go_round() */
	:: stands_in && time_is_up -> run_timers()
#ifdef ASKS_FOR_ROLE
	:: searching && idle_count > 0 && inject > 0 -> hand_on()
#else
	:: idle_count > 0 && inject > 0 -> hand_on()
#endif
	:: all_idle && !time_is_up ->
		monitor_wake = 0;
#ifdef READS_FIRST
		until = next;
#endif
		monitor_asleep = 1;
		if
#ifdef TRUSTS_IDLE
		:: all_idle ->
#else
		:: all_idle && inject == 0 ->
#endif
#ifndef READS_FIRST
			until = next;
#endif
#ifdef SLEEPS_ON
			until = NEVER;
#endif
end_asleep:
			(monitor_wake || (until == DUE && is_due))
		:: else
		fi;
		monitor_asleep = 0;
		until = 0
	od
}

proctype foreign()
{
	inject++;
	announce();
#ifndef TRUSTS_SEARCHER
	monitor_wake = monitor_wake || monitor_asleep
#endif
}

init {
	byte n;

	atomic {
		for (n : 0 .. VCPUS - 1) {
			run vcpu(n)
		}
		run monitor();
		run foreign()
	}
	is_due = 1;
	timeout;
	assert(ran == 2)
}

/* SPDX-License-Identifier: MIT */
/*
 * coherence/turn.h - the kernel threads take turns by virtual clocks
 *
 * In the measured part one kernel thread runs at a time: the one whose clock is behind.
 * An access moves its clock. So the part goes as on a machine with a CPU for each VCPU,
 * whatever machine it runs on, and whatever else that has to do.
 */
#ifndef WEFT_BENCH_COHERENCE_TURN_H
#define WEFT_BENCH_COHERENCE_TURN_H

#include <stdint.h>

/* What things cost, in picoseconds. WEFT_COHERENCE_* of the environment change them. */
struct turn_costs {
	int64_t hit;		/* an access, with the instructions around it */
	int64_t near, far;	/* a transfer in a socket, and between sockets */
	int64_t call;		/* a system call */
	int64_t wake;		/* from the wake to the woken kernel thread */
	unsigned socket;	/* CPUs in a socket; 0: all */
};
extern struct turn_costs turn_costs;

/*
 * From turn_begin() on there are turns. turn_gather() then wakes the kernel threads that
 * sleep on the words, and waits until the CPUs below `count` take part.
 */
void turn_begin(void);
void turn_gather(unsigned cpu, unsigned count, _Atomic uint32_t *(*word)(unsigned cpu));
void turn_end(void);

/*
 * Calls fn once, when all clocks have come to so many nanoseconds after turn_begin(). It
 * runs in some kernel thread, inside turn_spend(), and calls nothing of this file.
 */
void turn_at(int64_t ns, void (*fn)(void));
int turn_is_on(void);

/* The calling CPU has done something for so long. It may have to wait for its turn. */
void turn_spend(unsigned cpu, int64_t ps);

/* A transfer of a line that is free at *free_at. */
void turn_transfer(unsigned cpu, int64_t *free_at, int64_t ps);

/* Nanoseconds; goes on from the time of turn_begin(). */
int64_t turn_now(unsigned cpu);
int64_t turn_real_now(void);

/* A futex of the virtual machine: 0, or -ETIMEDOUT at the deadline. */
int turn_sleep(unsigned cpu, _Atomic uint32_t *w, uint32_t value, int64_t deadline);
int turn_wake(unsigned cpu, _Atomic uint32_t *w, int count);

/* How often a turn was taken from a kernel thread that the model knew nothing of. */
unsigned turn_rescues(void);

#endif

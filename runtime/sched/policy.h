/* SPDX-License-Identifier: MIT */
/*
 * sched/policy.h - which ready thread runs next, and when idle VCPUs hear of it: numbers
 *
 * No number here affects correctness: each is a guess about what pays. After each stands
 * what it was measured against. doc/design/runtime.md, sections 4 and 7, describes the
 * mechanisms. How long a thread may run is in sched/slice.c.
 */
#ifndef WEFT_SCHED_POLICY_H
#define WEFT_SCHED_POLICY_H

/* --- the order on one VCPU (sched/ready.c, life/spawn.c) ------------- */

/*
 * Switches between two looks at the injection queue, the timers, the poller. It is also the
 * most turns in a row of injected threads (sched/ready.c: I4). (A look
 * takes 120 instructions, so a switch takes 2 more. If a thread waits for a descriptor,
 * the look also makes a system call that finds nothing. Those take 200 ns or more, so a
 * switch takes 3 ns more. 64 yields of light threads take about a microsecond.)
 */
#define WEFTI_LOOK_AROUND	64

/*
 * Switches after which the oldest parent gets a turn, if none has run. (A tree
 * of threads takes 305 ns a leaf; 4,784 ns if parents are in the ring at once.)
 */
#define WEFTI_PARENT_TICKS	(4 * WEFTI_LOOK_AROUND)

/*
 * A parent that was overtaken counts this much, and a spawn without it takes back 1. So
 * a parent that was overtaken at a quarter of its spawns reaches MOST, and its next
 * children go behind it, up to BEHIND_MOST of them. (200 threads in pairs that wake each
 * other for ever were all spawned after 0.05 s in place of 39 s.)
 *
 * An overtaking does not count if the parent runs again after MOMENT switches at most,
 * that is, if the child and the threads that it woke have ended or wait. (600 pairs that
 * exchange a message and end took 3 ms and 1,000 stacks, for 0.3 ms and 2 stacks.)
 */
#define WEFTI_OVERTAKEN_ONCE	4
#define WEFTI_OVERTAKEN_MOST	(2 * WEFTI_OVERTAKEN_ONCE)
#define WEFTI_OVERTAKEN_MOMENT	4
#define WEFTI_BEHIND_MOST	1000

/* --- a thread in `next` is announced to an idle VCPU (sched/idle.h) --- */

/*
 * One in 2^k is announced; k is at most this, and the monitor lowers it. (Two threads
 * that wake each other beside an idle VCPU take 201 ns with semaphores and 195 ns with
 * condition variables. If all are announced they take 318 and 228 ns.)
 */
#define WEFTI_NEXT_SHIFT_MOST	14

/*
 * An heir of a mutex is announced only if the last ones came more than LIES_NS apart,
 * which is what a wake-up costs its waker. (FUTEX_WAKE of one sleeper: 1,540 ns at the
 * least, 2,100 at the tenth percentile, 3,150 in the median of 572.) The clock is looked
 * at once in HEIRS hand-offs; after one look at which they were near each other, it
 * takes NEAR looks at which they were not. (7 to 14 million turns a second without this,
 * 20 to 30 with it. 16 and 256 HEIRS, 1 and 8 NEAR gave 0.92 to 1.07 of the turns of 16
 * threads at 1:1 on 2 VCPUs, strict. That was beside some 30 processes on 2 CPUs: medians
 * of 71 ratios, with quartiles of about 0.7 and 1.4.)
 */
#define WEFTI_HEIRS		64
#define WEFTI_HEIRS_NEAR	2
#define WEFTI_HEIR_LIES_NS	2000

/* --- an heir in `next` runs at once (sched/ready.h) ------------------ */

/*
 * Each heir that a thief took counts STEP, and each that its VCPU ran takes back 1. From
 * MANY on the heirs of that VCPU run at once, for TURNS. (16 threads, work 1:1000: a
 * fifth of two CPUs was lost, and in a later comparison a fourth of the turns. To run
 * them at once always makes 1:1 unfair: 0.2 to 0.5 for 0.97. Half and twice STEP, MANY
 * and TURNS gave 0.91 to 1.07 of the turns, strict, on 2 VCPUs. That was beside some 30
 * processes on 2 CPUs: medians of 65 ratios, with quartiles of about 0.8 and 1.2.)
 */
#define WEFTI_LAY_STEP		4
#define WEFTI_LAY_MANY		16
#define WEFTI_LAY_TURNS		64

/* --- the VCPU of `next` has lost its CPU (sched/scarce.c) ------------- */

/*
 * PAUSES take 1.6 us, in which a VCPU with a CPU makes a switch. LOOKS looks, LOOK_NS
 * apart, follow the last one that found such a VCPU. Up to WOKEN idle VCPUs are woken at
 * one time. (Beside a computing process for each VCPU a mutex made 14.0 million turns a
 * second on 2 VCPUs and 10.8 on 4. With a look each 5 ms that wakes one VCPU: 13.1 and
 * 9.5. Each number alone decides little. Half and twice LOOKS and LOOK_NS, 1 and 8 WOKEN,
 * 16 and 256 PAUSES gave 0.81 to 1.04 of the turns. That was beside some 30 processes on
 * 2 CPUs: medians of 44 ratios, with quartiles of about 0.6 and 1.6.)
 */
#define WEFTI_SCARCE_PAUSES	64
#define WEFTI_SCARCE_LOOKS	32
#define WEFTI_SCARCE_LOOK_NS	500000
#define WEFTI_SCARCE_WOKEN	4

/* --- a VCPU without threads searches (sched/steal.c) ----------------- */

/*
 * Rounds before the searching VCPU idles; pauses between two rounds, some 200 ns in all;
 * rounds between two looks at all timers. (24 rounds make no difference to a thread that
 * is woken for an idle VCPU: 4.4 us. With 96 the VCPU looks for some 20 us.)
 */
#define WEFTI_SEARCH_ROUNDS	96
#define WEFTI_SEARCH_PAUSES	8
#define WEFTI_SEARCH_TIMERS	16

/*
 * While all other VCPUs idle, 2^k times fewer rounds; k is at most this. It grows with
 * each search after which the VCPU idled for longer than SEARCH_PAYS_NS, and is 0 after
 * one that was followed by something sooner. A search is not shorter if a deadline
 * passes within SEARCH_NS, the time of a whole one. (CPU of an idle rank: 41 ms for 90.)
 */
#define WEFTI_QUIET_SHIFT_MOST	7
#define WEFTI_SEARCH_NS		20000
#define WEFTI_SEARCH_PAYS_NS	40000

/* --- a VCPU takes its share at a slice's end (sched/balance.c) -------- */

/*
 * Threads that it takes at one time. Each costs some 15 steps, in the call of the thread
 * whose slice is over. (64 threads that were begun on one of 8 VCPUs are shared evenly
 * after one slice of each.)
 */
#define WEFTI_SHARE_MOST	8

/* --- a VCPU whose threads only yield (sched/park.c) ------------------ */

/*
 * A look at what else there is to do comes after LOOK_NS of yields, or after MOST of
 * them; a glance at another VCPU after GLANCE_NS. Yields that come more than FAR_NS
 * apart are not taken for a loop that waits. (A light thread yields in 10 ns, and a look
 * at the clock takes some 30. A program that pauses a thousand times between two yields
 * makes one in 30 to 50 us. With a look each 64 yields its CPU was offered after 2 ms.
 * Without a glance a round of such a loop took a slice.)
 */
#define WEFTI_YIELDS_MOST	256
#define WEFTI_YIELDS_LOOK_NS	5000
#define WEFTI_YIELDS_GLANCE_NS	20000
#define WEFTI_YIELDS_FAR_NS	100000

/*
 * A sched_yield() that takes longer than GAVE_NS let another kernel thread run. Else the
 * time to the next one doubles, from LOOK_NS on, up to RARE_NS. (Four threads at a
 * barrier of yields, beside other programs: 0.03 s, without 0.2 to 1.3 s.)
 */
#define WEFTI_OFFER_GAVE_NS	2000
#define WEFTI_OFFER_RARE_NS	80000

#endif

/* SPDX-License-Identifier: MIT */
/*
 * arch/cpu.h - pause, a look at a flag, cycle counter, thread pointer, current thread
 *
 * The functions of a few instructions are the CPU's: instructions.h.
 */
#ifndef WEFT_ARCH_CPU_H
#define WEFT_ARCH_CPU_H

#include <stdint.h>

#include "instructions.h"

struct wefti_thread;

/* The thread that runs here; written by spawn or by the switch, see instructions.h. */
extern _Thread_local struct wefti_thread *wefti_tls_self
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/*
 * To be called once, before any other function of this file; calling it again is
 * harmless.
 */
void wefti_arch_init(void);

/*
 * May a signal's frame be as large as AT_MINSIGSTKSZ says? No, if that counts registers
 * that the process has not asked for.
 */
int wefti_arch_frames_are_largest(void);

/* Ticks of the counter in a second; 0: must be measured. */
uint64_t wefti_arch_cycles_per_second(void);

/* Does the counter run at one rate, on all CPUs, whatever the clock does? */
int wefti_arch_cycles_are_invariant(void);

/* Does Valgrind run this process? It loses track of switched stacks and TLS. */
int wefti_arch_on_valgrind(void);

/*
 * Tells Valgrind, if it is there, of memory that is a stack. Otherwise it would take a
 * switch to a stack nearby for a deep call or return, and call what lies between invalid.
 */
void wefti_arch_tell_stack(uintptr_t low, uintptr_t high);

#endif

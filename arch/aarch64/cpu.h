/* SPDX-License-Identifier: MIT */
/* arch/aarch64/cpu.h - pause, cycle counter, thread pointer, current thread */
#ifndef WEFT_ARCH_CPU_H
#define WEFT_ARCH_CPU_H

#include <stdint.h>

struct wefti_thread;

/* The thread that runs here; written by spawn or by the switch, see below. */
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

/* isb holds the core for longer than yield, which most cores ignore. */
static inline void wefti_arch_pause(void)
{
	__asm__ volatile("isb" ::: "memory");
}

/* The virtual counter; not ordered with the memory accesses around it. */
static inline uint64_t wefti_arch_cycles(void)
{
	uint64_t count;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r" (count));
	return count;
}

static inline uintptr_t wefti_arch_tp_get(void)
{
	uintptr_t tp;

	__asm__ volatile("mrs %0, tpidr_el0" : "=r" (tp));
	return tp;
}

/* One instruction sets the thread pointer, always. */
static inline int wefti_arch_tp_is_fast(void)
{
	return 1;
}

static inline void wefti_arch_tp_set_fast(uintptr_t tp)
{
	__asm__ volatile("msr tpidr_el0, %0" :: "r" (tp) : "memory");
}

static inline void wefti_arch_tp_set(uintptr_t tp)
{
	wefti_arch_tp_set_fast(tp);
}

/* The offset of wefti_tls_self from the thread pointer, in any TLS block. */
static inline uintptr_t wefti_self_offset(void)
{
	uintptr_t offset;

	__asm__("adrp %0, :gottprel:wefti_tls_self\n\t"
		"ldr %0, [%0, :gottprel_lo12:wefti_tls_self]"
		: "=r" (offset));
	return offset;
}

/*
 * wefti_tls_self is accessed by asm, so that no compiler keeps the thread, or the
 * address of the word, from before a switch. The word's offset is the same in every
 * block, so that may be kept.
 */
static inline struct wefti_thread *wefti_self(void)
{
	struct wefti_thread *self;

	__asm__ volatile("mrs %0, tpidr_el0\n\t"
			 "ldr %0, [%0, %1]"
			 : "=&r" (self) : "r" (wefti_self_offset()));
	return self;
}

static inline void wefti_self_set(struct wefti_thread *self)
{
	uintptr_t tp;

	__asm__ volatile("mrs %0, tpidr_el0\n\t"
			 "str %2, [%0, %1]"
			 : "=&r" (tp) : "r" (wefti_self_offset()), "r" (self)
			 : "memory");
}

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

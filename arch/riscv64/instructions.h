/* SPDX-License-Identifier: MIT */
/* arch/riscv64/instructions.h - what is done by a few instructions of this CPU */
#ifndef WEFT_ARCH_INSTRUCTIONS_H
#define WEFT_ARCH_INSTRUCTIONS_H

#include <stdint.h>

struct wefti_thread;

/* The instruction pause, by its number: a hint that older processors ignore. */
static inline void wefti_arch_pause(void)
{
	__asm__ volatile(".4byte 0x0100000f" ::: "memory");
}

/* As a relaxed load of a word that is set by others, and hardly ever. */
static inline int wefti_arch_is_set(const void *word)
{
	return __atomic_load_n((const uint32_t *)word, __ATOMIC_RELAXED) != 0;
}

/* The timer's counter; not ordered with the memory accesses around it. */
static inline uint64_t wefti_arch_cycles(void)
{
	uint64_t count;

	__asm__ volatile("rdtime %0" : "=r" (count));
	return count;
}

/* Where the caller is, and its stack pointer: for an unwinder that begins here. */
static inline uintptr_t wefti_arch_pc_get(void)
{
	uintptr_t pc;

	__asm__ volatile("auipc %0, 0" : "=r" (pc));
	return pc;
}

static inline uintptr_t wefti_arch_sp_get(void)
{
	uintptr_t sp;

	__asm__ volatile("mv %0, sp" : "=r" (sp));
	return sp;
}

static inline uintptr_t wefti_arch_tp_get(void)
{
	uintptr_t tp;

	__asm__ volatile("mv %0, tp" : "=r" (tp));
	return tp;
}

/* One instruction sets the thread pointer, always. */
static inline int wefti_arch_tp_is_fast(void)
{
	return 1;
}

static inline void wefti_arch_tp_set_fast(uintptr_t tp)
{
	__asm__ volatile("mv tp, %0" :: "r" (tp) : "memory");
}

static inline void wefti_arch_tp_set(uintptr_t tp)
{
	wefti_arch_tp_set_fast(tp);
}

/* The offset of wefti_tls_self from the thread pointer, in any TLS block. */
static inline uintptr_t wefti_self_offset(void)
{
	uintptr_t offset;

	__asm__("la.tls.ie %0, wefti_tls_self" : "=r" (offset));
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

	__asm__ volatile("add %0, tp, %1\n\t"
			 "ld %0, 0(%0)"
			 : "=&r" (self) : "r" (wefti_self_offset()));
	return self;
}

static inline void wefti_self_set(struct wefti_thread *self)
{
	uintptr_t word;

	__asm__ volatile("add %0, tp, %1\n\t"
			 "sd %2, 0(%0)"
			 : "=&r" (word) : "r" (wefti_self_offset()), "r" (self)
			 : "memory");
}

/* A client request of Valgrind; on the processor, instructions without effect. */
static inline uint64_t wefti_arch_ask_valgrind(volatile uint64_t *request)
{
	register uint64_t result __asm__("a3") = 0;
	register volatile uint64_t *arg __asm__("a4") = request;

	__asm__ volatile(".option push\n\t"
			 ".option norvc\n\t"
			 "srli zero, zero, 3\n\tsrli zero, zero, 13\n\t"
			 "srli zero, zero, 51\n\tsrli zero, zero, 61\n\t"
			 "or a0, a0, a0\n\t"
			 ".option pop"
			 : "+r" (result) : "r" (arg) : "memory");
	return result;
}

#endif

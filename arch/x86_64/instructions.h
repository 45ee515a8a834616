/* SPDX-License-Identifier: MIT */
/* arch/x86_64/instructions.h - what is done by a few instructions of this CPU */
#ifndef WEFT_ARCH_INSTRUCTIONS_H
#define WEFT_ARCH_INSTRUCTIONS_H

#include <stdint.h>

/* A locked instruction is a full fence (SDM volume 3, 9.2.3.9). */
#define WEFTI_ARCH_RMW_IS_FENCE 1

struct wefti_thread;

/* AT_HWCAP2 says that user code may use wrfsbase. Set by wefti_arch_init. */
extern int wefti_arch_fsgsbase __attribute__((visibility("hidden")));

/* The slow way to set the thread pointer: a system call. */
void wefti_arch_tp_set_slow(uintptr_t tp);

static inline void wefti_arch_pause(void)
{
	__asm__ volatile("pause" ::: "memory");
}

/* As a relaxed load of a word that is set by others, and hardly ever: one comparison. */
static inline int wefti_arch_is_set(const void *word)
{
	int is_set;

	__asm__ volatile("cmpl $0, %1" : "=@ccne" (is_set) : "m" (*(const uint32_t *)word));
	return is_set;
}

/* The counter of cycles; not ordered with the memory accesses around it. */
static inline uint64_t wefti_arch_cycles(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a" (low), "=d" (high));
	return (uint64_t)high << 32 | low;
}

/* Where the caller is, and its stack pointer: for an unwinder that begins here. */
static inline uintptr_t wefti_arch_pc_get(void)
{
	uintptr_t pc;

	__asm__ volatile("leaq 0(%%rip), %0" : "=r" (pc));
	return pc;
}

static inline uintptr_t wefti_arch_sp_get(void)
{
	uintptr_t sp;

	__asm__ volatile("movq %%rsp, %0" : "=r" (sp));
	return sp;
}

/* By the psABI, the first word at the thread pointer is the pointer itself. */
static inline uintptr_t wefti_arch_tp_get(void)
{
	uintptr_t tp;

	__asm__ volatile("movq %%fs:0, %0" : "=r" (tp));
	return tp;
}

/* Can one instruction set the thread pointer? Then the next function is it. */
static inline int wefti_arch_tp_is_fast(void)
{
	return wefti_arch_fsgsbase;
}

static inline void wefti_arch_tp_set_fast(uintptr_t tp)
{
	__asm__ volatile("wrfsbase %0" :: "r" (tp) : "memory");
}

static inline void wefti_arch_tp_set(uintptr_t tp)
{
	if (__builtin_expect(wefti_arch_fsgsbase, 1))
		wefti_arch_tp_set_fast(tp);
	else
		wefti_arch_tp_set_slow(tp);
}

/*
 * wefti_tls_self is accessed by asm, three times, so that no compiler keeps the thread,
 * or the address of the word, from before a switch. The relocation is the initial-exec
 * one; linkers turn it into a constant in an executable.
 */
static inline struct wefti_thread *wefti_self(void)
{
	struct wefti_thread *self;

	__asm__ volatile("movq wefti_tls_self@gottpoff(%%rip), %0\n\t"
			 "movq %%fs:(%0), %0" : "=r" (self));
	return self;
}

static inline void wefti_self_set(struct wefti_thread *self)
{
	uintptr_t offset;

	__asm__ volatile("movq wefti_tls_self@gottpoff(%%rip), %0\n\t"
			 "movq %1, %%fs:(%0)"
			 : "=&r" (offset) : "r" (self) : "memory");
}

/* The word's offset from the thread pointer, in any TLS block. */
static inline uintptr_t wefti_self_offset(void)
{
	uintptr_t offset;

	__asm__("movq wefti_tls_self@gottpoff(%%rip), %0" : "=r" (offset));
	return offset;
}

/* A client request of Valgrind; on the processor, four moves without effect. */
static inline uint64_t wefti_arch_ask_valgrind(volatile uint64_t *request)
{
	uint64_t result = 0;

	__asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\t"
			 "rolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
			 "xchgq %%rbx, %%rbx"
			 : "+d" (result) : "a" (request) : "cc", "memory");
	return result;
}

#endif

/* SPDX-License-Identifier: MIT */
/* arch/riscv64/syscall.h - system calls without libc and without errno */
#ifndef WEFT_ARCH_SYSCALL_H
#define WEFT_ARCH_SYSCALL_H

#include <stddef.h>

/* Only riscv64 has it. weft-calls(7) names it apart from its list. */
#define WEFTI_ARCH_SYS_HWPROBE	258

/*
 * libc's syscall() reports errors in errno. That is in a TLS block which may be about
 * to go, and a preload library may replace syscall(). Returns what the kernel returns:
 * a result, or a negative errno value.
 */
static inline long wefti_arch_syscall(long number, long a, long b, long c,
				      long d, long e, long f)
{
	register long a7 __asm__("a7") = number;
	register long a0 __asm__("a0") = a;
	register long a1 __asm__("a1") = b;
	register long a2 __asm__("a2") = c;
	register long a3 __asm__("a3") = d;
	register long a4 __asm__("a4") = e;
	register long a5 __asm__("a5") = f;

	__asm__ volatile("ecall" : "+r" (a0)
			 : "r" (a7), "r" (a1), "r" (a2), "r" (a3), "r" (a4),
			   "r" (a5)
			 : "memory");
	return a0;
}

/* As glibc's __riscv_hwprobe(): 0, or a positive errno value. */
static inline int wefti_arch_hwprobe(void *pairs, size_t count, size_t cpu_bytes,
				     unsigned long *cpus, unsigned flags)
{
	return (int)-wefti_arch_syscall(WEFTI_ARCH_SYS_HWPROBE, (long)pairs,
					(long)count, (long)cpu_bytes, (long)cpus,
					(long)flags, 0);
}

#endif

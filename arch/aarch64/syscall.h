/* SPDX-License-Identifier: MIT */
/* arch/aarch64/syscall.h - system calls without libc and without errno */
#ifndef WEFT_ARCH_SYSCALL_H
#define WEFT_ARCH_SYSCALL_H

/*
 * libc's syscall() reports errors in errno. That is in a TLS block which may be about
 * to go, and a preload library may replace syscall(). Returns what the kernel returns:
 * a result, or a negative errno value.
 */
static inline long wefti_arch_syscall(long number, long a, long b, long c,
				      long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc #0" : "+r" (x0)
			 : "r" (x8), "r" (x1), "r" (x2), "r" (x3), "r" (x4),
			   "r" (x5)
			 : "memory");
	return x0;
}

#endif

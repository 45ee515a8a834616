/* SPDX-License-Identifier: MIT */
/* arch/x86_64/syscall.h - system calls without libc and without errno */
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
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall" : "=a" (ret)
			 : "0" (number), "D" (a), "S" (b), "d" (c),
			   "r" (r10), "r" (r8), "r" (r9)
			 : "rcx", "r11", "memory");
	return ret;
}

#endif

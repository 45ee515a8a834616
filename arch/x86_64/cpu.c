/* SPDX-License-Identifier: MIT */
/* arch/x86_64/cpu.c - what the processor lets user code do */
#include "cpu.h"

#include <asm/prctl.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#define HWCAP2_FSGSBASE	(1ul << 1)

_Thread_local struct wefti_thread *wefti_tls_self;
int wefti_arch_fsgsbase;

void wefti_arch_init(void)
{
	/* CPUID is not enough: the kernel (or Valgrind) may have it off. */
	wefti_arch_fsgsbase = (getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE) != 0;
}

void wefti_arch_tp_set_slow(uintptr_t tp)
{
	long ret;

	/* No libc call: errno belongs to a block that is being left. */
	__asm__ volatile("syscall" : "=a" (ret)
			 : "0" ((long)SYS_arch_prctl), "D" ((long)ARCH_SET_FS),
			   "S" (tp) : "rcx", "r11", "memory");
	if (ret != 0)
		__builtin_trap();
}

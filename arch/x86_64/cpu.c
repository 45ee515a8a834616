/* SPDX-License-Identifier: MIT */
/* arch/x86_64/cpu.c - what the processor allows user code to do */
#include "cpu.h"

#include <asm/prctl.h>
#include <cpuid.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

#include "syscall.h"

#define HWCAP2_FSGSBASE		(1ul << 1)
#define GET_XCOMP_PERM		0x1022
#define XTILEDATA		(1ul << 18)
#define CPUID_POWER		0x80000007u
#define CPUID_INVARIANT_TSC	(1u << 8)	/* in edx */

int wefti_arch_fsgsbase;

void wefti_arch_init(void)
{
	/* CPUID is not enough: the kernel (or Valgrind) may have disabled it. */
	wefti_arch_fsgsbase = (getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE) != 0;
}

void wefti_arch_tp_set_slow(uintptr_t tp)
{
	/* No libc call: errno belongs to a block that is being left. */
	if (wefti_arch_syscall(SYS_arch_prctl, ARCH_SET_FS, (long)tp,
			       0, 0, 0, 0) != 0)
		__builtin_trap();
}

/* AMX's tiles, 8 KiB, are in no frame until the process has asked for them. */
int wefti_arch_frames_are_largest(void)
{
	uint64_t permitted = 0;

	return wefti_arch_syscall(SYS_arch_prctl, GET_XCOMP_PERM,
				  (long)&permitted, 0, 0, 0, 0) == 0 &&
	       (permitted & XTILEDATA) != 0;
}

uint64_t wefti_arch_cycles_per_second(void)
{
	return 0;
}

int wefti_arch_cycles_are_invariant(void)
{
	unsigned eax, ebx, ecx, edx = 0;

	__get_cpuid(CPUID_POWER, &eax, &ebx, &ecx, &edx);
	return (edx & CPUID_INVARIANT_TSC) != 0;
}

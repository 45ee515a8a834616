/* SPDX-License-Identifier: MIT */
/*
 * os/call/newer.h - what the headers of an older system lack of Linux
 *
 * The oldest that are tried are those of Linux 5.10 with glibc 2.31. The numbers are the same on all
 * CPUs. Whether the running kernel has a call is found out by making it.
 */
#ifndef WEFT_OS_CALL_NEWER_H
#define WEFT_OS_CALL_NEWER_H

#include <linux/futex.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open			434
#endif
#ifndef SYS_close_range
#define SYS_close_range			436
#endif
#ifndef SYS_openat2
#define SYS_openat2			437
#endif
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2		441
#endif
#ifndef SYS_landlock_restrict_self
#define SYS_landlock_restrict_self	446
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv			449
#endif

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE		2
#endif
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC		4
#endif
#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2			13
#endif

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH	59
#endif
#ifndef PR_PAC_SET_ENABLED_KEYS
#define PR_PAC_SET_ENABLED_KEYS		60
#endif
#ifndef PR_SCHED_CORE
#define PR_SCHED_CORE			62
#endif
#ifndef PR_SME_SET_VL
#define PR_SME_SET_VL			63
#endif

#ifndef AT_RSEQ_FEATURE_SIZE
#define AT_RSEQ_FEATURE_SIZE		27
#endif

#ifndef FUTEX_32
#define FUTEX_32			2
struct futex_waitv {
	uint64_t val;
	uint64_t uaddr;
	uint32_t flags;
	uint32_t __reserved;
};
#endif

#endif

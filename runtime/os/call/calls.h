/* SPDX-License-Identifier: MIT */
/*
 * os/call/calls.h - every system call that weft makes, what else it needs of the kernel,
 * and what happens without it
 *
 * CALL(name, need, where, since, without)
 *   need
 *     LIBC	libc cannot do without it either, in a program with threads
 *     PROGRAM	made only for the program, which gets the kernel's answer
 *     ENDS	one line names it, and the process ends with WEFTI_EXIT_REFUSED
 *     ELSE	weft gets the same results in another way
 *   where
 *     ALL	native programs, and those under weft run
 *     RUN	under weft run only
 *   since	the first Linux that has it, 511 for 5.11; 0: before 4.0
 *   without	for the manual. ELSE, LIBC: what goes on after "Without it,". ENDS:
 *		what goes on after "Needed"
 *
 * FLAG(name, call, argument, value, error, need, where, since, without)
 *   A flag or a command that came later than its call. argument, value: where a filter
 *   finds it. error: what a kernel without it returns.
 *
 * PART(name, kind, value, bits, need, where, since, without)
 *   kind
 *     AUXV	these bits of the entry `value` of the auxiliary vector
 *     TREE	the file system that is mounted at `name`
 *
 * In the order of the names. weft-calls(7) has the same table. tools/check-calls holds the
 * sources and the manual against it. tests/unit/os/call/test_calls and
 * tests/pthread/test_calls_refused run a program without each of the calls. In the same
 * places test_kernels runs one without each of the flags and parts.
 */
#ifndef WEFT_OS_CALL_CALLS_H
#define WEFT_OS_CALL_CALLS_H

#define WEFTI_CALLS(CALL)						\
	CALL(accept4, PROGRAM, ALL, 0, "")				\
	CALL(arch_prctl, LIBC, ALL, 0, "")				\
	CALL(capget, ELSE, RUN, 0, "a thread is treated as unprivileged") \
	CALL(clock_gettime, ELSE, ALL, 0, "every kernel thread that does not wait counts as computing, because the vDSO does not know its CPU time") \
	CALL(clone, LIBC, ALL, 0, "")					\
	CALL(clone3, LIBC, ALL, 503, "libc uses clone")			\
	CALL(close, LIBC, ALL, 0, "")					\
	CALL(close_range, PROGRAM, RUN, 509, "")			\
	CALL(connect, PROGRAM, ALL, 0, "")				\
	CALL(epoll_create1, ELSE, ALL, 0, "a thread that waits for a descriptor holds a kernel thread meanwhile, and weft_alt() with a descriptor returns -ENOSYS instead of waiting") \
	CALL(epoll_ctl, ELSE, ALL, 0, "the same happens as without epoll_create1")	\
	CALL(epoll_pwait, ELSE, ALL, 0, "and without epoll_pwait2, weft uses epoll_wait on x86-64; elsewhere the process ends") \
	CALL(epoll_pwait2, ELSE, ALL, 511, "weft uses epoll_pwait, with time-outs in milliseconds") \
	CALL(epoll_wait, ELSE, ALL, 0, "and without epoll_pwait2 and epoll_pwait, the process ends") \
	CALL(eventfd2, ELSE, ALL, 0, "the same happens as without epoll_create1")	\
	CALL(execveat, PROGRAM, RUN, 319, "")				\
	CALL(exit, LIBC, ALL, 0, "")					\
	CALL(exit_group, LIBC, ALL, 0, "")				\
	CALL(faccessat, ELSE, RUN, 0, "weft uses newfstatat when a child is started")	\
	CALL(fcntl, ENDS, RUN, 0, "when a call may have to wait for a descriptor")	\
	CALL(fstat, LIBC, ALL, 0, "")					\
	CALL(fstatfs, ELSE, ALL, 0, "the same happens as without /proc")			\
	CALL(fsync, PROGRAM, ALL, 0, "")				\
	CALL(futex, LIBC, ALL, 0, "")					\
	CALL(futex_waitv, ELSE, RUN, 516, "a wait for an object that processes share holds a kernel thread, or looks every 0.2 s") \
	CALL(get_mempolicy, PROGRAM, RUN, 0, "")			\
	CALL(get_robust_list, ELSE, ALL, 0, "the place of the robust list is not proved")	\
	CALL(getdents64, ELSE, ALL, 0, "the same happens as without /proc")		\
	CALL(getpgid, PROGRAM, RUN, 0, "")				\
	CALL(getpid, LIBC, ALL, 0, "")					\
	CALL(getpriority, ELSE, RUN, 0, "the nice value counts as 0 at the start")	\
	CALL(getresuid, ELSE, ALL, 0, "setuid() without privileges may be made twice by a kernel thread, which then has all three ids") \
	CALL(getsid, PROGRAM, RUN, 0, "")				\
	CALL(getsockopt, PROGRAM, ALL, 0, "")				\
	CALL(gettid, ENDS, ALL, 0, "at the start")			\
	CALL(io_destroy, ELSE, ALL, 0, "the same happens as without io_setup")		\
	CALL(io_getevents, ELSE, ALL, 0, "the same happens as without io_setup")		\
	CALL(io_setup, ELSE, ALL, 0, "each call that waits for a disk holds a kernel thread") \
	CALL(io_submit, ELSE, ALL, 0, "the same happens as without io_setup")		\
	CALL(ioctl, PROGRAM, RUN, 0, "")				\
	CALL(ioprio_get, PROGRAM, RUN, 0, "")				\
	CALL(ioprio_set, PROGRAM, RUN, 0, "")				\
	CALL(lseek, PROGRAM, ALL, 0, "")				\
	CALL(madvise, ELSE, ALL, 0, "each guard page takes two mappings, as before Linux 6.13, and the memory of stacks is not given back") \
	CALL(membarrier, ELSE, ALL, 403, "weft uses fences in each call. It can do so if the call is missing at the start. Under weft run it can also do so later, if the program sets a filter for all its threads. In any other case the process ends") \
	CALL(memfd_create, ELSE, ALL, 317, "nothing is recorded, and the files in /proc that belong to a thread are those of the first kernel thread") \
	CALL(mincore, ELSE, RUN, 0, "the memory of weft itself counts as not locked") \
	CALL(mlock, PROGRAM, RUN, 0, "")				\
	CALL(mmap, LIBC, ALL, 0, "")					\
	CALL(mprotect, LIBC, ALL, 0, "")				\
	CALL(munlock, ELSE, RUN, 0, "memory that mlockall() has locked stays locked") \
	CALL(munmap, LIBC, ALL, 0, "")					\
	CALL(newfstatat, LIBC, ALL, 0, "")				\
	CALL(openat, LIBC, ALL, 0, "")					\
	CALL(openat2, PROGRAM, RUN, 506, "")				\
	CALL(pidfd_open, ELSE, ALL, 503, "a wait for a child holds a kernel thread") \
	CALL(pidfd_send_signal, PROGRAM, RUN, 501, "")			\
	CALL(pipe2, PROGRAM, ALL, 0, "")				\
	CALL(poll, ELSE, ALL, 0, "and without ppoll, the process ends") \
	CALL(ppoll, ELSE, ALL, 0, "weft uses poll on x86-64; elsewhere the process ends")	\
	CALL(prctl, ELSE, ALL, 0, "kernel threads have the name of the program, and weft does not see system calls that a library makes by instructions of its own") \
	CALL(pread64, PROGRAM, ALL, 0, "")				\
	CALL(preadv, PROGRAM, ALL, 0, "")				\
	CALL(preadv2, ELSE, ALL, 406, "weft uses preadv, readv, pread64 or read, which may hold a kernel thread") \
	CALL(prlimit64, ELSE, ALL, 0, "weft assumes the lowest of the usual limits") \
	CALL(process_vm_readv, ELSE, ALL, 0, "weft reads /proc/self/mem; without both, a dump has no stacks") \
	CALL(ptrace, PROGRAM, RUN, 0, "")				\
	CALL(pwrite64, PROGRAM, ALL, 0, "")				\
	CALL(pwritev2, ELSE, ALL, 406, "weft uses pwritev, writev, pwrite64 or write, which may hold a kernel thread") \
	CALL(read, LIBC, ALL, 0, "")					\
	CALL(readahead, ELSE, ALL, 0, "nothing is read ahead")		\
	CALL(readlinkat, ELSE, ALL, 0, "a dump cannot name the functions of the program") \
	CALL(readv, PROGRAM, ALL, 0, "")				\
	CALL(recvfrom, PROGRAM, ALL, 0, "")				\
	CALL(recvmsg, PROGRAM, ALL, 0, "")				\
	CALL(rseq, ELSE, ALL, 418, "sched_getcpu() asks the kernel")	\
	CALL(rt_sigaction, LIBC, ALL, 0, "")				\
	CALL(rt_sigprocmask, LIBC, ALL, 0, "")				\
	CALL(rt_sigqueueinfo, PROGRAM, RUN, 0, "")			\
	CALL(rt_sigreturn, LIBC, ALL, 0, "")				\
	CALL(rt_sigtimedwait, ENDS, RUN, 0, "at the start")		\
	CALL(rt_tgsigqueueinfo, ELSE, ALL, 0, "a dump has no stacks of running threads") \
	CALL(sched_getaffinity, ELSE, ALL, 0, "there are as many VCPUs as CPUs are online") \
	CALL(sched_getattr, PROGRAM, RUN, 0, "")			\
	CALL(sched_getparam, ELSE, RUN, 0, "the process counts as SCHED_OTHER") \
	CALL(sched_getscheduler, ELSE, RUN, 0, "the process counts as SCHED_OTHER") \
	CALL(sched_setaffinity, PROGRAM, RUN, 0, "")			\
	CALL(sched_setattr, PROGRAM, RUN, 0, "")			\
	CALL(sched_yield, ELSE, ALL, 0, "the kernel thread goes on at once")	\
	CALL(sendfile, PROGRAM, ALL, 0, "")				\
	CALL(sendmsg, PROGRAM, ALL, 0, "")				\
	CALL(sendto, PROGRAM, ALL, 0, "")				\
	CALL(set_mempolicy, PROGRAM, RUN, 0, "")			\
	CALL(set_robust_list, ELSE, ALL, 0, "robust mutexes that processes share do not report a dead owner") \
	CALL(set_tid_address, LIBC, ALL, 0, "")				\
	CALL(setresuid, ELSE, ALL, 0, "the same happens as without getresuid")	\
	CALL(sigaltstack, ENDS, ALL, 0, "at the start")			\
	CALL(socket, PROGRAM, ALL, 0, "")				\
	CALL(socketpair, PROGRAM, ALL, 0, "")				\
	CALL(tgkill, ENDS, ALL, 0, "when a thread first computes past its slice, or gets a signal") \
	CALL(timer_create, ELSE, ALL, 0, "a signal handler that finds its thread in malloc waits for the monitor, and weft profile sees nothing on the CPU") \
	CALL(timer_delete, ELSE, ALL, 0, "the same happens as without timer_create")	\
	CALL(timer_settime, ELSE, ALL, 0, "the same happens as without timer_create")	\
	CALL(wait4, PROGRAM, ALL, 0, "")				\
	CALL(write, LIBC, ALL, 0, "")					\
	CALL(writev, PROGRAM, ALL, 0, "")

#define WEFTI_FLAGS(FLAG)						\
	FLAG(CLOSE_RANGE_CLOEXEC, close_range, 2, 4, EINVAL, PROGRAM, RUN, 511, "") \
	FLAG(DISPATCH_INCLUSIVE_ON, prctl, 1, 2, EINVAL, ELSE, RUN, 617, "the threads of OpenMP hold kernel threads while they wait") \
	FLAG(FUTEX_LOCK_PI2, futex, 1, 13, ENOSYS, ELSE, RUN, 514, "a wait with a time-out for a mutex that processes share and that lends priorities follows a change of the wall clock") \
	FLAG(GUARD_INSTALL, madvise, 2, 102, EINVAL, ELSE, ALL, 613, "the guard of a stack takes two mappings, and a process can have about 32,000 stacks with guards") \
	FLAG(GUARD_REMOVE, madvise, 2, 103, EINVAL, ELSE, ALL, 613, "the same happens as without GUARD_INSTALL") \
	FLAG(MADV_WIPEONFORK, madvise, 2, 18, EINVAL, ELSE, ALL, 414, "a child that _Fork() or clone() makes while events are recorded writes into its parent's recording") \
	FLAG(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, membarrier, 0, 16, EINVAL, ELSE, ALL, 414, "the same happens as without membarrier") \
	FLAG(PR_SET_SYSCALL_USER_DISPATCH, prctl, 0, 59, EINVAL, ELSE, RUN, 511, "the same happens as without DISPATCH_INCLUSIVE_ON") \
	FLAG(RWF_NOWAIT, preadv2, 5, 8, EOPNOTSUPP, ELSE, ALL, 414, "the same happens as without preadv2")

#define WEFTI_PARTS(PART)						\
	PART(/proc, TREE, 0, 0, ELSE, ALL, 0, "a blocked kernel thread is noticed by its CPU time alone, and a dump has no kernel threads") \
	PART(/sys, TREE, 0, 0, ELSE, ALL, 0, "a quota of CPUs is not known") \
	PART(AT_MINSIGSTKSZ, AUXV, 51, ~0ul, ELSE, ALL, 514, "weft takes the size that libc gives for the frame of a signal") \
	PART(AT_RSEQ_FEATURE_SIZE, AUXV, 27, ~0ul, ELSE, ALL, 603, "the area of rseq has 32 bytes") \
	PART(HWCAP2_FSGSBASE, AUXV, 26, 1ul << 1, ELSE, ALL, 509, "weft uses arch_prctl at each switch between threads. x86-64 only")

#endif

/* SPDX-License-Identifier: MIT */
/*
 * pthread/core/table.h - every function of the families that this library covers
 *
 *	OURS(name, note)	defined here; libc's own is REAL(name)
 *	LIBC(name, note)	left as it is: it only looks at, or initializes,
 *				what has libc's layout here too
 *	PLANNED(name, note)	left as it is for now, and wrong for green
 *				threads in the way that the note says
 *
 * The wrappers' pointers to libc are made from it, and the table in the manual
 * page weft-pthread(7). tools/check-pthread fails when libc exports a name of
 * pthread_*, sem_*, thrd_*, mtx_*, cnd_* or tss_* that is not here, or when
 * this library exports another set than OURS.
 */
#ifndef WEFT_PTHREAD_CORE_TABLE_H
#define WEFT_PTHREAD_CORE_TABLE_H

#include "pthread/core/table_files.h"
#include "pthread/core/table_ids.h"

#define WEFTI_TABLE(OURS, LIBC, PLANNED) \
	WEFTI_TABLE_FILES(OURS, LIBC, PLANNED) WEFTI_TABLE_IDS(OURS, LIBC, PLANNED) \
	OURS(pthread_create, "a green thread") \
	OURS(pthread_exit, "unwinds by libc's unwinder") \
	OURS(pthread_join, "") \
	OURS(pthread_tryjoin_np, "") \
	OURS(pthread_timedjoin_np, "") \
	OURS(pthread_clockjoin_np, "") \
	OURS(pthread_detach, "") \
	OURS(pthread_cancel, "at the cancellation points that are listed here") \
	OURS(pthread_setcancelstate, "") \
	OURS(pthread_setcanceltype, \
		"asynchronous: acted on where a thread may be preempted, or waits") \
	OURS(pthread_testcancel, "") \
	OURS(pthread_once, "") \
	OURS(call_once, "") \
	OURS(pthread_mutex_lock, \
		"process-shared ones that inherit priorities: a kernel thread owns them") \
	OURS(pthread_mutex_trylock, "") \
	OURS(pthread_mutex_timedlock, "") \
	OURS(pthread_mutex_clocklock, "") \
	OURS(pthread_mutex_unlock, "") \
	OURS(pthread_mutex_destroy, "") \
	OURS(pthread_mutex_setprioceiling, "") \
	OURS(pthread_cond_wait, \
		"process-shared ones: only with processes that run under weft too") \
	OURS(pthread_cond_timedwait, "") \
	OURS(pthread_cond_clockwait, "") \
	OURS(pthread_cond_signal, "") \
	OURS(pthread_cond_broadcast, "") \
	OURS(pthread_cond_destroy, "") \
	OURS(pthread_rwlock_rdlock, "process-shared ones are libc's, in a region") \
	OURS(pthread_rwlock_wrlock, "") \
	OURS(pthread_rwlock_tryrdlock, "") \
	OURS(pthread_rwlock_trywrlock, "") \
	OURS(pthread_rwlock_timedrdlock, "") \
	OURS(pthread_rwlock_timedwrlock, "") \
	OURS(pthread_rwlock_clockrdlock, "") \
	OURS(pthread_rwlock_clockwrlock, "") \
	OURS(pthread_rwlock_unlock, "") \
	OURS(pthread_barrier_wait, "process-shared ones are libc's, in a region") \
	OURS(pthread_barrier_destroy, "") \
	OURS(pthread_spin_lock, "gives way instead of spinning on") \
	OURS(sem_wait, \
		"named and process-shared ones are libc's, in a region, 0.2 s at a time") \
	OURS(sem_timedwait, "") \
	OURS(sem_clockwait, "") \
	OURS(sem_trywait, "") \
	OURS(sem_post, "") \
	OURS(thrd_create, "") \
	OURS(thrd_join, "") \
	OURS(thrd_detach, "") \
	OURS(thrd_exit, "") \
	OURS(thrd_yield, "") \
	OURS(thrd_sleep, "") \
	OURS(mtx_lock, "") \
	OURS(mtx_trylock, "") \
	OURS(mtx_timedlock, "") \
	OURS(mtx_unlock, "") \
	OURS(mtx_destroy, "") \
	OURS(cnd_wait, "") \
	OURS(cnd_timedwait, "") \
	OURS(cnd_signal, "") \
	OURS(cnd_broadcast, "") \
	OURS(cnd_destroy, "") \
	OURS(pthread_getattr_np, "") \
	OURS(pthread_setname_np, "in /proc: the first thread's only") \
	OURS(pthread_getname_np, "") \
	OURS(pthread_getschedparam, "what was set") \
	OURS(pthread_setschedparam, \
		"checked; a real-time one keeps the VCPU, and is woken first") \
	OURS(pthread_setschedprio, "the same") \
	OURS(pthread_getaffinity_np, "what was set") \
	OURS(pthread_setaffinity_np, "checked, without effect") \
	OURS(pthread_getcpuclockid, \
		"of a green thread: for the functions of clocks that are ours") \
	OURS(clock_gettime, \
		"a green thread's CPU time: from the process's first question on") \
	OURS(clock_getres, "") \
	OURS(getrusage, "RUSAGE_THREAD: the CPU time, all as the user's, and the peak") \
	OURS(pthread_kill, "") \
	OURS(pthread_sigqueue, "") \
	OURS(pthread_sigmask, "") \
	OURS(pthread_yield, "") \
	OURS(sched_yield, "by one of a real-time policy: section 6 of preload.md") \
	OURS(sigprocmask, "") \
	OURS(sigpending, "") \
	OURS(sigqueue, "to the process itself; else libc's") \
	OURS(pidfd_send_signal, "to the process itself; else the kernel's") \
	OURS(signalfd, "is seen, so that signals are left where it finds them") \
	OURS(sigtimedwait, "") \
	OURS(sigwaitinfo, "") \
	OURS(sigwait, "") \
	OURS(sigsuspend, "") \
	OURS(sighold, "") \
	OURS(sigrelse, "") \
	OURS(sigset, "") \
	OURS(sigaction, "of SIGSYS: a library's own futex calls are trapped no more") \
	OURS(signal, "the same") \
	OURS(bsd_signal, "the same") \
	OURS(ssignal, "the same") \
	OURS(sysv_signal, "the same") \
	OURS(__sysv_signal, "what the headers make of signal() for System V") \
	OURS(sigignore, "the same") \
	OURS(siginterrupt, "") \
	OURS(sigblock, "") \
	OURS(sigsetmask, "") \
	OURS(__sigpause, "") \
	OURS(__xpg_sigpause, "what the headers make of sigpause()") \
	OURS(sigaltstack, "faults are handled on a stack of the kernel thread's") \
	OURS(__sigsetjmp, "what the headers make of sigsetjmp()") \
	OURS(setjmp, "the function, which saves the mask") \
	OURS(siglongjmp, "") \
	OURS(longjmp, "") \
	OURS(_longjmp, "") \
	OURS(__longjmp_chk, "") \
	OURS(pause, "") \
	OURS(raise, "") \
	OURS(kill, "to the process itself; else libc's") \
	OURS(gettid, "libc's own id of a green thread, above those of the kernel") \
	OURS(syscall, "futexes, ids; what changes a kernel thread is refused") \
	OURS(mlockall, "of stacks what was asked for; of the runtime's tables nothing") \
	OURS(munlockall, "") \
	OURS(prctl, "names; what changes a kernel thread: EPERM or EINVAL") \
	OURS(sched_setaffinity, "of a green thread: checked, without effect") \
	OURS(sched_getaffinity, "of a green thread: what was set") \
	OURS(sched_setscheduler, "of a green thread: as pthread_setschedparam()") \
	OURS(sched_getscheduler, "of a green thread: what was set") \
	OURS(sched_setparam, "of a green thread: the same") \
	OURS(sched_getparam, "of a green thread: what was set") \
	OURS(sched_setattr, "of a green thread: as pthread_setschedparam()") \
	OURS(sched_getattr, "of a green thread: what was set") \
	OURS(sched_rr_get_interval, "of a green thread: its carrier's") \
	OURS(setpriority, "of a green thread: checked, without effect") \
	OURS(getpriority, "of a green thread: what was set") \
	OURS(nice, "checked, without effect") \
	OURS(capset, "EPERM") \
	OURS(setfsuid, "without effect: tells what is in force") \
	OURS(setfsgid, "without effect: tells what is in force") \
	OURS(unshare, "EINVAL") \
	OURS(setns, "EINVAL") \
	OURS(personality, "to change it: EINVAL") \
	OURS(ptrace, "to be traced (PTRACE_TRACEME): EPERM") \
	OURS(timer_create, "on a thread's clock: ENOTSUP") \
	OURS(timer_delete, "") \
	OURS(timer_getoverrun, "") \
	OURS(sleep, "") \
	OURS(usleep, "") \
	OURS(nanosleep, "") \
	OURS(clock_nanosleep, "") \
	OURS(read, "") \
	OURS(readv, "") \
	OURS(pread, "") \
	OURS(pread64, "") \
	OURS(preadv, "") \
	OURS(preadv64, "") \
	OURS(preadv2, "") \
	OURS(preadv64v2, "") \
	OURS(write, "") \
	OURS(writev, "") \
	OURS(pwrite, "") \
	OURS(pwrite64, "") \
	OURS(pwritev, "") \
	OURS(pwritev64, "") \
	OURS(pwritev2, "") \
	OURS(pwritev64v2, "") \
	OURS(open, "of a FIFO: in a region") \
	OURS(open64, "") \
	OURS(openat, "of a FIFO: in a region") \
	OURS(openat64, "") \
	OURS(creat, "") \
	OURS(creat64, "") \
	OURS(splice, "in a region") \
	OURS(tee, "in a region") \
	OURS(vmsplice, "in a region") \
	OURS(sendfile, "in a region") \
	OURS(sendfile64, "in a region") \
	OURS(copy_file_range, "in a region") \
	OURS(recv, "") \
	OURS(recvfrom, "") \
	OURS(recvmsg, "") \
	OURS(recvmmsg, "") \
	OURS(send, "") \
	OURS(sendto, "") \
	OURS(sendmsg, "") \
	OURS(sendmmsg, "by sendmsg()") \
	OURS(accept, "") \
	OURS(accept4, "") \
	OURS(connect, "O_NONBLOCK is set for the time of it") \
	OURS(socket, "") \
	OURS(socketpair, "") \
	OURS(setsockopt, "") \
	OURS(close, "the runtime's own descriptors: EBADF") \
	OURS(close_range, "but the runtime's own") \
	OURS(closefrom, "but the runtime's own") \
	OURS(dup2, "onto the runtime's own: EBADF") \
	OURS(dup3, "onto the runtime's own: EBADF") \
	OURS(ioctl, "") \
	OURS(fcntl, "F_SETLKW in a region") \
	OURS(fcntl64, "") \
	OURS(flock, "in a region") \
	OURS(mq_receive, "") \
	OURS(mq_timedreceive, "") \
	OURS(mq_send, "") \
	OURS(mq_timedsend, "") \
	OURS(msgrcv, "in a region") \
	OURS(msgsnd, "in a region") \
	OURS(semop, "in a region") \
	OURS(semtimedop, "in a region") \
	OURS(getaddrinfo, "in a region") \
	OURS(getnameinfo, "in a region") \
	OURS(gethostbyname, "in a region") \
	OURS(gethostbyname2, "in a region") \
	OURS(gethostbyaddr, "in a region") \
	OURS(gethostbyname_r, "in a region") \
	OURS(gethostbyname2_r, "in a region") \
	OURS(gethostbyaddr_r, "in a region") \
	OURS(gai_suspend, "in a region") \
	OURS(aio_suspend, "in a region") \
	OURS(aio_suspend64, "in a region") \
	OURS(lio_listio, "LIO_WAIT in a region") \
	OURS(lio_listio64, "LIO_WAIT in a region") \
	OURS(io_setup, "libaio's") \
	OURS(io_submit, "libaio's: a request that tells nobody else tells us") \
	OURS(io_getevents, "libaio's") \
	OURS(io_destroy, "libaio's: in a region") \
	OURS(io_uring_queue_init, \
		"liburing's: ENOSYS where libaio is loaded too; see WEFT_IO_URING") \
	OURS(io_uring_queue_init_params, "the same") \
	OURS(io_uring_register_ring_fd, "EINVAL") \
	OURS(fsync, "in a region, or by the kernel on its own") \
	OURS(fdatasync, "in a region, or by the kernel on its own") \
	OURS(msync, "in a region") \
	OURS(sync_file_range, "in a region") \
	OURS(sync, "in a region") \
	OURS(syncfs, "in a region") \
	OURS(fallocate, "in a region") \
	OURS(fallocate64, "in a region") \
	OURS(posix_fallocate, "in a region") \
	OURS(posix_fallocate64, "in a region") \
	OURS(tcdrain, "in a region") \
	OURS(getrandom, "is seen, as a cancellation point") \
	OURS(lockf, "in a region") \
	OURS(lockf64, "in a region") \
	OURS(poll, "") \
	OURS(ppoll, "") \
	OURS(select, "") \
	OURS(pselect, "") \
	OURS(epoll_wait, "") \
	OURS(epoll_pwait, "") \
	OURS(epoll_pwait2, "") \
	OURS(__read_chk, "what _FORTIFY_SOURCE makes of read()") \
	OURS(__pread_chk, "") \
	OURS(__pread64_chk, "") \
	OURS(__recv_chk, "") \
	OURS(__recvfrom_chk, "") \
	OURS(__poll_chk, "") \
	OURS(__ppoll_chk, "") \
	OURS(__open_2, "") \
	OURS(__open64_2, "") \
	OURS(__openat_2, "") \
	OURS(__openat64_2, "") \
	OURS(wait, "in a region") \
	OURS(wait3, "in a region") \
	OURS(wait4, "for any child: in a region") \
	OURS(waitpid, "") \
	OURS(waitid, "") \
	OURS(vfork, "the VCPU waits for the child too") \
	OURS(execv, "") \
	OURS(execve, "LD_PRELOAD without weft's, where the program cannot take it") \
	OURS(execveat, "") \
	OURS(execvp, "") \
	OURS(execvpe, "") \
	OURS(fexecve, "") \
	OURS(posix_spawn, "the same") \
	OURS(posix_spawnp, "") \
	OURS(system, "in a region") \
	OURS(popen, "") \
	OURS(pclose, "in a region") \
	OURS(dlopen, \
		"code runs on stacks once a library asks; RTLD_DEEPBIND: its calls are ours") \
	OURS(__libc_start_main, "a frame below main for pthread_exit()") \
	LIBC(pthread_self, "the address of the control block") \
	LIBC(pthread_equal, "") \
	LIBC(pthread_atfork, "") \
	OURS(__register_atfork, "what pthread_atfork() calls: the runtime's come first") \
	LIBC(pthread_key_create, "values are in the thread's control block") \
	LIBC(pthread_key_delete, "") \
	LIBC(pthread_getspecific, "") \
	LIBC(pthread_setspecific, "") \
	LIBC(pthread_attr_destroy, "") \
	LIBC(pthread_attr_getaffinity_np, "") \
	LIBC(pthread_attr_getdetachstate, "") \
	LIBC(pthread_attr_getguardsize, "") \
	LIBC(pthread_attr_getinheritsched, "") \
	LIBC(pthread_attr_getschedparam, "") \
	LIBC(pthread_attr_getschedpolicy, "") \
	LIBC(pthread_attr_getscope, "") \
	LIBC(pthread_attr_getsigmask_np, "") \
	LIBC(pthread_attr_getstack, "") \
	LIBC(pthread_attr_getstackaddr, "") \
	LIBC(pthread_attr_getstacksize, "") \
	LIBC(pthread_attr_init, "") \
	LIBC(pthread_attr_setaffinity_np, "checked, without effect") \
	LIBC(pthread_attr_setdetachstate, "") \
	LIBC(pthread_attr_setguardsize, "") \
	LIBC(pthread_attr_setinheritsched, "") \
	LIBC(pthread_attr_setschedparam, "") \
	LIBC(pthread_attr_setschedpolicy, "") \
	LIBC(pthread_attr_setscope, "") \
	LIBC(pthread_attr_setsigmask_np, "") \
	LIBC(pthread_attr_setstack, "") \
	LIBC(pthread_attr_setstackaddr, "") \
	LIBC(pthread_attr_setstacksize, "") \
	LIBC(pthread_getattr_default_np, "") \
	LIBC(pthread_setattr_default_np, "") \
	LIBC(pthread_barrier_init, "") \
	LIBC(pthread_barrierattr_destroy, "") \
	LIBC(pthread_barrierattr_getpshared, "") \
	LIBC(pthread_barrierattr_init, "") \
	LIBC(pthread_barrierattr_setpshared, "") \
	LIBC(pthread_cond_init, "") \
	LIBC(pthread_condattr_destroy, "") \
	LIBC(pthread_condattr_getclock, "") \
	LIBC(pthread_condattr_getpshared, "") \
	LIBC(pthread_condattr_init, "") \
	LIBC(pthread_condattr_setclock, "") \
	LIBC(pthread_condattr_setpshared, "") \
	LIBC(pthread_mutex_init, "") \
	LIBC(pthread_mutex_consistent, "") \
	LIBC(pthread_mutex_consistent_np, "") \
	LIBC(pthread_mutex_getprioceiling, "") \
	LIBC(pthread_mutexattr_destroy, "") \
	LIBC(pthread_mutexattr_getkind_np, "") \
	LIBC(pthread_mutexattr_getprioceiling, "") \
	LIBC(pthread_mutexattr_getprotocol, "") \
	LIBC(pthread_mutexattr_getpshared, "") \
	LIBC(pthread_mutexattr_getrobust, "") \
	LIBC(pthread_mutexattr_getrobust_np, "") \
	LIBC(pthread_mutexattr_gettype, "") \
	LIBC(pthread_mutexattr_init, "") \
	LIBC(pthread_mutexattr_setkind_np, "") \
	LIBC(pthread_mutexattr_setprioceiling, "") \
	LIBC(pthread_mutexattr_setprotocol, "") \
	LIBC(pthread_mutexattr_setpshared, "") \
	LIBC(pthread_mutexattr_setrobust, "") \
	LIBC(pthread_mutexattr_setrobust_np, "") \
	LIBC(pthread_mutexattr_settype, "") \
	LIBC(pthread_rwlock_init, "") \
	LIBC(pthread_rwlock_destroy, "") \
	LIBC(pthread_rwlockattr_destroy, "") \
	LIBC(pthread_rwlockattr_getkind_np, "") \
	LIBC(pthread_rwlockattr_getpshared, "") \
	LIBC(pthread_rwlockattr_init, "") \
	LIBC(pthread_rwlockattr_setkind_np, "") \
	LIBC(pthread_rwlockattr_setpshared, "") \
	LIBC(pthread_spin_init, "") \
	LIBC(pthread_spin_destroy, "") \
	LIBC(pthread_spin_trylock, "") \
	LIBC(pthread_spin_unlock, "") \
	LIBC(pthread_getconcurrency, "") \
	LIBC(pthread_setconcurrency, "") \
	LIBC(pthread_kill_other_threads_np, "") \
	LIBC(sem_init, "") \
	LIBC(sem_destroy, "") \
	LIBC(sem_getvalue, "") \
	LIBC(sem_open, "") \
	LIBC(sem_close, "") \
	LIBC(sem_unlink, "") \
	LIBC(thrd_current, "") \
	LIBC(thrd_equal, "") \
	LIBC(mtx_init, "") \
	LIBC(cnd_init, "") \
	LIBC(tss_create, "") \
	LIBC(tss_delete, "") \
	LIBC(tss_get, "") \
	LIBC(tss_set, "")

#endif

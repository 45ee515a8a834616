/* SPDX-License-Identifier: MIT */
/*
 * pthread/core/table.h - every function of the families that this library covers
 *
 *	OURS(name, note)	defined here; libc's own is REAL(name)
 *	LIBC(name, note)	left as it is: it only reads or initializes an
 *				object, which has libc's layout here too
 *	PLANNED(name, note)	left as it is for now, and wrong for green
 *				threads in the way that the note says
 *
 * A comment before the rows names the functions' file, below pthread/ (or arch/<cpu>).
 * The wrappers' pointers to libc are made from the table, and so is the table in the
 * manual page weft-pthread(7). tools/check-pthread fails if libc exports a name of
 * pthread_*, sem_*, thrd_*, mtx_*, cnd_* or tss_* that is not here, or if this library
 * does not export exactly the names that are OURS.
 */
#ifndef WEFT_PTHREAD_CORE_TABLE_H
#define WEFT_PTHREAD_CORE_TABLE_H

#include "pthread/core/table_files.h"
#include "pthread/core/table_ids.h"
#include "pthread/core/table_io.h"

#define WEFTI_TABLE(OURS, LIBC, PLANNED) \
	WEFTI_TABLE_FILES(OURS, LIBC, PLANNED) WEFTI_TABLE_IDS(OURS, LIBC, PLANNED) \
	WEFTI_TABLE_IO(OURS, LIBC, PLANNED) \
	/* thread/create.c */ \
	OURS(pthread_create, "makes a green thread") \
	/* signal/exit.c */ \
	OURS(pthread_exit, "unwinds with libc's unwinder") \
	/* thread/join.c */ \
	OURS(pthread_join, "") \
	OURS(pthread_tryjoin_np, "") \
	OURS(pthread_timedjoin_np, "") \
	OURS(pthread_clockjoin_np, "") \
	OURS(pthread_detach, "") \
	/* signal/cancel.c */ \
	OURS(pthread_cancel, "acts at the cancellation points among these functions") \
	OURS(pthread_setcancelstate, "") \
	OURS(pthread_setcanceltype, \
		"asynchronous: acts where the thread waits, or may be preempted") \
	OURS(pthread_testcancel, "") \
	/* sync/once.c */ \
	OURS(pthread_once, "") \
	OURS(call_once, "") \
	/* sync/mutex.c */ \
	OURS(pthread_mutex_lock, \
		"a kernel thread owns process-shared mutexes that inherit priorities") \
	OURS(pthread_mutex_trylock, "") \
	OURS(pthread_mutex_timedlock, "") \
	OURS(pthread_mutex_clocklock, "") \
	OURS(pthread_mutex_unlock, "") \
	OURS(pthread_mutex_destroy, "") \
	/* sync/ceiling.c */ \
	OURS(pthread_mutex_setprioceiling, "") \
	/* sync/cond.c */ \
	OURS(pthread_cond_wait, \
		"process-shared conditions: only between processes under weft run") \
	OURS(pthread_cond_timedwait, "") \
	OURS(pthread_cond_clockwait, "") \
	OURS(pthread_cond_signal, "") \
	OURS(pthread_cond_broadcast, "") \
	OURS(pthread_cond_destroy, "") \
	/* sync/rwlock.c */ \
	OURS(pthread_rwlock_rdlock, "process-shared locks are libc's, in a region") \
	OURS(pthread_rwlock_wrlock, "process-shared locks are libc's, in a region") \
	OURS(pthread_rwlock_tryrdlock, "") \
	OURS(pthread_rwlock_trywrlock, "") \
	OURS(pthread_rwlock_timedrdlock, "") \
	OURS(pthread_rwlock_timedwrlock, "") \
	OURS(pthread_rwlock_clockrdlock, "") \
	OURS(pthread_rwlock_clockwrlock, "") \
	OURS(pthread_rwlock_unlock, "") \
	/* sync/barrier.c */ \
	OURS(pthread_barrier_wait, "process-shared barriers are libc's, in a region") \
	OURS(pthread_barrier_destroy, "") \
	/* sync/spin.c */ \
	OURS(pthread_spin_lock, "yields after some tries") \
	/* sync/sem.c */ \
	OURS(sem_wait, "named and process-shared semaphores are libc's, in a region") \
	OURS(sem_timedwait, "") \
	OURS(sem_clockwait, "") \
	OURS(sem_trywait, "") \
	OURS(sem_post, "") \
	/* thread/c11.c */ \
	OURS(thrd_create, "") \
	OURS(thrd_join, "") \
	OURS(thrd_detach, "") \
	OURS(thrd_exit, "") \
	/* wait/sleep.c */ \
	OURS(thrd_yield, "") \
	OURS(thrd_sleep, "") \
	/* thread/c11.c */ \
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
	/* thread/attr.c */ \
	OURS(pthread_getattr_np, "") \
	OURS(pthread_setattr_default_np, "") \
	/* kthread/name.c */ \
	OURS(pthread_setname_np, \
		"other processes see only the first thread's name in /proc") \
	OURS(pthread_getname_np, "") \
	/* kthread/schedule.c */ \
	OURS(pthread_getschedparam, "tells what was set") \
	OURS(pthread_setschedparam, \
		"checked and kept; a real-time thread keeps its VCPU, and is woken first") \
	OURS(pthread_setschedprio, "as pthread_setschedparam()") \
	/* kthread/affinity.c */ \
	OURS(pthread_getaffinity_np, "tells what was set") \
	OURS(pthread_setaffinity_np, "checked and kept, without effect") \
	/* kthread/cpu_clock.c */ \
	OURS(pthread_getcpuclockid, \
		"only the clock functions listed here know a green thread's clock") \
	OURS(clock_gettime, \
		"a green thread's CPU time counts from the process's first question for one") \
	OURS(clock_getres, "") \
	OURS(getrusage, \
		"RUSAGE_THREAD: CPU time, all as user time, and the process's peak of memory") \
	/* signal/sigcall.c */ \
	OURS(pthread_kill, "") \
	OURS(pthread_sigqueue, "") \
	OURS(pthread_sigmask, "") \
	/* wait/sleep.c */ \
	OURS(pthread_yield, "") \
	OURS(sched_yield, \
		"a real-time thread that keeps its VCPU gives way to no other thread") \
	/* signal/sigcall.c */ \
	OURS(sigprocmask, "") \
	OURS(sigpending, "") \
	OURS(sigqueue, "libc's, except to the process itself") \
	OURS(pidfd_send_signal, "the kernel's, except to the process itself") \
	/* signal/signal_left.c */ \
	OURS(signalfd, \
		"libc's; the kernel keeps its signals while all threads block them") \
	/* wait/sigwait.c */ \
	OURS(sigtimedwait, "") \
	OURS(sigwaitinfo, "") \
	OURS(sigwait, "") \
	OURS(sigsuspend, "") \
	/* signal/sigold.c */ \
	OURS(sighold, "") \
	OURS(sigrelse, "") \
	OURS(sigset, "") \
	/* signal/sigaction.c */ \
	OURS(sigaction, \
		"a handler for SIGSYS ends the trapping of a library's futex calls") \
	OURS(signal, \
		"a handler for SIGSYS ends the trapping of a library's futex calls") \
	OURS(bsd_signal, \
		"a handler for SIGSYS ends the trapping of a library's futex calls") \
	OURS(ssignal, \
		"a handler for SIGSYS ends the trapping of a library's futex calls") \
	OURS(sysv_signal, \
		"a handler for SIGSYS ends the trapping of a library's futex calls") \
	OURS(__sysv_signal, "the headers of System V turn signal() into this") \
	OURS(sigignore, \
		"a handler for SIGSYS ends the trapping of a library's futex calls") \
	OURS(siginterrupt, "") \
	/* signal/sigold.c */ \
	OURS(sigblock, "") \
	OURS(sigsetmask, "") \
	/* wait/sigwait.c */ \
	OURS(__sigpause, "") \
	OURS(__xpg_sigpause, "the headers turn sigpause() into this") \
	/* signal/altstack.c */ \
	OURS(sigaltstack, "handlers of faults run on a stack of the kernel thread") \
	/* arch/sigsetjmp.S */ \
	OURS(__sigsetjmp, "the headers turn sigsetjmp() into this") \
	OURS(setjmp, "the function (not the macro) saves the signal mask") \
	/* signal/jump.c */ \
	OURS(siglongjmp, "") \
	OURS(longjmp, "") \
	OURS(_longjmp, "") \
	OURS(__longjmp_chk, "") \
	/* wait/sigwait.c */ \
	OURS(pause, "") \
	/* signal/sigcall.c */ \
	OURS(raise, "") \
	OURS(abort, "") \
	OURS(kill, "libc's, except to the process itself") \
	/* kthread/thread_id.c */ \
	OURS(gettid, "a green thread has an id above all ids of the kernel") \
	/* init/syscall.c */ \
	OURS(syscall, \
		"knows futexes and ids; refuses what would change a kernel thread") \
	/* process/memory_lock.c */ \
	OURS(mlockall, \
		"locks the size that each stack was asked for; unlocks the runtime's tables") \
	OURS(munlockall, "") \
	/* kthread/prctl.c */ \
	OURS(prctl, \
		"knows names; EPERM or EINVAL for what would change a kernel thread") \
	/* kthread/affinity.c */ \
	OURS(sched_setaffinity, "a green thread: checked and kept, without effect") \
	OURS(sched_getaffinity, "a green thread: tells what was set") \
	OURS(sched_getcpu, "a green thread: a CPU of those that were set") \
	OURS(getcpu, "a green thread: as sched_getcpu()") \
	/* kthread/schedule.c */ \
	OURS(sched_setscheduler, "a green thread: as pthread_setschedparam()") \
	OURS(sched_getscheduler, "a green thread: tells what was set") \
	OURS(sched_setparam, "a green thread: as pthread_setschedparam()") \
	OURS(sched_getparam, "a green thread: tells what was set") \
	/* kthread/sched_attr.c */ \
	OURS(sched_setattr, "a green thread: as pthread_setschedparam()") \
	OURS(sched_getattr, "a green thread: tells what was set") \
	/* kthread/schedule.c */ \
	OURS(sched_rr_get_interval, "a green thread gets its carrier's") \
	/* kthread/nice.c */ \
	OURS(setpriority, "a green thread: checked and kept, without effect") \
	OURS(getpriority, "a green thread: tells what was set") \
	OURS(nice, "checked and kept, without effect") \
	/* kthread/tied.c */ \
	OURS(capset, "EPERM") \
	OURS(setfsuid, "without effect; tells the id that is in force") \
	OURS(setfsgid, "without effect; tells the id that is in force") \
	OURS(unshare, "EINVAL") \
	OURS(setns, "EINVAL") \
	OURS(personality, "EINVAL for each change") \
	/* process/ptrace.c */ \
	OURS(ptrace, "EPERM for PTRACE_TRACEME") \
	/* signal/thread_timer.c */ \
	OURS(timer_create, "ENOTSUP for a thread's clock") \
	OURS(timer_delete, "") \
	OURS(timer_getoverrun, "") \
	/* wait/sleep.c */ \
	OURS(sleep, "") \
	OURS(usleep, "") \
	OURS(nanosleep, "") \
	OURS(clock_nanosleep, "") \
	/* process/child.c */ \
	OURS(wait, "in a region") \
	OURS(wait3, "in a region") \
	OURS(wait4, "in a region, if it waits for any child") \
	OURS(waitpid, "") \
	OURS(waitid, "") \
	/* arch/vfork.S */ \
	OURS(vfork, "the VCPU waits for the child, too") \
	/* init/unseen.c */ \
	OURS(_Fork, "the child goes on as that of fork() does") \
	OURS(clone, "without CLONE_VM: the child goes on as that of fork() does") \
	/* process/process.c */ \
	OURS(execv, "") \
	OURS(execve, "drops weft from LD_PRELOAD if the new program cannot load it") \
	OURS(execveat, "") \
	OURS(execvp, "") \
	OURS(execvpe, "") \
	OURS(fexecve, "") \
	OURS(posix_spawn, \
		"drops weft from LD_PRELOAD if the new program cannot load it") \
	OURS(posix_spawnp, "") \
	OURS(pidfd_spawn, \
		"drops weft from LD_PRELOAD if the new program cannot load it") \
	OURS(pidfd_spawnp, "") \
	OURS(system, "in a region") \
	OURS(popen, "") \
	OURS(pclose, "in a region") \
	/* arch/dlopen.S */ \
	OURS(dlopen, \
		"stacks become executable if a library asks; RTLD_DEEPBIND still finds weft") \
	/* thread/create.c */ \
	OURS(__libc_start_main, "puts a frame below main() for pthread_exit()") \
	/* libc's */ \
	LIBC(pthread_self, "returns the address of the control block") \
	LIBC(pthread_equal, "") \
	LIBC(pthread_atfork, "") \
	/* init/atfork.c */ \
	OURS(__register_atfork, \
		"pthread_atfork() calls this; the runtime's handlers run first") \
	/* libc's */ \
	LIBC(pthread_key_create, "the values are in the thread's control block") \
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
	LIBC(pthread_attr_setaffinity_np, "checked and kept, without effect") \
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

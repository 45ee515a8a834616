/* SPDX-License-Identifier: MIT */
/* explore/real.h - the next library's functions, in most programs libc's */
#ifndef WEFT_EXPLORE_REAL_H
#define WEFT_EXPLORE_REAL_H

#include <aio.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "export.h"

/* C++'s, for variables of functions; libc declares them nowhere. */
int __cxa_guard_acquire(void *guard);
void __cxa_guard_release(void *guard);
void __cxa_guard_abort(void *guard);

#define WEFTI_EX_REAL(F) \
	F(pthread_create) F(pthread_join) F(pthread_tryjoin_np) F(pthread_timedjoin_np) \
	F(pthread_clockjoin_np) F(pthread_detach) \
	F(pthread_cancel) F(pthread_kill) F(pthread_setcancelstate) F(pthread_testcancel) \
	F(pthread_mutex_init) F(pthread_mutex_destroy) F(pthread_mutex_lock) \
	F(pthread_mutex_trylock) F(pthread_mutex_timedlock) F(pthread_mutex_clocklock) \
	F(pthread_mutex_unlock) \
	F(pthread_cond_init) F(pthread_cond_destroy) F(pthread_cond_wait) \
	F(pthread_cond_timedwait) F(pthread_cond_clockwait) F(pthread_cond_signal) \
	F(pthread_cond_broadcast) \
	F(pthread_rwlock_init) F(pthread_rwlock_destroy) F(pthread_rwlock_rdlock) \
	F(pthread_rwlock_tryrdlock) F(pthread_rwlock_timedrdlock) \
	F(pthread_rwlock_clockrdlock) F(pthread_rwlock_wrlock) \
	F(pthread_rwlock_trywrlock) F(pthread_rwlock_timedwrlock) \
	F(pthread_rwlock_clockwrlock) F(pthread_rwlock_unlock) \
	F(pthread_barrier_init) F(pthread_barrier_destroy) F(pthread_barrier_wait) \
	F(pthread_spin_lock) \
	F(pthread_spin_trylock) F(pthread_spin_unlock) \
	F(pthread_once) F(call_once) \
	F(sem_init) F(sem_destroy) F(sem_wait) F(sem_timedwait) F(sem_clockwait) \
	F(sem_trywait) F(sem_getvalue) F(sem_post) \
	F(thrd_create) F(mtx_init) F(sched_yield) \
	F(sched_getaffinity) F(pthread_getaffinity_np) F(sched_getscheduler) \
	F(pthread_getschedparam) \
	F(nanosleep) F(clock_nanosleep) F(usleep) F(sleep) \
	F(clock_gettime) F(gettimeofday) F(time) \
	F(read) F(readv) F(write) F(writev) F(recv) F(recvfrom) F(recvmsg) F(send) F(sendto) \
	F(sendmsg) F(accept) F(accept4) F(connect) F(close) F(shutdown) \
	F(poll) F(select) F(ppoll) F(pselect) F(epoll_wait) F(epoll_pwait) F(pthread_sigmask) \
	F(sigwait) F(sigwaitinfo) F(sigtimedwait) F(sigsuspend) F(pause) \
	F(waitpid) F(wait4) F(waitid) F(flock) F(fcntl) F(lockf) F(openat) \
	F(mq_send) F(mq_timedsend) F(mq_receive) F(mq_timedreceive) F(msgsnd) F(msgrcv) F(semtimedop) \
	F(splice) F(tee) F(vmsplice) F(sendfile) F(preadv2) F(pwritev2) F(recvmmsg) F(sendmmsg) \
	F(aio_suspend) F(fgetc) F(fgets) F(fread) F(getdelim) F(fopen) \
	F(syscall) F(getrandom) F(getentropy) \
	F(__cxa_guard_acquire) F(__cxa_guard_release) F(__cxa_guard_abort)

struct wefti_ex_real {
#define WEFTI_EX_POINTER(name)	__typeof__(name) *name;
	WEFTI_EX_REAL(WEFTI_EX_POINTER)
#undef WEFTI_EX_POINTER
	int is_found;
};

extern struct wefti_ex_real wefti_ex_real;
void wefti_ex_real_find(void);
void wefti_ex_heap_find(void);		/* heap.c */
void wefti_ex_copies_find(void);	/* copies.c */

/* Constructors of other libraries may call these functions before ours has run. */
static inline const struct wefti_ex_real *wefti_ex_next(void)
{
	if (__builtin_expect(!wefti_ex_real.is_found, 0))
		wefti_ex_real_find();
	return &wefti_ex_real;
}

#define REAL(name)	(wefti_ex_next()->name)

#endif

/* SPDX-License-Identifier: MIT */
/*
 * threads.h - what tests of the running runtime share
 *
 * CUnit's assertions are for main. A thread says must(), which ends the
 * program with the line that failed.
 */
#ifndef WEFT_TESTS_THREADS_H
#define WEFT_TESTS_THREADS_H

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <weft.h>

#include "lockfree/atomic.h"
#include "sched/vcpu.h"
#include "support.h"
#include "thread/bare.h"
#include "thread/wait.h"

#define must(condition)							\
	((condition) ? (void)0 :					\
	 must_failed(#condition, __FILE__, __LINE__))

static inline void must_failed(const char *what, const char *file, int line)
{
	fprintf(stderr, "%s:%d: failed in a thread: %s\n", file, line, what);
	abort();
}

#if defined(WEFT_TSAN)
void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);
#endif

/*
 * A child that only the kernel knows of, as _Fork() makes it: no handler of libc's runs in it.
 * Its one thread races with none. ThreadSanitizer does not know that the parent's other
 * threads are not there. Returns as fork() does; the child ends by exit_alone().
 */
static inline long clone_alone(void)
{
	long pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

#if defined(WEFT_TSAN)
	if (pid == 0)
		__tsan_ignore_thread_begin();
#endif
	return pid;
}

static inline _Noreturn void exit_alone(int status)
{
#if defined(WEFT_TSAN)
	__tsan_ignore_thread_end();
#endif
	_exit(status);
}

static inline void runtime_begin(void)
{
	CU_ASSERT_EQUAL_FATAL(weft_start(NULL), 0);
}

static inline void runtime_end(void)
{
	CU_ASSERT_EQUAL_FATAL(weft_stop(), 0);
}

/* With WEFT_LIGHT, WEFT_DETACHED or 0. name may be NULL. */
static inline uint64_t spawn_named(const char *name, unsigned flags,
				   void *(*fn)(void *), void *arg)
{
	const struct weft_attr attr = { .name = name, .flags = flags };
	uint64_t id = 0;
	int error = weft_spawn(&id, &attr, fn, arg);

	if (error)
		fprintf(stderr, "weft_spawn: %d\n", error);
	must(error == 0);
	return id;
}

static inline uint64_t spawn_with(unsigned flags, void *(*fn)(void *),
				  void *arg)
{
	return spawn_named(NULL, flags, fn, arg);
}

static inline uint64_t spawn(void *(*fn)(void *), void *arg)
{
	return spawn_with(0, fn, arg);
}

static inline void *join(uint64_t id)
{
	void *result = NULL;

	must(weft_join(id, &result) == 0);
	return result;
}

/*
 * In a loop that waits for another thread. Not weft_yield(): where there are
 * more VCPUs than CPUs, threads that yield in a loop keep the CPUs from the one
 * that they wait for.
 */
static inline void rest(void)
{
	(void)weft_sleep(5000);
}

/* As runtime_end(), where threads that nobody joins still leave their stacks. */
static inline void runtime_end_at_last(void)
{
	int error;

	while ((error = weft_stop()) == -EBUSY)
		rest();
	CU_ASSERT_EQUAL_FATAL(error, 0);
}

/* Off its stack, in whatever it waits for? */
static inline int is_parked(uint64_t id)
{
	struct wefti_thread *t = wefti_thread_find(id);

	return t && wefti_wait_is_parked(t);
}

/* Have threads that are not light a TLS of their own here? */
static inline int own_tls(void)
{
	return (int)wefti_rt.own_tls;
}

/* Would they, if the runtime were started? */
static inline int own_tls_at_start(void)
{
	int own;

	runtime_begin();
	own = own_tls();
	runtime_end();
	return own;
}

/* Computes without a call until *arg, an _Atomic int, is set. */
static inline void *spin_until(void *arg)
{
	_Atomic int *flag = arg;

	while (!load_relaxed(flag))
		wefti_arch_pause();
	return NULL;
}

#endif

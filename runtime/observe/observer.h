/* SPDX-License-Identifier: MIT */
/* observe/observer.h - the observer, which watches the runtime from start to stop */
#ifndef WEFT_OBSERVE_OBSERVER_H
#define WEFT_OBSERVE_OBSERVER_H

#include <stdint.h>

#include "os/signal/signal.h"

/*
 * Both are called by the thread that starts and stops the runtime. start: on kernel
 * thread 0's own block (libc copies from it), when all else is ready. Parts for which
 * there is no memory are left out. stop: waits for dumps to end.
 */
void wefti_observer_start(void);
void wefti_observer_stop(void);

/*
 * Called in the child of a fork: the observer's kernel thread does not exist, and no
 * thread looks.
 */
void wefti_observer_forget(void);

/*
 * A layer above whose kernel thread lives as long as the process may lend it: before
 * the start, and again in the child of a fork. `ring` is called when there is work, in
 * handlers too. Then, and at the time that it last returned (CLOCK_MONOTONIC, ns), that
 * kernel thread must call work. A dump may make it wait; a reader that takes nothing
 * for two seconds gets no more.
 */
void wefti_observer_lend(void (*ring)(void));
int64_t wefti_observer_work(void);
int wefti_observer_is_lent(void);

/* SIGQUIT's handler, to distinguish it from a program's. */
void wefti_observer_on_quit(int signal, siginfo_t *info, void *context);

/* The same for another process's request (observe/asked.h): returns 0 if it is none. */
int wefti_observer_on_asked(const siginfo_t *info);

/*
 * For a crash (observe/last.h). Is there an observer in this process, and is the caller
 * not it? A child of vfork(), _Fork() or a bare clone() has none, though all memory says
 * that there is one. Has it call wefti_last_answer(); for signal handlers.
 */
int wefti_observer_may_answer(void);
void wefti_observer_ask_last(void);

/* The number of kernel threads of the observer's. */
unsigned wefti_observer_kthreads(void);

#endif

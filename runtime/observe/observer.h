/* SPDX-License-Identifier: MIT */
/* observe/observer.h - what watches the runtime, from start to stop */
#ifndef WEFT_OBSERVE_OBSERVER_H
#define WEFT_OBSERVE_OBSERVER_H

#include <stdint.h>

#include "os/signal/signal.h"

/*
 * Both by the thread that starts and stops the runtime. start: on kernel thread
 * 0's own block (libc copies from it), when all else is there. What cannot be
 * had, by lack of memory, is gone without. stop: waits for dumps to end.
 */
void wefti_observer_start(void);
void wefti_observer_stop(void);

/* In the child of a fork: its kernel thread is not there, nobody looks. */
void wefti_observer_forget(void);

/*
 * A layer above that has a kernel thread for as long as the process lives may lend
 * it: before the start, and in the child of a fork again. `ring` is called when there
 * is something to do, in handlers too. Then, and at the time that was returned last
 * (CLOCK_MONOTONIC, ns), that kernel thread calls work. It may have to wait for that
 * while a dump is written: a reader who takes none of it for two seconds gets no more.
 */
void wefti_observer_lend(void (*ring)(void));
int64_t wefti_observer_work(void);
int wefti_observer_is_lent(void);

/* SIGQUIT's handler, to be told from a program's. */
void wefti_observer_on_quit(int signal, siginfo_t *info, void *context);

/* The same of another process that asks (observe/asked.h): 0 if it is none. */
int wefti_observer_on_asked(const siginfo_t *info);

/* Kernel threads that are the observer's. */
unsigned wefti_observer_kthreads(void);

#endif

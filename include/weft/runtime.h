/* SPDX-License-Identifier: MIT */
/*
 * weft/runtime.h - start and stop; regions that block in the kernel
 *
 * The runtime is a set of VCPUs, each carried by a kernel thread, and a
 * monitor. Its settings come from weft_start()'s options, then from the
 * environment (WEFT_VCPUS and others, see weft(7)), then from the machine.
 */
#ifndef WEFT_RUNTIME_H
#define WEFT_RUNTIME_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zero-filled means: as the environment says, else the default. */
struct weft_options {
	unsigned vcpus;		/* 1 to 256; 0: WEFT_VCPUS, else CPUs allowed */
	int64_t slice_ns;	/* 0: WEFT_SLICE, else 10 ms; -1: no preemption */
	uint64_t reserved[6];	/* zero */
};

/*
 * weft_start - start the runtime; the caller becomes a thread
 *
 *   options  may be NULL; not kept
 *
 * The calling kernel thread's flow of control goes on as a thread with its own
 * stack and thread-local variables, which may migrate between kernel threads
 * from now on. Call it from the process's first thread. Where another kernel
 * thread calls it, that one is the first thread: it has to call weft_stop()
 * before it ends, and the process's own is a foreign thread.
 *
 * Returns 0, else
 *   -EALREADY  the runtime runs
 *   -EINVAL    an option is out of range
 *   -EAGAIN    a kernel thread could not be made
 *   -ENOMEM    no memory
 *
 * Blocks     the kernel thread, for the start of others.
 * See        weft_stop()
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_start(const struct weft_options *options);

/*
 * weft_stop - stop the runtime and give back all that it holds
 *
 * The caller must be the thread that called weft_start(); it goes on as the
 * kernel thread that it was. Every other thread must have ended (and the ones
 * not detached been joined).
 *
 * Returns 0, else
 *   -EPERM  the caller is not the thread that started the runtime
 *   -EBUSY  other threads have not ended or were not joined
 *   -ESRCH  the runtime does not run
 *
 * Blocks     may park; then the kernel thread, for the end of others.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_stop(void);

/*
 * weft_vcpus - how many VCPUs the runtime has
 *
 * Returns the count, 0 when the runtime does not run.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API unsigned weft_vcpus(void);

/*
 * weft_block_begin, weft_block_end - a region that may block in the kernel
 *
 * Between the two the thread keeps its kernel thread, and its VCPU can be
 * taken for others within tens of microseconds of a call that blocks, rather
 * than the milliseconds that it takes to notice one that was not announced; if
 * the thread computes there, within 5 ms or so. Regions nest;
 * an end without a begin does nothing. Inside, only calls that do not park are
 * allowed.
 *
 * weft_block_end() may park until there is a VCPU to go on with.
 *
 * Not for    signal handlers.
 * Since      0.1
 */
WEFT_API void weft_block_begin(void);
WEFT_API void weft_block_end(void);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT */
/*
 * weft/runtime.h - start and stop; regions that block in the kernel
 *
 * The runtime is a set of VCPUs, each carried by a kernel thread, and a monitor. An
 * option of weft_start() comes before the environment (WEFT_VCPUS and others, see
 * weft(7)). What neither of them sets is a default, or depends on the machine.
 */
#ifndef WEFT_RUNTIME_H
#define WEFT_RUNTIME_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Zero-filled: the settings of the environment, else the defaults. */
struct weft_options {
	unsigned vcpus;		/* 1 to 256; 0: WEFT_VCPUS, else the CPUs that
				 * the process may use, within its quota */
	int64_t slice_ns;	/* 0: WEFT_SLICE, else 10 ms; -1: no preemption.
				 * Half of it while a woken or new thread waits */
	uint64_t reserved[6];	/* zero */
};

/*
 * weft_start - start the runtime; the caller becomes a thread
 *
 *   options  VCPUs and slice, see struct weft_options; NULL: the defaults. Not kept.
 *
 * The caller continues as a thread of weft, with the stack and the thread-local
 * variables that it had. From now on it may migrate between kernel threads.
 *
 * Call weft_start() from the first thread of the process. If another kernel thread calls
 * it, that one becomes weft's first thread and must call weft_stop() before it ends. The
 * first thread of the process is then a foreign thread.
 *
 * Returns 0, else
 *   -EALREADY  the runtime is running
 *   -ENOTSUP   the program has ThreadSanitizer, and the library is not built for it; a
 *              line on standard error says so
 *   -EINVAL    an option is out of range
 *   -EAGAIN    a kernel thread could not be made
 *   -ENOMEM    no memory
 *
 * Blocks     the kernel thread, until the others have started.
 * See        weft_stop()
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_start(const struct weft_options *options);

/*
 * weft_stop - stop the runtime and release everything that it holds
 *
 * The caller must be the thread that called weft_start(); it continues as the kernel
 * thread that it was. Every other thread must have ended, and every thread that is not
 * detached must have been joined.
 *
 * Returns 0, else
 *   -EPERM  the caller is not the thread that started the runtime
 *   -EBUSY  other threads have not ended or have not been joined
 *   -ESRCH  the runtime is not running, or the process is a child that _Fork() made of the
 *           one in which it runs
 *
 * Blocks     may park; then blocks the kernel thread until the others have ended.
 * Since      0.1
 */
WEFT_API int weft_stop(void);

/*
 * weft_vcpus - how many VCPUs the runtime has
 *
 * Returns the number, or 0 if the runtime is not running.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API unsigned weft_vcpus(void);

/*
 * weft_block_begin, weft_block_end - a region that may block in the kernel
 *
 * A blocking system call in such a region holds up the VCPU for a shorter time. If the
 * thread blocks inside the region, its VCPU is given to other threads within tens of
 * microseconds; outside a region that takes some milliseconds. If the thread computes
 * inside the region, its VCPU may be taken after about 5 ms. The thread keeps its kernel
 * thread throughout the region.
 *
 * A begin and an end cost some 15 ns together if nothing blocks, so a region around a
 * call that sometimes blocks is worth it.
 *
 * Regions nest. An end without a begin does nothing. Inside a region all of libc's calls
 * are allowed, and those of weft's that do not park. errno keeps its value across
 * weft_block_end(). But a light thread must read errno before that call, because another
 * kernel thread may carry it afterwards.
 *
 * Blocks     weft_block_end() may park until there is a VCPU for the thread.
 * Not for    signal handlers.
 * Since      0.1
 */
WEFT_API void weft_block_begin(void);
WEFT_API void weft_block_end(void);

#ifdef __cplusplus
}
#endif
#endif

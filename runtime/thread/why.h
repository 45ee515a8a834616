/* SPDX-License-Identifier: MIT */
/* thread/why.h - what a thread waits for, in words: in a dump, and in a trace */
#ifndef WEFT_THREAD_WHY_H
#define WEFT_THREAD_WHY_H

#include "thread/thread.h"

/* "waits for mutex", in front of the object. "waits": it is not known for what. */
static inline const char *wefti_why_words(unsigned why)
{
	static const char *const words[WEFTI_WHY_COUNT] = {
		[WEFTI_WHY_NOTHING] = "waits",
		[WEFTI_WHY_JOIN] = "joins",
		[WEFTI_WHY_SLEEP] = "sleeps",
		[WEFTI_WHY_MUTEX] = "waits for mutex",
		[WEFTI_WHY_COND] = "waits for condition",
		[WEFTI_WHY_READ_LOCK] = "waits to read, for lock",
		[WEFTI_WHY_WRITE_LOCK] = "waits to write, for lock",
		[WEFTI_WHY_SEM] = "waits for semaphore",
		[WEFTI_WHY_BARRIER] = "waits for barrier",
		[WEFTI_WHY_ONCE] = "waits for once",
		[WEFTI_WHY_SEND] = "sends to channel",
		[WEFTI_WHY_RECV] = "receives from channel",
		[WEFTI_WHY_ALT] = "waits for one of several",
		[WEFTI_WHY_DESCRIPTOR] = "waits for descriptor",
		[WEFTI_WHY_DISK] = "waits for the disk",
		[WEFTI_WHY_SEAT] = "waits for a VCPU",
		[WEFTI_WHY_FUTEX] = "waits for futex",
	};

	return why < WEFTI_WHY_COUNT && words[why] ? words[why] : "waits";
}

#endif

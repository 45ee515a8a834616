/* SPDX-License-Identifier: MIT */
/* cli/trace/words.c - words for what events say */
#include "trace/words.h"

#include <stddef.h>

#include "record/format.h"
#include "thread/why.h"

static const char *const ready[] = {
	[WEFTI_READY_WOKEN] = "woken",
	[WEFTI_READY_HANDED] = "handed over",
	[WEFTI_READY_TIMEDOUT] = "timed out",
	[WEFTI_READY_CANCELLED] = "cancelled",
	[WEFTI_READY_SPAWNED] = "new",
	[WEFTI_READY_SEAT] = "without its VCPU",
};

const char *trace_wait_words(uint32_t left)
{
	return left >= WEFTI_LEFT_WAITS ? wefti_why_words(left - WEFTI_LEFT_WAITS) : "waits";
}

const char *trace_ready_words(uint32_t detail)
{
	const uint32_t is = WEFTI_READY_WHY(detail);

	return is < sizeof(ready) / sizeof(*ready) && ready[is] ? ready[is] : "ready";
}

/* SPDX-License-Identifier: MIT */
/*
 * base/probe.h - places where a tracer of the system can stop: USDT probes
 *
 * A probe is a nop, and a note beside the code that says where its arguments are: in which
 * registers, or where in memory. perf, bpftrace, gdb and SystemTap read the note. So a
 * probe on a hot path gets only what is there anyway. The events are those of the recorder
 * (record/format.h), each at the place where the recorder is told (sched/record.h).
 *
 * Without <sys/sdt.h>, with --without-sdt, and in models there are none, and arguments are
 * not looked at.
 */
#ifndef WEFT_BASE_PROBE_H
#define WEFT_BASE_PROBE_H

#if defined(WEFT_HAS_SDT) && !defined(WEFT_MODEL)

#include <sys/sdt.h>

/* The names. weft(7) has the same list, which tests/tools/test_probes.sh compares. */
#define WEFTI_PROBE_WEFTI_EVENT_RUN		run
#define WEFTI_PROBE_WEFTI_EVENT_READY		ready
#define WEFTI_PROBE_WEFTI_EVENT_SLEEP		sleep
#define WEFTI_PROBE_WEFTI_EVENT_GO_ON		go_on
#define WEFTI_PROBE_WEFTI_EVENT_DEADLINE	deadline
#define WEFTI_PROBE_WEFTI_EVENT_SPAWN		spawn
#define WEFTI_PROBE_WEFTI_EVENT_RELEASED	released
#define WEFTI_PROBE_WEFTI_EVENT_NAME		name
#define WEFTI_PROBE_WEFTI_EVENT_STEAL		steal
#define WEFTI_PROBE_WEFTI_EVENT_PREEMPT		preempt
#define WEFTI_PROBE_WEFTI_EVENT_TAKEN		taken
#define WEFTI_PROBE_WEFTI_EVENT_SEAT_LOST	seat_lost
#define WEFTI_PROBE_WEFTI_EVENT_BLOCK_BEGIN	block_begin
#define WEFTI_PROBE_WEFTI_EVENT_BLOCK_END	block_end
#define WEFTI_PROBE_WEFTI_EVENT_IDLE		idle
#define WEFTI_PROBE_WEFTI_EVENT_AWAKE		awake
#define WEFTI_PROBE_WEFTI_EVENT_WAKE		wake
#define WEFTI_PROBE_WEFTI_EVENT_CARRY		carry
#define WEFTI_PROBE_WEFTI_EVENT_KTHREAD_MADE	kthread_made
#define WEFTI_PROBE_WEFTI_EVENT_KTHREAD_ENDED	kthread_ended
#define WEFTI_PROBE_WEFTI_EVENT_OWNER		owner
#define WEFTI_PROBE_WEFTI_EVENT_SIGNAL		signal
#define WEFTI_PROBE_WEFTI_EVENT_MARK		mark
#define WEFTI_PROBE_WEFTI_EVENT_BEGIN		begin
#define WEFTI_PROBE_WEFTI_EVENT_END		end

/* What happens to no thread: detail and arg are the event's. */
#define WEFTI_PROBE(kind, detail, arg) \
	DTRACE_PROBE2(weft, WEFTI_PROBE_##kind, detail, arg)

/* What happens to thread t, which is not NULL: its address, its number, and `arg`. */
#define WEFTI_PROBE_THREAD(kind, t, arg) \
	DTRACE_PROBE3(weft, WEFTI_PROBE_##kind, t, (t)->slot, arg)

#else

#define WEFTI_PROBE(kind, detail, arg)		((void)sizeof(arg))
#define WEFTI_PROBE_THREAD(kind, t, arg)	((void)sizeof(arg))

#endif

#endif

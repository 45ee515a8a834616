/* SPDX-License-Identifier: MIT */
/*
 * observe/trace.c - the recorder, on and off; its memory into a file; marks
 *
 * Writers
 *   changing  take_turn, end_turn, wefti_recorder_forget
 */
#include "observe/trace.h"

#include <errno.h>
#include <string.h>

#include "mem/slot.h"
#include "observe/gate.h"
#include "observe/marks.h"
#include "os/call/descriptor.h"
#include "record/memory.h"
#include "sched/record.h"
#include "sched/seat.h"
#include "thread/bare.h"
#include "weft/runtime.h"
#include "weft/thread.h"
#include "weft/trace.h"

#define WRITTEN_AT_ONCE	((size_t)1 << 20)
#define EVENTS_OF_NAME	3u	/* NAME, and two TEXT at most */

/* 1 while a thread changes whether events are recorded. No other waits for it. */
static _Atomic uint32_t changing;

static void end_turn(void)
{
	store_seq_cst(&changing, 0);
}

/* In a child that only the kernel knows of, the turn may be a thread's of the parent. */
static int take_turn(void)
{
	uint32_t none = 0;

	if (wefti_record_is_parents()) {
		wefti_record_disown_all();
		end_turn();
	}
	return cas_seq_cst(&changing, &none, 1);
}

/*
 * A reader of the memory learns the names of the threads that live now. The first thread
 * has one in any case, and so has the monitor, which wakes others. The table has those
 * of the first slots. NAME events have the others, as long as these take at most a quarter
 * of the common ring: what happened is worth more than what it happened to is called.
 */
static void tell_names(void)
{
	const uint32_t slots = wefti_slot_limit();
	uint64_t left = (wefti_recorder.common.mask + 1) / (4 * EVENTS_OF_NAME);
	char name[WEFT_NAME_MAX];

	for (uint32_t i = 1; i < slots && (i < WEFTI_RECORD_NAMES || left); i++) {
		struct wefti_thread *t = wefti_slot_get(i);
		uint64_t id = t ? wefti_thread_id(t) : 0;

		if (!id || weft_name(id, name, sizeof(name)) != 0)
			continue;
		if (!name[0] && t == wefti_rt.main)
			strcpy(name, "main");	/* in the recording alone */
		if (!name[0])
			continue;
		if (i < WEFTI_RECORD_NAMES) {
			wefti_record_name(id, name);
		} else {
			wefti_record_text(NULL, WEFTI_EVENT_NAME, id, 0, name);
			left--;
		}
	}
}

/* The thread that calls this runs on its VCPU, though no switch has said so. */
static void tell_self(struct wefti_thread *self)
{
	if (self && self->vcpu)
		wefti_record_run(self->vcpu, self, WEFTI_LEFT_NONE);
}

static int switch_on(struct wefti_thread *self, uint64_t bytes)
{
	int error;

	if (load_relaxed(&wefti_recorder.on))
		return -EALREADY;
	error = wefti_record_make(wefti_rt.vcpu_count, bytes);
	if (error)
		return error;
	wefti_marks_clear();
	wefti_record_switch_on();
	wefti_record_all(wefti_rt.vcpu_count, 1);
	tell_self(self);
	tell_names();
	return 0;
}

static int switch_off(void)
{
	if (!load_relaxed(&wefti_recorder.on))
		return -EALREADY;
	wefti_record_all(wefti_rt.vcpu_count, 0);
	wefti_record_switch_off();
	wefti_record_time_again(wefti_record_head());
	return 0;
}

static int start(struct wefti_thread *self, uint64_t bytes)
{
	int error = -EBUSY;

	if (wefti_observe_begin() != 0)
		return -ESRCH;
	if (take_turn()) {
		error = switch_on(self, bytes);
		end_turn();
	}
	wefti_observe_end();
	return error;
}

int weft_trace_start(uint64_t bytes)
{
	struct wefti_thread *self;
	int error;

	if (load_relaxed(&wefti_rt.state) != WEFTI_RT_ON)
		return -ESRCH;
	self = wefti_enter();
	error = start(self, bytes);
	wefti_leave(self);
	return error;
}

int wefti_recorder_asked(uint64_t bytes)
{
	return start(NULL, bytes);
}

int weft_trace_stop(void)
{
	int error = -EBUSY;

	if (wefti_observe_begin() != 0)
		return -ESRCH;
	if (take_turn()) {
		error = switch_off();
		end_turn();
	}
	wefti_observe_end();
	return error;
}

int wefti_recorder_begin(uint64_t bytes)
{
	return switch_on(wefti_rt.main, bytes);
}

void wefti_recorder_end(void)
{
	if (!take_turn())
		return;
	(void)switch_off();
	end_turn();
}

void wefti_recorder_forget(void)
{
	wefti_record_forget();
	store_seq_cst(&changing, 0);
}

static int write_all(int fd, const char *from, size_t bytes)
{
	while (bytes) {
		size_t now = bytes < WRITTEN_AT_ONCE ? bytes : WRITTEN_AT_ONCE;
		ssize_t n = wefti_os_fd_write(fd, from, now);
		struct pollfd ready = { .fd = fd, .events = POLLOUT };

		if (n == -EAGAIN)
			n = wefti_os_fd_poll(&ready, 1, INT64_MAX) < 0 ? n : 0;
		if (n < 0 && n != -EINTR)
			return (int)n;
		if (n > 0) {
			from += n;
			bytes -= (size_t)n;
		}
	}
	return 0;
}

int wefti_recorder_save(int fd)
{
	struct wefti_record_head *head = wefti_record_head();

	if (!head)
		return -ENODATA;
	wefti_record_time_again(head);
	return write_all(fd, (const char *)head, wefti_recorder.plan.bytes);
}

int weft_trace_write(int fd)
{
	int error;

	weft_block_begin();
	error = wefti_recorder_save(fd);
	weft_block_end();
	return error;
}

/* The calling thread may have no VCPU, and so may the caller of a mark. */
static COLD void mark(enum wefti_event_kind kind, const char *text)
{
	struct wefti_thread *self;

	if (load_relaxed(&wefti_rt.state) != WEFTI_RT_ON)
		return;
	self = wefti_enter();
	wefti_record_text(self->vcpu, kind, wefti_thread_id(self), 0, text);
	if (kind == WEFTI_EVENT_BEGIN)
		wefti_marks_begin(wefti_thread_id(self), text);
	else if (kind == WEFTI_EVENT_END)
		wefti_marks_end(wefti_thread_id(self));
	wefti_leave(self);
}

void weft_trace_mark(const char *text)
{
	WEFTI_PROBE(WEFTI_EVENT_MARK, text, 0);
	if (wefti_records_any())
		mark(WEFTI_EVENT_MARK, text);
}

void weft_trace_begin(const char *text)
{
	WEFTI_PROBE(WEFTI_EVENT_BEGIN, text, 0);
	if (wefti_records_any())
		mark(WEFTI_EVENT_BEGIN, text);
}

void weft_trace_end(void)
{
	WEFTI_PROBE(WEFTI_EVENT_END, 0, 0);
	if (wefti_records_any())
		mark(WEFTI_EVENT_END, NULL);
}

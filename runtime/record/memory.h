/* SPDX-License-Identifier: MIT */
/* record/memory.h - the recorder's memory: made, switched on and off, forgotten */
#ifndef WEFT_RECORD_MEMORY_H
#define WEFT_RECORD_MEMORY_H

#include "cpu.h"
#include "os/call/clock.h"
#include "os/call/shared_file.h"
#include "record/events.h"

/* On a page that the kernel wipes in each child with a copy of the memory. */
struct wefti_record_mark {
	_Atomic uint32_t is_ours;
};

/* What the kernel gave for the memory, disowned or not. base NULL: nothing. */
struct wefti_record_held {
	void *base;
	uint64_t bytes;
	struct wefti_record_mark *page;	/* NULL: the kernel cannot wipe */
	int fd;			/* of that file, unless the program has closed it */
	struct wefti_os_file_id file;
};

/* The rings that are no VCPU's, and whether anything is recorded. For the hooks. */
struct wefti_recorder {
	_Atomic uint32_t on;	/* set by start, cleared by stop; a hint for writers */
	uint32_t is_ns;		/* written before `on` is set the first time */
	struct wefti_record_writer common, monitor;	/* the same */
	_Atomic(struct wefti_record_head *) head;	/* NULL: no memory yet */
	struct wefti_record_name *names;	/* the same */
	_Atomic(struct wefti_record_mark *) mark;
	struct wefti_record_held held;	/* the maker's, and the child's of a fork */
	struct wefti_record_head plan;	/* the head, where no other process writes */
};

extern struct wefti_recorder wefti_recorder;

/*
 * Is this process a child that only the kernel knows of, as _Fork() and clone() make them?
 * It has a copy of all that says that events are recorded. The rings are its parent's.
 */
static inline int wefti_record_is_parents(void)
{
	const struct wefti_record_mark *mark;

	mark = load_acquire(&wefti_recorder.mark);	/* of memory.c: P3 */
	return !load_relaxed(&mark->is_ours);
}

/* Where the memory begins; NULL: there is none yet. */
static inline struct wefti_record_head *wefti_record_head(void)
{
	if (unlikely(wefti_record_is_parents()))
		return NULL;
	return load_acquire(&wefti_recorder.head);	/* of memory.c: P2 */
}

#define WEFTI_RECORD_NAMES	4096u	/* threads of later slots have none here */
#define WEFTI_RECORD_RING_LEAST	(16 * 1024u)	/* bytes of one ring */
#define WEFTI_RECORD_RING_USUAL	(1024 * 1024u)

/*
 * Makes the memory: a ring for each of `vcpus`, the common one, and the monitor's. bytes:
 * of all rings, rounded to powers of two; 0: the usual size. It is made once in a process: a
 * later call changes nothing. Returns 0, -ENOMEM, or the kernel's error.
 * The caller ensures that no other call runs at the same time.
 */
int wefti_record_make(unsigned vcpus, uint64_t bytes);

/* Where VCPU number `index` writes; behind the last, as format.h says. There is memory. */
struct wefti_record_writer wefti_record_writer_of(unsigned index);

/* Notes in the memory that recording goes on, or has stopped. */
void wefti_record_switch_on(void);
void wefti_record_switch_off(void);

/* A better rate of the clock, now that more time has passed. */
void wefti_record_time_again(struct wefti_record_head *head);

/* In the child of a fork: the memory is the parent's. */
void wefti_record_forget(void);

/* The same in a child that only the kernel knows of: by stores alone, from anywhere. */
void wefti_record_disown(void);

/* The name of a thread, for those that read the memory. Changes nothing if it is off. */
void wefti_record_name(uint64_t id, const char *name);

static inline uint64_t wefti_record_now(void)
{
	return likely(!wefti_recorder.is_ns) ? wefti_arch_cycles() :
					       (uint64_t)wefti_os_now_ns();
}

#endif

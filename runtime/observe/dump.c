/* SPDX-License-Identifier: MIT */
/*
 * observe/dump.c - writes every thread as text
 *
 * Nothing here allocates, and nothing waits without a time-out, except for the reader
 * of the output. What threads might change meanwhile is copied first (view.c, look.c).
 * Names come from the files (os/object/symbols.c), the list of objects from the
 * loader's link maps (os/object/objects.c).
 *
 * For programs with many threads: threads in the same place are described once.
 *
 * Writers
 *   busy  lock, unlock, wefti_dump_forget, wefti_dump_place
 */
#include "observe/dump.h"

#include <errno.h>

#include "base/shown.h"
#include "observe/cycle.h"
#include "observe/gate.h"
#include "observe/groups.h"
#include "observe/marks.h"
#include "os/call/clock.h"
#include "os/call/futex.h"
#include "os/call/tasks.h"
#include "os/object/objects.h"
#include "os/object/symbols.h"
#include "os/object/unwind.h"
#include "sched/idle.h"
#include "sched/loop.h"
#include "sched/seat.h"
#include "thread/name.h"
#include "weft/observe.h"

#define TRIES		8
#define FEW		64	/* this many threads are described one by one */
#define PATIENCE_NS	INT64_C(2000000000)

static _Atomic uint32_t busy;	/* a dump is being written; a futex */

static int lock(void)
{
	int64_t until = wefti_os_now_ns() + PATIENCE_NS;

	while (xchg_seq_cst(&busy, 1)) {
		if (wefti_os_now_ns() >= until)
			return -EBUSY;
		wefti_os_futex_wait(&busy, 1, until);
	}
	return 0;
}

static void unlock(void)
{
	store_seq_cst(&busy, 0);
	wefti_os_futex_wake(&busy, 1);
}

/*
 * The kernel thread that wrote a dump does not exist here. It may have had a lock of
 * libunwind's: dumps have no stacks then.
 */
void wefti_dump_forget(void)
{
	if (!xchg_seq_cst(&busy, 0))
		return;
	wefti_os_unwind_forget();
	wefti_os_symbols_abandon();
}

void wefti_dump_place(uintptr_t pc, char *text, size_t bytes)
{
	*text = 0;
	if (xchg_seq_cst(&busy, 1))
		return;
	wefti_os_objects_read();
	wefti_tell_place(pc, 1, text, bytes);
	wefti_os_symbols_forget();
	unlock();
}

static void tell_alone(struct wefti_out *o, uint32_t slot)
{
	uintptr_t pcs[WEFTI_FRAMES_MOST];
	struct wefti_view view;
	int n = -EAGAIN;

	/* Threads that take turns on a VCPU may change during the look. */
	for (int i = 0; i < TRIES && n == -EAGAIN; i++) {
		wefti_view_slot(slot, &view);
		n = wefti_walk(&view, pcs, WEFTI_FRAMES_MOST);
	}
	if (view.state == WEFTI_VIEW_NONE)
		return;
	wefti_tell_thread(o, &view);
	wefti_marks_tell(o, view.id);
	if (n == -EAGAIN)
		wefti_out(o, "    went on during the dump\n");
	else if (n < 0)
		wefti_tell_silent(o, &view);
	else
		wefti_tell_stack(o, pcs, (size_t)n);
	wefti_out_flush(o);
}

/* Parked or ready among many, and not of special interest. */
static int is_ordinary(const struct wefti_view *view)
{
	return view->kind == WEFTI_KIND_GREEN &&
	       (view->state == WEFTI_VIEW_PARKED ||
		view->state == WEFTI_VIEW_READY ||
		view->state == WEFTI_VIEW_ENDED) &&
	       !wefti_view_is_in_cycle(view);
}

/* Not 0: the thread must be described alone. */
static int tell_in_group(const struct wefti_view *view)
{
	uintptr_t pcs[WEFTI_FRAMES_MOST];
	int n = wefti_walk(view, pcs, WEFTI_FRAMES_MOST);

	return n < 0 ? n : wefti_groups_add(view, pcs, (size_t)n);
}

static unsigned count_threads(void)
{
	unsigned n = 0;

	for (uint32_t i = 1; i < wefti_slot_limit(); i++) {
		struct wefti_thread *t = wefti_slot_get(i);

		n += t && load_relaxed(&t->gen) & 1 &&
		     t != load_relaxed(&wefti_rt.monitor);
	}
	return n;
}

static void tell_threads(struct wefti_out *o, unsigned count)
{
	struct wefti_view view;

	wefti_groups_clear();
	for (uint32_t i = 1; i < wefti_slot_limit() && !o->failed; i++) {
		wefti_view_slot(i, &view);
		if (view.state == WEFTI_VIEW_NONE)
			continue;
		if (count > FEW && is_ordinary(&view) &&
		    tell_in_group(&view) == 0)
			continue;
		tell_alone(o, i);
	}
	wefti_groups_tell(o);
}

static void tell_vcpus(struct wefti_out *o)
{
	wefti_out(o, "\n");
	for (unsigned i = 0; i < wefti_rt.vcpu_count; i++) {
		struct wefti_vcpu *v = wefti_vcpu_at(i);
		struct wefti_view view;

		wefti_view_thread(load_seq_cst(&v->current), &view);
		wefti_out(o, "VCPU %u: kernel thread %d, ", i,
			  wefti_kthread_carrier(v));
		if (wefti_idle_is(v))
			wefti_out(o, "idle");
		else if (view.state == WEFTI_VIEW_NONE)
			wefti_out(o, "between threads");
		else
			wefti_out(o, "runs id %lu", view.id);
		wefti_out(o, ", ready %u\n", wefti_ready_len_hint(v) +
			  (wefti_next_hint(v) ? 1 : 0));
	}
}

static void tell_task(int tid, void *arg)
{
	struct wefti_out *o = arg;
	char name[32], stat[160], wchan[64], shown[WEFTI_NAME_SHOWN];
	const char *end = NULL;

	wefti_os_task_line(tid, "comm", name, sizeof(name));
	wefti_os_task_line(tid, "stat", stat, sizeof(stat));
	wefti_os_task_line(tid, "wchan", wchan, sizeof(wchan));
	for (const char *c = stat; *c; c++)
		if (*c == ')')
			end = c;
	wefti_out(o, "kernel thread %d \"%s\": state %c", tid,
		  wefti_format_shown(shown, sizeof(shown), name),
		  end && end[1] ? end[2] : '?');
	if (wchan[0] && wchan[0] != '0')
		wefti_out(o, ", in %s", wchan);
	wefti_out(o, "\n");
}

static void write_dump(struct wefti_out *o, const char *why)
{
	unsigned count = count_threads();

	wefti_os_objects_read();
	wefti_os_unwind_begin();
	wefti_out(o, "weft: %s\n", why);
	wefti_out(o, "weft: %u threads, %u VCPUs, %u kernel threads for them\n",
		  count, wefti_rt.vcpu_count,
		  load_relaxed(&wefti_rt.kthread_count));
	if (!wefti_os_unwind_is_loaded())
		wefti_out(o, "weft: libunwind is not loaded: only the first "
			  "frame of each stack is known\n");
	tell_threads(o, count);
	tell_vcpus(o);
	wefti_os_tasks(tell_task, o);
	wefti_out(o, "weft: end of dump\n");
	wefti_out_flush(o);
	wefti_os_symbols_forget();
}

static void write_cycle(struct wefti_out *o, const char *why, const struct wefti_edge *e,
			unsigned n)
{
	wefti_os_objects_read();
	wefti_os_unwind_begin();
	wefti_out(o, "weft: %s\n", why);
	for (unsigned i = 0; i < n; i++)
		tell_alone(o, (uint32_t)e[i].id);
	wefti_out(o, "weft: end of report\n");
	wefti_out_flush(o);
	wefti_os_symbols_forget();
}

/* e: a cycle; NULL: all threads. Returns 0, -EBUSY or -EIO. */
static int dump_locked(int fd, const char *why, int is_strangers,
		       const struct wefti_edge *e, unsigned n)
{
	static struct wefti_out out;	/* belongs to the thread that has `busy` */
	int error = lock();

	if (error)
		return error;
	out = (struct wefti_out){ .fd = fd, .is_strangers = is_strangers };
	if (e)
		write_cycle(&out, why, e, n);
	else
		write_dump(&out, why);
	error = out.failed ? -EIO : 0;
	unlock();
	return error;
}

static int dump_to(int fd, const char *why, int is_strangers,
		   const struct wefti_edge *e, unsigned n)
{
	int error = wefti_observe_begin();

	if (error)
		return error;
	error = dump_locked(fd, why, is_strangers, e, n);
	wefti_observe_end();
	return error;
}

int wefti_dump(int fd, const char *why)
{
	return dump_to(fd, why, 0, NULL, 0);
}

int wefti_dump_strangers(int fd, const char *why)
{
	return dump_to(fd, why, 1, NULL, 0);
}

int wefti_dump_cycle(int fd, const char *why, const struct wefti_edge *e, unsigned n)
{
	return dump_to(fd, why, 0, e, n);
}

int weft_dump(int fd)
{
	/* A foreign thread without a struct does not need one for this. */
	struct wefti_thread *self = wefti_self();
	int error;

	if (self)
		wefti_enter();
	error = wefti_dump(fd, "dump");
	if (self)
		wefti_leave(self);
	return error;
}

/* SPDX-License-Identifier: MIT */
/* observe/tell.c - describes one thread: state, wait, owner, stack */
#include <errno.h>
#include <string.h>

#include "base/format.h"
#include "base/shown.h"
#include "io/table.h"
#include "observe/cycle.h"
#include "observe/dump.h"
#include "observe/look.h"
#include "os/call/clock.h"
#include "os/call/tasks.h"
#include "os/object/objects.h"
#include "os/object/symbols.h"
#include "sched/loop.h"
#include "thread/name.h"
#include "thread/why.h"

void wefti_tell_name(struct wefti_out *o, const struct wefti_view *view)
{
	char name[WEFTI_NAME_SHOWN];

	if (view->state == WEFTI_VIEW_NONE)
		wefti_out(o, "a thread that is no more");
	else if (view->name[0])
		wefti_out(o, "\"%s\" (id %lu)",
			  wefti_format_shown(name, sizeof(name), view->name), view->id);
	else
		wefti_out(o, "id %lu", view->id);
}

static void tell_since(struct wefti_out *o, const struct wefti_view *view)
{
	int64_t ms = (wefti_os_now_ns() - view->since) / 1000000;

	if (view->since > 0 && ms >= 0)
		wefti_out(o, " for %ld.%03ld s", ms / 1000, ms % 1000);
}

int wefti_view_is_in_cycle(const struct wefti_view *view)
{
	struct wefti_edge e[WEFTI_CYCLE_MOST];

	return view->state == WEFTI_VIEW_PARKED && wefti_why_has_owner(view->why) &&
	       wefti_cycle_of(view->at, e) > 0;
}

static void tell_cycle(struct wefti_out *o, const struct wefti_view *view)
{
	struct wefti_edge e[WEFTI_CYCLE_MOST];
	const unsigned n = wefti_why_has_owner(view->why) ? wefti_cycle_of(view->at, e) : 0;
	struct wefti_view at;

	if (n == 0)
		return;
	wefti_out(o, "    waits for itself through: ");
	for (unsigned i = 0; i < n; i++) {
		wefti_view_thread(e[i].from, &at);
		wefti_tell_name(o, &at);
		wefti_out(o, " -> ");
	}
	wefti_tell_name(o, view);
	wefti_out(o, wefti_cycle_is_timed(e, n) ? ", until a deadline\n" : "\n");
}

/* A descriptor by its number, and all else by its address; some waits have no object. */
static void tell_object(struct wefti_out *o, const struct wefti_view *view)
{
	int fd;

	switch (view->why) {
	case WEFTI_WHY_SLEEP:
	case WEFTI_WHY_ALT:
	case WEFTI_WHY_DISK:
	case WEFTI_WHY_SEAT:
		break;
	case WEFTI_WHY_DESCRIPTOR:
		fd = wefti_fd_number(view->object);
		if (fd >= 0) {
			wefti_out(o, " %d", fd);
			break;
		}
		wefti_out(o, " %p", view->object);
		break;
	case WEFTI_WHY_READ_LOCK:
	case WEFTI_WHY_WRITE_LOCK:
		wefti_out(o, " %p", wefti_view_lock(view->object));
		break;
	default:
		wefti_out(o, " %p", view->object);
	}
}

static void tell_wait(struct wefti_out *o, const struct wefti_view *view)
{
	const struct wefti_thread *holder = wefti_view_holder(view);
	struct wefti_view other;

	wefti_out(o, "parked");
	tell_since(o, view);
	wefti_out(o, ", %s", view->why == WEFTI_WHY_NOTHING ? "is about to go on" :
							      wefti_why_words(view->why));
	wefti_view_thread(holder, &other);
	if (view->why == WEFTI_WHY_JOIN && !holder) {
		wefti_out(o, " all others");
	} else if (view->why == WEFTI_WHY_JOIN) {
		wefti_out(o, " ");
		wefti_tell_name(o, &other);
	} else if (view->object) {
		tell_object(o, view);
	}
	if (view->why != WEFTI_WHY_JOIN && holder) {
		wefti_out(o, view->why == WEFTI_WHY_ONCE ? ", run by " :
							   ", owned by ");
		wefti_tell_name(o, &other);
	}
}

void wefti_tell_state(struct wefti_out *o, const struct wefti_view *view)
{
	switch (view->state) {
	case WEFTI_VIEW_RUNNING:
		wefti_out(o, "running on VCPU %u", view->vcpu);
		break;
	case WEFTI_VIEW_UNSEATED:
		wefti_out(o, "running or blocked");
		if (view->tid)
			wefti_out(o, " on kernel thread %d, its VCPU was taken",
				  view->tid);
		break;
	case WEFTI_VIEW_PARKED:
		tell_wait(o, view);
		break;
	case WEFTI_VIEW_READY:
		wefti_out(o, "ready");
		break;
	case WEFTI_VIEW_ENDED:
		wefti_out(o, "ended, not joined yet");
		break;
	case WEFTI_VIEW_NONE:
		break;
	}
}

/* The program's own logs, and its calls of kill(), have this number. */
static void tell_gettid(struct wefti_out *o, const struct wefti_view *view)
{
	wefti_view_gettid_fn *of = load_seq_cst(&wefti_view_gettid);
	const int tid = of && view->at ? of(view->at) : 0;

	if (tid > 0)
		wefti_out(o, "    gettid is %d there\n", tid);
}

void wefti_tell_thread(struct wefti_out *o, const struct wefti_view *view)
{
	wefti_out(o, "\n%s ", view->kind == WEFTI_KIND_FOREIGN ?
		  "foreign thread" : view->light ? "light thread" : "thread");
	wefti_tell_name(o, view);
	wefti_out(o, ": ");
	wefti_tell_state(o, view);
	wefti_out(o, "\n");
	tell_gettid(o, view);
	if (view->state == WEFTI_VIEW_PARKED)
		tell_cycle(o, view);
}

void wefti_tell_silent(struct wefti_out *o, const struct wefti_view *view)
{
	char state[128], wchan[64];
	int tid = wefti_view_tid(view);

	wefti_os_task_line(tid, "stat", state, sizeof(state));
	wefti_os_task_line(tid, "wchan", wchan, sizeof(wchan));

	const char *end = strrchr(state, ')');

	wefti_out(o, "    did not answer; kernel thread %d, state %c, in %s\n",
		  tid, end && end[1] ? end[2] : '?',
		  wchan[0] && wchan[0] != '0' ? wchan : "no system call");
}

int wefti_view_tid(const struct wefti_view *view)
{
	if (view->state == WEFTI_VIEW_RUNNING)
		return wefti_kthread_carrier(wefti_vcpu_at(view->vcpu));
	return view->tid;
}

static int walk_running(const struct wefti_view *view, uintptr_t *pcs,
			size_t most)
{
	int tid = wefti_view_tid(view);
	size_t n;

	if (!wefti_look_copy_crashed(view->at)) {
		if (tid == 0)
			return 0;
		if (wefti_look_copy_kthread(tid) != 0)
			return -ETIMEDOUT;
	}
	if (wefti_look.self != view->at)
		return -EAGAIN;
	n = wefti_os_unwind(&wefti_look.context, &wefti_look.stack, pcs, most);
	if (n > 0)
		pcs[0] |= WEFTI_PC_EXACT;
	return (int)n;
}

int wefti_walk(const struct wefti_view *view, uintptr_t *pcs, size_t most)
{
	if (view->state == WEFTI_VIEW_ENDED || view->state == WEFTI_VIEW_NONE)
		return 0;
	if (view->state == WEFTI_VIEW_RUNNING ||
	    view->state == WEFTI_VIEW_UNSEATED)
		return walk_running(view, pcs, most);
	if (view->kind == WEFTI_KIND_FOREIGN)
		return 0;	/* it has no context of ours */
	wefti_look_copy_context(&view->ctx, view->stack_top);
	if (!wefti_look.answered || !wefti_view_holds(view))
		return -EAGAIN;
	return (int)wefti_os_unwind(&wefti_look.context, &wefti_look.stack,
				    pcs, most);
}

void wefti_tell_place(uintptr_t pc, int exact, char *text, size_t bytes)
{
	const struct wefti_object *object = wefti_os_object_of(pc);
	const char *slash, *file;
	char name[160];
	long offset;

	*text = 0;
	if (!object)
		return;
	slash = strrchr(object->path, '/');
	file = slash ? slash + 1 : object->path;
	/* The call is before its return address. */
	offset = wefti_os_symbol(object, pc - !exact, name, sizeof(name));
	if (offset >= 0)
		wefti_format(text, bytes, "%s+0x%lx (%s)", name, offset + !exact, file);
	else
		wefti_format(text, bytes, "? (%s+0x%lx)", file, pc - object->bias);
}

static void tell_frame(struct wefti_out *o, size_t number, uintptr_t pc,
		       int exact)
{
	char place[448], shown[448];

	wefti_tell_place(pc, exact, place, sizeof(place));
	wefti_out(o, "    #%-2zu 0x%016lx %s\n", number, pc,
		  *place ? wefti_format_shown(shown, sizeof(shown), place) : "?");
}

void wefti_tell_stack(struct wefti_out *o, const uintptr_t *pcs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		tell_frame(o, i, pcs[i] & ~WEFTI_PC_EXACT,
			   (pcs[i] & WEFTI_PC_EXACT) != 0);
	if (n == WEFTI_FRAMES_MOST)
		wefti_out(o, "    ...\n");
}

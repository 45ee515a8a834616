/* SPDX-License-Identifier: MIT */
/*
 * record/memory.c - the recorder's memory: made, switched on and off, forgotten
 *
 * The memory is a memfd, so that it has no name that another user could open, and goes
 * away with the last process that has it. Its size is sealed: a store of a writer's to
 * a part that another process has cut off would end the program. All its pages are
 * reserved at once, for the same reason. The head in it is for readers only: what this
 * process needs of the head is in `plan`. A kernel before Linux 5.1 lets another process
 * of the same user write to the memory.
 *
 * Memory shared with a child
 *   libc's fork() calls wefti_record_forget(). _Fork() and a bare clone() call nothing,
 *   and the child goes on with a copy of `on` and of the writers. These point into its
 *   parent's rings, each of which would have two writers. So `mark` points to a page
 *   that the kernel wipes in each child with a copy of the memory. Code that is about to
 *   write an event, or to use the head, looks there. The look costs a load and a branch,
 *   and only while events are recorded. The mapping and the descriptor stay in such a
 *   child. It is often about to exec, and the descriptors may be its parent's too. In the
 *   child of a plain fork() an event may come before wefti_record_forget(), so that one
 *   goes by `held`, which the look leaves as it is.
 *   Rejected: MADV_DONTFORK, since the copied writers would then lead to no memory; and a
 *   system call for each event. A child that shares all memory (vfork()) stands for the
 *   thread that made it. A child that a handler made in the middle of an event, and that
 *   returns from the handler, ends that event in its parent's ring.
 *
 * Writers
 *   record_head.on  wefti_record_switch_on, wefti_record_switch_off
 *   record_head.pid  fill_head
 *   record_head.starts  wefti_record_switch_on
 *   record_head.ticks_per_second  fill_head; record/format.h: wefti_record_rate
 *   record_name.word  wefti_record_name
 *   recorder.head  wefti_record_make, drop
 *   recorder.mark  wefti_record_make, drop
 *   recorder.on  drop, wefti_record_switch_off, wefti_record_switch_on
 *   record_mark.is_ours  mark_as_ours
 *
 * Pairs
 *   P1  on is set  ->  a hook loads it: where the rings are
 *   P2  the head is filled  ->  a thread loads the pointer to it
 *   P3  the page is marked as ours  ->  a thread loads the pointer to it: the mark. Else
 *       a thread of this process could take itself for a child, and end the recording
 *   Model: tests/model/loom/c/record_mark.c.
 */
#include "record/memory.h"

#include <errno.h>
#include <string.h>

#include "os/call/tid.h"
#include "os/call/vm.h"

#define NS_PER_SECOND	INT64_C(1000000000)
#define CYCLES_TRIED	(UINT64_C(1) << 32)

static struct wefti_record_mark always = { .is_ours = 1 };

struct wefti_recorder wefti_recorder = { .held.fd = -1, .mark = &always };

/* The largest power of two up to n, as a count of events. */
static uint32_t ring_events(unsigned rings, uint64_t bytes)
{
	uint64_t each = bytes ? bytes / rings : WEFTI_RECORD_RING_USUAL;
	uint64_t n = WEFTI_RECORD_RING_LEAST / sizeof(struct wefti_event);

	while (n * 2 * sizeof(struct wefti_event) <= each && n < UINT32_C(1) << 30)
		n *= 2;
	return (uint32_t)n;
}

static uint64_t whole_pages(uint64_t bytes)
{
	return (bytes + 4095) / 4096 * 4096;
}

static struct wefti_record_head layout(unsigned vcpus, uint64_t bytes)
{
	const unsigned rings = vcpus + WEFTI_RECORD_OTHERS;
	struct wefti_record_head head = {
		.magic = WEFTI_RECORD_MAGIC,
		.version = WEFTI_RECORD_VERSION,
		.head_bytes = sizeof(head),
		.event_bytes = sizeof(struct wefti_event),
		.vcpus = vcpus,
		.ring_count = rings,
		.ring_events = ring_events(rings, bytes),
		.name_count = WEFTI_RECORD_NAMES,
		.names_at = whole_pages(sizeof(head)),
	};

	head.rings_at = whole_pages(head.names_at +
				    WEFTI_RECORD_NAMES * sizeof(struct wefti_record_name));
	head.events_at = whole_pages(head.rings_at +
				     rings * sizeof(struct wefti_record_ring));
	head.bytes = head.events_at + (uint64_t)rings * head.ring_events *
		     sizeof(struct wefti_event);
	return head;
}

static void fill_head(struct wefti_record_head *head)
{
	const uint64_t ns = wefti_recorder.is_ns ? 0 : wefti_os_cycles_to_ns(CYCLES_TRIED);

	head->clock = ns ? WEFTI_RECORD_CYCLES : WEFTI_RECORD_NS;
	store_relaxed(&head->ticks_per_second, ns ?
		      (uint64_t)((unsigned __int128)CYCLES_TRIED * NS_PER_SECOND / ns) :
		      (uint64_t)NS_PER_SECOND);
	head->start_ns = wefti_os_now_ns();
	head->start_ticks = wefti_record_now();
	head->start_real_ns = wefti_os_real_ns();
	store_relaxed(&head->pid, (uint32_t)wefti_os_pid());
}

/* NULL: the kernel cannot wipe. */
static struct wefti_record_mark *mark_as_ours(void)
{
	struct wefti_record_mark *mark = wefti_os_vm_wiped();

	if (mark)
		store_relaxed(&mark->is_ours, 1);
	return mark;
}

static void *at(struct wefti_record_head *head, uint64_t offset)
{
	return (char *)head + offset;
}

int wefti_record_make(unsigned vcpus, uint64_t bytes)
{
	struct wefti_record_head planned = layout(vcpus, bytes);
	struct wefti_recorder *r = &wefti_recorder;
	struct wefti_record_head *head = wefti_record_head();
	int fd;

	if (head)
		return r->plan.vcpus >= vcpus ? 0 : -EINVAL;
	fd = wefti_os_file_sealed(WEFTI_RECORD_FILE, planned.bytes);
	if (fd < 0)
		return fd;
	head = wefti_os_file_map(fd, planned.bytes);
	if (!head) {
		wefti_os_file_close(fd);
		return -ENOMEM;
	}
	wefti_os_file_seal_writes(fd);
	r->held = (struct wefti_record_held){
		.base = head, .bytes = planned.bytes, .page = mark_as_ours(),
		.fd = fd, .file = wefti_os_file_identify(fd),
	};
	/* Without a page all children count as this process. */
	store_release(&r->mark, r->held.page ? r->held.page : &always);	/* P3 */
	r->is_ns = !wefti_os_cycles_are_reliable();
	fill_head(&planned);
	memcpy(&r->plan, &planned, sizeof(planned));
	memcpy(head, &planned, sizeof(planned));
	r->names = at(head, planned.names_at);
	store_release(&r->head, head);	/* P2 */
	r->common = wefti_record_writer_of(planned.vcpus);
	r->monitor = wefti_record_writer_of(planned.vcpus + 1);
	return 0;
}

struct wefti_record_writer wefti_record_writer_of(unsigned index)
{
	struct wefti_record_head *head = wefti_record_head();
	const struct wefti_record_head *plan = &wefti_recorder.plan;
	struct wefti_record_ring *rings = at(head, plan->rings_at);
	struct wefti_event *events = at(head, plan->events_at);

	return (struct wefti_record_writer){
		.events = events + (size_t)index * plan->ring_events,
		.ring = rings + index,
		.mask = plan->ring_events - 1,
	};
}

void wefti_record_switch_on(void)
{
	struct wefti_record_head *head = wefti_record_head();

	fetch_add_relaxed(&head->starts, 1);
	store_relaxed(&head->on, 1);
	store_release(&wefti_recorder.on, 1);	/* P1 */
}

void wefti_record_switch_off(void)
{
	store_relaxed(&wefti_recorder.on, 0);
	store_relaxed(&wefti_record_head()->on, 0);
}

void wefti_record_time_again(struct wefti_record_head *head)
{
	const struct wefti_record_head *plan = &wefti_recorder.plan;
	int64_t ns = wefti_os_now_ns() - plan->start_ns;

	if (plan->clock == WEFTI_RECORD_CYCLES)
		wefti_record_rate(head, wefti_record_now() - plan->start_ticks, ns);
}

/* What hooks and readers go by. */
static void drop(struct wefti_recorder *r)
{
	store_relaxed(&r->on, 0);
	store_relaxed(&r->head, NULL);
	store_relaxed(&r->mark, &always);
	r->names = NULL;
	r->common = r->monitor = (struct wefti_record_writer){ .ring = NULL };
}

void wefti_record_disown(void)
{
	drop(&wefti_recorder);
}

/*
 * An event may have come before, and have disowned: then only `held` is left. A program may
 * have closed all descriptors that it did not know, and the number is another file's.
 */
void wefti_record_forget(void)
{
	struct wefti_recorder *r = &wefti_recorder;
	struct wefti_record_held held = r->held;

	drop(r);
	r->held = (struct wefti_record_held){ .fd = -1 };
	if (!held.base)
		return;
	wefti_os_file_unmap(held.base, held.bytes);
	if (wefti_os_file_is(held.fd, held.file))
		wefti_os_file_close(held.fd);
	if (held.page)
		wefti_os_vm_unmap(held.page, wefti_os_page_size());
}

void wefti_record_name(uint64_t id, const char *name)
{
	char bytes[WEFTI_RECORD_NAME_BYTES] = { 0 };
	const uint32_t slot = (uint32_t)id;
	uint32_t part;

	if (!load_acquire(&wefti_recorder.on) || slot >= WEFTI_RECORD_NAMES ||	/* P1 */
	    wefti_record_is_parents())
		return;
	strncat(bytes, name, sizeof(bytes) - 1);
	for (unsigned i = 0; i < sizeof(bytes) / 4; i++) {
		memcpy(&part, bytes + 4 * i, sizeof(part));
		store_relaxed(&wefti_recorder.names[slot].word[i], id >> 32 << 32 | part);
	}
}

/* SPDX-License-Identifier: MIT */
/*
 * cli/trace/perfetto.c - a trace as Perfetto's protobuf
 *
 * The messages are those of perfetto.proto, by protobuf-c. Each packet is written as a
 * Trace with one packet. A reader takes all of them for one Trace, because protobuf merges
 * messages that follow each other. A name is written once (InternedData), with a number by
 * which later packets mean it.
 */
#include "trace/writer.h"

#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "perfetto.pb-c.h"

#define SEQUENCE	1u
#define STATE_CLEARED	1u	/* sequence_flags: the numbers of names begin here */
#define STATE_NEEDED	2u
#define MONOTONIC	3u	/* Perfetto's numbers of clocks */
#define REALTIME	1u
#define UNIT_COUNT	2u
#define BY_RANK		3u	/* child_ordering */
#define GROUPS		4

/* One name, in a tree that libc keeps. */
struct name {
	uint64_t number;
	char text[];
};

struct own {
	void *names, *keys;	/* trees of struct name */
	uint64_t name_count, key_count;
	uint8_t *buffer;
	size_t bytes;
	uint64_t pid;
	int has_begun;
};

/* The packet that is being made, and what it points to. */
struct packet {
	WeftPerfetto__TracePacket packet;
	WeftPerfetto__TracePacketDefaults defaults;
	WeftPerfetto__TrackEvent event;
	WeftPerfetto__InternedData interned;
	WeftPerfetto__InternedName new_name, new_keys[TRACE_VALUES_MOST];
	WeftPerfetto__InternedName *name_list[1], *key_list[TRACE_VALUES_MOST];
	WeftPerfetto__DebugAnnotation values[TRACE_VALUES_MOST];
	WeftPerfetto__DebugAnnotation *value_list[TRACE_VALUES_MOST];
	uint64_t flow_from, flow_to;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->text, ((const struct name *)b)->text);
}

/* The number of the text. Sets *is_new if it has just got it. */
static uint64_t number_of(struct trace_writer *w, void **tree, uint64_t *count,
			  const char *text, int *is_new)
{
	const size_t bytes = strlen(text) + 1;
	struct name *name = malloc(sizeof(*name) + bytes), **found;

	*is_new = 0;
	if (!name) {
		w->failed = 1;
		return 0;
	}
	memcpy(name->text, text, bytes);
	found = tsearch(name, tree, by_text);
	if (found && *found == name) {
		name->number = ++*count;
		*is_new = 1;
		return name->number;
	}
	free(name);
	w->failed |= !found;
	return found ? (*found)->number : 0;
}

static void init(struct packet *p)
{
	weft_perfetto__trace_packet__init(&p->packet);
	weft_perfetto__track_event__init(&p->event);
	weft_perfetto__interned_data__init(&p->interned);
	p->interned.event_names = p->name_list;
	p->interned.debug_annotation_names = p->key_list;
	p->event.debug_annotations = p->value_list;
}

static int reserve(struct own *own, size_t bytes)
{
	void *more;

	if (bytes <= own->bytes)
		return 0;
	more = realloc(own->buffer, 2 * bytes);
	if (!more)
		return -1;
	own->buffer = more;
	own->bytes = 2 * bytes;
	return 0;
}

static void put(struct trace_writer *w, struct packet *p)
{
	WeftPerfetto__TracePacket *packets[] = { &p->packet };
	WeftPerfetto__Trace trace = WEFT_PERFETTO__TRACE__INIT;
	struct own *own = w->own;
	size_t bytes;

	p->packet.has_trusted_packet_sequence_id = 1;
	p->packet.trusted_packet_sequence_id = SEQUENCE;
	p->packet.has_sequence_flags = 1;
	p->packet.sequence_flags = own->has_begun ? STATE_NEEDED : STATE_CLEARED;
	if (!own->has_begun) {
		weft_perfetto__trace_packet_defaults__init(&p->defaults);
		p->defaults.has_timestamp_clock_id = 1;
		p->defaults.timestamp_clock_id = MONOTONIC;
		p->packet.trace_packet_defaults = &p->defaults;
	}
	own->has_begun = 1;
	trace.n_packet = 1;
	trace.packet = packets;
	bytes = weft_perfetto__trace__get_packed_size(&trace);
	if (reserve(own, bytes) != 0) {
		w->failed = 1;
		return;
	}
	weft_perfetto__trace__pack(&trace, own->buffer);
	fwrite(own->buffer, 1, bytes, w->file);
}

/* Two tracks never have the same: every step can be undone. */
static uint64_t uuid(struct trace_track track)
{
	uint64_t x = track.number * 8 + (uint64_t)track.kind + 1;

	if (track.number >> 61)		/* ids of slots that were used very often */
		x ^= track.number;
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* The tracks of one kind lie below a track of the process's. */
static uint64_t group(unsigned kind)
{
	return uuid((struct trace_track){ TRACE_COUNTER, UINT64_C(1) << 40 | kind });
}

static void put_track(struct trace_writer *w, WeftPerfetto__TrackDescriptor *track)
{
	struct packet p;

	init(&p);
	p.packet.track_descriptor = track;
	put(w, &p);
}

static void put_group(struct trace_writer *w, unsigned kind, const char *name)
{
	WeftPerfetto__TrackDescriptor track = WEFT_PERFETTO__TRACK_DESCRIPTOR__INIT;

	track.has_uuid = track.has_parent_uuid = 1;
	track.uuid = group(kind);
	track.parent_uuid = group(GROUPS);
	track.name = (char *)(uintptr_t)name;
	track.has_sibling_order_rank = 1;
	track.sibling_order_rank = (int32_t)kind;
	track.has_child_ordering = 1;
	track.child_ordering = BY_RANK;
	put_track(w, &track);
}

/* The same moment in two clocks: the reader then knows the time of day. */
static void put_clocks(struct trace_writer *w, const struct wefti_record_head *head)
{
	WeftPerfetto__ClockSnapshot clocks = WEFT_PERFETTO__CLOCK_SNAPSHOT__INIT;
	WeftPerfetto__ClockSnapshot__Clock each[2] = {
		WEFT_PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT,
		WEFT_PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT,
	};
	WeftPerfetto__ClockSnapshot__Clock *list[] = { &each[0], &each[1] };
	struct packet p;

	each[0].has_clock_id = each[1].has_clock_id = 1;
	each[0].has_timestamp = each[1].has_timestamp = 1;
	each[0].clock_id = MONOTONIC;
	each[0].timestamp = (uint64_t)head->start_ns;
	each[1].clock_id = REALTIME;
	each[1].timestamp = (uint64_t)head->start_real_ns;
	clocks.n_clocks = 2;
	clocks.clocks = list;
	clocks.has_primary_trace_clock = 1;
	clocks.primary_trace_clock = MONOTONIC;
	init(&p);
	p.packet.clock_snapshot = &clocks;
	put(w, &p);
}

static void put_process(struct trace_writer *w)
{
	WeftPerfetto__TrackDescriptor track = WEFT_PERFETTO__TRACK_DESCRIPTOR__INIT;
	WeftPerfetto__ProcessDescriptor process = WEFT_PERFETTO__PROCESS_DESCRIPTOR__INIT;
	const struct own *own = w->own;
	char name[] = "weft";

	process.has_pid = 1;
	process.pid = (int32_t)own->pid;
	process.process_name = name;
	track.has_uuid = 1;
	track.uuid = group(GROUPS);
	track.process = &process;
	track.has_child_ordering = 1;
	track.child_ordering = BY_RANK;
	put_track(w, &track);
}

static void perfetto_open(struct trace_writer *w, const struct wefti_record_head *head)
{
	struct own *own = calloc(1, sizeof(*own));

	w->own = own;
	if (!own) {
		w->failed = 1;
		return;
	}
	own->pid = load_relaxed(&head->pid);
	put_clocks(w, head);
	put_process(w);
	put_group(w, TRACE_VCPU, "VCPUs");
	put_group(w, TRACE_THREAD, "threads");
	put_group(w, TRACE_KTHREAD, "kernel threads");
}

static void perfetto_track(struct trace_writer *w, struct trace_track t, const char *name)
{
	WeftPerfetto__TrackDescriptor track = WEFT_PERFETTO__TRACK_DESCRIPTOR__INIT;
	WeftPerfetto__CounterDescriptor counter = WEFT_PERFETTO__COUNTER_DESCRIPTOR__INIT;

	if (w->failed)
		return;
	track.has_uuid = track.has_parent_uuid = 1;
	track.uuid = uuid(t);
	track.parent_uuid = group(t.kind);
	track.name = (char *)(uintptr_t)name;
	track.has_sibling_order_rank = 1;
	track.sibling_order_rank = (int32_t)(t.number & INT32_MAX);
	if (t.kind == TRACE_MARKS)
		track.parent_uuid = uuid((struct trace_track){ TRACE_THREAD, t.number });
	if (t.kind == TRACE_COUNTER) {
		track.parent_uuid = group(GROUPS);
		counter.has_unit = 1;
		counter.unit = UNIT_COUNT;
		track.counter = &counter;
	}
	put_track(w, &track);
}

static void set_event(struct packet *p, struct trace_track track, int64_t time,
		      WeftPerfetto__TrackEvent__Type type)
{
	init(p);
	p->packet.has_timestamp = 1;
	p->packet.timestamp = (uint64_t)time;
	p->packet.track_event = &p->event;
	p->event.has_type = 1;
	p->event.type = type;
	p->event.has_track_uuid = 1;
	p->event.track_uuid = uuid(track);
}

static void add_name(struct packet *p, WeftPerfetto__InternedName *name,
		     uint64_t number, const char *text)
{
	weft_perfetto__interned_name__init(name);
	name->has_iid = 1;
	name->iid = number;
	name->name = (char *)(uintptr_t)text;
	p->packet.interned_data = &p->interned;
}

static void add_value(struct trace_writer *w, struct packet *p,
		      const struct trace_value *v)
{
	WeftPerfetto__DebugAnnotation *to = &p->values[p->event.n_debug_annotations];
	struct own *own = w->own;
	size_t n = p->interned.n_debug_annotation_names;
	int is_new;

	weft_perfetto__debug_annotation__init(to);
	to->has_name_iid = 1;
	to->name_iid = number_of(w, &own->keys, &own->key_count, v->key, &is_new);
	if (is_new) {
		add_name(p, &p->new_keys[n], to->name_iid, v->key);
		p->key_list[n] = &p->new_keys[n];
		p->interned.n_debug_annotation_names++;
	}
	to->string_value = (char *)(uintptr_t)v->text;
	to->has_pointer_value = !v->text && v->is_address;
	to->has_uint_value = !v->text && !v->is_address;
	to->pointer_value = to->uint_value = v->number;
	p->value_list[p->event.n_debug_annotations++] = to;
}

static void add_label(struct trace_writer *w, struct packet *p,
		      const struct trace_label *label)
{
	struct own *own = w->own;
	int is_new;

	p->event.has_name_iid = 1;
	p->event.name_iid = number_of(w, &own->names, &own->name_count, label->name,
				      &is_new);
	if (is_new) {
		add_name(p, &p->new_name, p->event.name_iid, label->name);
		p->name_list[0] = &p->new_name;
		p->interned.n_event_names = 1;
	}
	for (unsigned i = 0; i < label->values; i++)
		add_value(w, p, &label->value[i]);
	p->flow_from = label->flow_from;
	p->flow_to = label->flow_to;
	p->event.n_flow_ids = label->flow_from != 0;
	p->event.flow_ids = &p->flow_from;
	p->event.n_terminating_flow_ids = label->flow_to != 0;
	p->event.terminating_flow_ids = &p->flow_to;
}

static void put_labelled(struct trace_writer *w, struct trace_track track, int64_t time,
			 WeftPerfetto__TrackEvent__Type type,
			 const struct trace_label *label)
{
	struct packet p;

	if (w->failed)
		return;
	set_event(&p, track, time, type);
	add_label(w, &p, label);
	put(w, &p);
}

static void perfetto_begin(struct trace_writer *w, struct trace_track track, int64_t time,
			   const struct trace_label *label)
{
	put_labelled(w, track, time, WEFT_PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN,
		     label);
}

static void perfetto_point(struct trace_writer *w, struct trace_track track, int64_t time,
			   const struct trace_label *label)
{
	put_labelled(w, track, time, WEFT_PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT,
		     label);
}

static void perfetto_end(struct trace_writer *w, struct trace_track track, int64_t time)
{
	struct packet p;

	if (w->failed)
		return;
	set_event(&p, track, time, WEFT_PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END);
	put(w, &p);
}

static void perfetto_count(struct trace_writer *w, struct trace_track track, int64_t time,
			   int64_t value)
{
	struct packet p;

	if (w->failed)
		return;
	set_event(&p, track, time, WEFT_PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER);
	p.event.has_counter_value = 1;
	p.event.counter_value = value;
	put(w, &p);
}

static void perfetto_close(struct trace_writer *w)
{
	struct own *own = w->own;

	if (!own)
		return;
	tdestroy(own->names, free);
	tdestroy(own->keys, free);
	free(own->buffer);
	free(own);
}

const struct trace_format trace_perfetto = {
	"perfetto", ".pftrace", perfetto_open, perfetto_track, perfetto_begin,
	perfetto_end, perfetto_point, perfetto_count, perfetto_close,
};

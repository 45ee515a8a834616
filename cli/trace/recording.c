/* SPDX-License-Identifier: MIT */
/*
 * cli/trace/recording.c - a recording: events out of a file, in the order of their times
 *
 * Nothing in the file is trusted: each offset and size must lie within the file. An
 * event counts only if it has its number. The writer may have been killed at any byte.
 * So a file that ends early has what is whole in it, and only wrong bytes are refused.
 */
#include "trace/recording.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define RINGS_MOST	(1u << 16)
#define NS_PER_SECOND	INT64_C(1000000000)
#define NS_MOST		(INT64_MAX / 2)		/* the sum of two overflows not */
#define BYTES_MOST	(UINT64_C(1) << 48)

static const char no_block[] =
	"it holds no whole block: its writer was killed at the start";

static int has_magic(const void *data, const char magic[8])
{
	return memcmp(data, magic, 8) == 0;
}

static int is_core(const ElfW(Ehdr) *head)
{
	return memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 && head->e_type == ET_CORE &&
	       head->e_phentsize == sizeof(ElfW(Phdr));
}

/* A file that ends within the magic has to have its usual name, too. */
static int begins_one(const char *path, const void *data, size_t bytes)
{
	const char *suffix = strrchr(path, '.');

	if (bytes >= sizeof(WEFTI_RECORD_MAGIC))
		return has_magic(data, WEFTI_RECORD_MAGIC) || has_magic(data, TRACE_LOG_MAGIC);
	return suffix && strcmp(suffix, ".weft") == 0 &&
	       (memcmp(data, WEFTI_RECORD_MAGIC, bytes) == 0 ||
		memcmp(data, TRACE_LOG_MAGIC, bytes) == 0);
}

int trace_is_recording(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ElfW(Ehdr) head;
	ssize_t n;

	if (fd < 0)
		return 0;
	n = pread(fd, &head, sizeof(head), 0);
	close(fd);
	return n >= 0 && (begins_one(path, &head, (size_t)n) ||
			  (n == (ssize_t)sizeof(head) && is_core(&head)));
}

/* Are `count` items of `each` bytes at `at` within `bytes`? */
static int lies_in(uint64_t at, uint64_t count, uint64_t each, uint64_t bytes)
{
	return at % sizeof(uint64_t) == 0 && at <= bytes && count <= (bytes - at) / each;
}

const char *trace_head_fault(const struct wefti_record_head *h, uint64_t bytes)
{
	if (h->version != WEFTI_RECORD_VERSION ||
	    h->head_bytes != sizeof(*h) ||
	    h->event_bytes != sizeof(struct wefti_event))
		return "another version of weft has recorded it";
	if (h->ring_count == 0 || h->ring_count > RINGS_MOST ||
	    h->vcpus >= h->ring_count || h->ring_events == 0 ||
	    (h->ring_events & (h->ring_events - 1)) != 0 ||
	    load_relaxed(&h->ticks_per_second) == 0 ||
	    load_relaxed(&h->ticks_per_second) > INT64_MAX ||
	    h->bytes > BYTES_MOST || h->start_ns < 0 || h->start_ns > NS_MOST ||
	    h->start_real_ns < 0 || h->start_real_ns > NS_MOST)
		return "it is malformed";
	if (has_magic(h->magic, TRACE_LOG_MAGIC))
		return NULL;
	if (!lies_in(h->names_at, h->name_count, sizeof(struct wefti_record_name), bytes) ||
	    !lies_in(h->rings_at, h->ring_count, sizeof(struct wefti_record_ring), bytes) ||
	    !lies_in(h->events_at, (uint64_t)h->ring_count * h->ring_events,
		     sizeof(struct wefti_event), bytes))
		return "it is malformed";
	return NULL;
}

static int add_run(struct trace_ring *ring, const struct trace_item *items,
		   uint64_t first, size_t count)
{
	/* Grown at powers of two. */
	if ((ring->run_count & (ring->run_count - 1)) == 0) {
		size_t n = ring->run_count ? 2 * ring->run_count : 1;
		void *more = realloc(ring->runs, n * sizeof(*ring->runs));

		if (!more)
			return -1;
		ring->runs = more;
	}
	if (ring->run_count == 0)
		ring->expected = first;
	ring->runs[ring->run_count++] = (struct trace_run){ items, first, count };
	return 0;
}

/* How many of `count` items, from item number `at` on, are among `there`? */
static uint64_t whole(uint64_t at, uint64_t count, uint64_t there)
{
	return at >= there ? 0 : there - at < count ? there - at : count;
}

/* A ring in memory has up to two runs: from its oldest event to its end, and the rest. */
static const char *index_memory(struct trace_recording *r)
{
	const struct wefti_record_head *h = &r->head;
	const struct wefti_record_ring *rings = (const void *)(r->data + h->rings_at);
	const struct trace_item *all = (const void *)(r->data + h->events_at);
	const uint64_t size = h->ring_events;

	if (h->events_at > r->bytes || !lies_in(h->rings_at, h->ring_count, sizeof(*rings),
						r->bytes) ||
	    !lies_in(h->names_at, h->name_count, sizeof(*r->names), r->bytes))
		return no_block;
	r->names = (const void *)(r->data + h->names_at);
	r->name_count = h->name_count;
	for (uint32_t i = 0; i < h->ring_count; i++) {
		const uint64_t there = (r->bytes - h->events_at) / sizeof(*all);
		uint64_t count = load_relaxed(&rings[i].count), at = i * size;
		uint64_t first = count > size ? count - size : 0;
		uint64_t wrap = (first + size - 1) / size * size;

		if (wrap > count)
			wrap = count;
		if (add_run(&r->rings[i], all + at + first % size, first,
			    whole(at + first % size, wrap - first, there)) != 0 ||
		    add_run(&r->rings[i], all + at, wrap,
			    whole(at, count - wrap, there)) != 0)
			return strerror(errno);
	}
	return NULL;
}

static const char *index_log(struct trace_recording *r)
{
	const struct wefti_record_head *h = &r->head;
	struct trace_block block;

	for (size_t at = h->head_bytes; r->bytes - at >= sizeof(block);) {
		size_t each = sizeof(struct trace_item);

		memcpy(&block, r->data + at, sizeof(block));
		at += sizeof(block);
		if (block.ring > h->ring_count + 1)
			return "it is malformed";
		if (block.ring == h->ring_count)
			each = sizeof(struct wefti_record_name);
		else if (block.ring > h->ring_count)
			each = sizeof(uint64_t);
		if (block.count > (r->bytes - at) / each)
			return NULL;	/* the rest was not written any more */
		if (block.ring == h->ring_count) {
			r->names = (const void *)(r->data + at);
			r->name_count = block.count;
		} else if (block.ring > h->ring_count) {
			r->maps = r->data + at;
			r->maps_bytes = block.count * each;
		} else if (add_run(&r->rings[block.ring], (const void *)(r->data + at),
				   block.first, block.count) != 0) {
			return strerror(errno);
		}
		at += block.count * each;
	}
	return NULL;
}

/* Returns 0 behind the ring's last event. Torn and overwritten ones are passed over. */
static int next_item(struct trace_ring *ring, const struct trace_item **item,
		     uint64_t *number)
{
	while (ring->run < ring->run_count) {
		const struct trace_run *run = &ring->runs[ring->run];

		while (ring->item < run->count) {
			*item = &run->items[ring->item];
			*number = run->first + ring->item++;
			if (WEFTI_EVENT_NUMBER((*item)->word) == (uint32_t)(*number + 1) &&
			    WEFTI_EVENT_KIND((*item)->word) != WEFTI_EVENT_NONE)
				return 1;
		}
		ring->run++;
		ring->item = 0;
	}
	return 0;
}

static int64_t to_ns(const struct wefti_record_head *h, uint64_t ticks)
{
	const __int128 since = (int64_t)(ticks - h->start_ticks);
	const __int128 ns = h->start_ns + since * NS_PER_SECOND /
			    (int64_t)load_relaxed(&h->ticks_per_second);

	return ns < 0 ? 0 : ns > NS_MOST ? NS_MOST : (int64_t)ns;
}

static void add_text(struct trace_event *e, const struct trace_item *item)
{
	size_t used = strlen(e->text), n = WEFTI_EVENT_DETAIL(item->word);
	const char *text = (const char *)&item->time;

	if (n > 3 * sizeof(uint64_t))
		n = 3 * sizeof(uint64_t);
	if (n > TRACE_TEXT_MOST - used)
		n = TRACE_TEXT_MOST - used;
	memcpy(e->text + used, text, n);
	e->text[used + n] = 0;
}

static void add_stack(struct trace_event *e, const struct trace_item *item)
{
	const uint64_t words[] = { item->time, item->thread, item->arg };
	uint32_t n = WEFTI_EVENT_DETAIL(item->word);

	for (uint32_t i = 0; i < n && i < 3 && e->words < TRACE_STACK_MOST; i++)
		e->stack[e->words++] = words[i];
}

/* Does the item only continue the event in front of it? */
static int continues(const struct trace_item *item)
{
	const unsigned kind = WEFTI_EVENT_KIND(item->word);

	return kind == WEFTI_EVENT_TEXT || kind == WEFTI_EVENT_STACK;
}

/* Fills ring->next with the ring's next event and what continues it. */
static void advance(struct trace_recording *r, unsigned index)
{
	struct trace_ring *ring = &r->rings[index];
	struct trace_event *e = &ring->next;
	const struct trace_item *item;
	uint64_t number;

	do {
		ring->has_next = next_item(ring, &item, &number);
		if (!ring->has_next)
			return;
	} while (continues(item));	/* what it continues was lost */

	e->lost = number > ring->expected ? number - ring->expected : 0;
	e->time = to_ns(&r->head, item->time);
	e->thread = item->thread;
	e->arg = item->arg;
	e->detail = WEFTI_EVENT_DETAIL(item->word);
	e->kind = WEFTI_EVENT_KIND(item->word);
	e->ring = index;
	e->words = 0;
	e->text[0] = 0;
	ring->expected = number + 1;

	size_t run = ring->run, at = ring->item;

	while (next_item(ring, &item, &number) && number == ring->expected &&
	       continues(item)) {
		if (WEFTI_EVENT_KIND(item->word) == WEFTI_EVENT_TEXT)
			add_text(e, item);
		else
			add_stack(e, item);
		ring->expected++;
		run = ring->run;
		at = ring->item;
	}
	ring->run = run;
	ring->item = at;
}

/* The recorder's memory is one of the mappings that the core file has. */
static const char *find_in_core(struct trace_recording *r)
{
	const ElfW(Ehdr) *elf = (const void *)r->file;
	const ElfW(Phdr) *part = (const void *)(r->file + elf->e_phoff);
	int is_cut = 0;

	if (!lies_in(elf->e_phoff, elf->e_phnum, sizeof(*part), r->file_bytes))
		return "it is cut off";
	for (unsigned i = 0; i < elf->e_phnum; i++) {
		if (part[i].p_type != PT_LOAD || part[i].p_filesz < sizeof(r->head))
			continue;
		is_cut |= !lies_in(part[i].p_offset, part[i].p_filesz, 1, r->file_bytes);
		if (!lies_in(part[i].p_offset, sizeof(r->head), 1, r->file_bytes) ||
		    !has_magic(r->file + part[i].p_offset, WEFTI_RECORD_MAGIC))
			continue;
		r->data = r->file + part[i].p_offset;
		r->bytes = whole(part[i].p_offset, part[i].p_filesz, r->file_bytes);
		return NULL;
	}
	return is_cut ? "it is cut off" :
	       "the process has recorded nothing: it needs WEFT_TRACE=flight at its start";
}

static const char *map(struct trace_recording *r, int fd)
{
	const char *why = NULL;
	struct stat st;
	void *data;

	if (fstat(fd, &st) != 0)
		return strerror(errno);
	if (st.st_size < (off_t)sizeof(r->head))
		return no_block;
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return strerror(errno);
	r->file = r->data = data;
	r->file_bytes = r->bytes = (size_t)st.st_size;
	if (is_core(data))
		why = find_in_core(r);
	if (!why)
		memcpy(&r->head, r->data, sizeof(r->head));
	return why;
}

const char *trace_recording_open(struct trace_recording *r, int fd)
{
	const char *why;

	*r = (struct trace_recording){ .data = NULL };
	why = map(r, fd);
	if (!why)
		why = trace_head_fault(&r->head, r->head.bytes);
	if (!why) {
		r->rings = calloc(r->head.ring_count, sizeof(*r->rings));
		if (!r->rings)
			why = strerror(errno);
		else if (has_magic(r->head.magic, TRACE_LOG_MAGIC))
			why = index_log(r);
		else
			why = index_memory(r);
	}
	for (uint32_t i = 0; !why && i < r->head.ring_count; i++)
		advance(r, i);
	if (why)
		trace_recording_close(r);
	return why;
}

void trace_recording_close(struct trace_recording *r)
{
	for (uint32_t i = 0; r->rings && i < r->head.ring_count; i++)
		free(r->rings[i].runs);
	free(r->rings);
	if (r->file)
		munmap((void *)(uintptr_t)r->file, r->file_bytes);
	*r = (struct trace_recording){ .data = NULL };
}

const struct trace_event *trace_recording_next(struct trace_recording *r)
{
	struct trace_ring *first = NULL;

	if (r->last)
		advance(r, (unsigned)(r->last - r->rings));
	for (uint32_t i = 0; i < r->head.ring_count; i++)
		if (r->rings[i].has_next &&
		    (!first || r->rings[i].next.time < first->next.time))
			first = &r->rings[i];
	r->last = first;
	return first ? &first->next : NULL;
}

const char *trace_recording_name(const struct trace_recording *r, uint64_t id,
				 char name[WEFTI_RECORD_NAME_BYTES + 1])
{
	const uint32_t slot = (uint32_t)id;

	if (slot >= r->name_count)
		return NULL;
	for (unsigned i = 0; i < WEFTI_RECORD_NAME_BYTES / 4; i++) {
		uint64_t word = load_relaxed(&r->names[slot].word[i]);
		uint32_t part = word >> 32 == id >> 32 ? (uint32_t)word : 0;

		memcpy(name + 4 * i, &part, sizeof(part));
	}
	name[WEFTI_RECORD_NAME_BYTES] = 0;
	return name[0] ? name : NULL;
}

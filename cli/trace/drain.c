/* SPDX-License-Identifier: MIT */
/*
 * cli/trace/drain.c - events out of a living process's recorder, into a log
 *
 * Nothing is written to the memory, so its writers never notice a reader. What a writer
 * overwrites before it was read is lost, and counted.
 *
 * Pairs
 *   P1  a word of an event is stored (record/events.h)  ->  its load here: the word of that
 *       event, so the second load of the word finds that it has changed
 *   P2  an event's word is stored with its kind  ->  its load here: all of the event
 */
#include "trace/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "os/call/clock.h"
#include "trace/recording.h"

#define BATCH		4096u	/* events of one block */

static int write_all(struct trace_drain *d, const void *data, size_t bytes)
{
	const char *from = data;
	ssize_t n;

	for (; bytes; from += n, bytes -= (size_t)n) {
		n = write(d->fd, from, bytes);
		if (n < 0 && errno == EINTR)
			n = 0;
		if (n < 0) {
			d->error = errno;
			return -1;
		}
	}
	return 0;
}

static int write_block(struct trace_drain *d, uint32_t ring, uint64_t first,
		       uint32_t count, const void *items, size_t each)
{
	const struct trace_block block = { ring, count, first };

	if (count == 0)
		return 0;
	if (write_all(d, &block, sizeof(block)) != 0)
		return -1;
	return write_all(d, items, count * each);
}

static const struct wefti_record_ring *ring_of(const struct trace_drain *d, uint32_t ring)
{
	const char *start = (const char *)d->memory->live;

	return (const struct wefti_record_ring *)(start + d->memory->head.rings_at) + ring;
}

int trace_drain_open(struct trace_drain *d, struct trace_memory *m, int fd, int from_now)
{
	struct wefti_record_head head = m->head;

	*d = (struct trace_drain){
		.memory = m, .fd = fd,
		.next = calloc(m->head.ring_count, sizeof(*d->next)),
		.stuck = calloc(m->head.ring_count, sizeof(*d->stuck)),
		.items = malloc(BATCH * sizeof(*d->items)),
	};
	if (!d->next || !d->stuck || !d->items)
		return -1;
	for (uint32_t i = 0; i < m->head.ring_count; i++) {
		uint64_t count = load_acquire(&ring_of(d, i)->count);
		uint64_t old = from_now ? 0 : m->head.ring_events;

		d->next[i] = count > old ? count - old : 0;
	}
	memcpy(head.magic, TRACE_LOG_MAGIC, sizeof(head.magic));
	return write_all(d, &head, sizeof(head));
}

enum found { WHOLE, NOT_YET, OVERWRITTEN };

/* As record/format.h tells readers to. */
static enum found copy_event(const struct trace_drain *d, uint32_t ring, uint64_t n,
			     struct trace_item *to)
{
	const struct wefti_record_head *h = &d->memory->head;
	const char *start = (const char *)d->memory->live;
	const struct wefti_event *e = (const struct wefti_event *)(start + h->events_at) +
				      (size_t)ring * h->ring_events +
				      (n & (h->ring_events - 1));
	int32_t ahead;

	to->word = load_acquire(&e->word);	/* P2 */
	to->time = load_acquire(&e->time);	/* P1 */
	to->thread = load_acquire(&e->thread);	/* P1 */
	to->arg = load_acquire(&e->arg);	/* P1 */
	ahead = (int32_t)(WEFTI_EVENT_NUMBER(to->word) - (uint32_t)(n + 1));
	if (ahead > 0 || (ahead == 0 && load_relaxed(&e->word) != to->word))
		return OVERWRITTEN;
	return ahead < 0 || WEFTI_EVENT_KIND(to->word) == WEFTI_EVENT_NONE ? NOT_YET :
									    WHOLE;
}

/*
 * Copies from *n on, up to `until`, what follows without a gap. Returns how many, and in
 * *n the next to look at. An event that was not whole at the last call either is lost: in
 * the common ring its writer may be stopped for ever.
 */
static uint32_t copy_events(struct trace_drain *d, uint32_t ring, uint64_t *n,
			    uint64_t until, int *waits)
{
	uint32_t count = 0;

	*waits = 0;
	while (*n < until && count < BATCH) {
		enum found found = copy_event(d, ring, *n, &d->items[count]);

		if (found == WHOLE) {
			count++;
			++*n;
			continue;
		}
		if (found == NOT_YET && d->stuck[ring] != *n + 1) {
			d->stuck[ring] = *n + 1;
			*waits = 1;
		} else if (count == 0) {
			d->lost++;
			++*n;
		}
		break;
	}
	return count;
}

static int drain_ring(struct trace_drain *d, uint32_t ring)
{
	const uint64_t size = d->memory->head.ring_events;
	const uint64_t until = load_acquire(&ring_of(d, ring)->count);
	const uint64_t there = until - d->next[ring];
	uint64_t n = d->next[ring];
	int waits = 0;

	if (there > size) {	/* the oldest are about to be overwritten, too */
		d->lost += there - size + size / 8;
		n = until - size + size / 8;
	}
	while (n < until && !waits) {
		uint64_t first = n;
		uint32_t count = copy_events(d, ring, &n, until, &waits);

		d->events += count;
		if (write_block(d, ring, first, count, d->items, sizeof(*d->items)) != 0)
			return -1;
	}
	d->next[ring] = n;
	return there > size ? 100 : (int)(there * 100 / size);
}

int trace_drain_once(struct trace_drain *d)
{
	int most = 0;

	for (uint32_t i = 0; i < d->memory->head.ring_count; i++) {
		int full = drain_ring(d, i);

		if (full < 0)
			return -1;
		if (full > most)
			most = full;
	}
	return most;
}

static void measure_rate(struct wefti_record_head *head)
{
	const int64_t ns = wefti_os_now_ns() - head->start_ns;

	if (head->clock == WEFTI_RECORD_CYCLES)
		wefti_record_rate(head, wefti_arch_cycles() - head->start_ticks, ns);
}

/* In whole words. The rest of the last one is filled with ends of lines. */
static int write_maps(struct trace_drain *d, const char *maps)
{
	const size_t whole = strlen(maps) / sizeof(uint64_t) * sizeof(uint64_t);
	const uint32_t ring = d->memory->head.ring_count + 1;
	const struct trace_block block = { ring, (uint32_t)(whole / sizeof(uint64_t)) + 1, 0 };
	char last[sizeof(uint64_t)];

	memset(last, '\n', sizeof(last));
	memcpy(last, maps + whole, strlen(maps + whole));
	return write_all(d, &block, sizeof(block)) != 0 || write_all(d, maps, whole) != 0 ||
	       write_all(d, last, sizeof(last)) != 0;
}

int trace_drain_close(struct trace_drain *d, const char *maps)
{
	struct wefti_record_head head = d->memory->head;
	const char *start = (const char *)d->memory->live;
	int error = write_block(d, head.ring_count, 0, head.name_count,
				start + head.names_at, sizeof(struct wefti_record_name));

	if (error == 0 && maps)
		error = write_maps(d, maps);
	memcpy(head.magic, TRACE_LOG_MAGIC, sizeof(head.magic));
	measure_rate(&head);
	if (error == 0 && pwrite(d->fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head)) {
		d->error = errno;
		error = -1;
	}
	free(d->next);
	free(d->stuck);
	free(d->items);
	return error;
}

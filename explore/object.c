/* SPDX-License-Identifier: MIT */
/*
 * explore/object.c - what is known of the objects that threads share
 *
 * A table by the address, which grows and forgets nothing. It takes no memory of malloc's:
 * the program's malloc is to do the same in each run.
 *
 * A destroyed object is filled with a pattern. A call that finds the pattern uses a
 * destroyed object. A call that finds anything else has an object that was made anew in the
 * same memory, perhaps by an initializer that calls nothing. The first PLAIN bytes are not
 * looked at: free() writes there.
 */
#include "explore.h"

#include <string.h>
#include <sys/mman.h>

#define FIRST		1024u
#define PLAIN		16u
#define PATTERN		0xdb
#define LOCATION	(UINT64_C(1) << 63)	/* no program has memory there */

static struct wefti_ex_object *table;
static size_t room;
static uint32_t used;

static const struct {
	const char *name;
	size_t bytes;
} kinds[] = {
	[WEFTI_EX_NOTHING] = { "", 0 },
	[WEFTI_EX_MUTEX] = { "mutex", sizeof(pthread_mutex_t) },
	[WEFTI_EX_COND] = { "condition variable", sizeof(pthread_cond_t) },
	[WEFTI_EX_RWLOCK] = { "rwlock", sizeof(pthread_rwlock_t) },
	[WEFTI_EX_SEM] = { "semaphore", sizeof(sem_t) },
	[WEFTI_EX_BARRIER] = { "barrier", sizeof(pthread_barrier_t) },
	[WEFTI_EX_SPIN] = { "spin lock", 0 },
	[WEFTI_EX_FLAG] = { "once flag", 0 },
	[WEFTI_EX_LOCATION] = { "location", 0 },
	[WEFTI_EX_FUTEX] = { "futex", 0 },
	[WEFTI_EX_CHAN] = { "channel", 0 },
	[WEFTI_EX_GROUP] = { "group", 0 },
	[WEFTI_EX_RING] = { "ring", 0 },
	[WEFTI_EX_STACK] = { "stack", 0 },
	[WEFTI_EX_STREAM] = { "stream", 0 },
};

const char *wefti_ex_kind_name(uint32_t kind)
{
	return kinds[kind].name;
}

void *wefti_ex_memory(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		wefti_ex_limit("there is no memory");
	return memory;
}

static struct wefti_ex_object *find(const void *at)
{
	const uint64_t h = (uintptr_t)at * UINT64_C(0x9e3779b97f4a7c15);
	size_t i = (size_t)(h >> 20) & (room - 1);

	while (table[i].at && table[i].at != at)
		i = (i + 1) & (room - 1);
	return &table[i];
}

/* Objects move: behind each point the caller looks its object up again. */
static void grow(void)
{
	struct wefti_ex_object *old = table;
	const size_t before = room;

	room = before ? before * 2 : FIRST;
	table = wefti_ex_memory(room * sizeof(*table));
	for (size_t i = 0; i < before; i++)
		if (old[i].at)
			*find(old[i].at) = old[i];
	for (struct wefti_ex_thread *t = wefti_ex.all; t; t = t->next)
		if (t->object)
			t->object = find(t->object->at);
	if (old)
		(void)munmap(old, before * sizeof(*old));
}

static int has_pattern(const struct wefti_ex_object *o)
{
	const unsigned char *byte = o->at;

	for (size_t i = PLAIN; i < kinds[o->kind].bytes; i++)
		if (byte[i] != PATTERN)
			return 0;
	return 1;
}

/* The number stays. */
static void reset(struct wefti_ex_object *o, enum wefti_ex_kind kind)
{
	*o = (struct wefti_ex_object){ .at = o->at, .number = o->number, .kind = kind };
}

static struct wefti_ex_object *get(const void *at, enum wefti_ex_kind kind)
{
	struct wefti_ex_object *o;

	if (used * 2 >= room)
		grow();
	o = find(at);
	if (!o->at) {
		o->at = at;
		o->number = ++used;
		o->kind = kind;
	} else if (o->kind != kind) {
		reset(o, kind);
	}
	return o;
}

struct wefti_ex_object *wefti_ex_object(const void *at, enum wefti_ex_kind kind,
					const void *where)
{
	struct wefti_ex_object *o = get(at, kind);

	if (o->is_destroyed) {
		if (has_pattern(o))
			wefti_ex_misuse(where, o, "it was destroyed before");
		reset(o, kind);
	}
	return o;
}

/* It is looked up again: it may have moved, or another thread has destroyed it. */
struct wefti_ex_object *wefti_ex_object_point(const void *at, enum wefti_ex_kind kind,
					      enum wefti_ex_op op, const void *where)
{
	wefti_ex_point(wefti_ex_self, op, wefti_ex_object(at, kind, where), where);
	return wefti_ex_object(at, kind, where);
}

struct wefti_ex_object *wefti_ex_location(const volatile void *at)
{
	return get((const void *)((uintptr_t)at | LOCATION), WEFTI_EX_LOCATION);
}

/* Where an object is now, by a copy of it. */
struct wefti_ex_object *wefti_ex_object_again(const struct wefti_ex_object *copy)
{
	return find(copy->at);
}

void wefti_ex_object_begins(const void *at, enum wefti_ex_kind kind)
{
	reset(get(at, kind), kind);
	wefti_ex_forget_key(at);
}

void wefti_ex_leaves_objects(struct wefti_ex_thread *self)
{
	for (size_t i = 0; wefti_ex.has_forks && i < room; i++)
		if (table[i].at && table[i].kind == WEFTI_EX_MUTEX &&
		    table[i].holder == self->number)
			wefti_ex_past(self, WEFTI_EX_END, &table[i]);
}

void wefti_ex_object_ends(struct wefti_ex_object *o, void *memory)
{
	const enum wefti_ex_kind kind = (enum wefti_ex_kind)o->kind;

	reset(o, kind);
	if (!kinds[kind].bytes)
		return;
	o->is_destroyed = 1;
	memset(memory, PATTERN, kinds[kind].bytes);
}

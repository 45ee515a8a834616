/* SPDX-License-Identifier: MIT */
/*
 * cli/profile/gather.c - events become times: on the CPU, waiting, ready
 *
 * A wait begins where a RUN says that the last thread waits, and ends at its READY. From
 * there to its own RUN the thread is ready. The stack behind that RUN is of this wait, and
 * says for how many it stands: waits without a stack are counted by those with one.
 *
 * A thread that has waited since before the recording has done so since its begin, as far
 * as is known. Where events are lost, the recording begins anew. A thread that still waits
 * at its end has no stack, and a foreign thread's waits have none.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"
#include "thread/thread.h"
#include "trace/threads.h"
#include "trace/words.h"

struct gather {
	struct profile_table *table;
	struct trace_threads threads;
	uint64_t *runs, *owner;	/* of each VCPU */
	unsigned vcpus;
	int64_t now;
	int64_t known;		/* all events from here on */
};

/* Threads without a name are told apart by their functions. */
static const char *thread_text(struct gather *g, const struct trace_thread *t)
{
	const char *name = NULL;

	if (t && !t->name[0] && t->began)
		name = profile_name_at(g->table->files, t->began);
	return profile_text(g->table, !t ? "scheduler" : t->name[0] ? t->name :
			    name ? name : "unnamed");
}

/* Is it the runtime's, or libc's, or what the compiler adds to a program? */
static int is_below(struct gather *g, uint64_t pc)
{
	const char *path, *slash, *name;
	uint64_t start, end;

	if (!profile_file_at(g->table->files, pc, &start, &end, &path))
		return 1;
	slash = strrchr(path, '/');
	path = slash ? slash + 1 : path;
	name = profile_name_at(g->table->files, pc);
	return strncmp(path, "libweft", 7) == 0 || strncmp(path, "libc.so", 7) == 0 ||
	       !name || name[0] == '_';
}

/*
 * The preload library begins each thread with a function of its own. And what the first
 * thread began with, or one from before the recording, no event has said.
 */
static void note_function(struct gather *g, struct trace_thread *t, const uint64_t *pcs,
			  size_t depth)
{
	if (!t || t->name[0] || (t->began && !is_below(g, t->began)))
		return;
	for (size_t i = depth; i--;) {
		if (!is_below(g, pcs[i])) {
			t->began = pcs[i];
			return;
		}
	}
}

static int is_lock(uint32_t why)
{
	return why == WEFTI_WHY_MUTEX || why == WEFTI_WHY_READ_LOCK ||
	       why == WEFTI_WHY_WRITE_LOCK || why == WEFTI_WHY_ONCE;
}

/* "[waits for mutex book]". Channels and the like may be many, and have no names. */
static const char *wait_text(struct gather *g, uint32_t why, uint64_t object)
{
	const char *name = why == WEFTI_WHY_JOIN || why == WEFTI_WHY_DESCRIPTOR ? NULL :
			   profile_name_at(g->table->files, object);
	const char *words = trace_wait_words(WEFTI_LEFT_WAITS + why);
	char text[512];

	if (name)
		snprintf(text, sizeof(text), "[%s %s]", words, name);
	else if (is_lock(why))
		snprintf(text, sizeof(text), "[%s %#" PRIx64 "]", words, object);
	else
		snprintf(text, sizeof(text), "[%s]", words);
	return profile_text(g->table, text);
}

static const char *owner_text(struct gather *g, uint64_t owner)
{
	struct trace_thread *t = owner ? trace_thread(&g->threads, owner) : NULL;

	return t ? thread_text(g, t) : NULL;
}

/* A forged recording may have any times. */
static void add(int64_t *sum, int64_t times, int64_t each)
{
	int64_t more;

	if (__builtin_mul_overflow(times, each, &more) ||
	    __builtin_add_overflow(*sum, more, sum))
		*sum = INT64_MAX;
}

static void add_wait(struct gather *g, struct trace_thread *t, uint32_t why,
		     uint64_t object, int64_t times, const uint64_t *pcs, size_t depth)
{
	const int64_t since = t->left_at ? t->left_at : g->known;
	int64_t until = t->ready_at > since ? t->ready_at : since;
	struct profile_sample *s;

	if (!t->ready_at)
		until = g->now;
	s = profile_sample(g->table, thread_text(g, t), wait_text(g, why, object),
			   owner_text(g, t->owner), pcs, depth);
	if (!s)
		return;
	add(&s->value[PROFILE_WAITS], times, 1);
	add(&s->value[PROFILE_WAIT], times, until - since);
	if (is_lock(why)) {
		add(&s->value[PROFILE_LOCK_WAITS], times, 1);
		add(&s->value[PROFILE_LOCK], times, until - since);
	}
	add(&s->value[PROFILE_READY], times, g->now - until);
}

static void add_ready(struct gather *g, struct trace_thread *t)
{
	struct profile_sample *s = profile_sample(g->table, thread_text(g, t),
						  profile_text(g->table, "[ready]"), NULL,
						  NULL, 0);

	if (s)
		add(&s->value[PROFILE_READY], 1, g->now - t->ready_at);
}

static void leaves(struct gather *g, const struct trace_event *e)
{
	struct trace_thread *t = trace_thread(&g->threads, g->runs[e->ring]);

	if (!t || e->detail == WEFTI_LEFT_NONE || e->detail == WEFTI_LEFT_ENDED)
		return;
	if (e->detail < WEFTI_LEFT_WAITS) {
		trace_thread_is(&g->threads, t, TRACE_READY);
		t->ready_at = g->now;
		return;
	}
	/* It may be ready already: another VCPU has ended its wait. */
	if (!t->woken_early)
		t->ready_at = 0;
	t->woken_early = 0;
	t->left_at = g->now;
	t->why = e->detail - WEFTI_LEFT_WAITS;
	t->object = e->arg;
	t->owner = g->owner[e->ring];
	trace_thread_is(&g->threads, t, TRACE_WAITING);
}

static void runs(struct gather *g, const struct trace_event *e)
{
	const struct wefti_record_stack *head = (const void *)e->stack;
	struct trace_thread *t;
	uint64_t pcs[PROFILE_FRAMES_MOST];
	size_t depth;

	leaves(g, e);
	g->runs[e->ring] = e->thread;
	g->owner[e->ring] = 0;
	t = trace_thread(&g->threads, e->thread);
	if (!t)
		return;
	if (e->words >= WEFTI_RECORD_STACK_WORDS &&
	    (t->state == TRACE_WAITING || t->state == TRACE_UNKNOWN)) {
		depth = profile_unwind(g->table->files, e->stack, e->words, 0, pcs,
				       PROFILE_FRAMES_MOST);
		g->table->stacks++;
		note_function(g, t, pcs, depth);
		add_wait(g, t, (uint32_t)(head->why >> 32), head->object,
			 (int64_t)(uint32_t)head->why, pcs, depth);
	} else if (t->state == TRACE_READY && t->ready_at) {
		add_ready(g, t);
	}
	t->left_at = t->ready_at = 0;
	t->woken_early = 0;
	trace_thread_is(&g->threads, t, TRACE_RUNNING);
}

static void is_ready(struct gather *g, const struct trace_event *e)
{
	struct trace_thread *t = trace_thread(&g->threads, e->thread);

	if (!t)
		return;
	t->ready_at = g->now;
	t->woken_early = t->state == TRACE_RUNNING;
	if (WEFTI_READY_WHY(e->detail) == WEFTI_READY_SPAWNED)
		trace_thread_is(&g->threads, t, TRACE_READY);
}

static void sample(struct gather *g, const struct trace_event *e)
{
	const struct wefti_record_stack *head = (const void *)e->stack;
	uint64_t pcs[PROFILE_FRAMES_MOST];
	struct trace_thread *t = trace_thread(&g->threads, e->thread);
	struct profile_sample *s;
	size_t depth = 0;

	if (e->words >= WEFTI_RECORD_STACK_WORDS)
		depth = profile_unwind(g->table->files, e->stack, e->words, 1, pcs,
				       PROFILE_FRAMES_MOST);
	g->table->stacks += depth > 0;
	note_function(g, t, pcs, depth);
	s = profile_sample(g->table, thread_text(g, t), NULL, NULL, pcs, depth);
	if (!s)
		return;
	add(&s->value[PROFILE_SAMPLES], depth ? (int64_t)(uint32_t)head->why : 1, 1);
	add(&s->value[PROFILE_CPU], e->arg <= INT64_MAX ? (int64_t)e->arg : 0, 1);
	if (depth && (uint32_t)head->why == 1)
		g->table->period = (int64_t)e->arg;
}

/* The stack is that of the thread that runs there, and stands for so many spawns. */
static void spawns(struct gather *g, const struct trace_event *e)
{
	const struct wefti_record_stack *head = (const void *)e->stack;
	struct trace_thread *by = e->ring < g->vcpus ?
				  trace_thread(&g->threads, g->runs[e->ring]) : NULL;
	struct trace_thread *t = trace_thread(&g->threads, e->thread);
	uint64_t pcs[PROFILE_FRAMES_MOST];
	struct profile_sample *s;
	size_t depth;

	if (t)
		t->began = e->arg;
	if (!by || e->words < WEFTI_RECORD_STACK_WORDS)
		return;
	depth = profile_unwind(g->table->files, e->stack, e->words, 1, pcs,
			       PROFILE_FRAMES_MOST);
	g->table->stacks += depth > 0;
	note_function(g, by, pcs, depth);
	s = profile_sample(g->table, thread_text(g, by),
			   profile_text(g->table, "[spawns a thread]"), NULL, pcs, depth);
	if (s)
		add(&s->value[PROFILE_SPAWNS], (int64_t)(uint32_t)head->why, 1);
}

/* A foreign thread's wait, and a region in which a thread may block: without a stack. */
static void blocks(struct gather *g, const struct trace_event *e, int begins)
{
	struct trace_thread *t = trace_thread(&g->threads, e->thread);
	const int is_foreign = e->kind == WEFTI_EVENT_GO_ON;
	struct profile_sample *s;

	if (!t)
		return;
	if (begins) {
		t->blocked_at = g->now;
		t->blocked_why = e->kind == WEFTI_EVENT_SLEEP ? e->detail : 0;
		return;
	}
	if (!t->blocked_at)
		return;
	s = profile_sample(g->table, thread_text(g, t), is_foreign ?
			   wait_text(g, t->blocked_why - WEFTI_LEFT_WAITS, 0) :
			   profile_text(g->table, "[blocks in the kernel]"), NULL, NULL, 0);
	if (s) {
		add(&s->value[PROFILE_WAITS], 1, 1);
		add(&s->value[PROFILE_WAIT], 1, g->now - t->blocked_at);
	}
	t->blocked_at = 0;
}

/* Events are missing: what a thread does, its next one says. A wait is taken to begin here. */
static void forget_states(struct gather *g)
{
	for (size_t i = 0; i < g->threads.slots; i++) {
		struct trace_thread *t = trace_thread_in(&g->threads, i);

		if (!t)
			continue;
		trace_thread_is(&g->threads, t, TRACE_UNKNOWN);
		t->left_at = t->ready_at = t->blocked_at = 0;
		t->woken_early = 0;
		t->owner = 0;
	}
	for (unsigned i = 0; i < g->vcpus; i++)
		g->runs[i] = g->owner[i] = 0;
	g->known = g->now;
}

static void look_at(struct gather *g, const struct trace_event *e)
{
	struct trace_thread *t;

	switch (e->kind) {
	case WEFTI_EVENT_RUN:
		if (e->ring < g->vcpus)
			runs(g, e);
		break;
	case WEFTI_EVENT_OWNER:
		if (e->ring < g->vcpus)
			g->owner[e->ring] = e->thread;
		break;
	case WEFTI_EVENT_READY:
		is_ready(g, e);
		break;
	case WEFTI_EVENT_SPAWN:
		spawns(g, e);
		break;
	case WEFTI_EVENT_NAME:
		t = trace_thread(&g->threads, e->thread);
		if (t)
			trace_thread_rename(t, e->text);
		break;
	case WEFTI_EVENT_SAMPLE:
		sample(g, e);
		break;
	case WEFTI_EVENT_SLEEP:
	case WEFTI_EVENT_BLOCK_BEGIN:
		blocks(g, e, 1);
		break;
	case WEFTI_EVENT_GO_ON:
	case WEFTI_EVENT_BLOCK_END:
		blocks(g, e, 0);
		break;
	default:
		break;
	}
}

/* The waits that the recording ends in. */
static void end_waits(struct gather *g)
{
	for (size_t i = 0; i < g->threads.slots; i++) {
		struct trace_thread *t = trace_thread_in(&g->threads, i);

		if (t && t->state == TRACE_WAITING && !t->ready_at)
			add_wait(g, t, t->why, t->object, 1, NULL, 0);
	}
}

int profile_gather(struct profile_table *table, struct trace_recording *recording)
{
	struct gather g = {
		.table = table, .threads.recording = recording,
		.vcpus = recording->head.vcpus,
		.runs = calloc(recording->head.ring_count, sizeof(*g.runs)),
		.owner = calloc(recording->head.ring_count, sizeof(*g.owner)),
	};
	const struct trace_event *e;

	table->failed |= !g.runs || !g.owner;
	while (!table->failed && (e = trace_recording_next(recording))) {
		if (!table->start)
			table->start = g.known = e->time;
		if (e->time > g.now)
			g.now = e->time;
		if (e->lost)
			forget_states(&g);
		look_at(&g, e);
	}
	if (!table->failed)
		end_waits(&g);
	table->end = g.now;
	table->start_real = recording->head.start_real_ns +
			    (table->start - recording->head.start_ns);
	trace_threads_free(&g.threads);
	free(g.runs);
	free(g.owner);
	return table->failed ? -1 : 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * cli/profile/pprof.c - a profile as pprof's protobuf, in gzip's format
 *
 * The messages are those of profile.proto, by protobuf-c. All are made before the first is
 * written: a profile has one message for each stack, and not for each event.
 */
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "profile.pb-c.h"
#include "profile/profile.h"

/* Pointers to messages, as protobuf-c wants them. */
struct list {
	void **item;
	size_t count;
};

/* What is written once, and has a number from then on. */
struct known {
	const void *text;	/* a text; in the tree of calls: its own name, or NULL */
	uint64_t key, number;
};

struct pprof {
	struct profile_table *table;
	struct list strings, functions, locations, mappings, samples;
	void *string_tree, *function_tree, *location_tree, *mapping_tree;
	int failed;
};

/* Grown at powers of two. */
static void add(struct pprof *p, struct list *list, void *item)
{
	void *more;

	if (item && (list->count & (list->count - 1)) == 0) {
		more = realloc(list->item, 2 * (list->count + 1) * sizeof(*list->item));
		if (more)
			list->item = more;
		else
			item = NULL;
	}
	if (item)
		list->item[list->count++] = item;
	else
		p->failed = 1;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct known *)a)->text, ((const struct known *)b)->text);
}

static int by_key(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (uintptr_t)x->text < (uintptr_t)y->text ? -1 : x->text != y->text;
}

/* NULL: no memory. A new one has number 0. */
static struct known *known(struct pprof *p, void **tree, const void *text, uint64_t key,
			   int (*order)(const void *, const void *))
{
	struct known *new = malloc(sizeof(*new)), **found;

	if (new)
		*new = (struct known){ text, key, 0 };
	found = new ? tsearch(new, tree, order) : NULL;
	if (!found || *found != new)
		free(new);
	if (!found)
		p->failed = 1;
	return found ? *found : NULL;
}

/* The number of a text that stays. Number 0 is "". */
static int64_t string(struct pprof *p, const char *text)
{
	struct known *k = known(p, &p->string_tree, text, 0, by_text);

	if (k && !k->number && (*text || p->strings.count == 0)) {
		k->number = p->strings.count;
		add(p, &p->strings, (void *)(uintptr_t)text);
	}
	return k ? (int64_t)k->number : 0;
}

static uint64_t function(struct pprof *p, const char *name, const char *file)
{
	struct known *k = known(p, &p->function_tree, profile_text(p->table, name),
				(uintptr_t)(file ? profile_text(p->table, file) : NULL),
				by_key);
	WeftPprof__Function *f;

	if (!k || k->number)
		return k ? k->number : 0;
	f = calloc(1, sizeof(*f));
	add(p, &p->functions, f);
	if (!f)
		return 0;
	weft_pprof__function__init(f);
	k->number = p->functions.count;
	f->has_id = f->has_name = f->has_system_name = f->has_filename = 1;
	f->id = k->number;
	f->name = f->system_name = string(p, k->text);
	f->filename = file ? string(p, (const char *)(uintptr_t)k->key) : 0;
	return f->id;
}

static uint64_t mapping(struct pprof *p, uint64_t pc)
{
	uint64_t start, end;
	const char *path;
	struct known *k;
	WeftPprof__Mapping *m;

	if (!profile_file_at(p->table->files, pc, &start, &end, &path))
		return 0;
	k = known(p, &p->mapping_tree, NULL, start, by_key);
	if (!k || k->number)
		return k ? k->number : 0;
	m = calloc(1, sizeof(*m));
	add(p, &p->mappings, m);
	if (!m)
		return 0;
	weft_pprof__mapping__init(m);
	k->number = p->mappings.count;
	m->has_id = m->has_memory_start = m->has_memory_limit = m->has_filename = 1;
	m->id = k->number;
	m->memory_start = start;
	m->memory_limit = end;
	m->filename = string(p, path);
	m->has_has_functions = m->has_has_filenames = 1;
	m->has_has_line_numbers = m->has_has_inline_frames = 1;
	m->has_functions = m->has_filenames = 1;
	m->has_line_numbers = m->has_inline_frames = 1;
	return m->id;
}

/* pc: 0: what a thread waits for stands in the place of a call. */
static WeftPprof__Location *new_location(struct pprof *p, uint64_t id, uint64_t pc, size_t n)
{
	WeftPprof__Location *l = calloc(1, sizeof(*l) + n * (sizeof(WeftPprof__Line *) +
							     sizeof(WeftPprof__Line)));
	WeftPprof__Line *lines;

	add(p, &p->locations, l);
	if (!l)
		return NULL;
	weft_pprof__location__init(l);
	l->has_id = 1;
	l->id = id;
	l->has_address = pc != 0;
	l->address = pc;
	l->mapping_id = pc ? mapping(p, pc) : 0;
	l->has_mapping_id = l->mapping_id != 0;
	l->n_line = n;
	l->line = (WeftPprof__Line **)(l + 1);
	lines = (WeftPprof__Line *)(l->line + n);
	for (size_t i = 0; i < n; i++) {
		l->line[i] = &lines[i];
		weft_pprof__line__init(&lines[i]);
		lines[i].has_function_id = lines[i].has_line = 1;
	}
	return l;
}

static uint64_t location(struct pprof *p, uint64_t pc, const char *what)
{
	struct known *k = known(p, &p->location_tree, what, pc, by_key);
	struct profile_line lines[PROFILE_LINES_MOST] = { { .function = what } };
	WeftPprof__Location *l;
	size_t n = 1;

	if (!k || k->number)
		return k ? k->number : 0;
	if (!what)
		n = profile_lines(p->table->files, pc, lines);
	k->number = p->locations.count + 1;
	if (n == 1 && !lines[0].function)
		n = 0;
	l = new_location(p, k->number, pc, n);
	for (size_t i = 0; l && i < n; i++) {
		l->line[i]->function_id = function(p, lines[i].function ?
						   lines[i].function : "?", lines[i].file);
		l->line[i]->line = lines[i].line;
	}
	return k->number;
}

/* A sample with all that it points to. */
struct sample {
	WeftPprof__Sample is;
	int64_t value[PROFILE_VALUES];
	WeftPprof__Label label[3], *labels[3];
	uint64_t ids[];
};

static void put_label(struct pprof *p, struct sample *s, const char *key, const char *text)
{
	WeftPprof__Label *l = &s->label[s->is.n_label];

	if (!text)
		return;
	weft_pprof__label__init(l);
	l->has_key = l->has_str = 1;
	l->key = string(p, key);
	l->str = string(p, text);
	s->labels[s->is.n_label++] = l;
}

static void put_sample(const struct profile_sample *from, void *arg)
{
	struct pprof *p = arg;
	struct sample *s = calloc(1, sizeof(*s) + (from->depth + 1) * sizeof(*s->ids));
	size_t n = 0;

	add(p, &p->samples, s);
	if (!s)
		return;
	weft_pprof__sample__init(&s->is);
	if (from->what)
		s->ids[n++] = location(p, 0, from->what);
	for (size_t i = 0; i < from->depth; i++)
		s->ids[n++] = location(p, from->pcs[i], NULL);
	s->is.n_location_id = n;
	s->is.location_id = s->ids;
	memcpy(s->value, from->value, sizeof(s->value));
	s->is.n_value = PROFILE_VALUES;
	s->is.value = s->value;
	s->is.label = s->labels;
	put_label(p, s, "thread", from->thread);
	put_label(p, s, "waits", from->what);
	put_label(p, s, "owner", from->owner);
}

static int write_packed(const WeftPprof__Profile *profile, int fd)
{
	const size_t bytes = weft_pprof__profile__get_packed_size(profile);
	uint8_t *buffer = malloc(bytes);
	const int copy = dup(fd);
	gzFile file = copy < 0 ? NULL : gzdopen(copy, "wb");
	int failed = !buffer || !file;

	if (!failed) {
		weft_pprof__profile__pack(profile, buffer);
		failed = gzfwrite(buffer, 1, bytes, file) != bytes;
	}
	if (file)
		failed |= gzclose(file) != Z_OK;
	else if (copy >= 0)
		close(copy);
	free(buffer);
	return failed ? -1 : 0;
}

static void put_type(struct pprof *p, WeftPprof__ValueType *v, enum profile_value type)
{
	weft_pprof__value_type__init(v);
	v->has_type = v->has_unit = 1;
	v->type = string(p, profile_types[type].name);
	v->unit = string(p, profile_types[type].unit);
}

static int put_profile(struct pprof *p, int fd)
{
	WeftPprof__Profile profile = WEFT_PPROF__PROFILE__INIT;
	WeftPprof__ValueType types[PROFILE_VALUES], *list[PROFILE_VALUES], period;

	for (unsigned i = 0; i < PROFILE_VALUES; i++) {
		put_type(p, &types[i], (enum profile_value)i);
		list[i] = &types[i];
	}
	put_type(p, &period, PROFILE_CPU);
	profile.n_sample_type = PROFILE_VALUES;
	profile.sample_type = list;
	profile.n_sample = p->samples.count;
	profile.sample = (WeftPprof__Sample **)p->samples.item;
	profile.n_mapping = p->mappings.count;
	profile.mapping = (WeftPprof__Mapping **)p->mappings.item;
	profile.n_location = p->locations.count;
	profile.location = (WeftPprof__Location **)p->locations.item;
	profile.n_function = p->functions.count;
	profile.function = (WeftPprof__Function **)p->functions.item;
	profile.has_time_nanos = profile.has_duration_nanos = profile.has_period = 1;
	profile.time_nanos = p->table->start_real;
	profile.duration_nanos = p->table->end - p->table->start;
	profile.period_type = &period;
	profile.period = p->table->period;
	profile.has_default_sample_type = 1;
	profile.default_sample_type = types[PROFILE_CPU].type;
	profile.n_string_table = p->strings.count;
	profile.string_table = (char **)p->strings.item;
	return p->failed ? -1 : write_packed(&profile, fd);
}

static void free_list(struct list *list, int with_items)
{
	for (size_t i = 0; with_items && i < list->count; i++)
		free(list->item[i]);
	free(list->item);
}

int profile_write_pprof(struct profile_table *table, int fd)
{
	struct pprof p = { .table = table };
	int error;

	(void)string(&p, "");
	(void)mapping(&p, profile_first_file(table->files));	/* pprof shows its name */
	profile_each(table, put_sample, &p);
	error = p.failed || table->failed ? -1 : put_profile(&p, fd);
	tdestroy(p.string_tree, free);
	tdestroy(p.function_tree, free);
	tdestroy(p.location_tree, free);
	tdestroy(p.mapping_tree, free);
	free_list(&p.strings, 0);
	free_list(&p.functions, 1);
	free_list(&p.locations, 1);
	free_list(&p.mappings, 1);
	free_list(&p.samples, 1);
	return error;
}

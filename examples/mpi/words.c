/* SPDX-License-Identifier: MIT */
/*
 * words DIRECTORY - which words occur in a directory tree, and how often?
 *
 * All ranks list the same files in the same order, and take them in turns. Each
 * file has a thread, which counts its words and adds them to its rank's table.
 * At the end each word's hash says which rank adds up its counts. Rank 0 gets
 * all sums, and prints them as examples/wordfreq does.
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../wordtable.h"
#include "ranks.h"

#define AT_ONCE	64	/* threads of a rank at a time */

struct file {
	char *path;
	uint64_t bytes, words;	/* written by its thread, read after join */
};

static struct {
	struct either_mutex mutex;
	struct word_table table;	/* under mutex */
} mine;

/* Words on their way: how often, how long, and the text, one after another. */
struct parcel {
	char *bytes;
	int used, room;
};

static void add(struct word_table *t, const struct word *w)
{
	if (word_table_add(t, w->text, w->length, w->hash, w->count))
		ranks_die("no memory for a word");
}

/* --- counting ----------------------------------------------------------- */

static char *read_file(struct file *f)
{
	int fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct stat st;
	char *text;

	if (fd < 0 || fstat(fd, &st))
		ranks_die("%s: %s", f->path, strerror(errno));
	text = ranks_memory((size_t)st.st_size, 1);
	while (f->bytes < (uint64_t)st.st_size) {
		ssize_t got = read(fd, text + f->bytes,
				   (size_t)st.st_size - f->bytes);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			ranks_die("%s: %s", f->path, strerror(errno));
		if (got == 0)
			break;
		f->bytes += (uint64_t)got;
	}
	close(fd);
	return text;
}

static void *count_file(void *arg)
{
	struct word_table local = { .keeps = 0 };
	struct file *f = arg;
	char *text;

	either_block_begin();
	text = read_file(f);
	either_block_end();
	if (word_table_count(&local, text, f->bytes, &f->words))
		ranks_die("no memory for a word");
	ranks_check(either_lock(&mine.mutex), "lock");
	for (size_t i = 0; i < local.places; i++)
		if (local.place[i].text)
			add(&mine.table, &local.place[i]);
	ranks_check(either_unlock(&mine.mutex), "unlock");
	word_table_free(&local);
	free(text);
	return NULL;
}

static void count_files(struct file *file, size_t n)
{
	either_thread id[AT_ONCE];

	for (size_t i = 0; i < n + AT_ONCE; i++) {
		if (i >= AT_ONCE && i - AT_ONCE < n)
			ranks_check(either_join(id[i % AT_ONCE], NULL), "join");
		if (i < n)
			ranks_check(either_spawn(&id[i % AT_ONCE], count_file,
						 &file[i]), "spawn");
	}
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* This rank's share of the regular files; links are not followed. */
static struct file *list_files(char *root, size_t *count)
{
	char *roots[] = { root, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	struct file *file = NULL;
	size_t n = 0, seen = 0;
	FTSENT *e;

	if (!fts)
		ranks_die("%s: %s", root, strerror(errno));
	while ((e = fts_read(fts))) {
		if (e->fts_info == FTS_DNR || e->fts_info == FTS_NS)
			ranks_die("%s: %s", e->fts_path,
				  strerror(e->fts_errno));
		if (e->fts_info != FTS_F ||
		    seen++ % (size_t)ranks.count != (size_t)ranks.rank)
			continue;
		/* Room for a power of two. */
		if ((n & (n - 1)) == 0)
			file = realloc(file, (n ? 2 * n : 1) * sizeof(*file));
		if (!file || !(e->fts_accpath = strdup(e->fts_path)))
			ranks_die("no memory for the list of files");
		file[n++] = (struct file){ .path = e->fts_accpath };
	}
	fts_close(fts);
	*count = n;
	return file;
}

/* --- words on their way ------------------------------------------------- */

static void put(struct parcel *p, const struct word *w)
{
	int bytes = (int)(sizeof(w->count) + sizeof(w->length) + w->length);

	if (p->used > INT_MAX / 2 - bytes)
		ranks_die("too many words for one message");
	if (p->used + bytes > p->room) {
		p->room = 2 * (p->used + bytes);
		p->bytes = realloc(p->bytes, (size_t)p->room);
	}
	if (!p->bytes)
		ranks_die("no memory for a message");
	memcpy(p->bytes + p->used, &w->count, sizeof(w->count));
	memcpy(p->bytes + p->used + sizeof(w->count), &w->length,
	       sizeof(w->length));
	memcpy(p->bytes + p->used + bytes - w->length, w->text, w->length);
	p->used += bytes;
}

/* The table's words point into the parcel. */
static void unpack(struct word_table *t, const struct parcel *p)
{
	for (int at = 0; at < p->used; ) {
		struct word w;

		memcpy(&w.count, p->bytes + at, sizeof(w.count));
		at += (int)sizeof(w.count);
		memcpy(&w.length, p->bytes + at, sizeof(w.length));
		at += (int)sizeof(w.length);
		w.text = p->bytes + at;
		w.hash = word_hash(w.text, w.length);
		add(t, &w);
		at += (int)w.length;
	}
}

/* Where each rank's bytes begin; returns how many there are in all. */
static int add_up(const int *bytes, int *place)
{
	int all = 0;

	for (int r = 0; r < ranks.count; r++) {
		place[r] = all;
		if (bytes[r] > INT_MAX - all)
			ranks_die("too many words for one message");
		all += bytes[r];
	}
	return all;
}

/* Each rank gets the words whose hash is its own. */
static struct parcel exchange(const struct word_table *t)
{
	int *number = ranks_memory(4 * (size_t)ranks.count, sizeof(*number));
	int *out = number, *out_place = out + ranks.count;
	int *in = out_place + ranks.count, *in_place = in + ranks.count;
	struct parcel all = { .used = 0 }, got = { .used = 0 };

	for (int r = 0; r < ranks.count; r++) {
		int before = all.used;

		for (size_t i = 0; i < t->places; i++)
			if (t->place[i].text && (int)(t->place[i].hash %
					(unsigned)ranks.count) == r)
				put(&all, &t->place[i]);
		out[r] = all.used - before;
	}
	ranks_must(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT,
				MPI_COMM_WORLD), "exchange of lengths");
	add_up(out, out_place);
	got.used = add_up(in, in_place);
	got.bytes = ranks_memory((size_t)got.used, 1);
	ranks_must(MPI_Alltoallv(all.bytes, out, out_place, MPI_BYTE, got.bytes,
				 in, in_place, MPI_BYTE, MPI_COMM_WORLD),
		   "exchange");
	free(all.bytes);
	free(number);
	return got;
}

/* Rank 0 gets the words of all tables. */
static struct parcel gather(const struct word_table *t)
{
	int *in = ranks_memory(2 * (size_t)ranks.count, sizeof(*in));
	int *place = in + ranks.count;
	struct parcel all = { .used = 0 }, got = { .used = 0 };

	for (size_t i = 0; i < t->places; i++)
		if (t->place[i].text)
			put(&all, &t->place[i]);
	ranks_must(MPI_Gather(&all.used, 1, MPI_INT, in, 1, MPI_INT, 0,
			      MPI_COMM_WORLD), "gather lengths");
	got.used = add_up(in, place);
	got.bytes = ranks_memory((size_t)got.used, 1);
	ranks_must(MPI_Gatherv(all.bytes, all.used, MPI_BYTE, got.bytes, in,
			       place, MPI_BYTE, 0, MPI_COMM_WORLD), "gather");
	free(all.bytes);
	free(in);
	return got;
}

/* --- the result --------------------------------------------------------- */

static void print_words(const struct word_table *t)
{
	struct word *word = ranks_memory(t->used, sizeof(*word));
	size_t n = 0;

	for (size_t i = 0; i < t->places; i++)
		if (t->place[i].text)
			word[n++] = t->place[i];
	qsort(word, n, sizeof(*word), word_compare);
	for (size_t i = 0; i < n; i++)
		printf("%10llu %.*s\n", (unsigned long long)word[i].count,
		       (int)word[i].length, word[i].text);
	free(word);
}

static void print_sums(const struct file *file, size_t n)
{
	uint64_t own[3] = { n, 0, 0 }, sum[3];

	for (size_t i = 0; i < n; i++) {
		own[1] += file[i].bytes;
		own[2] += file[i].words;
	}
	ranks_must(MPI_Reduce(own, sum, 3, MPI_UINT64_T, MPI_SUM, 0,
			      MPI_COMM_WORLD), "reduce");
	if (ranks.rank == 0)
		fprintf(stderr, "%s: %d ranks, %llu files, a thread each; "
			"%llu bytes, %llu words\n", EITHER_NAME, ranks.count,
			(unsigned long long)sum[0], (unsigned long long)sum[1],
			(unsigned long long)sum[2]);
}

int main(int argc, char **argv)
{
	struct word_table part = { .keeps = 0 }, whole = { .keeps = 0 };
	struct parcel exchanged, gathered;
	struct file *file;
	size_t n;

	ranks_start("words", &argc, &argv);
	if (argc != 2)
		ranks_die("usage: mpirun -n RANKS words DIRECTORY");
	ranks_check(either_mutex_init(&mine.mutex), "mutex");
	mine.table.keeps = 1;
	file = list_files(argv[1], &n);
	count_files(file, n);
	exchanged = exchange(&mine.table);
	unpack(&part, &exchanged);
	gathered = gather(&part);
	unpack(&whole, &gathered);
	if (ranks.rank == 0)
		print_words(&whole);
	print_sums(file, n);

	word_table_free(&mine.table);
	word_table_free(&part);
	word_table_free(&whole);
	free(exchanged.bytes);
	free(gathered.bytes);
	for (size_t i = 0; i < n; i++)
		free(file[i].path);
	free(file);
	ranks_stop();
	return 0;
}

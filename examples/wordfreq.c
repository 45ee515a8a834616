/* SPDX-License-Identifier: MIT */
/*
 * wordfreq - which words occur in a directory tree, and how often?
 *
 * Each file has a thread. It reads the file, counts its words in a table of its
 * own, and adds that to the common table. The common table is split by hash
 * into shards, each with a mutex.
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <getopt.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "either.h"
#include "wordtable.h"

#define SHARDS	64	/* a power of two */

struct shard {
	struct either_mutex mutex;
	struct word_table table;	/* under mutex */
};

struct file {
	char *path;
	uint64_t bytes, words;	/* written by its thread, read after join */
	int error;		/* an errno value */
};

struct options {
	const char *root;
	const char *output;
	unsigned top;
	unsigned vcpus;
	unsigned at_once;
};

static struct shard shards[SHARDS];

static void merge(const struct word_table *local, struct file *file)
{
	for (size_t i = 0; i < local->places; i++) {
		const struct word *w = &local->place[i];
		struct shard *s;
		int err;

		if (!w->text)
			continue;
		/* The low bits choose the place within the table. */
		s = &shards[w->hash >> 16 & (SHARDS - 1)];
		either_must(either_lock(&s->mutex), "lock");
		err = word_table_add(&s->table, w->text, w->length, w->hash,
				     w->count);
		either_must(either_unlock(&s->mutex), "unlock");
		if (err)
			file->error = ENOMEM;
	}
}

static void count(const char *text, size_t size, struct file *file)
{
	struct word_table local = { .keeps = 0 };

	if (word_table_count(&local, text, size, &file->words))
		file->error = ENOMEM;
	merge(&local, file);
	word_table_free(&local);
}

/* The whole file, or NULL with file->error set. */
static char *read_file(struct file *file)
{
	int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char *text = NULL;
	struct stat st;

	if (fd < 0) {
		file->error = errno;
		return NULL;
	}
	if (fstat(fd, &st) || !(text = malloc((size_t)st.st_size + 1)))
		file->error = errno;
	while (text && file->bytes < (uint64_t)st.st_size) {
		ssize_t got = read(fd, text + file->bytes,
				   (size_t)st.st_size - file->bytes);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			file->error = errno;
		if (got <= 0)
			break;
		file->bytes += (uint64_t)got;
	}
	close(fd);
	return text;
}

static void *file_thread(void *arg)
{
	struct file *file = arg;
	char *text;

	either_block_begin();
	text = read_file(file);
	either_block_end();
	if (text)
		count(text, file->bytes, file);
	free(text);
	return NULL;
}

/* All regular files below root; links are not followed. */
static struct file *list_files(const char *root, size_t *count_out)
{
	char *roots[] = { (char *)root, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	struct file *file = NULL;
	size_t n = 0, room = 0;
	FTSENT *e;

	if (!fts)
		either_must(errno, root);
	while ((e = fts_read(fts))) {
		if (e->fts_info == FTS_DNR || e->fts_info == FTS_NS)
			fprintf(stderr, "wordfreq: %s: %s\n", e->fts_path,
				strerror(e->fts_errno));
		if (e->fts_info != FTS_F)
			continue;
		if (n == room) {
			room = room ? 2 * room : 1024;
			file = realloc(file, room * sizeof(*file));
		}
		if (!file)
			either_must(ENOMEM, "list of files");
		file[n] = (struct file){ .path = strdup(e->fts_path) };
		if (!file[n++].path)
			either_must(ENOMEM, "list of files");
	}
	fts_close(fts);
	*count_out = n;
	return file;
}

/*
 * A thread for each file, of which at_once are alive at a time: each has a
 * descriptor open, and those are limited.
 */
static void count_files(struct file *file, size_t n, size_t at_once)
{
	either_thread *id = calloc(at_once, sizeof(*id));

	if (!id)
		either_must(ENOMEM, "threads");
	for (size_t i = 0; i < n; i++) {
		if (i >= at_once)
			either_must(either_join(id[i % at_once], NULL), "join");
		either_must(either_spawn(&id[i % at_once], file_thread,
					 &file[i]), "spawn");
	}
	for (size_t i = n > at_once ? n - at_once : 0; i < n; i++)
		either_must(either_join(id[i % at_once], NULL), "join");
	free(id);
}

/* All shards in one array, sorted. */
static struct word *gather(size_t *count_out)
{
	struct word *all;
	size_t n = 0;

	for (size_t i = 0; i < SHARDS; i++)
		n += shards[i].table.used;
	all = malloc((n + 1) * sizeof(*all));
	if (!all)
		either_must(ENOMEM, "the result");
	n = 0;
	for (size_t i = 0; i < SHARDS; i++)
		for (size_t k = 0; k < shards[i].table.places; k++)
			if (shards[i].table.place[k].text)
				all[n++] = shards[i].table.place[k];
	qsort(all, n, sizeof(*all), word_compare);
	*count_out = n;
	return all;
}

static void print_words(FILE *to, const struct word *word, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fprintf(to, "%10llu %.*s\n", (unsigned long long)word[i].count,
			(int)word[i].length, word[i].text);
}

static void write_words(const char *path, const struct word *word, size_t n)
{
	FILE *f = fopen(path, "w");

	if (!f)
		either_must(errno, path);
	print_words(f, word, n);
	if (ferror(f) | fclose(f))
		either_must(errno ? errno : EIO, path);
}

static double seconds(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Returns how many files could not be read. */
static size_t report(const struct file *file, size_t n, size_t distinct,
		     double wall, double cpu)
{
	uint64_t bytes = 0, words = 0;
	size_t bad = 0;

	for (size_t i = 0; i < n; i++) {
		bytes += file[i].bytes;
		words += file[i].words;
		if (!file[i].error)
			continue;
		bad++;
		fprintf(stderr, "wordfreq: %s: %s\n", file[i].path,
			strerror(file[i].error));
	}
	fprintf(stderr, "%s: %zu files, a thread each; %.1f MB, %llu words, "
		"%zu different; %.3f s, %.3f s of CPU time\n", EITHER_NAME, n,
		(double)bytes / 1e6, (unsigned long long)words, distinct, wall,
		cpu);
	return bad;
}

static unsigned number(const char *text, unsigned least)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (end == text || *end || *text == '-' || n < least || n > 1000000) {
		fprintf(stderr, "wordfreq: `%s' is no number that fits here; "
			"see --help\n", text);
		exit(2);
	}
	return (unsigned)n;
}

static void help(void)
{
	printf("Usage: wordfreq [OPTION]... [DIRECTORY]\n"
"Counts the words in all files below DIRECTORY (/usr/include), one thread a\n"
"file. This program's threads are those of " EITHER_NAME ".\n\n"
"  -n, --top=N        print the N most frequent words (10)\n"
"  -o, --output=PATH  write all words and their counts\n"
"  -v, --vcpus=N      VCPUs, for weft (one for each CPU)\n"
"  -a, --at-once=N    threads, and so open files, at a time (256, or what the\n"
"                     limit of open files allows)\n"
"  -h, --help         this text\n");
}

static void parse(struct options *o, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "top", required_argument, NULL, 'n' },
		{ "output", required_argument, NULL, 'o' },
		{ "vcpus", required_argument, NULL, 'v' },
		{ "at-once", required_argument, NULL, 'a' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	struct rlimit limit;
	int c;

	*o = (struct options){
		.root = "/usr/include", .top = 10, .at_once = 256,
	};
	while ((c = getopt_long(argc, argv, "n:o:v:a:h", longs, NULL)) != -1) {
		switch (c) {
		case 'n': o->top = number(optarg, 0); break;
		case 'o': o->output = optarg; break;
		case 'v': o->vcpus = number(optarg, 1); break;
		case 'a': o->at_once = number(optarg, 1); break;
		case 'h': help(); exit(0);
		default: exit(2);
		}
	}
	if (optind < argc)
		o->root = argv[optind++];
	if (optind < argc) {
		fprintf(stderr, "wordfreq: one directory; see --help\n");
		exit(2);
	}
	/* Some are for the runtime and the standard streams. */
	if (!getrlimit(RLIMIT_NOFILE, &limit) &&
	    limit.rlim_cur < (rlim_t)o->at_once + 64)
		o->at_once = limit.rlim_cur > 65 ?
			     (unsigned)limit.rlim_cur - 64 : 1;
}

int main(int argc, char **argv)
{
	struct options o;
	struct word *word;
	struct file *file;
	double wall, cpu;
	size_t n, distinct, bad;

	parse(&o, argc, argv);
	file = list_files(o.root, &n);
	for (size_t i = 0; i < SHARDS; i++) {
		either_must(either_mutex_init(&shards[i].mutex), "mutex");
		shards[i].table.keeps = 1;
	}

	wall = seconds(CLOCK_MONOTONIC);
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	either_must(either_start(o.vcpus), "start");
	count_files(file, n, o.at_once);
	either_must(either_stop(), "stop");
	wall = seconds(CLOCK_MONOTONIC) - wall;
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;

	word = gather(&distinct);
	print_words(stdout, word, distinct < o.top ? distinct : o.top);
	if (o.output)
		write_words(o.output, word, distinct);
	bad = report(file, n, distinct, wall, cpu);

	free(word);
	for (size_t i = 0; i < SHARDS; i++)
		word_table_free(&shards[i].table);
	for (size_t i = 0; i < n; i++)
		free(file[i].path);
	free(file);
	return bad != 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * hashtree DIRECTORY - a checksum of each file below a directory, in order
 *
 * A pipeline: one thread walks the tree and sends paths, some hash what comes
 * and send results, and main puts them in the order of their names. Channels
 * hold a few messages each, so a fast stage waits for a slow one, and closing
 * goes down the line. Files are read in a region that may block: other threads
 * go on meanwhile.
 */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <weft.h>

#define HASHERS		4
#define IN_FLIGHT	16

struct result {
	char *path;
	uint64_t hash;		/* FNV-1a, 64 bits */
	int error;
};

WEFT_CHAN_OF(paths, char *);
WEFT_CHAN_OF(results, struct result);

static struct paths found;
static struct results hashed;

static void must(int error, const char *what)
{
	if (error) {
		fprintf(stderr, "hashtree: %s: %d\n", what, error);
		exit(1);
	}
}

static void walk(const char *path)
{
	struct dirent *entry;
	struct stat st;
	DIR *dir;

	if (lstat(path, &st))
		return;
	if (S_ISREG(st.st_mode)) {
		char *copy = strdup(path);

		must(copy ? 0 : -ENOMEM, "path");
		must(paths_send(found, copy), "send");
	}
	if (!S_ISDIR(st.st_mode))
		return;
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		char *below;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		must(asprintf(&below, "%s/%s", path, entry->d_name) < 0 ?
		     -ENOMEM : 0, "path");
		walk(below);
		free(below);
	}
	if (dir)
		closedir(dir);
}

static void *walker(void *root)
{
	walk(root);
	must(paths_close(found), "close");
	return NULL;
}

static struct result hash_file(char *path)
{
	struct result r = { path, UINT64_C(0xcbf29ce484222325), 0 };
	unsigned char piece[8192];
	size_t n;
	FILE *f;

	weft_block_begin();
	f = fopen(path, "rb");
	while (f && (n = fread(piece, 1, sizeof(piece), f)) > 0)
		for (size_t i = 0; i < n; i++)
			r.hash = (r.hash ^ piece[i]) *
				 UINT64_C(0x100000001b3);
	r.error = !f || ferror(f);
	if (f)
		fclose(f);
	weft_block_end();
	return r;
}

static void *hasher(void *arg)
{
	char *path;

	(void)arg;
	while (paths_recv(found, &path) == 0)
		must(results_send(hashed, hash_file(path)), "send");
	return NULL;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct result *)a)->path,
		      ((const struct result *)b)->path);
}

/* Joins the hashers, then says that no more results come. */
static void *finisher(void *arg)
{
	uint64_t *id = arg;

	for (int i = 0; i < HASHERS; i++)
		must(weft_join(id[i], NULL), "join");
	must(results_close(hashed), "close");
	return NULL;
}

int main(int argc, char **argv)
{
	struct result *all = NULL, r;
	size_t count = 0, room = 0;
	uint64_t id[HASHERS], walking, finishing;

	if (argc != 2) {
		fprintf(stderr, "usage: hashtree DIRECTORY\n");
		return 2;
	}
	must(weft_start(NULL), "start");
	must(paths_create(&found, IN_FLIGHT, 0), "channel");
	must(results_create(&hashed, IN_FLIGHT, 0), "channel");
	must(weft_spawn(&walking, NULL, walker, argv[1]), "spawn");
	for (int i = 0; i < HASHERS; i++)
		must(weft_spawn(&id[i], NULL, hasher, NULL), "spawn");
	must(weft_spawn(&finishing, NULL, finisher, id), "spawn");
	while (results_recv(hashed, &r) == 0) {
		if (count == room) {
			room = room ? 2 * room : 64;
			all = realloc(all, room * sizeof(*all));
			must(all ? 0 : -ENOMEM, "results");
		}
		all[count++] = r;
	}
	must(weft_join(walking, NULL), "join");
	must(weft_join(finishing, NULL), "join");
	if (count)
		qsort(all, count, sizeof(*all), by_path);
	for (size_t i = 0; i < count; i++) {
		if (all[i].error)
			printf("%16s  %s\n", "unreadable", all[i].path);
		else
			printf("%016llx  %s\n",
			       (unsigned long long)all[i].hash, all[i].path);
		free(all[i].path);
	}
	free(all);
	must(paths_destroy(found), "destroy");
	must(results_destroy(hashed), "destroy");
	return weft_stop();
}

/* SPDX-License-Identifier: MIT */
/*
 * notes - notes in a file, for any number of processes at once
 *
 *	notes FILE		shows them
 *	notes FILE TEXT		adds one
 *	notes FILE -d NUMBER	drops one
 *
 * Each note is an object of a slab set that lives in the file; there is no
 * other structure and no lock. A note is filled before it is published, so a
 * process killed at any instruction leaves a whole note or none.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <weft/slab.h>

#define NOTES	1000

struct note {
	uint64_t number;
	char text[120];
};

static const struct weft_slab_attr attr = {
	.limit = NOTES, .object_bytes = sizeof(struct note), .threads = 64,
};

/* Another process may be about to make it: a second look then finds it. */
static int open_or_create(struct weft_slab **notes, const char *path)
{
	int error = weft_slab_open_file(notes, path, sizeof(struct note));

	if (error != -ENOENT && error != -ENODATA)
		return error;
	error = weft_slab_create_file(notes, &attr, path, 0666);
	if (error != -EEXIST)
		return error;
	return weft_slab_open_file(notes, path, sizeof(struct note));
}

static int show(void *object, void *unused)
{
	const struct note *n = object;

	(void)unused;
	printf("%llu %s\n", (unsigned long long)n->number, n->text);
	return 0;
}

static int add(struct weft_slab *notes, const char *text)
{
	uint64_t *last = weft_slab_root(notes, 0);
	struct note *n;
	int error;

	n = weft_slab_reserve(notes, &error);
	if (!n)
		return error;
	n->number = __atomic_add_fetch(last, 1, __ATOMIC_RELAXED);
	snprintf(n->text, sizeof(n->text), "%s", text);
	return weft_slab_publish(notes, n);
}

struct search {
	struct weft_slab *notes;
	uint64_t number;
};

/*
 * If two threads drop the same note at once, the second finds it freed, or does
 * not find it.
 */
static int drop(void *object, void *arg)
{
	const struct search *s = arg;
	const struct note *n = object;

	if (n->number != s->number)
		return 0;
	return weft_slab_free(s->notes, object) == 0 ? 1 : -ENOENT;
}

static int drop_number(struct weft_slab *notes, const char *number)
{
	struct search s = { notes, strtoull(number, NULL, 10) };
	int found = weft_slab_each(notes, drop, &s);

	return found == 1 ? 0 : -ENOENT;
}

int main(int argc, char **argv)
{
	struct weft_slab *notes;
	int error;

	if (argc < 2 || argc > 4 || (argc == 4 && strcmp(argv[2], "-d") != 0)) {
		fprintf(stderr, "usage: notes FILE [TEXT | -d NUMBER]\n");
		return 2;
	}
	error = open_or_create(&notes, argv[1]);
	if (error == 0) {
		/* What processes that were killed had begun. */
		int64_t lost = weft_slab_recover(notes);

		if (lost > 0)
			fprintf(stderr, "notes: %lld lost notes freed\n",
				(long long)lost);
		if (argc == 2)
			error = weft_slab_each(notes, show, NULL);
		else if (argc == 3)
			error = add(notes, argv[2]);
		else
			error = drop_number(notes, argv[3]);
		weft_slab_close(notes);
	}
	if (error)
		fprintf(stderr, "notes: %s: %s\n", argv[1], strerror(-error));
	return error != 0;
}

/* SPDX-License-Identifier: MIT */
/* slab_file.c - a list in a file: written, closed, and opened again */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <weft.h>

struct note {
	uint64_t next;		/* a reference; 0: none */
	char text[56];
};

static int write_notes(const char *path)
{
	struct weft_slab_attr attr = { .limit = 100, .object_bytes = sizeof(struct note) };
	struct weft_slab *slab;

	if (weft_slab_create_file(&slab, &attr, path, 0600) != 0)
		return -1;
	for (int i = 0; i < 3; i++) {
		struct note *note = weft_slab_reserve(slab, NULL);

		if (!note)
			return -1;
		snprintf(note->text, sizeof(note->text), "note %d", i);
		note->next = *weft_slab_root(slab, 0);
		/* If the process died here, the note would not be kept. */
		if (weft_slab_publish(slab, note) != 0)
			return -1;
		*weft_slab_root(slab, 0) = weft_slab_ref(slab, note);
	}
	weft_slab_close(slab);
	return 0;
}

int main(void)
{
	char path[] = "/tmp/weft-manual-XXXXXX";
	struct weft_slab *slab;
	int fd = mkstemp(path), count = 0, error;

	if (fd < 0 || close(fd) != 0 || write_notes(path) != 0)
		return 1;
	error = weft_slab_open_file(&slab, path, sizeof(struct note));
	unlink(path);
	if (error || weft_slab_recover(slab) != 0)	/* no process died */
		return 1;
	for (uint64_t at = *weft_slab_root(slab, 0); at; count++) {
		const struct note *note = weft_slab_object(slab, at);

		printf("%s\n", note->text);
		at = note->next;
	}
	weft_slab_close(slab);
	return count != 3;
}

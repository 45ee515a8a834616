/* SPDX-License-Identifier: MIT */
/* cli/core_file.h - a core file: its memory, its notes, and a copy with more of them */
#ifndef WEFT_CLI_CORE_FILE_H
#define WEFT_CLI_CORE_FILE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

/* A mapping of a file, by the core file's note NT_FILE. */
struct weft_cli_mapping {
	uint64_t start, end, offset;
	const char *path;
};

struct weft_cli_core_file {
	const char *bytes;		/* the file, mapped */
	size_t size;
	const Elf64_Phdr *segments;
	size_t segment_count;
	size_t notes_segment;		/* its number */
	const char *status;		/* the first NT_PRSTATUS */
	size_t status_bytes;
	unsigned status_count;
	struct weft_cli_mapping *files;
	unsigned file_count;
	char *more;			/* the notes to be added */
	size_t more_bytes, more_room;
};

/* Returns NULL, or why the file is no core file, in words. */
const char *weft_cli_core_open(struct weft_cli_core_file *c, const char *name);
void weft_cli_core_close(struct weft_cli_core_file *c);

/* Reads the process's memory. Returns 0 if it is neither there nor in a mapped file. */
int weft_cli_core_read(const struct weft_cli_core_file *c, uint64_t at, void *to,
		       size_t bytes);

/*
 * Where the runtime's table is (observe/layout.h), by the note of the ELF file that is
 * mapped here. 0: it has none, or another part of the file is mapped here.
 */
uint64_t weft_cli_core_table(const struct weft_cli_core_file *c,
			     const struct weft_cli_mapping *m);

/* Returns 0, or -1: no memory. */
int weft_cli_core_note(struct weft_cli_core_file *c, const char *owner, uint32_t type,
		       const void *bytes, size_t count);

/* Writes the file with the notes added. Returns NULL, or why not, in words. */
const char *weft_cli_core_write(const struct weft_cli_core_file *c, const char *name);

#endif

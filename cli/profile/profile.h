/* SPDX-License-Identifier: MIT */
/* cli/profile/profile.h - what the parts of weft profile share */
#ifndef WEFT_CLI_PROFILE_PROFILE_H
#define WEFT_CLI_PROFILE_PROFILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "trace/recording.h"

#define PROFILE_FRAMES_MOST	128u

enum profile_value {
	PROFILE_SAMPLES,	/* on the CPU */
	PROFILE_CPU,
	PROFILE_WAITS,
	PROFILE_WAIT,
	PROFILE_LOCK_WAITS,	/* those of the waits that were for a lock */
	PROFILE_LOCK,
	PROFILE_READY,		/* no VCPU was free */
	PROFILE_SPAWNS,		/* threads that were spawned there */
	PROFILE_VALUES
};

struct profile_type {
	const char *name, *unit;
};

extern const struct profile_type profile_types[PROFILE_VALUES];

/* A number of a type; PROFILE_VALUES: there is none of this name. */
enum profile_value profile_type_of(const char *name);

/*
 * unwind.c: calls and their names, by libdw, which reads the files that the process had
 * mapped.
 */
struct profile_files;

/* maps: as /proc/PID/maps has it. NULL: no memory, or no file can be read. */
struct profile_files *profile_files_open(const char *maps, size_t bytes);
void profile_files_close(struct profile_files *files);

/*
 * The calls in a stack, innermost first: where each goes on is in the call itself, not
 * behind it. is_exact: the thread was stopped at the first one. Returns how many.
 */
size_t profile_unwind(struct profile_files *files, const uint64_t *words, size_t count,
		      int is_exact, uint64_t *pcs, size_t most);

struct profile_line {
	const char *function;	/* NULL: not known */
	const char *file;	/* NULL: not known */
	int line;
};

#define PROFILE_LINES_MOST	8u	/* functions that were made inline at one place */

/* Which functions are at pc, the innermost first. Returns how many; at least 1. */
size_t profile_lines(struct profile_files *files, uint64_t pc,
		     struct profile_line lines[PROFILE_LINES_MOST]);

/* The name of a function or a variable at this address itself. NULL: not known. */
const char *profile_name_at(struct profile_files *files, uint64_t address);

/* The address of the file that is mapped first: the program. 0: there is none. */
uint64_t profile_first_file(struct profile_files *files);

/* The file that is mapped there. Returns 0 if there is none. */
int profile_file_at(struct profile_files *files, uint64_t pc, uint64_t *start,
		    uint64_t *end, const char **path);

/* table.c: what was measured, by thread and stack */
struct profile_sample {
	const char *thread, *what, *owner;	/* what: in place of a call; or NULL */
	int64_t value[PROFILE_VALUES];
	size_t depth;
	uint64_t pcs[];		/* innermost first */
};

struct profile_table {
	struct profile_files *files;
	void *samples, *texts;	/* trees of libc's */
	int64_t start, end;	/* of the recording, CLOCK_MONOTONIC */
	int64_t start_real;
	int64_t period;		/* of CPU samples, in ns */
	uint64_t stacks;	/* how many were found */
	int failed;		/* there was no memory */
};

/* The same text has the same address. "": there is no memory. */
const char *profile_text(struct profile_table *table, const char *text);

/* The sample with this key. NULL: there is no memory. */
struct profile_sample *profile_sample(struct profile_table *table, const char *thread,
				      const char *what, const char *owner,
				      const uint64_t *pcs, size_t depth);

typedef void profile_each_fn(const struct profile_sample *sample, void *arg);
void profile_each(struct profile_table *table, profile_each_fn *fn, void *arg);
void profile_table_free(struct profile_table *table);

/* gather.c: fills the table. Returns 0, or -1 without memory. */
int profile_gather(struct profile_table *table, struct trace_recording *recording);

/* pprof.c, folded.c: the caller finds errors of the file. Each returns 0, or -1. */
int profile_write_pprof(struct profile_table *table, int fd);
int profile_write_folded(struct profile_table *table, FILE *file, enum profile_value type);

#endif

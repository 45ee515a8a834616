/* SPDX-License-Identifier: MIT */
/* cli/trace/command.h - what the parts of weft trace share */
#ifndef WEFT_CLI_TRACE_COMMAND_H
#define WEFT_CLI_TRACE_COMMAND_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* What is to be recorded. Exactly one of pid and program is given. */
struct trace_target {
	long pid;		/* of a living process; 0: none */
	char **program;		/* to be started, with its arguments; NULL: none */
	int is_native;		/* the program is started as it is */
	int64_t for_ns;		/* -1: until it ends, or a signal comes */
	unsigned mib;		/* of the recorder's memory, if there is none yet */
	uint32_t stacks;	/* WEFTI_RECORD_STACKS; 0: none */
	int64_t asked;		/* for them, at that time */
	char *maps;		/* with stacks: the last that was read of its memory */
	uint64_t events, lost;	/* how many were written into the log */
	int status;		/* of the program, as weft returns it */
	pid_t child;		/* 0: there is none, or it has ended */
};

/*
 * collect.c: sets the handler, unless this command was told to ignore the signal, as nohup
 * does with SIGHUP.
 */
void trace_handle(int signal, void (*handler)(int));

/*
 * collect.c: asks the process to record for so long, into so much memory if it has none.
 * lease_ms: 0: it need not record for this process any more. Returns 0, or -1 with errno.
 */
int trace_ask(long pid, unsigned mib, unsigned lease_ms);

/* collect.c: records the target into the log fd. Returns NULL, or what is wrong. */
const char *trace_collect(struct trace_target *t, int fd);

/* child.c: starts the program. Returns 0, or -1 with errno. */
int trace_child_start(struct trace_target *t);

/* Has it ended? Then its status is in t, and t->child is 0. */
int trace_child_has_ended(struct trace_target *t);
void trace_child_wait(struct trace_target *t);

/*
 * file.c: a new file that only this user can read. It fails if there is one of this name,
 * or a link. Returns the descriptor, or -1 with errno.
 */
int trace_file_new(const char *path);

/* A file without a name, in the folder of path if possible. Returns -1 with errno. */
int trace_file_nameless(const char *path);

#endif

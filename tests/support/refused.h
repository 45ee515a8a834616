/* SPDX-License-Identifier: MIT */
/*
 * refused.h - a program without each of weft's system calls: os/call/calls.h
 *
 * The program prints a line for each thing that it tries, and ends with a moment in
 * which all its threads wait. With a call refused it is run as often as told. Each line
 * has to be that of a run without a filter, or what `plain` (libc's threads) prints
 * under the same filter. A call that ENDS may end it by one line that names it, and
 * status 71; under weft run one line may say that threads stay libc's. Nothing may be busy in the moment of rest.
 */
#ifndef WEFT_TESTS_REFUSED_H
#define WEFT_TESTS_REFUSED_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/call/calls.h"
#include "os/call/newer.h"
#include "sandbox.h"

/* Not on all CPUs, or newer than the headers. */
#ifndef SYS_arch_prctl
#define SYS_arch_prctl		-1
#endif
#ifndef SYS_epoll_wait
#define SYS_epoll_wait		-1
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2		439
#endif
#ifndef SYS_poll
#define SYS_poll		-1
#endif

enum refused_need { REFUSED_LIBC, REFUSED_PROGRAM, REFUSED_ENDS, REFUSED_ELSE };
enum refused_where { REFUSED_ALL, REFUSED_RUN };

/* Linux 4.18, 5.4, 5.10 as far as weft's calls go, and all that is newer than 4.0. */
static const int refused_versions[] = { 400, 418, 504, 510 };
#define REFUSED_VERSIONS						\
	(sizeof(refused_versions) / sizeof(refused_versions[0]))

#define REFUSED_ROW(name, need, where, since, without)			\
	{ #name, SYS_##name, REFUSED_##need, REFUSED_##where, since },

static const struct refused_call {
	const char *name;
	long number;
	enum refused_need need;
	enum refused_where where;
	int since;
} refused_calls[] = { WEFTI_CALLS(REFUSED_ROW) };

#define REFUSED_CALLS	(sizeof(refused_calls) / sizeof(refused_calls[0]))
#define REFUSED_STATUS	71
#define REFUSED_BUSY_US	100000		/* the rest is of 250 ms */
#define REFUSED_REST_US	250000

struct refused_run {
	char text[8192];
	int status;
	long cpu_us;
};

/* `run` executes the program, and does not return. */
typedef void refused_program(int plain);

static inline long refused_us(const struct rusage *u)
{
	return (u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000 +
	       u->ru_utime.tv_usec + u->ru_stime.tv_usec;
}

struct refused_child {
	pid_t pid;
	int out;
};

/*
 * A call by its number; below -1: as Linux of that version is, -418 for 4.18, without
 * what came later. libc knows ENOSYS alone.
 */
static inline int refused_filter(long number, unsigned error)
{
	int bad = 0;

	if (number >= 0)
		return sandbox_refuses((unsigned)number, error);
	for (size_t i = 0; i < REFUSED_CALLS; i++)
		if (number < -1 && refused_calls[i].since > -number &&
		    refused_calls[i].number >= 0 &&
		    (refused_calls[i].need != REFUSED_LIBC || error == ENOSYS))
			bad |= sandbox_refuses((unsigned)refused_calls[i].number,
					       error);
	return bad;
}

static inline struct refused_child refused_begin(refused_program *run, int plain,
						 long number, unsigned error)
{
	struct refused_child c;

	c.pid = sandbox_fork(&c.out);
	if (c.pid == 0) {
		if (refused_filter(number, error) != 0)
			_exit(98);
		run(plain);
		_exit(99);
	}
	return c;
}

static inline void refused_end(struct refused_child c, struct refused_run *r)
{
	struct rusage usage;

	memset(r, 0, sizeof(*r));
	sandbox_read(c.out, r->text, sizeof(r->text));
	if (wait4(c.pid, &r->status, 0, &usage) != c.pid)
		abort();
	r->cpu_us = refused_us(&usage);
}

/* Has the other a line like that, at its start or behind another? */
static inline int refused_has(const char *text, const char *line, size_t length)
{
	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n')
		if (strcspn(at, "\n") == length && memcmp(at, line, length) == 0)
			return 1;
	return 0;
}

static inline size_t refused_lines(const struct refused_run *r)
{
	size_t lines = 0;

	for (const char *at = r->text; *at; at++)
		lines += *at == '\n';
	return lines;
}

/* Under weft run, threads stay libc's where a needed call is refused: a line says so. */
static inline int refused_stays(const struct refused_call *c, const char *at)
{
	char line[100];

	snprintf(line, sizeof(line), "weft: threads stay kernel threads: a filter "
		 "refuses %s\n", c->name);
	return c->need == REFUSED_ENDS && strncmp(at, line, strlen(line)) == 0;
}

/* Is each line one of the others', and is none left out? */
static inline int refused_is_right(const struct refused_call *c,
				   const struct refused_run *got,
				   const struct refused_run *base,
				   const struct refused_run *plain)
{
	size_t lines = 0;

	for (const char *at = got->text; *at;) {
		size_t length = strcspn(at, "\n");

		if (!refused_stays(c, at)) {
			if (!refused_has(base->text, at, length) &&
			    !(plain && refused_has(plain->text, at, length)))
				return 0;
			lines++;
		}
		at += length + (at[length] == '\n');
	}
	return got->status == base->status &&
	       (lines == refused_lines(base) ||
		(plain && lines == refused_lines(plain)));
}

static inline int refused_ends_well(const struct refused_run *got,
				    const char *name)
{
	char line[200];
	const char *at;

	snprintf(line, sizeof(line), "weft: the kernel or a filter refuses %s, "
		 "which weft needs: see weft-calls(7)\n", name);
	at = strstr(got->text, line);
	/* Another thread may write between the line and the end of the process. */
	return at && !strstr(at + strlen(line), "weft:") &&
	       got->status == REFUSED_STATUS << 8;
}

static inline int refused_judge(const struct refused_call *c, unsigned error,
				const struct refused_run *got,
				const struct refused_run *base,
				const struct refused_run *plain)
{
	int busy = got->cpu_us > base->cpu_us + REFUSED_BUSY_US;

	if (!busy && (refused_is_right(c, got, base, plain) ||
		      (c->need == REFUSED_ENDS &&
		       refused_ends_well(got, c->name))))
		return 1;
	printf("%s, error %u: status %x, %ld us of CPU (%ld without a filter)\n%s",
	       c->name, error, (unsigned)got->status, got->cpu_us, base->cpu_us,
	       got->text);
	return 0;
}

#endif

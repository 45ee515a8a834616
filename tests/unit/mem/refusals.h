/* SPDX-License-Identifier: MIT */
/*
 * refusals.h - a kernel that refuses, for the tests of mem/stack
 *
 * The linker puts the functions of refusals.c in front of those of os/call/vm.h
 * (--wrap). Each case is a process of its own, since the first refusal of a
 * guard holds for all that follows, and so does the one line about the limit.
 */
#ifndef WEFT_TESTS_MEM_REFUSALS_H
#define WEFT_TESTS_MEM_REFUSALS_H

#include "mem/stack.h"

#include <stdio.h>
#include <unistd.h>

#define KB	((size_t)1024)
#define MB	(1024 * KB)

/* What fails: the call number fail_at from now, and those behind it. */
extern size_t fail_at;		/* 0: none does */
extern size_t fail_count;	/* how many in a row */
extern int hit;			/* one has failed */
extern size_t largest;		/* reservations above it fail */
extern int no_guards;		/* as on a kernel before 6.13 */
extern void (*in_reserve)(void);	/* called once by the next, inside */
extern size_t reserved;		/* bytes mapped and not unmapped */

/* In a child an assertion ends it, and its text goes to stdout. */
#define must(cond)							\
	do {								\
		if (!(cond)) {						\
			printf("%s:%d: %s\n", __FILE__, __LINE__, #cond); \
			fflush(stdout);					\
			_exit(1);					\
		}							\
	} while (0)

/* What the last child wrote to stderr. */
extern char said[4096];

/* Runs fn(n) in a child. Returns what fn returned, 0 to 100. */
int in_child(int (*fn)(size_t n), size_t n);

size_t stacks_in_use(void);

/* What is mapped are stacks that the table knows, and the table's chunks. */
void nothing_leaked(void);

/* The stack can be used at both ends, and its guard of `guard` bytes not. */
void is_whole(struct wefti_stack *s, size_t guard);

#endif

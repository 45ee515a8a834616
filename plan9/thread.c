/* SPDX-License-Identifier: MIT */
/* plan9/thread.c - procs, threads, and main */
#include "plan9.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/plan9/libc.h>
#include <weft/plan9/thread.h>

#define STACK_LEAST	65536u	/* libc's printf needs more than Plan 9's */

int weft_plan9_stack __attribute__((weak));

static unsigned key;
static _Atomic long threads;	/* the number that have not ended */
static _Atomic int ids;
static struct weft_sem all_ended;
static _Atomic int exit_code;

void plan9_fatal(const char *what, int error)
{
	fprintf(stderr, "weft-plan9: %s: %s\n", what,
		error ? strerror(error < 0 ? -error : error) : "wrong use");
	_exit(2);
}

struct plan9_thread *plan9_find_self(void)
{
	return weft_key_get(key);
}

struct plan9_thread *plan9_self(void)
{
	struct plan9_thread *t = plan9_find_self();

	if (!t)
		plan9_fatal("called by a thread that it did not make", 0);
	return t;
}

void plan9_give_turn(void)
{
	struct plan9_thread *t = plan9_self();

	if (!t->pinned)
		plan9_must(weft_mutex_unlock(&t->proc->turn), "turn");
}

void plan9_take_turn(void)
{
	struct plan9_thread *t = plan9_self();

	if (!t->pinned)
		plan9_must(weft_mutex_lock(&t->proc->turn), "turn");
}

/*
 * The last thread of a proc frees the proc. The last thread of all ends the process,
 * with the status of the last thread of threadmain's proc.
 */
static void ended(struct plan9_thread *t, int code)
{
	struct plan9_proc *proc = t->proc;

	plan9_must(weft_key_set(key, NULL), "key");
	if (proc->is_first)	/* under the turn: the last value stays */
		atomic_store(&exit_code, code);
	plan9_must(weft_mutex_unlock(&proc->turn), "turn");
	if (atomic_fetch_sub(&proc->threads, 1) == 1)
		free(proc);
	free(t);
	if (atomic_fetch_sub(&threads, 1) == 1)
		weft_sem_post(&all_ended);
}

static void *run(void *arg)
{
	struct plan9_thread *t = arg;

	plan9_must(weft_key_set(key, t), "key");
	plan9_must(weft_mutex_lock(&t->proc->turn), "turn");
	t->fn(t->arg);
	ended(t, 0);
	return NULL;
}

static int create(struct plan9_proc *proc, void (*fn)(void *), void *arg,
		  unsigned stack)
{
	struct weft_attr attr = {
		.flags = WEFT_DETACHED,
		.stack_bytes = stack > STACK_LEAST ? stack : STACK_LEAST,
	};
	struct plan9_thread *t = calloc(1, sizeof(*t));
	int id = atomic_fetch_add(&ids, 1) + 1;

	if (!t)
		return -1;
	t->proc = proc;
	t->fn = fn;
	t->arg = arg;
	t->id = id;
	atomic_fetch_add(&proc->threads, 1);
	atomic_fetch_add(&threads, 1);
	if (weft_spawn(NULL, &attr, run, t) == 0)
		return id;
	atomic_fetch_sub(&proc->threads, 1);
	atomic_fetch_sub(&threads, 1);
	free(t);
	return -1;
}

int weft_plan9_threadcreate(void (*fn)(void *), void *arg, unsigned stack)
{
	return create(plan9_self()->proc, fn, arg, stack);
}

static struct plan9_proc *new_proc(void)
{
	struct plan9_proc *proc = calloc(1, sizeof(*proc));

	if (proc)
		plan9_must(weft_mutex_init(&proc->turn, WEFT_MUTEX_STRICT),
			   "turn");
	return proc;
}

static int create_proc(void (*fn)(void *), void *arg, unsigned stack,
		       int is_first)
{
	struct plan9_proc *proc = new_proc();
	int id = -1;

	if (proc) {
		proc->is_first = is_first;
		id = create(proc, fn, arg, stack);
	}
	if (id < 0)
		free(proc);
	return id;
}

int weft_plan9_proccreate(void (*fn)(void *), void *arg, unsigned stack)
{
	return create_proc(fn, arg, stack, 0);
}

static int code_of(const char *status)
{
	return status && *status ? 1 : 0;
}

void weft_plan9_threadexits(const char *status)
{
	ended(plan9_self(), code_of(status));
	weft_exit(NULL);
}

void weft_plan9_threadexitsall(const char *status)
{
	exit(code_of(status));
}

int weft_plan9_yield(void)
{
	plan9_give_turn();
	weft_yield();
	plan9_take_turn();
	return 0;
}

void weft_plan9_threadpin(void)
{
	plan9_self()->pinned = 1;
}

void weft_plan9_threadunpin(void)
{
	plan9_self()->pinned = 0;
}

int weft_plan9_threadid(void)
{
	return plan9_self()->id;
}

void **weft_plan9_threaddata(void)
{
	return &plan9_self()->data;
}

void **weft_plan9_procdata(void)
{
	return &plan9_self()->proc->data;
}

void weft_plan9_threadname(const char *format, ...)
{
	struct plan9_thread *t = plan9_self();
	va_list args;

	va_start(args, format);
	vsnprintf(t->name, sizeof(t->name), format, args);
	va_end(args);
	(void)weft_set_name(weft_self(), t->name);
}

void weft_plan9_threadsetname(const char *format, ...)
{
	char name[WEFT_NAME_MAX];
	va_list args;

	va_start(args, format);
	weft_plan9_vsnprint(name, sizeof(name), format, args);
	va_end(args);
	weft_plan9_threadname("%s", name);
}

char *weft_plan9_threadgetname(void)
{
	return plan9_self()->name;
}

struct arguments {
	int argc;
	char **argv;
};

static void first(void *arg)
{
	struct arguments *a = arg;

	threadmain(a->argc, a->argv);
}

int main(int argc, char **argv)
{
	struct arguments a = { argc, argv };

	plan9_must(weft_start(NULL), "start");
	plan9_must(weft_key_create(&key, NULL), "key");
	if (create_proc(first, &a, (unsigned)weft_plan9_stack, 1) < 0)
		plan9_fatal("first proc", ENOMEM);
	weft_sem_wait(&all_ended);
	/* Code that still runs in weft does not run in the program. */
	exit(atomic_load(&exit_code));
}

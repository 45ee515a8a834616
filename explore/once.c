/* SPDX-License-Identifier: MIT */
/* explore/once.c - pthread_once(), and variables of C++'s functions: threads wait here */
#include "explore.h"

#include <dlfcn.h>

#include "real.h"

/* A call of pthread_once(). at: NULL if it is the next library's alone. */
struct wefti_ex_passing {
	const void *at;
	void (*fn)(void);
	struct wefti_ex_passing *outer;
	int has_run;
};

/* The flag's function runs here. What it has done happens before what others do behind. */
static void run(void)
{
	struct wefti_ex_passing *p = wefti_ex_self->passing;

	p->has_run = 1;
	p->fn();
}

static void leave(const void *at, int has_run)
{
	wefti_ex_object(at, WEFTI_EX_FLAG, NULL)->holder = 0;
	if (has_run)
		wefti_ex_give(wefti_ex_self, at);
	wefti_ex_wake_all(at);
}

/* The function may end by an exception, or by a cancellation. */
static void has_passed(struct wefti_ex_passing *p)
{
	if (!p->at || !wefti_ex_self)	/* the latter in the child of a fork */
		return;
	wefti_ex_self->passing = p->outer;
	leave(p->at, p->has_run);
}

/* Waits while another thread runs the function. Its own nested call waits for ever. */
static void begin(const void *once, const void *where)
{
	struct wefti_ex_thread *self = wefti_ex_self;
	struct wefti_ex_object *o = wefti_ex_object_point(once, WEFTI_EX_FLAG, WEFTI_EX_ONCE,
							  where);

	while (o->holder) {
		(void)wefti_ex_block(self, once, WEFTI_EX_NEVER);
		o = wefti_ex_object(once, WEFTI_EX_FLAG, where);
	}
	wefti_ex_take(self, once);
	o->holder = self->number;
}

static void begin_passing(struct wefti_ex_passing *p, const void *once, const void *where)
{
	begin(once, where);
	p->at = once;
	p->outer = wefti_ex_self->passing;
	wefti_ex_self->passing = p;
}

EXPORT int pthread_once(pthread_once_t *once, void (*fn)(void))
{
	__attribute__((cleanup(has_passed))) struct wefti_ex_passing p = { .fn = fn };

	if (wefti_ex_controlled())
		begin_passing(&p, once, CALLER);
	return REAL(pthread_once)(once, p.at ? run : fn);
}

EXPORT void call_once(once_flag *once, void (*fn)(void))
{
	__attribute__((cleanup(has_passed))) struct wefti_ex_passing p = { .fn = fn };

	if (wefti_ex_controlled())
		begin_passing(&p, once, CALLER);
	REAL(call_once)(once, p.at ? run : fn);
}

/*
 * The functions are libstdc++'s or libc++'s. A program in C may load that later, for itself
 * alone, and then no search by RTLD_NEXT finds it.
 */
static void *find_late(const char *name)
{
	static const char *const libraries[] = { "libstdc++.so.6", "libc++abi.so.1",
						 "libc++.so.1" };
	void *found = dlsym(RTLD_NEXT, name);

	for (unsigned i = 0; !found && i < sizeof(libraries) / sizeof(*libraries); i++) {
		void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);

		if (library)
			found = dlsym(library, name);
	}
	if (!found)
		wefti_ex_limit("a library of C++ has no functions for its variables");
	return found;
}

#define LATE(name)								\
	(REAL(name) ? REAL(name) :						\
		      (wefti_ex_real.name = (__typeof__(&name))find_late(#name)))

/* Compiled code reads the guard by itself, too: an atomic that it acquires (memory.c). */
EXPORT int __cxa_guard_acquire(void *guard)
{
	int is_first;

	if (!wefti_ex_controlled())
		return LATE(__cxa_guard_acquire)(guard);
	begin(guard, CALLER);
	is_first = LATE(__cxa_guard_acquire)(guard);
	if (!is_first)
		leave(guard, 0);
	return is_first;
}

EXPORT void __cxa_guard_release(void *guard)
{
	LATE(__cxa_guard_release)(guard);
	if (wefti_ex_controlled())
		leave(guard, 1);
}

EXPORT void __cxa_guard_abort(void *guard)
{
	LATE(__cxa_guard_abort)(guard);
	if (wefti_ex_controlled())
		leave(guard, 1);
}

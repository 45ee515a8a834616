/* SPDX-License-Identifier: MIT */
/*
 * test_code_on_stack_later.c - a library needs code on stacks that comes when there are
 * threads
 *
 * Newer libcs refuse to load it, and so the program says.
 */
#include "compare.h"

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>

#define MODULE	"code_on_stack_module.so"

typedef int place_fn(int from);

static place_fn *place;
static pthread_barrier_t loaded;

/* Beside the program, which libtool may keep in a folder. */
static void *open_module(const char *folder)
{
	static const char *const between[] = { "", "../" };
	char path[PATH_MAX];
	void *module = NULL;

	for (int i = 0; i < 2 && !module; i++) {
		snprintf(path, sizeof(path), "%s/%s" MODULE, folder, between[i]);
		module = dlopen(path, RTLD_NOW);
	}
	return module;
}

static void load_from(const char *folder)
{
	void *module = open_module(folder);

	if (module)
		place = (place_fn *)dlsym(module, "weft_test_place");
	printf("loaded: %d\n", place != NULL);
}

static void load(void)
{
	char self[PATH_MAX / 2] = "";

	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		abort();
	load_from(dirname(self));
}

static long call(long from)
{
	return place ? place((int)from) : -1;
}

static void *call_later(void *from)
{
	long sum = 0;

	for (int i = 0; i < 2; i++)
		pthread_barrier_wait(&loaded);
	for (long i = 0; i < 31; i++)
		sum += call((i + (long)from) % 31);
	return (void *)sum;
}

static void *call_now(void *from)
{
	return (void *)call((long)from);
}

static void *load_and_call(void *from)
{
	load();
	return (void *)call((long)from);
}

static void *do_nothing(void *arg)
{
	return arg;
}

static void start_others(pthread_t *t, int count)
{
	pthread_barrier_init(&loaded, NULL, (unsigned)count + 1);
	for (long i = 0; i < count; i++)
		t[i] = start(call_later, (void *)i);
	finish(start(do_nothing, NULL));	/* its stack is kept for others */
	pthread_barrier_wait(&loaded);
}

static void end_others(pthread_t *t, int count)
{
	pthread_barrier_wait(&loaded);
	for (int i = 0; i < count; i++)
		printf("%ld\n", (long)finish(t[i]));
	for (long i = 0; i < 8; i++)
		printf("%ld\n", (long)finish(start(call_now, (void *)i)));
}

static void threads_that_were_there_before_have_it(void)
{
	pthread_t t[8];

	start_others(t, 8);
	load();
	printf("%ld\n", call(5));
	end_others(t, 8);
}

static void the_thread_that_loads_has_it(void)
{
	pthread_t t[8];

	start_others(t, 8);
	printf("%ld\n", (long)finish(start(load_and_call, (void *)7l)));
	end_others(t, 8);
}

static void more_threads_than_before_have_it(void)
{
	pthread_t t[300];

	finish(start(do_nothing, NULL));
	load();
	start_others(t, 300);
	end_others(t, 300);
}

/* libc looks up the file of its caller. */
static void the_folder_of_the_caller_is_the_programs(void)
{
	pthread_t t[8];

	start_others(t, 8);
	load_from("$ORIGIN");
	finish(start(do_nothing, NULL));
	end_others(t, 8);
}

static const struct compare_case cases[] = {
	COMPARE(threads_that_were_there_before_have_it),
	COMPARE(the_thread_that_loads_has_it),
	COMPARE(more_threads_than_before_have_it),
	COMPARE(the_folder_of_the_caller_is_the_programs),
};

COMPARE_MAIN(cases)

/* SPDX-License-Identifier: MIT */
/* explore/start.c - the library is on in the one process that WEFT_EXPLORE names */
#include "start.h"

#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "explore.h"
#include "race.h"
#include "real.h"

static struct wefti_ex_report own_report;
struct wefti_ex_shared *wefti_ex_shared;

/* The value of `name=` in the list, or NULL. */
static const char *value(const char *list, const char *name)
{
	const size_t length = strlen(name);

	while (list && *list) {
		if (strncmp(list, name, length) == 0)
			return list[length] == '=' ? list + length + 1 : list + length;
		list = strchr(list, ',');
		list += list != NULL;
	}
	return NULL;
}

static uint64_t number(const char *list, const char *name, uint64_t otherwise)
{
	const char *text = value(list, name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

/* NULL: there is none. A program of a run may have another file at this number. */
static struct wefti_ex_shared *map_shared(int fd)
{
	void *memory = MAP_FAILED;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size == sizeof(struct wefti_ex_shared))
		memory = mmap(NULL, sizeof(struct wefti_ex_shared), PROT_READ | PROT_WRITE,
			      MAP_SHARED, fd, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

/* The program may be the second one of this run, by exec(): it begins anew. */
static void begin_report(struct wefti_ex_shared *shared)
{
	struct wefti_ex_report *r = shared ? &shared->report : &own_report;

	wefti_ex_shared = shared;
	wefti_ex.report = r;	/* own_report: one line at the end tells of the run */
	r->steps = r->switches = r->threads = r->hash = 0;
	r->choices = r->races = 0;
	r->crash = 0;
	if (shared)
		shared->fork_words = 0;
}

static pid_t parent;

static void before_fork(void)
{
	parent = getpid();
}

/* A child that the program leaves behind ends with the run, and so with weft. */
static void child_of_fork(void)
{
	if (wefti_ex.is_watched &&
	    (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent))
		_exit(1);
	wefti_ex_self = NULL;
	wefti_ex.holder = NULL;
	wefti_ex.is_on = 0;
	wefti_ex_unpin();
}

static void begin(const char *list, struct wefti_ex_shared *shared, int is_served)
{
	const char *name = value(list, "strategy");
	struct wefti_ex_thread *self;

	begin_report(shared);
	wefti_ex.is_watched = wefti_ex.report != &own_report && !value(list, "tell");
	wefti_ex.learns = value(list, "learn") != NULL;
	wefti_ex.has_sites = value(list, "sites") != NULL;
	wefti_ex.one_in = number(list, "points", 0);
	wefti_ex.leaves_races = value(list, "noraces") != NULL;
	wefti_ex.race_to_end = number(list, "race", 0);
	wefti_ex.location_to_end = number(list, "location", 0);
	wefti_ex_sites_begin();
	wefti_ex.steps_most = number(list, "steps", WEFTI_EX_STEPS);
	wefti_ex.traces = value(list, "trace") != NULL;
	wefti_ex.has_forks = value(list, "forks") != NULL;
	wefti_ex.has_spurious = value(list, "spurious") != NULL;
	wefti_ex.seed = number(list, "seed", 0);
	wefti_ex.is_native = value(list, "native") != NULL;
	strncat(wefti_ex.strategy, name ? name : "", name ? strcspn(name, ",") %
		sizeof(wefti_ex.strategy) : 0);
	wefti_ex_list_begin(value(list, "list"));
	if (is_served)
		wefti_ex_take_request();
	if (!wefti_ex_strategy_is_known(wefti_ex.strategy) || wefti_ex_life_begin() != 0)
		return;
	if (!is_served)
		wefti_ex_serves_at = (int)number(list, "serve", (uint64_t)-1);
	if (wefti_ex_serves_at < 0 && !wefti_ex.is_native)
		wefti_ex_pin();
	(void)mallopt(M_ARENA_MAX, 1);	/* one for each thread would be mapped in each run */
	(void)pthread_atfork(before_fork, NULL, child_of_fork);
	self = wefti_ex_thread_make(&(struct wefti_ex_call){ 0 });
	self->id = pthread_self();
	wefti_ex_add(self);
	wefti_ex_begins(self);
	wefti_ex.holder = self;
	wefti_ex.report->magic = WEFTI_EX_MAGIC;
	wefti_ex.is_on = 1;
	if (wefti_ex_serves_at < 0)
		wefti_ex_crash_begin();
}

__attribute__((constructor)) static void load(void)
{
	const char *list = getenv(WEFTI_EX_VARIABLE);

	struct wefti_ex_shared *shared;
	int is_first, is_served;

	wefti_ex_real_find();
	if (!list)
		return;
	is_first = number(list, "pid", 0) == (uint64_t)getpid();
	shared = is_first || value(list, "serve") ?
			 map_shared((int)number(list, "fd", (uint64_t)-1)) : NULL;
	is_served = !is_first && shared && shared->report.magic == WEFTI_EX_MAGIC &&
		    shared->request.pid == getpid();
	if (is_first || is_served)
		begin(list, shared, is_served);
	else if (shared)
		(void)munmap(shared, sizeof(*shared));
}

__attribute__((destructor)) static void unload(void)
{
	if (wefti_ex.is_on)
		wefti_ex_tell_end();
}

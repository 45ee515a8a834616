/* SPDX-License-Identifier: MIT */
/*
 * test_tls_proof.c - os/tls_proof: a libc that is not as expected is noticed
 *
 * One expectation at a time is turned wrong: what libc's descriptors say before the
 * kernel thread is looked at, and what was found in it before that is proved. The linker
 * puts the functions that do so in front. Each time threads have to share their carriers'
 * TLS, for a reason, and the runtime works.
 */
#include "os/tls/tls_proof.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "forked.h"
#include "os/kthread/kthread_kept.h"
#include "os/tls/tls.h"
#include "os/tls/tls_layout.h"
#include "refusal.h"
#include "weft/runtime.h"
#include "weft/thread.h"

#define FIELD(name)	{ #name, offsetof(struct wefti_tls_layout, name),	\
			  sizeof(wefti_tls_layout.name), 0 }
#define FLAG(name)	{ #name, offsetof(struct wefti_tls_layout, name),	\
			  sizeof(wefti_tls_layout.name), 1 }

struct expectation {
	const char *name;
	size_t at, bytes;
	int is_flag;
};

static const struct expectation given[] = {
	FIELD(pthread_tid), FIELD(pthread_list), FIELD(pthread_specific),
	FIELD(pthread_cancelhandling), FIELD(pthread_report_events), FIELD(stacks),
	FIELD(stacks_used), FIELD(tls_resp), FIELD(tls_rseq),
};

static const struct expectation found[] = {
	FIELD(pthread_tid), FIELD(pthread_list), FIELD(pthread_specific),
	FIELD(pthread_report_events), FIELD(stacks), FIELD(stacks_used), FIELD(tls_resp),
	FIELD(tls_rseq), FIELD(pthread_robust), FIELD(pthread_res),
	FIELD(pthread_stackblock), FIELD(pthread_cancel_bytes), FIELD(pthread_joinstate),
	FIELD(tls_malloc[0]), FIELD(tls_random), FLAG(has_stack_mode),
};

static const struct expectation *turned_given, *turned_found;
static long by;
static int is_turned;

int __real_wefti_os_kthread_keep(size_t bytes,
				 void (*first)(void *arg, char *stack, size_t bytes),
				 void *arg);
const char *__real_wefti_tls_prove(const char *stack, size_t bytes,
				   const uintptr_t *at_start);
int __wrap_wefti_os_kthread_keep(size_t bytes,
				 void (*first)(void *arg, char *stack, size_t bytes),
				 void *arg);
const char *__wrap_wefti_tls_prove(const char *stack, size_t bytes,
				   const uintptr_t *at_start);

/* A field that is 0 is not there in this libc. */
static void turn(const struct expectation *e)
{
	char *field = (char *)&wefti_tls_layout + e->at;
	long value;

	if (e->is_flag) {
		*(int *)field = !*(int *)field;
		is_turned = 1;
		return;
	}
	memcpy(&value, field, sizeof(value));
	is_turned = value != 0;
	if (value)
		value += by;
	memcpy(field, &value, sizeof(value));
}

int __wrap_wefti_os_kthread_keep(size_t bytes,
				 void (*first)(void *arg, char *stack, size_t bytes),
				 void *arg)
{
	if (turned_given)
		turn(turned_given);
	return __real_wefti_os_kthread_keep(bytes, first, arg);
}

const char *__wrap_wefti_tls_prove(const char *stack, size_t bytes,
				   const uintptr_t *at_start)
{
	if (turned_found)
		turn(turned_found);
	return __real_wefti_tls_prove(stack, bytes, at_start);
}

static void *give_back(void *arg)
{
	weft_yield();
	return arg;
}

/* Says what was noticed, and that the runtime works without. */
static void live(void)
{
	const struct expectation *e = turned_given ? turned_given : turned_found;
	const int ret = wefti_tls_init();
	void *result = NULL;
	uint64_t id;

	if (is_refused_rightly(wefti_tls_reason()))
		return;
	if (is_turned && ret != -ENOTSUP)
		fprintf(stderr, "%s off by %ld is not noticed\n", e->name, by);
	must(is_turned ? ret == -ENOTSUP : ret == 0);
	must((*wefti_tls_reason() != 0) == is_turned);
	must(weft_start(NULL) == 0);
	must(weft_spawn(&id, NULL, give_back, &id) == 0);
	must(weft_join(id, &result) == 0 && result == &id);
	must(weft_stop() == 0);
}

static void with_each(const struct expectation *all, size_t n,
		      const struct expectation **which)
{
	for (size_t i = 0; i < n; i++)
		for (by = -8; by <= 8; by += 16) {
			*which = &all[i];
			child_is_well(live);
		}
	*which = NULL;
}

static void as_it_is_all_holds(void)
{
	child_is_well(live);
}

static void what_a_descriptor_says_may_be_wrong(void)
{
	with_each(given, sizeof(given) / sizeof(*given), &turned_given);
}

static void what_was_found_may_be_something_else(void)
{
	with_each(found, sizeof(found) / sizeof(*found), &turned_found);
}

static const struct test_case cases[] = {
	TEST(as_it_is_all_holds),
	TEST(what_a_descriptor_says_may_be_wrong),
	TEST(what_was_found_may_be_something_else),
};

TEST_MAIN("os/tls_proof", cases)

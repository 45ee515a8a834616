/* SPDX-License-Identifier: MIT */
/* test_figures.c - observe/figures: what lines another process gets */
#include "threads.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "observe/figures.h"

static char text[1 << 16];
static struct weft_sem sem, go_on;
static struct weft_mutex mutex;

static void figures_by(void (*tell)(int fd))
{
	size_t used = 0;
	int end[2];
	ssize_t n;

	must(pipe2(end, O_NONBLOCK) == 0 && fcntl(end[1], F_SETPIPE_SZ, 1 << 16) > 0);
	tell(end[1]);
	while ((n = read(end[0], text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)n;
	text[used] = 0;
	close(end[0]);
	close(end[1]);
}

/* Is there a line that begins so? Returns what follows, or NULL. */
static const char *line(const char *begin)
{
	const size_t length = strlen(begin);

	for (const char *at = text; *at; at = strchr(at, '\n') + 1)
		if (strncmp(at, begin, length) == 0)
			return at + length;
	return NULL;
}

static uint64_t number(const char *name)
{
	const char *at = line(name);

	return at && *at == ' ' ? strtoul(at, NULL, 10) : UINT64_MAX;
}

static void *wait_for_sem(void *unused)
{
	must(weft_sem_wait(&sem) == 0);
	return unused;
}

static void *wait_for_mutex(void *unused)
{
	weft_mutex_lock(&mutex);
	weft_mutex_unlock(&mutex);
	return unused;
}

static void *hold_mutex(void *unused)
{
	weft_mutex_lock(&mutex);
	must(weft_sem_wait(&go_on) == 0);
	weft_mutex_unlock(&mutex);
	return unused;
}

/* Asks until the line is there. */
static void await(void (*tell)(int fd), const char *begin)
{
	do {
		rest();
		figures_by(tell);
	} while (!line(begin));
}

static void levels_and_counts_are_those_of_the_runtime(void)
{
	uint64_t id[5];

	runtime_begin();
	id[0] = spawn_named("holds\nit", 0, hold_mutex, NULL);
	await(wefti_figures, "parked semaphore 1\n");
	for (int i = 1; i < 3; i++)
		id[i] = spawn(wait_for_mutex, NULL);
	for (int i = 3; i < 5; i++)
		id[i] = spawn(wait_for_sem, NULL);
	await(wefti_figures, "parked mutex 2\n");
	await(wefti_figures, "parked semaphore 3\n");
	CU_ASSERT_EQUAL(strncmp(text, "weft-figures 1\n", 15), 0);
	CU_ASSERT_STRING_EQUAL(text + strlen(text) - 5, "\nend\n");
	CU_ASSERT_EQUAL(number("threads"), 5);
	CU_ASSERT_EQUAL(number("threads_made"), 5);
	CU_ASSERT_EQUAL(number("vcpus"), weft_vcpus());
	CU_ASSERT_EQUAL(number("running"), 1);
	CU_ASSERT_EQUAL(number("parked receive"), 0);
	CU_ASSERT(number("switches") >= 5 && number("switches") < UINT64_MAX);
	CU_ASSERT(number("time_ns") > number("start_ns"));
	CU_ASSERT_PTR_NOT_NULL(line("vcpu 0 "));
	CU_ASSERT_PTR_NULL(line("object "));
	CU_ASSERT_PTR_NULL(line("thread "));

	await(wefti_figures_all, "object mutex 0x");
	const char *at = strchr(line("object mutex 0x"), ' ');

	CU_ASSERT_EQUAL(strtoul(at, NULL, 10), 2);
	at = strchr(strchr(at + 1, ' ') + 1, ' ');
	CU_ASSERT_EQUAL(strtoul(at, NULL, 10), id[0]);
	CU_ASSERT_EQUAL(strncmp(strchr(at + 1, ' '), " holds\\x0ait\n", 13), 0);
	for (int i = 0; i < 2; i++)
		weft_sem_post(&sem);
	weft_sem_post(&go_on);
	for (int i = 0; i < 5; i++)
		join(id[i]);
	figures_by(wefti_figures_all);
	CU_ASSERT_EQUAL(number("parked mutex"), 0);
	CU_ASSERT_PTR_NULL(line("object mutex "));
	CU_ASSERT_EQUAL(number("threads"), 0);
	runtime_end();
}

static void *compute(void *ends)
{
	while (!load_seq_cst((_Atomic int *)ends))
		wefti_arch_pause();
	return NULL;
}

/* The monitor sees the thread, if it is asked to. */
static void a_thread_that_computes_is_seen_to_run(void)
{
	static _Atomic int ends;
	uint64_t id;

	store_seq_cst(&ends, 0);
	runtime_begin();
	id = spawn_named("computes", 0, compute, &ends);
	do {
		rest();
		figures_by(wefti_figures_all);
	} while (!line("thread ") || !strstr(text, " computes\n"));
	store_seq_cst(&ends, 1);
	join(id);
	runtime_end();
}

static void without_a_runtime_there_are_none(void)
{
	figures_by(wefti_figures);
	CU_ASSERT_STRING_EQUAL(text, "");
	figures_by(wefti_figures_all);
	CU_ASSERT_STRING_EQUAL(text, "");
}

static const struct test_case cases[] = {
	TEST(without_a_runtime_there_are_none),
	TEST(levels_and_counts_are_those_of_the_runtime),
	TEST(a_thread_that_computes_is_seen_to_run),
};

TEST_MAIN("observe/figures", cases)

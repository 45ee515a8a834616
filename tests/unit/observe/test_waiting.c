/* SPDX-License-Identifier: MIT */
/* test_waiting.c - observe/waiting: objects, the number of their threads, the longest */
#include "threads.h"

#include <string.h>
#include <unistd.h>

#include "observe/waiting.h"
#include "thread/bare.h"

#define OBJECTS	600		/* more than the table has */

static struct weft_sem sem[OBJECTS];
static uint64_t id[OBJECTS + 20];

static void *wait_for(void *of)
{
	must(weft_sem_wait(of) == 0);
	return NULL;
}

static void await_parked(uint64_t of)
{
	const struct wefti_thread *t = wefti_thread_find(of);

	while (load_seq_cst(&t->waits_for) == NULL || t->why != WEFTI_WHY_SEM)
		rest();
}

static void add(uint64_t of)
{
	wefti_waiting_add(wefti_thread_find(of), WEFTI_WHY_SEM);
}

/* The lines, counted; in *waiting the threads of all. */
static unsigned told(uint64_t *waiting)
{
	FILE *file = tmpfile();
	struct wefti_out o;
	unsigned lines = 0;
	uint64_t count;

	must(file != NULL);
	o = (struct wefti_out){ .fd = fileno(file) };
	wefti_waiting_tell(&o);
	wefti_out_flush(&o);
	rewind(file);
	*waiting = 0;
	while (fscanf(file, "object semaphore %*s %lu %*u %*u%*[^\n]\n", &count) == 1) {
		*waiting += count;
		lines++;
	}
	CU_ASSERT_NOT_EQUAL(feof(file), 0);
	fclose(file);
	return lines;
}

static void threads_of_one_object_share_a_line(void)
{
	uint64_t waiting;

	runtime_begin();
	wefti_waiting_clear();
	CU_ASSERT_EQUAL(told(&waiting), 0);
	for (int i = 0; i < OBJECTS; i++)
		id[i] = spawn(wait_for, &sem[i]);
	for (int i = 0; i < 20; i++)
		id[OBJECTS + i] = spawn(wait_for, &sem[0]);
	for (int i = 0; i < OBJECTS + 20; i++)
		await_parked(id[i]);

	add(id[0]);
	for (int i = 0; i < 20; i++)
		add(id[OBJECTS + i]);
	CU_ASSERT_EQUAL(told(&waiting), 1);
	CU_ASSERT_EQUAL(waiting, 21);
	add(id[1]);
	CU_ASSERT_EQUAL(told(&waiting), 2);
	CU_ASSERT_EQUAL(waiting, 22);
	wefti_waiting_clear();
	CU_ASSERT_EQUAL(told(&waiting), 0);

	/* A full table keeps what it has. */
	for (int i = 0; i < OBJECTS; i++)
		add(id[i]);
	CU_ASSERT(told(&waiting) <= 512);
	CU_ASSERT(waiting > 256);
	for (int i = 0; i < OBJECTS; i++)
		weft_sem_post(&sem[i]);
	for (int i = 0; i < 20; i++)
		weft_sem_post(&sem[0]);
	for (int i = 0; i < OBJECTS + 20; i++)
		join(id[i]);
	runtime_end();
}

static const struct test_case cases[] = {
	TEST(threads_of_one_object_share_a_line),
};

TEST_MAIN("observe/waiting", cases)

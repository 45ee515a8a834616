/* SPDX-License-Identifier: MIT */
/* test_trace.c - observe/trace: the recorder on and off, its memory in a file, marks */
#include "threads.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "observe/trace.h"
#include "os/call/vm.h"
#include "record/memory.h"

#define TRACE_BYTES	(4u << 20)

static void *nothing(void *arg)
{
	return arg;
}

/* Events of all VCPUs so far. */
static uint64_t events(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < weft_vcpus() + WEFTI_RECORD_OTHERS; i++)
		sum += load_relaxed(&wefti_record_writer_of(i).ring->count);
	return sum;
}

static void nothing_is_recorded_before_the_start_and_behind_the_stop(void)
{
	uint64_t before, n;

	runtime_begin();
	CU_ASSERT_EQUAL(weft_trace_write(2), -ENODATA);
	CU_ASSERT_EQUAL(weft_trace_stop(), -EALREADY);
	join(spawn(nothing, NULL));
	CU_ASSERT_EQUAL(weft_trace_start(TRACE_BYTES), 0);
	CU_ASSERT_EQUAL(weft_trace_start(TRACE_BYTES), -EALREADY);
	before = events();
	join(spawn(nothing, NULL));
	CU_ASSERT_TRUE(events() > before);
	CU_ASSERT_EQUAL(weft_trace_stop(), 0);
	do {			/* an event may be under way on another VCPU */
		n = events();
		usleep(10000);
	} while (events() != n);
	join(spawn(nothing, NULL));
	weft_trace_mark("not recorded");
	CU_ASSERT_EQUAL(events(), n);
	runtime_end();
	CU_ASSERT_EQUAL(weft_trace_start(0), -ESRCH);
	CU_ASSERT_EQUAL(weft_trace_stop(), -ESRCH);
}

/* The text behind event n, which must be a mark. */
static void text_behind(struct wefti_record_writer *w, uint64_t n, char text[128])
{
	struct wefti_record_event e;
	size_t at = 0;

	memset(text, 0, 128);
	while (wefti_record_get(w, ++n, &e) && e.kind == WEFTI_EVENT_TEXT) {
		const uint64_t words[3] = { e.time, e.thread, e.arg };

		memcpy(text + at, words, e.detail);
		at += e.detail;
	}
}

/* Finds a mark of this thread's by its kind. Returns 0 if there is none. */
static int find_mark(enum wefti_event_kind kind, char text[128])
{
	for (unsigned i = 0; i < weft_vcpus() + WEFTI_RECORD_OTHERS; i++) {
		struct wefti_record_writer w = wefti_record_writer_of(i);
		struct wefti_record_event e;

		for (uint64_t n = 0; n < load_relaxed(&w.ring->count); n++)
			if (wefti_record_get(&w, n, &e) && e.kind == kind &&
			    e.thread == weft_self()) {
				text_behind(&w, n, text);
				return 1;
			}
	}
	return 0;
}

static void marks_have_their_texts(void)
{
	char text[128];

	runtime_begin();
	CU_ASSERT_EQUAL(weft_trace_start(TRACE_BYTES), 0);
	weft_trace_mark("");
	weft_trace_begin("exactly 24 bytes of text");
	weft_trace_end();
	CU_ASSERT_TRUE(find_mark(WEFTI_EVENT_MARK, text));
	CU_ASSERT_STRING_EQUAL(text, "");
	CU_ASSERT_TRUE(find_mark(WEFTI_EVENT_BEGIN, text));
	CU_ASSERT_STRING_EQUAL(text, "exactly 24 bytes of text");
	CU_ASSERT_TRUE(find_mark(WEFTI_EVENT_END, text));
	CU_ASSERT_STRING_EQUAL(text, "");
	runtime_end();
}

static void the_memory_is_written_as_it_is(void)
{
	struct wefti_record_head *head, copy;
	FILE *file = tmpfile();

	runtime_begin();
	CU_ASSERT_EQUAL(weft_trace_start(TRACE_BYTES), 0);
	head = wefti_record_head();
	CU_ASSERT_PTR_NOT_NULL_FATAL(head);
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_EQUAL(weft_trace_write(fileno(file)), 0);
	CU_ASSERT_EQUAL(lseek(fileno(file), 0, SEEK_END), (off_t)head->bytes);
	CU_ASSERT_EQUAL(pread(fileno(file), &copy, sizeof(copy), 0), sizeof(copy));
	CU_ASSERT_STRING_EQUAL(copy.magic, WEFTI_RECORD_MAGIC);
	CU_ASSERT_EQUAL(load_relaxed(&copy.pid), (uint32_t)getpid());
	CU_ASSERT_EQUAL(weft_trace_write(-1), -EBADF);
	fclose(file);
	runtime_end();
}

#define MANY	((int)WEFTI_RECORD_NAMES + 100)

static struct weft_sem go = WEFT_SEM_INIT;

static void *waits(void *arg)
{
	weft_sem_wait(&go);
	return arg;
}

/* Counts the names that events give to threads behind the table. */
static unsigned names_of_late_slots(void)
{
	struct wefti_record_writer w = wefti_record_writer_of(weft_vcpus());
	struct wefti_record_event e;
	unsigned count = 0;
	char text[128];

	for (uint64_t n = 0; n < load_relaxed(&w.ring->count); n++)
		if (wefti_record_get(&w, n, &e) && e.kind == WEFTI_EVENT_NAME &&
		    (uint32_t)e.thread >= WEFTI_RECORD_NAMES) {
			text_behind(&w, n, text);
			count += strcmp(text, "one of many") == 0;
		}
	return count;
}

static void names_of_before_are_told_for_late_slots_too(void)
{
	static uint64_t id[MANY];

	runtime_begin();
	for (int i = 0; i < MANY; i++)
		id[i] = spawn_named("one of many", WEFT_LIGHT, waits, NULL);
	CU_ASSERT_EQUAL(weft_trace_start(TRACE_BYTES), 0);
	CU_ASSERT_TRUE(names_of_late_slots() >= 100);
	CU_ASSERT_EQUAL(weft_trace_stop(), 0);
	for (int i = 0; i < MANY; i++)
		weft_sem_post(&go);
	for (int i = 0; i < MANY; i++)
		join(id[i]);
	runtime_end();
}

/* Runs in the child. Returns 0 if nothing of the parent's recorder is left. */
static int is_forgotten(void)
{
	if (wefti_record_head() || load_relaxed(&wefti_recorder.on))
		return 1;
	weft_trace_mark("nowhere");
	return weft_trace_write(2) == -ENODATA ? 0 : 2;
}

static void the_child_of_a_fork_records_nothing_of_its_parents(void)
{
	uint64_t starts;
	int status = -1;
	pid_t pid;

	runtime_begin();
	CU_ASSERT_EQUAL(weft_trace_start(0), 0);
	starts = load_relaxed(&wefti_record_head()->starts);
	pid = fork();
	if (pid == 0)
		_exit(is_forgotten());
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_EQUAL(load_relaxed(&wefti_record_head()->starts), starts);
	CU_ASSERT_EQUAL(weft_trace_stop(), 0);
	runtime_end();
}

/* Has a child of a fork the descriptor? */
static int child_has(int fd)
{
	int status = -1;
	const pid_t pid = fork();

	if (pid == 0)
		_exit(fcntl(fd, F_GETFD) < 0);
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	return status == 0;
}

/* A program may close all descriptors that it does not know. */
static void the_child_of_a_fork_keeps_a_file_that_has_got_the_number(void)
{
	int fd, other;

	runtime_begin();
	CU_ASSERT_EQUAL(weft_trace_start(0), 0);
	fd = wefti_recorder.held.fd;
	CU_ASSERT_FALSE(child_has(fd));
	other = dup(fd);
	CU_ASSERT_EQUAL(close(fd), 0);
	CU_ASSERT_FALSE(child_has(fd));
	CU_ASSERT_EQUAL(dup2(STDERR_FILENO, fd), fd);
	CU_ASSERT_TRUE(child_has(fd));
	CU_ASSERT_EQUAL(dup2(other, fd), fd);
	CU_ASSERT_EQUAL(close(other), 0);
	CU_ASSERT_EQUAL(weft_trace_stop(), 0);
	runtime_end();
}

/* Runs in the child, and ends it without the handlers of libc. */
static void mark_as_a_child(void)
{
	int wrong = 0;

	weft_trace_mark("by a child");
	(void)weft_yield();
	wrong |= load_relaxed(&wefti_recorder.on) ? 1 : 0;
	wrong |= weft_trace_write(-1) == -ENODATA ? 0 : 2;
	wrong |= weft_trace_stop() == -EALREADY ? 0 : 4;
	wrong |= weft_trace_start(TRACE_BYTES) == 0 ? 0 : 8;
	weft_trace_mark("by a child, into its own");
	exit_alone(wrong);
}

/* As _Fork() does it: no handler of libc's runs in the child. From Linux 4.14 on. */
static void a_child_of_the_kernels_alone_leaves_its_parents_rings(void)
{
	char text[128];
	int status = -1;
	long pid;

	if (!wefti_os_vm_wiped())
		return;
	runtime_begin();
	CU_ASSERT_EQUAL(weft_trace_start(TRACE_BYTES), 0);
	pid = clone_alone();
	if (pid == 0)
		mark_as_a_child();
	CU_ASSERT_EQUAL(waitpid((pid_t)pid, &status, 0), pid);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_FALSE(find_mark(WEFTI_EVENT_MARK, text));
	CU_ASSERT_EQUAL(load_relaxed(&wefti_record_head()->on), 1);
	weft_trace_mark("by the parent");
	CU_ASSERT_TRUE(find_mark(WEFTI_EVENT_MARK, text));
	CU_ASSERT_STRING_EQUAL(text, "by the parent");
	CU_ASSERT_EQUAL(weft_trace_stop(), 0);
	runtime_end();
}

/* What weft_stop() does there about the recorder. */
static void a_child_of_the_kernels_alone_ends_no_recording_of_its_parents(void)
{
	int status = -1;
	long pid;

	if (!wefti_os_vm_wiped())
		return;
	runtime_begin();
	CU_ASSERT_EQUAL(weft_trace_start(TRACE_BYTES), 0);
	pid = clone_alone();
	if (pid == 0) {
		wefti_recorder_end();
		exit_alone(load_relaxed(&wefti_recorder.on) ? 1 : 0);
	}
	CU_ASSERT_EQUAL(waitpid((pid_t)pid, &status, 0), pid);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_EQUAL(load_relaxed(&wefti_record_head()->on), 1);
	CU_ASSERT_EQUAL(weft_trace_stop(), 0);
	runtime_end();
}

static void the_setting_is_for_the_process_that_it_names(void)
{
	char pid[24];

	setenv("WEFT_TRACE", "flight:4M", 1);
	setenv("WEFT_TRACE_PID", "1", 1);
	runtime_begin();
	CU_ASSERT_FALSE(load_relaxed(&wefti_recorder.on));
	runtime_end();
	snprintf(pid, sizeof(pid), "%ld", (long)getpid());
	setenv("WEFT_TRACE_PID", pid, 1);
	runtime_begin();
	CU_ASSERT_TRUE(load_relaxed(&wefti_recorder.on));
	runtime_end();
	unsetenv("WEFT_TRACE");
	unsetenv("WEFT_TRACE_PID");
}

static const struct test_case cases[] = {
	TEST(nothing_is_recorded_before_the_start_and_behind_the_stop),
	TEST(marks_have_their_texts),
	TEST(the_memory_is_written_as_it_is),
	TEST(names_of_before_are_told_for_late_slots_too),
	TEST(the_child_of_a_fork_records_nothing_of_its_parents),
	TEST(the_setting_is_for_the_process_that_it_names),
	TEST(a_child_of_the_kernels_alone_leaves_its_parents_rings),
	TEST(a_child_of_the_kernels_alone_ends_no_recording_of_its_parents),
	TEST(the_child_of_a_fork_keeps_a_file_that_has_got_the_number),
};

TEST_MAIN("observe/trace", cases)

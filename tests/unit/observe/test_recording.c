/* SPDX-License-Identifier: MIT */
/* test_recording.c - observe/recording: events are recorded for as long as a reader asks */
#include "threads.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "observe/recording.h"
#include "observe/trace.h"
#include "os/signal/signal.h"
#include "record/memory.h"

/* This process is its own reader. */
static void ask(uint32_t mib, uint32_t ms)
{
	const uint64_t value = (uint64_t)WEFTI_RECORDING_MARK << 32 | mib << 16 | ms;
	const union sigval v = { .sival_ptr = (void *)(uintptr_t)value };

	must(sigqueue(getpid(), wefti_os_preempt_signal(), v) == 0);
}

static int is_on(void)
{
	return load_seq_cst(&wefti_recorder.on) != 0;
}

/* A signal may be lost, so readers ask again. The watchdog ends what never comes. */
static void ask_until(int on, uint32_t ms)
{
	do {
		ask(1, ms);
		usleep(5000);
	} while (is_on() != on);
}

/* The observer may still be about to switch it on, though it records. */
static int stop(void)
{
	int error;

	while ((error = weft_trace_stop()) == -EBUSY)
		usleep(1000);
	return error;
}

static void it_records_until_the_time_is_over(void)
{
	runtime_begin();
	CU_ASSERT_FALSE(is_on());
	ask_until(1, 300);
	while (is_on())
		usleep(1000);
	CU_ASSERT_EQUAL(stop(), -EALREADY);
	/* And again: the memory is there already. */
	ask_until(1, 300);
	runtime_end();
	CU_ASSERT_FALSE(is_on());
}

static void it_stops_at_the_readers_word(void)
{
	runtime_begin();
	ask_until(1, 60000);
	ask_until(0, 0);
	runtime_end();
}

/* A reader that renews its request does not undo what the program wants. */
static void the_program_has_the_last_word(void)
{
	runtime_begin();
	ask_until(1, 60000);
	CU_ASSERT_EQUAL(stop(), 0);
	for (int i = 0; i < 20; i++) {
		ask(1, 60000);
		usleep(1000);
		CU_ASSERT_FALSE(is_on());
	}
	CU_ASSERT_EQUAL(weft_trace_start(0), 0);
	for (int i = 0; i < 20; i++) {
		ask(1, 0);
		usleep(1000);
		CU_ASSERT_TRUE(is_on());
	}
	CU_ASSERT_EQUAL(weft_trace_stop(), 0);
	runtime_end();
}

static void what_the_program_records_goes_on(void)
{
	runtime_begin();
	CU_ASSERT_EQUAL(weft_trace_start(0), 0);
	for (int i = 0; i < 20; i++) {
		ask(1, i % 2);
		usleep(3000);
		CU_ASSERT_TRUE(is_on());
	}
	CU_ASSERT_EQUAL(weft_trace_stop(), 0);
	runtime_end();
}

/* Here because of the limit for files: the memory is larger. */
static void a_request_without_success_is_made_again(void)
{
	struct rlimit limit, small;

	wefti_recorder_forget();
	runtime_begin();
	must(getrlimit(RLIMIT_FSIZE, &limit) == 0);
	small = limit;
	small.rlim_cur = 4096;
	must(setrlimit(RLIMIT_FSIZE, &small) == 0);
	for (int i = 0; i < 20; i++) {
		ask(1, 60000);
		usleep(5000);
		CU_ASSERT_FALSE(is_on());
	}
	must(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	ask_until(1, 60000);
	ask_until(0, 0);
	runtime_end();
}

static void other_signals_are_left_alone(void)
{
	siginfo_t info = { .si_code = SI_USER };
	const uint64_t value = (uint64_t)WEFTI_RECORDING_MARK << 32 | 1;

	info.si_pid = getpid();
	info.si_value.sival_ptr = (void *)(uintptr_t)value;
	CU_ASSERT_EQUAL(wefti_recording_note(&info), 0);
	info.si_code = SI_QUEUE;
	info.si_value.sival_ptr = (void *)(uintptr_t)(value ^ (uint64_t)1 << 40);
	CU_ASSERT_EQUAL(wefti_recording_note(&info), 0);
}

static const struct test_case cases[] = {
	TEST(it_records_until_the_time_is_over),
	TEST(it_stops_at_the_readers_word),
	TEST(the_program_has_the_last_word),
	TEST(what_the_program_records_goes_on),
	TEST(a_request_without_success_is_made_again),
	TEST(other_signals_are_left_alone),
};

TEST_MAIN("observe/recording", cases)

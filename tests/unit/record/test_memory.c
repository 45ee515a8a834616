/* SPDX-License-Identifier: MIT */
/* test_memory.c - record/memory: its layout, its seals, its clock, its names */
#include "record/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/call/shared_file.h"
#include "support.h"

#define VCPUS	3u
#define BYTES	(256u * 1024)

static struct wefti_record_head *head(void)
{
	CU_ASSERT_EQUAL_FATAL(wefti_record_make(VCPUS, BYTES), 0);
	return wefti_record_head();
}

static void the_head_says_where_all_parts_are(void)
{
	struct wefti_record_head *h = head();

	CU_ASSERT_STRING_EQUAL(h->magic, WEFTI_RECORD_MAGIC);
	CU_ASSERT_EQUAL(h->vcpus, VCPUS);
	CU_ASSERT_EQUAL(h->ring_count, VCPUS + WEFTI_RECORD_OTHERS);
	CU_ASSERT_EQUAL(h->ring_events & (h->ring_events - 1), 0);
	CU_ASSERT_TRUE((uint64_t)h->ring_count * h->ring_events * h->event_bytes <= BYTES);
	CU_ASSERT_TRUE(h->names_at >= h->head_bytes);
	CU_ASSERT_TRUE(h->rings_at >= h->names_at +
		       h->name_count * sizeof(struct wefti_record_name));
	CU_ASSERT_TRUE(h->events_at >= h->rings_at +
		       h->ring_count * sizeof(struct wefti_record_ring));
	CU_ASSERT_EQUAL(h->bytes, h->events_at + (uint64_t)h->ring_count *
			h->ring_events * h->event_bytes);
	CU_ASSERT_EQUAL(load_relaxed(&h->pid), (uint32_t)getpid());
}

static void rings_lie_one_behind_the_other(void)
{
	struct wefti_record_head *h = head();

	for (unsigned i = 0; i < h->ring_count; i++) {
		struct wefti_record_writer w = wefti_record_writer_of(i);

		CU_ASSERT_EQUAL((uint64_t)((char *)w.events - (char *)h),
				h->events_at + i * (w.mask + 1) * h->event_bytes);
		CU_ASSERT_EQUAL(w.mask + 1, h->ring_events);
	}
}

static void it_is_made_once(void)
{
	struct wefti_record_head *h = head();

	CU_ASSERT_EQUAL(wefti_record_make(VCPUS, 8 * BYTES), 0);
	CU_ASSERT_EQUAL(wefti_record_make(1, 0), 0);
	CU_ASSERT_PTR_EQUAL(wefti_record_head(), h);
	CU_ASSERT_EQUAL(wefti_record_make(VCPUS + 1, 0), -EINVAL);
}

static void no_other_process_can_change_its_size(void)
{
	struct stat st;

	(void)head();
	CU_ASSERT_EQUAL(wefti_os_file_set_size(wefti_recorder.held.fd, 0), -EPERM);
	CU_ASSERT_EQUAL(wefti_os_file_set_size(wefti_recorder.held.fd, 1u << 30), -EPERM);
	CU_ASSERT_EQUAL(fstat(wefti_recorder.held.fd, &st), 0);
	CU_ASSERT_EQUAL(st.st_mode & 0777, 0600);
}

/* Before Linux 5.1 there is no such seal. */
static void no_other_process_can_write_to_it(void)
{
	char path[64];
	int fd;

	(void)head();
	if (!(fcntl(wefti_recorder.held.fd, F_GET_SEALS) & 0x0010))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", wefti_recorder.held.fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CU_ASSERT_TRUE_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(pwrite(fd, "x", 1, 0), -1);
	CU_ASSERT_EQUAL(errno, EPERM);
	CU_ASSERT_PTR_NULL(wefti_os_file_map(fd, 4096));
	close(fd);
}

static void what_is_written_into_the_head_changes_no_writer(void)
{
	struct wefti_record_head *h = head(), was;
	struct wefti_record_writer before = wefti_record_writer_of(1), after;

	memcpy(&was, h, sizeof(was));
	memset(h, 0x55, sizeof(*h));
	after = wefti_record_writer_of(1);
	CU_ASSERT_PTR_EQUAL(after.events, before.events);
	CU_ASSERT_PTR_EQUAL(after.ring, before.ring);
	CU_ASSERT_EQUAL(after.mask, before.mask);
	CU_ASSERT_EQUAL(wefti_record_make(VCPUS + 1, 0), -EINVAL);
	wefti_record_time_again(h);
	wefti_record_forget();		/* unmaps all of it, and no more */
	CU_ASSERT_EQUAL(wefti_record_make(VCPUS, was.bytes), 0);
}

/* The kernel would send SIGXFSZ, which ends a program. */
static void the_limit_for_files_is_kept(void)
{
	struct rlimit limit, small;

	wefti_record_forget();
	CU_ASSERT_EQUAL(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = limit;
	small.rlim_cur = BYTES / 2;
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &small), 0);
	CU_ASSERT_EQUAL(wefti_record_make(VCPUS, BYTES), -EFBIG);
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
	CU_ASSERT_EQUAL(wefti_record_make(VCPUS, BYTES), 0);
}

static void a_tick_is_worth_what_the_head_says(void)
{
	struct wefti_record_head *h = head();
	int64_t ns = wefti_os_now_ns();
	uint64_t ticks = wefti_record_now(), rate;
	double told;

	while (wefti_os_now_ns() - ns < 200000000)
		;
	ns = wefti_os_now_ns() - ns;
	ticks = wefti_record_now() - ticks;
	wefti_record_time_again(h);
	rate = load_relaxed(&h->ticks_per_second);
	told = (double)ticks * 1e9 / (double)rate;
	CU_ASSERT_TRUE(told > 0.9 * (double)ns && told < 1.1 * (double)ns);
}

static void a_name_counts_for_one_thread(void)
{
	const uint64_t id = UINT64_C(7) << 32 | 5;
	struct wefti_record_name *names;
	uint64_t word;

	(void)head();
	names = wefti_recorder.names;
	wefti_record_name(id, "early");
	CU_ASSERT_EQUAL(load_relaxed(&names[5].word[0]), 0);	/* nothing is recorded */
	wefti_record_switch_on();
	wefti_record_name(id, "four and more");
	wefti_record_name(UINT64_C(1) << 32 | UINT32_MAX, "no place");
	wefti_record_switch_off();
	word = load_relaxed(&names[5].word[0]);
	CU_ASSERT_EQUAL(word >> 32, 7);
	CU_ASSERT_EQUAL(memcmp(&word, "four", 4), 0);
}

static void what_is_forgotten_can_be_made_anew(void)
{
	(void)head();
	wefti_record_forget();
	wefti_record_forget();
	CU_ASSERT_PTR_NULL(wefti_record_head());
	CU_ASSERT_EQUAL(wefti_record_make(VCPUS + 1, BYTES), 0);
	CU_ASSERT_EQUAL(wefti_record_head()->vcpus, VCPUS + 1);
}

/* In the child of a fork an event may come before weft's handler. */
static void what_is_disowned_can_be_forgotten_still(void)
{
	int fd;

	(void)head();
	fd = wefti_recorder.held.fd;
	wefti_record_disown();
	CU_ASSERT_PTR_NULL(wefti_record_head());
	CU_ASSERT_NOT_EQUAL(fcntl(fd, F_GETFD), -1);
	wefti_record_forget();
	CU_ASSERT_EQUAL(fcntl(fd, F_GETFD), -1);
	CU_ASSERT_EQUAL(wefti_record_make(VCPUS, BYTES), 0);
}

static const struct test_case cases[] = {
	TEST(the_head_says_where_all_parts_are),
	TEST(rings_lie_one_behind_the_other),
	TEST(it_is_made_once),
	TEST(no_other_process_can_change_its_size),
	TEST(no_other_process_can_write_to_it),
	TEST(what_is_written_into_the_head_changes_no_writer),
	TEST(the_limit_for_files_is_kept),
	TEST(a_tick_is_worth_what_the_head_says),
	TEST(a_name_counts_for_one_thread),
	TEST(what_is_forgotten_can_be_made_anew),
	TEST(what_is_disowned_can_be_forgotten_still),
};

TEST_MAIN("record/memory", cases)

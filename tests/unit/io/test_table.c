/* SPDX-License-Identifier: MIT */
/*
 * test_table.c - io/table: what is known of a number, which calls use it, and
 * when the descriptor is closed
 */
#include "io/table.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "os/call/descriptor.h"
#include "sched/park.h"
#include "support.h"
#include "thread/bare.h"

#define NUMBERS		(1 << 22)	/* that the table has */
#define FAR		(1 << 21)	/* nobody else's */

/* The linker puts this in the place of wefti_os_vm_reserve(). */
static int refuses;

void *__real_wefti_os_vm_reserve(size_t bytes);
void *__wrap_wefti_os_vm_reserve(size_t bytes);

void *__wrap_wefti_os_vm_reserve(size_t bytes)
{
	return refuses ? NULL : __real_wefti_os_vm_reserve(bytes);
}

static uint64_t word_of(int fd)
{
	struct wefti_fd *e = wefti_fd_find((uint32_t)fd);

	CU_ASSERT_PTR_NOT_NULL_FATAL(e);
	return load_seq_cst(&e->word);
}

static uint32_t edges_of(int fd, int side)
{
	return wefti_side_edges(&wefti_fd_find((uint32_t)fd)->sides, side);
}

static struct wefti_use use_of(int fd)
{
	struct wefti_use use;

	CU_ASSERT_EQUAL_FATAL(wefti_fd_begin(&use, fd), 0);
	CU_ASSERT_EQUAL(use.fd, fd);
	CU_ASSERT_PTR_EQUAL(use.entry, wefti_fd_find((uint32_t)fd));
	return use;
}

static int is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static int make(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	CU_ASSERT_FATAL(fd >= 0);
	return fd;
}

static void numbers_have_bounds(void)
{
	struct wefti_use use;

	CU_ASSERT_EQUAL(wefti_fd_begin(&use, -1), -EBADF);
	CU_ASSERT_EQUAL(wefti_fd_made(-1, WEFTI_OS_OTHER, 0), -EBADF);
	CU_ASSERT_EQUAL(wefti_fd_close(-1), -EBADF);
	CU_ASSERT_EQUAL(wefti_fd_begin(&use, NUMBERS), -EMFILE);
	CU_ASSERT_EQUAL(wefti_fd_made(NUMBERS, WEFTI_OS_OTHER, 0), -EMFILE);
	CU_ASSERT_EQUAL(wefti_fd_close(NUMBERS), -EMFILE);
	CU_ASSERT_PTR_NULL(wefti_fd_find(NUMBERS));
	CU_ASSERT_PTR_NULL(wefti_fd_find(UINT32_MAX));

	/* A look makes nothing; a use does, of that number and its chunk. */
	CU_ASSERT_PTR_NULL(wefti_fd_find(NUMBERS - 1));
	use = use_of(NUMBERS - 1);
	CU_ASSERT_EQUAL(wefti_fd_end(&use), 0);
	CU_ASSERT_PTR_NOT_NULL(wefti_fd_find(NUMBERS - 1024));
	CU_ASSERT_PTR_NULL(wefti_fd_find(NUMBERS - 1025));
	CU_ASSERT_PTR_EQUAL(wefti_fd_find(NUMBERS - 2) + 1,
			    wefti_fd_find(NUMBERS - 1));
}

static void without_memory_a_number_is_refused(void)
{
	struct wefti_use use;

	refuses = 1;
	CU_ASSERT_EQUAL(wefti_fd_begin(&use, FAR), -ENOMEM);
	CU_ASSERT_EQUAL(wefti_fd_made(FAR, WEFTI_OS_OTHER, 0), -ENOMEM);
	CU_ASSERT_EQUAL(wefti_fd_close(FAR), -ENOMEM);
	CU_ASSERT_PTR_NULL(wefti_fd_find(FAR));
	refuses = 0;
	use = use_of(FAR);
	CU_ASSERT_EQUAL(use.word, 0);
	CU_ASSERT_EQUAL(wefti_fd_end(&use), 0);
}

/* PLAIN -> MADE, again and again: each is another descriptor. */
static void what_is_made_is_known(void)
{
	int fd = FAR + 5;
	struct wefti_use use = use_of(fd);
	uint32_t generation = wefti_fd_generation(word_of(fd));

	for (unsigned kind = WEFTI_OS_OTHER; kind <= WEFTI_OS_FILE; kind++)
		for (int on = 0; on < 2; on++) {
			uint64_t flags = on ? WEFTI_FD_NONBLOCK : 0, w;

			store_seq_cst(&use.entry->watched, 1);
			CU_ASSERT_EQUAL(wefti_fd_made(fd, kind, flags), 0);
			w = word_of(fd);
			CU_ASSERT_EQUAL(wefti_fd_generation(w), ++generation);
			CU_ASSERT_EQUAL(w & WEFTI_FD_FLAGS, flags |
				WEFTI_FD_MADE | kind << WEFTI_FD_KIND_SHIFT);
			CU_ASSERT_EQUAL(wefti_fd_users(w), 1);
			CU_ASSERT_EQUAL(load_seq_cst(&use.entry->watched), 0);
		}
	CU_ASSERT_EQUAL(wefti_fd_end(&use), 0);
	CU_ASSERT_EQUAL(wefti_fd_users(word_of(fd)), 0);
	/* The generation's last bit is that of the word. */
	store_seq_cst(&use.entry->word, UINT64_MAX << WEFTI_FD_GEN_SHIFT);
	CU_ASSERT_EQUAL(wefti_fd_made(fd, WEFTI_OS_OTHER, 0), 0);
	CU_ASSERT_EQUAL(word_of(fd), WEFTI_FD_MADE);
}

static void the_last_user_closes(void)
{
	enum { USERS = 5 };
	struct wefti_use use[USERS], late;
	int fd = make();
	uint32_t generation, edges[WEFTI_SIDES];

	CU_ASSERT_EQUAL(wefti_fd_made(fd, WEFTI_OS_FILE, 0), 0);
	generation = wefti_fd_generation(word_of(fd));
	for (int i = 0; i < USERS; i++) {
		use[i] = use_of(fd);
		CU_ASSERT_EQUAL(wefti_fd_users(word_of(fd)), (unsigned)i + 1);
		CU_ASSERT_FALSE(wefti_fd_is_closing(&use[i]));
	}
	for (int side = 0; side < WEFTI_SIDES; side++)
		edges[side] = edges_of(fd, side);
	CU_ASSERT_EQUAL(wefti_fd_close(fd), 0);
	/* CLOSING: the waiters were told, and nobody comes in any more. */
	for (int side = 0; side < WEFTI_SIDES; side++)
		CU_ASSERT_EQUAL(edges_of(fd, side), edges[side] + 1);
	CU_ASSERT_EQUAL(wefti_fd_close(fd), -EBADF);
	CU_ASSERT_EQUAL(wefti_fd_begin(&late, fd), -EBADF);
	for (int i = 0; i < USERS; i++) {
		CU_ASSERT_TRUE(wefti_fd_is_closing(&use[i]));
		CU_ASSERT_TRUE(is_open(fd));
		CU_ASSERT_EQUAL(wefti_fd_generation(word_of(fd)), generation);
		CU_ASSERT_EQUAL(wefti_fd_end(&use[i]), 0);
	}
	CU_ASSERT_FALSE(is_open(fd));
	CU_ASSERT_EQUAL(word_of(fd),
			(uint64_t)(generation + 1) << WEFTI_FD_GEN_SHIFT);
	for (int side = 0; side < WEFTI_SIDES; side++)
		CU_ASSERT_EQUAL(edges_of(fd, side), edges[side] + 2);
}

static void without_users_it_is_closed_at_once(void)
{
	int fd = make();
	uint32_t generation;
	struct wefti_use use = use_of(fd);

	CU_ASSERT_EQUAL(wefti_fd_end(&use), 0);
	generation = wefti_fd_generation(word_of(fd));
	CU_ASSERT_EQUAL(wefti_fd_close(fd), 0);
	CU_ASSERT_FALSE(is_open(fd));
	CU_ASSERT_EQUAL(wefti_fd_generation(word_of(fd)), generation + 1);
	/* What close(2) says; and the entry is PLAIN as before. */
	CU_ASSERT_EQUAL(wefti_fd_close(fd), -EBADF);
	CU_ASSERT_EQUAL(wefti_fd_generation(word_of(fd)), generation + 2);
	CU_ASSERT_EQUAL(word_of(fd) << 32, 0);
}

/* The last user gets what close(2) says: the number was closed by others. */
static void the_closer_gets_the_error(void)
{
	int fd = make();
	struct wefti_use use = use_of(fd);

	CU_ASSERT_EQUAL(wefti_fd_close(fd), 0);
	CU_ASSERT_EQUAL(close(fd), 0);
	CU_ASSERT_EQUAL(wefti_fd_end(&use), -EBADF);
	use = use_of(fd);		/* not closing any more */
	CU_ASSERT_EQUAL(wefti_fd_end(&use), 0);
}

/*
 * Closed by others: its users are told before and after, and a use in between
 * is no other file's.
 */
static void its_users_are_told_of_a_close_by_others(void)
{
	int fd = make();
	struct wefti_use use = use_of(fd), between;
	uint32_t generation = wefti_fd_generation(word_of(fd));
	uint32_t edges[WEFTI_SIDES];

	for (int side = 0; side < WEFTI_SIDES; side++)
		edges[side] = edges_of(fd, side);
	store_seq_cst(&use.entry->watched, 7);
	wefti_fd_changes(fd);
	CU_ASSERT_EQUAL(wefti_fd_generation(word_of(fd)), generation + 1);
	CU_ASSERT_EQUAL(wefti_fd_users(word_of(fd)), 1);
	CU_ASSERT_EQUAL(load_seq_cst(&use.entry->watched), 0);
	CU_ASSERT_EQUAL(close(fd), 0);
	between = use_of(fd);
	store_seq_cst(&use.entry->watched, 8);
	wefti_fd_changed(fd);
	CU_ASSERT_EQUAL(wefti_fd_generation(word_of(fd)), generation + 1);
	CU_ASSERT_EQUAL(load_seq_cst(&use.entry->watched), 8);
	for (int side = 0; side < WEFTI_SIDES; side++)
		CU_ASSERT_EQUAL(edges_of(fd, side), edges[side] + 2);
	CU_ASSERT_EQUAL(wefti_fd_end(&between), 0);
	CU_ASSERT_EQUAL(wefti_fd_end(&use), 0);
	/* Nobody is there to be told. */
	wefti_fd_changes(fd);
	wefti_fd_changed(fd);
	wefti_fd_changes(-1);
	wefti_fd_changed(NUMBERS);
	CU_ASSERT_EQUAL(wefti_fd_generation(word_of(fd)), generation + 1);
	CU_ASSERT_EQUAL(edges_of(fd, 0), edges[0] + 2);
}

/* A stop's, a fork's and the report of a deadlock's. */
static void walks_come_to_every_entry(void)
{
	static const int fds[] = { 3, 1023, 1024, FAR, NUMBERS - 1 };
	enum { COUNT = sizeof(fds) / sizeof(fds[0]) };
	struct wefti_thread *t = wefti_thread_bare(WEFTI_KIND_FOREIGN, NULL);
	struct wefti_use use[COUNT], unused = use_of(FAR + 1);

	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	CU_ASSERT_EQUAL(wefti_fd_end(&unused), 0);
	for (int i = 0; i < COUNT; i++) {
		struct wefti_sides *sides;
		struct wefti_place place;
		uint64_t seq;

		use[i] = use_of(fds[i]);
		sides = &use[i].entry->sides;
		CU_ASSERT_FALSE(wefti_fd_any_waits());
		seq = wefti_wait_begin(t, 0);
		CU_ASSERT_EQUAL_FATAL(wefti_side_join(sides, i % 2, &place, t,
				seq, edges_of(fds[i], i % 2), WEFTI_SIDE_ALL),
				0);
		CU_ASSERT_TRUE(wefti_fd_any_waits());
		wefti_fd_post_all();
		CU_ASSERT_EQUAL(wefti_wait_cause(t), WEFTI_CAUSE_WOKEN);
		wefti_side_part(&place, t);
	}
	CU_ASSERT_EQUAL(edges_of(FAR + 1, WEFTI_READ_SIDE), 0);

	store_seq_cst(&use[1].entry->watched, 9);
	store_seq_cst(&use[2].entry->word, word_of(1024) | WEFTI_FD_CLOSING |
		      WEFTI_FD_MADE);
	wefti_fd_forget_all();
	for (int i = 0; i < COUNT; i++)
		CU_ASSERT_EQUAL(wefti_fd_users(word_of(fds[i])), 0);
	CU_ASSERT_EQUAL(load_seq_cst(&use[1].entry->watched), 0);
	CU_ASSERT_EQUAL(word_of(1024) & WEFTI_FD_FLAGS, WEFTI_FD_MADE);
	wefti_thread_bare_free(t);
}

static const struct test_case cases[] = {
	TEST(numbers_have_bounds),
	TEST(without_memory_a_number_is_refused),
	TEST(what_is_made_is_known),
	TEST(the_last_user_closes),
	TEST(without_users_it_is_closed_at_once),
	TEST(the_closer_gets_the_error),
	TEST(its_users_are_told_of_a_close_by_others),
	TEST(walks_come_to_every_entry),
};

TEST_MAIN("io/table", cases)

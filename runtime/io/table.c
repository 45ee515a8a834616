/* SPDX-License-Identifier: MIT */
/*
 * io/table.c - what weft knows of a descriptor, by its number
 *
 * Structure
 *   A directory of chunks of 1024 entries. A chunk is made when a number in it is first
 *   used, and never freed. An entry:
 *   word     generation:32 | users:22 | kind:2 | NONBLOCK | MADE | CLOSING
 *            The generation counts the descriptors that have had this number, as far
 *            as weft was told. users are the calls under way.
 *   watched  generation:32 | instance: this poller watches this descriptor. A late user
 *            of an earlier descriptor cannot claim that for this one.
 *   sides    io/side.h
 *
 * States of an entry
 *   PLAIN    made by others: the kernel is asked about it at each call, and it is
 *            watched anew at each wait, as weft is not told when it is closed
 *   MADE     made by weft
 *   CLOSING  weft_close() was called, and calls are under way
 *
 *   PLAIN --made--> MADE
 *   PLAIN, MADE --weft_close()--> CLOSING
 *   any --changes--> the same, generation + 1
 *   CLOSING --the last user ends--> PLAIN, generation + 1, then close(2)
 *
 * Writers
 *   fd.watched  finish, wefti_fd_changes, wefti_fd_forget_all, wefti_fd_made;
 *       io/fd_wait.c: wefti_fd_watch
 *   fd.word  finish, wefti_fd_begin, wefti_fd_changes, wefti_fd_close,
 *       wefti_fd_end, wefti_fd_forget_all, wefti_fd_made
 *   directory  make_chunk
 *   limit  raise_limit
 *
 * Invariants
 *   I1  Between begin and end weft does not close the descriptor. So a call that waits
 *       never goes on with another file of the same number.
 *   I2  The thread that makes CLOSING PLAIN closes the descriptor: one CAS, one winner.
 *   I3  A thread that waits when the word becomes CLOSING, or is about to wait, is
 *       told. The closing thread posts both sides after it has set CLOSING, and a
 *       thread that is told wakes the next (io/side.c). A call looks for CLOSING after
 *       it has read edges.
 *   I4  The same is done after close(2), for a call that began between the CAS and
 *       close(2). It tries again, and finds that the number is closed or belongs to
 *       another file, as after a race of a kernel's call with a close. The generation
 *       is changed before close(2), ours and others'. So a new file with the same
 *       number is never taken for the old one.
 *   I5  The limit is raised before a chunk is published. So a walk that began after an
 *       entry could be found comes by it.
 *
 * Linearization
 *   weft_close: at its CAS to CLOSING. begin: at its fetch_add. made and changes: at
 *   their CAS. A call that began before a change and waits is told as in I3, and finds
 *   the other generation.
 *
 * Progress
 *   begin and end are wait-free, except for a new chunk; made, changes and close are
 *   lock-free. close(2) itself is done by the last user; no thread waits for that.
 *
 * ABA and reclamation
 *   Nothing is freed. A winner of I2 that slept since it saw no users may win for a
 *   later descriptor of the number. It then closes that one, which is as good, since
 *   that one's own closer has lost.
 *
 * Pairs
 *   P1  a chunk's CAS -> look's load: its zeros
 *   P2  end's RMW -> the CAS by the last user: what the call did before
 *   P3  made's CAS -> begin's RMW: the descriptor's kind and flags
 *
 * Source
 *   The count of users is from Go's fdMutex, without its locks for reading and writing:
 *   several threads may read at once.
 */
#include "io/table.h"

#include <errno.h>

#include "os/call/descriptor.h"
#include "os/call/vm.h"
#include "sched/poller.h"
#include "sched/seat.h"

#define CHUNK		WEFTI_FD_CHUNK
#define CHUNKS		WEFTI_FD_CHUNKS
#define CHUNK_BYTES	(CHUNK * sizeof(struct wefti_fd))

static _Atomic(struct wefti_fd *) directory[CHUNKS] TABLE;
static _Atomic uint32_t limit;	/* no chunk is here or above: walks end here */

const void *wefti_fd_directory(void)
{
	return directory;
}

struct wefti_fd *wefti_fd_find(uint32_t fd)
{
	struct wefti_fd *chunk = fd / CHUNK >= CHUNKS ? NULL :
				 load_acquire(&directory[fd / CHUNK]); /* P1 */

	return chunk ? &chunk[fd % CHUNK] : NULL;
}

/* Before the chunk is in the directory: I5. */
static void raise_limit(uint32_t to)
{
	uint32_t now = load_seq_cst(&limit);

	while (now < to && !cas_seq_cst(&limit, &now, to));
}

static COLD struct wefti_fd *make_chunk(uint32_t fd, int *error)
{
	struct wefti_fd *chunk, *none = NULL;

	*error = -EMFILE;
	if (fd / CHUNK >= CHUNKS)
		return NULL;
	*error = -ENOMEM;
	chunk = wefti_os_vm_reserve(CHUNK_BYTES);
	if (!chunk)
		return NULL;
	raise_limit(fd / CHUNK + 1);
	if (!cas_release(&directory[fd / CHUNK], &none, chunk))	/* P1 */
		wefti_os_vm_unmap(chunk, CHUNK_BYTES);
	return wefti_fd_find(fd);
}

static struct wefti_fd *entry_of(int fd, int *error)
{
	struct wefti_fd *e;

	*error = -EBADF;
	if (fd < 0)
		return NULL;
	e = wefti_fd_find((uint32_t)fd);
	return likely(e) ? e : make_chunk((uint32_t)fd, error);
}

static void post_both(struct wefti_fd *e)
{
	wefti_side_post(&e->sides, WEFTI_READ_SIDE);
	wefti_side_post(&e->sides, WEFTI_WRITE_SIDE);
}

static uint64_t next_generation(uint64_t word)
{
	return ((word >> WEFTI_FD_GEN_SHIFT) + 1) << WEFTI_FD_GEN_SHIFT;
}

/* No thread uses it. CLOSING -> PLAIN, by one of the threads that find this out. */
static NOINLINE int finish(int fd, struct wefti_fd *e)
{
	uint64_t w = load_seq_cst(&e->word), poller;
	struct wefti_thread *self;
	int error;

	do {
		if (!(w & WEFTI_FD_CLOSING) || (w & WEFTI_FD_USERS))
			return 0;
	} while (!cas_weak_acq_rel(&e->word, &w, next_generation(w)));	/* P2 */

	poller = load_seq_cst(&wefti_poller.word);
	if (poller && xchg_seq_cst(&e->watched, 0))
		wefti_os_epoll_remove(wefti_poller_epoll(poller), fd);
	error = wefti_os_fd_close(fd);
	self = wefti_enter();
	post_both(e);	/* I4 */
	wefti_leave(self);
	return error;
}

int wefti_fd_end(const struct wefti_use *use)
{
	uint64_t w = fetch_sub_release(&use->entry->word,	/* P2 */
				       WEFTI_FD_USER);

	if (unlikely(w & WEFTI_FD_CLOSING) && wefti_fd_users(w) == 1)
		return finish(use->fd, use->entry);
	return 0;
}

int wefti_fd_begin(struct wefti_use *use, int fd)
{
	int error;

	use->fd = fd;
	use->entry = entry_of(fd, &error);
	if (unlikely(!use->entry))
		return error;
	use->word = fetch_add_acquire(&use->entry->word,	/* P3 */
				      WEFTI_FD_USER);
	if (likely(!(use->word & WEFTI_FD_CLOSING)))
		return 0;
	(void)wefti_fd_end(use);
	return -EBADF;
}

int wefti_fd_made(int fd, unsigned kind, uint64_t flags)
{
	int error;
	struct wefti_fd *e = entry_of(fd, &error);
	uint64_t w;

	if (!e)
		return error;
	store_seq_cst(&e->watched, 0);
	w = load_relaxed(&e->word);
	while (!cas_weak_release(&e->word, &w,	/* P3 */
			next_generation(w) | (w & WEFTI_FD_USERS) | flags |
			WEFTI_FD_MADE | (uint64_t)kind << WEFTI_FD_KIND_SHIFT))
		;
	return 0;
}

int wefti_fd_close(int fd)
{
	int error;
	struct wefti_use use = { .fd = fd, .entry = entry_of(fd, &error) };
	struct wefti_fd *e = use.entry;
	struct wefti_thread *self;
	uint64_t w;

	if (!e)
		return error;
	w = load_relaxed(&e->word);
	do {
		if (w & WEFTI_FD_CLOSING)
			return -EBADF;
	} while (!cas_weak_seq_cst(&e->word, &w, (w | WEFTI_FD_CLOSING) +
				   WEFTI_FD_USER));
	if (wefti_fd_users(w) > 0) {
		self = wefti_enter();
		post_both(e);	/* I3 */
		wefti_leave(self);
	}
	return wefti_fd_end(&use);
}

static struct wefti_fd *used_entry(int fd)
{
	struct wefti_fd *e = fd < 0 ? NULL : wefti_fd_find((uint32_t)fd);

	return e && wefti_fd_users(load_seq_cst(&e->word)) ? e : NULL;
}

static void post_anywhere(struct wefti_fd *e)
{
	struct wefti_thread *self = wefti_enter_anywhere();

	post_both(e);
	wefti_leave_anywhere(self);
}

void wefti_fd_changes(int fd)
{
	struct wefti_fd *e = used_entry(fd);
	uint64_t w = e ? load_seq_cst(&e->word) : 0;

	if (!e)
		return;
	while (!cas_weak_seq_cst(&e->word, &w, next_generation(w) |
				 (w & UINT32_MAX)))
		;
	store_seq_cst(&e->watched, 0);
	post_anywhere(e);
}

/* I4 */
void wefti_fd_changed(int fd)
{
	struct wefti_fd *e = used_entry(fd);

	if (e)
		post_anywhere(e);
}

/* The entries of all chunks, for walks. */
#define for_each_entry(e)						\
	for (uint32_t i_ = 0; i_ < load_seq_cst(&limit) * CHUNK; i_++)	\
		if (!((e) = wefti_fd_find(i_)))				\
			i_ |= CHUNK - 1;				\
		else

int wefti_fd_number(const void *entry)
{
	for (uint32_t fd = 0; fd < load_seq_cst(&limit) * CHUNK; fd += CHUNK) {
		uintptr_t at = (uintptr_t)wefti_fd_find(fd);

		if (at && (uintptr_t)entry - at < CHUNK_BYTES)
			return (int)(fd + ((uintptr_t)entry - at) /
				     sizeof(struct wefti_fd));
	}
	return -1;
}

int wefti_fd_any_waits(void)
{
	struct wefti_fd *e;

	for_each_entry(e)
		if (wefti_side_any_waits(&e->sides))
			return 1;
	return 0;
}

void wefti_fd_post_all(void)
{
	struct wefti_fd *e;

	for_each_entry(e)
		if (wefti_fd_users(load_seq_cst(&e->word)))
			post_both(e);
}

void wefti_fd_forget_all(void)
{
	struct wefti_fd *e;

	for_each_entry(e) {
		uint64_t w = load_relaxed(&e->word);

		store_relaxed(&e->word, w & ~(WEFTI_FD_USERS |
					      WEFTI_FD_CLOSING));
		store_relaxed(&e->watched, 0);
		wefti_side_forget(&e->sides);
	}
}

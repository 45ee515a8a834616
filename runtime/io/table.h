/* SPDX-License-Identifier: MIT */
/*
 * io/table.h - what weft knows of a descriptor, by its number
 *
 *	error = wefti_fd_begin(&use, fd)
 *	... the descriptor is not closed, its number is not reused ...
 *	wefti_fd_end(&use)			may close it
 */
#ifndef WEFT_IO_TABLE_H
#define WEFT_IO_TABLE_H

#include <stdalign.h>

#include "io/side.h"

/* word = generation:32 | 0:4 | users:22 | kind:2 | NONBLOCK | CLOSING | ... */
#define WEFTI_FD_CLOSING	UINT64_C(1)	/* weft_close(); calls go on */
#define WEFTI_FD_MADE		UINT64_C(2)	/* made by weft, which knows the kind
						 * and is told of the close */
#define WEFTI_FD_NONBLOCK	UINT64_C(4)	/* MADE, and has O_NONBLOCK */
#define WEFTI_FD_FLAGS		UINT64_C(0x3f)
#define WEFTI_FD_KIND_SHIFT	4		/* if MADE: enum wefti_os_kind */
#define WEFTI_FD_USER		UINT64_C(0x40)
#define WEFTI_FD_USERS		UINT64_C(0x0fffffc0)
#define WEFTI_FD_GEN_SHIFT	32

struct wefti_fd {
	alignas(2 * CACHE_LINE) _Atomic uint64_t word;
	_Atomic uint64_t watched;	/* generation:32 | instance of the poller */
	struct wefti_sides sides;	/* a reading call needs one line */
};

_Static_assert(sizeof(struct wefti_fd) == 2 * CACHE_LINE &&
	       offsetof(struct wefti_fd, sides.side[0].all) < CACHE_LINE,
	       "the word and what readers change are one line");

/* The directory of chunks of entries, for debuggers. */
#define WEFTI_FD_CHUNK		1024u
#define WEFTI_FD_CHUNKS		4096u
const void *wefti_fd_directory(void);

/* A call that is under way. */
struct wefti_use {
	int fd;
	struct wefti_fd *entry;
	uint64_t word;			/* the entry's word when the call began */
};

/*
 * The caller uses fd until wefti_fd_end(). Returns 0, -EBADF (fd is being closed, or is
 * not a descriptor's number), -EMFILE (beyond the table's 4 million) or -ENOMEM.
 */
MUST_USE int wefti_fd_begin(struct wefti_use *use, int fd);

/*
 * After weft_close(), the last user closes fd and returns what close(2) returned;
 * otherwise returns 0.
 */
int wefti_fd_end(const struct wefti_use *use);

/*
 * The entry of the number, or NULL if there is none. For a caller that was given the
 * number.
 */
struct wefti_fd *wefti_fd_find(uint32_t fd);

/*
 * fd is new and weft's: weft_close() will be told. flags: WEFTI_FD_NONBLOCK or 0. The
 * table forgets what it knew of the number. Returns 0, or an error as above; the
 * descriptor then counts as made by others, which is sound.
 */
int wefti_fd_made(int fd, unsigned kind, uint64_t flags);

/* As weft_close(). */
int wefti_fd_close(int fd);

/*
 * Called around a close that is not weft's: the number will belong to another file, or
 * to none. A thread that waits now is woken, and sees another generation. A call that
 * begins between changes() and changed() looks again at the latter. Both act only if a
 * call uses the number; both may be called from handlers.
 */
void wefti_fd_changes(int fd);
void wefti_fd_changed(int fd);

/* The number whose entry this is; -1: it is none. The pointer need not be valid. */
int wefti_fd_number(const void *entry);

/* Does any thread wait for a descriptor? For the report of a deadlock. */
int wefti_fd_any_waits(void);

/* Wakes all waiting threads: the runtime stops. */
void wefti_fd_post_all(void);

/*
 * Called in the child of a fork: no thread uses or waits for any, and nothing is
 * watched.
 */
void wefti_fd_forget_all(void);

static inline int wefti_fd_is_closing(const struct wefti_use *use)
{
	return (load_seq_cst(&use->entry->word) & WEFTI_FD_CLOSING) != 0;
}

static inline uint32_t wefti_fd_generation(uint64_t word)
{
	return (uint32_t)(word >> WEFTI_FD_GEN_SHIFT);
}

/* The generation of the number's present file; 0 before the table knows of it. */
static inline uint32_t wefti_fd_generation_of(int fd)
{
	const struct wefti_fd *e = fd < 0 ? NULL : wefti_fd_find((uint32_t)fd);

	return e ? wefti_fd_generation(load_seq_cst(&e->word)) : 0;
}

static inline unsigned wefti_fd_users(uint64_t word)
{
	return (unsigned)((word & WEFTI_FD_USERS) / WEFTI_FD_USER);
}

#endif

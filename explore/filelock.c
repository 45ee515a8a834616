/* SPDX-License-Identifier: MIT */
/*
 * explore/filelock.c - locks of files: a thread that waits for one has given its turn away
 *
 * The lock is tried without a wait, by the thread and by those that make steps meanwhile: it is
 * the open file's or the process's, whichever thread makes the call. So the first of them
 * whose try succeeds has the lock for the thread that waits. Two threads meet at locks of
 * flock() and of F_OFD_SETLKW by two opens of a file. Those of F_SETLKW are the process's.
 */
#include "explore.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>

#include "real.h"

struct call {
	int fd, command;
	void *lock;		/* a struct flock; NULL: the command is flock()'s */
};

static int is_held(int error)
{
	return error == EAGAIN || error == EACCES;
}

/* 0: another one has it. An error is the last try's to tell. */
static int is_done(void *arguments)
{
	const struct call *c = arguments;
	const int kept = errno;
	const int error = c->lock ? REAL(fcntl)(c->fd, c->command, c->lock) :
				    REAL(flock)(c->fd, c->command | LOCK_NB);
	const int is_free = !error || !is_held(errno);

	errno = kept;
	return is_free;
}

static char key;	/* an unlock happens before the next lock; all files are one */

static void unlocks(const void *where)
{
	wefti_ex_point(wefti_ex_self, WEFTI_EX_FILE_UNLOCK, NULL, where);
	wefti_ex_give(wefti_ex_self, &key);
}

static int locked(int error)
{
	const int kept = errno;

	if (!error)
		wefti_ex_take(wefti_ex_self, &key);
	else if (is_held(kept))
		wefti_ex_found_nothing();
	errno = kept;
	return error;
}

/* 0: the lock, or an error, is there for the next try. -1: a handler has run. */
static int wait_for(struct call *c, const void *where)
{
	return wefti_ex_wait_restarted(&(struct wefti_ex_try){ is_done, c }, NULL, 0,
				   WEFTI_EX_NEVER, WEFTI_EX_FILE_LOCK, where) < 0 ? -1 : 0;
}

/* An unlock is a point, too: it has no wait. */
EXPORT int flock(int fd, int command)
{
	struct call c = { fd, command, NULL };

	if (!wefti_ex_controlled())
		return REAL(flock)(fd, command);
	if (command & LOCK_UN)
		unlocks(CALLER);
	else if (command & LOCK_NB)
		wefti_ex_point(wefti_ex_self, WEFTI_EX_FILE_LOCK, NULL, CALLER);
	else if (wait_for(&c, CALLER) < 0)
		return -1;
	return locked(REAL(flock)(fd, command));
}

/* Which try belongs to a command that waits; 0: it does not wait. */
static int try_of(int command)
{
	return command == F_SETLKW ? F_SETLK : command == F_OFD_SETLKW ? F_OFD_SETLK : 0;
}

static int tries(int command)
{
	return command == F_SETLK || command == F_OFD_SETLK;
}

static int do_fcntl(int fd, int command, void *argument, const void *where)
{
	struct call c = { fd, try_of(command), argument };

	if (!wefti_ex_controlled())
		return REAL(fcntl)(fd, command, argument);
	if (!argument || !(c.command || tries(command)))
		return REAL(fcntl)(fd, command, argument);
	if (((const struct flock *)argument)->l_type == F_UNLCK)
		unlocks(where);
	else if (tries(command))
		wefti_ex_point(wefti_ex_self, WEFTI_EX_FILE_LOCK, NULL, where);
	else if (wait_for(&c, where) < 0)
		return -1;
	return locked(REAL(fcntl)(fd, command, argument));
}

/* Where a file's size has 64 bits, both names are one call. */
EXPORT int fcntl(int fd, int command, ...)
{
	va_list list;
	void *argument;

	va_start(list, command);
	argument = va_arg(list, void *);
	va_end(list);
	return do_fcntl(fd, command, argument, CALLER);
}

EXPORT int fcntl64(int fd, int command, ...) __attribute__((alias("fcntl")));

EXPORT int lockf(int fd, int command, off_t bytes)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_len = bytes };

	if (!wefti_ex_controlled() || command == F_TEST)
		return REAL(lockf)(fd, command, bytes);
	if (command == F_ULOCK)
		lock.l_type = F_UNLCK;
	return do_fcntl(fd, command == F_TLOCK ? F_SETLK : F_SETLKW, &lock, CALLER);
}

EXPORT int lockf64(int fd, int command, off_t bytes) __attribute__((alias("lockf")));

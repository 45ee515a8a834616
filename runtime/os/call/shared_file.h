/* SPDX-License-Identifier: MIT */
/*
 * os/call/shared_file.h - a file that processes share as memory, and which of them live
 *
 * A lock is one byte far behind the file's end, held by an open file description
 * (F_OFD_SETLK). The kernel releases it when the last process with that description ends,
 * however it ends. Process ids play no part: they are reused, and differ between
 * namespaces.
 */
#ifndef WEFT_OS_CALL_SHARED_FILE_H
#define WEFT_OS_CALL_SHARED_FILE_H

#include <stdint.h>

/*
 * Opens a regular file or shared memory object for reading and writing; with
 * `mode` >= 0 makes it where it is missing. Returns the descriptor, closed by
 * exec, or a negative errno value of open(2); -EINVAL: not a regular file.
 */
int wefti_os_file_open(const char *path, int mode);

/* Opens a separate description of the same file. Needs /proc. */
int wefti_os_file_open_again(int fd);

void wefti_os_file_close(int fd);

/* In bytes. Returns 0 or a negative errno value. */
int wefti_os_file_size(int fd, uint64_t *size);
int wefti_os_file_set_size(int fd, uint64_t size);

/*
 * Reserves space for a part of the file, so that no later store to it can fail.
 * Returns 0, -ENOSPC, -EDQUOT, -EOPNOTSUPP (the file system cannot), or -EIO.
 */
int wefti_os_file_reserve(int fd, uint64_t start, uint64_t bytes);

/*
 * Makes a file in memory that no path names. Its size never changes, and all its memory
 * is reserved. `name` is for those that look in /proc. Only this user may open it there.
 * Returns a descriptor with a high number, closed by exec, or a negative errno value.
 * -EFBIG: the program has limited the size of its files.
 */
int wefti_os_file_sealed(const char *name, uint64_t bytes);

/*
 * From now on such a file changes only through the mappings that it has. Before Linux 5.1
 * there is no such seal, and other processes of this user may write to it.
 */
void wefti_os_file_seal_writes(int fd);

/*
 * Which file a descriptor is of, and whether it still is: the program may have closed the
 * descriptor, and have given its number to another file. Both zero: not known.
 */
struct wefti_os_file_id {
	uint64_t device, inode;
};

struct wefti_os_file_id wefti_os_file_identify(int fd);
int wefti_os_file_is(int fd, struct wefti_os_file_id id);

/* Maps the whole file. NULL: there is no address space. */
void *wefti_os_file_map(int fd, uint64_t bytes);
void wefti_os_file_unmap(void *start, uint64_t bytes);

/* Returns 0, or -EAGAIN: another description has it. */
int wefti_os_file_try_lock(int fd, uint32_t byte);

/* The same; sleeps until it can be had. Returns 0 or a negative errno value. */
int wefti_os_file_lock(int fd, uint32_t byte);
void wefti_os_file_unlock(int fd, uint32_t byte);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * os/call/root.h - do names still mean the files that they meant at the start?
 *
 * A program may change its root, its ids and its folder at any time. A library or a
 * file that is opened by name after that may be anybody's.
 */
#ifndef WEFT_OS_CALL_ROOT_H
#define WEFT_OS_CALL_ROOT_H

/*
 * Is the root still the one that it was when the library was loaded, and does the
 * dynamic loader look for libraries by absolute paths only? A moment later it may be
 * otherwise: for the start, and for what is only read.
 */
int wefti_os_root_is_same(void);

/*
 * Opens a file of /proc, if it is one: another root may have anything there. Never
 * waits. Not for links that lead out of /proc. Returns the descriptor or a negative
 * errno value.
 */
long wefti_os_proc_open(const char *path, int flags);

/* What a process's descriptor is, opened once more; pid 0: this process's. */
long wefti_os_proc_open_again(int pid, int fd, int flags);

#endif

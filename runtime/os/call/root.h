/* SPDX-License-Identifier: MIT */
/*
 * os/call/root.h - do names still mean the files that they meant at the start?
 *
 * A program may change its root, its ids and its current folder at any time. A library or
 * a file that is opened by name after that may come from anywhere.
 */
#ifndef WEFT_OS_CALL_ROOT_H
#define WEFT_OS_CALL_ROOT_H

/*
 * Is the root still the same as when the library was loaded, and does the dynamic loader
 * use only absolute paths? The answer may change a moment later. So it is for the start,
 * and for files that are only read.
 */
int wefti_os_root_is_same(void);

/*
 * Opens a file of /proc, and checks that it is one: another root may have anything there.
 * Never waits. Not for links that lead out of /proc. Returns the descriptor or a negative
 * errno value.
 */
long wefti_os_proc_open(const char *path, int flags);

/* Opens the file of a process's descriptor once more; pid 0: this process. */
long wefti_os_proc_open_again(int pid, int fd, int flags);

#endif

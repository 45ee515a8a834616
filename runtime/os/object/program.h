/* SPDX-License-Identifier: MIT */
/* os/object/program.h - can a library be preloaded into what a file is? */
#ifndef WEFT_OS_OBJECT_PROGRAM_H
#define WEFT_OS_OBJECT_PROGRAM_H

enum wefti_os_program {
	WEFTI_PROGRAM_TAKES,	/* it can; or the file cannot be read, or is no program */
	WEFTI_PROGRAM_STATIC,	/* it has no loader */
	WEFTI_PROGRAM_OTHER,	/* of another word size or machine */
	WEFTI_PROGRAM_LIBC,	/* its loader is another libc's */
	WEFTI_PROGRAM_ASAN,	/* AddressSanitizer's library insists on being first */
};

/*
 * The file at path, seen from the folder dirfd; for a script, its interpreter. An empty
 * path means the file that dirfd has open.
 *
 * Uses only system calls, and no malloc(), so it works in the child of a vfork() too.
 */
enum wefti_os_program wefti_os_program(int dirfd, const char *path);

#endif

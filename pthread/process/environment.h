/* SPDX-License-Identifier: MIT */
/*
 * pthread/process/environment.h - what a program that is started gets of LD_PRELOAD
 *
 * A program that cannot take this library (os/object/program.h) would have its loader
 * complain, or not start; so would one in a root where the library is not. Such a
 * program gets the caller's environment without the library's name; other libraries
 * stay.
 *
 *	envp = CHILD_ENVIRONMENT(AT_FDCWD, path, envp);
 */
#ifndef WEFT_PTHREAD_PROCESS_ENVIRONMENT_H
#define WEFT_PTHREAD_PROCESS_ENVIRONMENT_H

#include <alloca.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>

/* Bytes that the changed environment needs. 0: it stays as it is. */
size_t wefti_environment_room(int dirfd, const char *path, char *const *envp);

/* The changed one, in `room`, which has so many bytes. */
char **wefti_environment_without(char *const *envp, void *room);

/*
 * Memory that is not on the stack, for an environment that is too large for that. It is
 * not given back: the program that is started takes the place of all memory, but for the
 * parent's of a vfork().
 */
void *wefti_environment_memory(size_t bytes);

/* As execvp() finds it. NULL: nowhere. */
const char *wefti_environment_find(const char *file, char found[PATH_MAX]);

#define ENVIRONMENT_MOST	8192	/* on the stack */

/* A macro, as what is on the stack has to be the caller's. */
#define CHILD_ENVIRONMENT(dirfd, path, envp) ({				\
	char *const *envp_ = (envp);					\
	size_t bytes_ = wefti_environment_room(dirfd, path, envp_);	\
	void *room_ = bytes_ == 0 ? NULL :				\
		      bytes_ <= ENVIRONMENT_MOST ? alloca(bytes_) :	\
		      wefti_environment_memory(bytes_);			\
									\
	room_ ? wefti_environment_without(envp_, room_) : envp_;	\
})

#endif

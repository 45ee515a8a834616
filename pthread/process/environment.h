/* SPDX-License-Identifier: MIT */
/*
 * pthread/process/environment.h - the LD_PRELOAD of a program that is started
 *
 * If a program cannot load this library (os/object/program.h), its loader would complain,
 * or the program would not start. The same is true in a root without the library. Such a
 * program gets the caller's environment without the library's name. Other libraries stay
 * in it.
 *
 *	envp = CHILD_ENVIRONMENT(AT_FDCWD, path, envp);
 */
#ifndef WEFT_PTHREAD_PROCESS_ENVIRONMENT_H
#define WEFT_PTHREAD_PROCESS_ENVIRONMENT_H

#include <alloca.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>

/* How many bytes the changed environment needs. 0: it need not be changed. */
size_t wefti_environment_room(int dirfd, const char *path, char *const *envp);

/* Makes the changed environment in `room`, which has that many bytes. */
char **wefti_environment_without(char *const *envp, void *room);

/*
 * Memory for an environment that is too large for the stack. It is not given back: the
 * program that is started replaces all memory, except that of a vfork()'s parent.
 */
void *wefti_environment_memory(size_t bytes);

/* Finds a file as execvp() does. NULL: not found. */
const char *wefti_environment_find(const char *file, char found[PATH_MAX]);

#define ENVIRONMENT_MOST	8192	/* on the stack */

/* A macro, because the memory has to be on the caller's stack. */
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

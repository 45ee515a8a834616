/* SPDX-License-Identifier: MIT */
/* pthread/init/unseen.h - children that libc does not see: no fork handler runs there */
#ifndef WEFT_PTHREAD_INIT_UNSEEN_H
#define WEFT_PTHREAD_INIT_UNSEEN_H

#include <stdint.h>
#include <sys/syscall.h>

/* Between begin, before the call, and end, in the parent and in the child. */
struct wefti_unseen {
	int parent;
	int is_blocked;		/* a thread of libc's, which had the mask ... */
	uint64_t mask;
};

/* Does the system call make a child with a copy of the memory? */
int wefti_unseen_copies(long number, const long *a);

static inline int wefti_unseen_is_made_by(long number, const long *a)
{
	switch (number) {
#ifdef SYS_fork
	case SYS_fork:
		return 1;
#endif
#ifdef SYS_clone3
	case SYS_clone3:
#endif
	case SYS_clone:
		return wefti_unseen_copies(number, a);
	}
	return 0;
}

struct wefti_unseen wefti_unseen_begin(void);
void wefti_unseen_end(const struct wefti_unseen *u, int is_child);

#endif

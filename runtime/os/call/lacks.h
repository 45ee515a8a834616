/* SPDX-License-Identifier: MIT */
/*
 * os/call/lacks.h - what this kernel lacks that a user would notice
 *
 * Without it some waits hold kernel threads, or memory or time is lost. os/call/calls.h
 * has the words for it.
 */
#ifndef WEFT_OS_CALL_LACKS_H
#define WEFT_OS_CALL_LACKS_H

struct wefti_os_lack {
	const char *name;	/* as in os/call/calls.h */
	const char *without;	/* the first sentence from there, without its end */
	int is_run;		/* a program under weft run alone would notice */
	int is_told_later;	/* the code that needs it tells of it */
};

typedef void wefti_os_lack_fn(const struct wefti_os_lack *lack, void *arg);

/*
 * Tries each call without an effect: about ten system calls. A filter that the program
 * sets on itself later is not seen.
 */
void wefti_os_lacks(wefti_os_lack_fn *fn, void *arg);

#endif

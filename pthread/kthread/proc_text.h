/* SPDX-License-Identifier: MIT */
/* pthread/kthread/proc_text.h - what a green thread's comm, stat and status say */
#ifndef WEFT_PTHREAD_KTHREAD_PROC_TEXT_H
#define WEFT_PTHREAD_KTHREAD_PROC_TEXT_H

#include <stddef.h>
#include <sys/types.h>

struct wefti_thread;

#define WEFTI_PROC_TEXT_BYTES	4096	/* of the kernel's file */

struct wefti_proc_text {
	size_t bytes;
	char at[WEFTI_PROC_TEXT_BYTES + 512];
};

/* The id by which /proc knows the thread. */
pid_t wefti_proc_id(const struct wefti_thread *t);

/*
 * The first thread's name is the process's. It may be written behind the runtime's back.
 */
int wefti_proc_has_kernels_name(const struct wefti_thread *t);

/*
 * The file of the first kernel thread, with room for WEFTI_PROC_TEXT_BYTES. Returns its
 * length, 0 if it cannot be read.
 */
size_t wefti_proc_read_firsts(const char *file, char *text);

/* `file` is comm, stat or status. The text stays empty if the kernel's cannot be read. */
void wefti_proc_write_text(struct wefti_thread *t, const char *file,
			   struct wefti_proc_text *out);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * self.h - included before everything in a scenario: who the caller is
 *
 * All threads of a scenario run on one kernel thread, so that the word that
 * names the current thread in its thread-local storage cannot.
 */
#ifndef WEFT_MODEL_SELF_H
#define WEFT_MODEL_SELF_H

#define wefti_self		wefti_self_of_the_kernel_thread
#include "cpu.h"
#undef wefti_self

/* The scenario's. */
struct wefti_thread *model_self(void);

/* Marks are put into the runtime's code by loom.sh. */
void m_data_write(const void *p);
void m_data_read(const void *p);

static inline struct wefti_thread *wefti_self(void)
{
	return model_self();
}

#endif

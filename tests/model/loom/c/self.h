/* SPDX-License-Identifier: MIT */
/*
 * self.h - included before everything in a scenario: which thread the caller is
 *
 * All threads of a scenario run on one kernel thread, so that the word that
 * names the current thread in its thread-local storage cannot. The same holds for
 * struct wefti_pt of pthread/core/self.h; loom.sh puts model_pt() in its place. A system
 * call is the scenario's.
 */
#ifndef WEFT_MODEL_SELF_H
#define WEFT_MODEL_SELF_H

#define wefti_self		wefti_self_of_the_kernel_thread
#include "cpu.h"
#undef wefti_self
#include "syscall.h"

/* The scenario's. */
struct wefti_thread *model_self(void);
struct wefti_pt *model_pt(void);
long model_syscall(long number, long a, long b, long c, long d, long e, long f);
#define wefti_arch_syscall	model_syscall

/* Marks are put into the runtime's code by loom.sh. */
void m_data_write(const void *p);
void m_data_read(const void *p);
void model_entry(const volatile void *state);
void model_slots_read(const void *ring, uint64_t word, unsigned n);
void model_slot_written(const void *ring, uint64_t word, unsigned ahead);
uint32_t model_result(uint32_t done);
void model_signpost(void);
struct wefti_pt *model_pt_of(const struct wefti_thread *t);
struct wefti_thread *model_thread(unsigned long handle);
void *model_field(uintptr_t tp, unsigned long offset);

static inline struct wefti_thread *wefti_self(void)
{
	return model_self();
}

#endif

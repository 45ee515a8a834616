/* SPDX-License-Identifier: MIT */
/*
 * light.c - what light threads have in the place of TLS and a control block of their own
 *
 * A sanitizer keeps its state in the TLS of kernel threads, so all threads are light
 * where there is one, and weft run refuses. Here the sources of pthread/ are compiled for
 * light threads all the same, and are linked with a test. light.sed makes pthread/ find
 * what it keeps about a thread by the thread's slot. `build` gives the functions that
 * pthread/ defines other names (weftp_read), in pthread/ and in the test. So the
 * sanitizer's functions are libc's to pthread/, and all of its code is instrumented.
 *
 * A pthread_t is the address of a thread's struct here. libc does not know light
 * threads, so the buffers of cleanup handlers, the unwinding and the keys are kept here.
 * errno is the kernel thread's (hidden_errno.h).
 */
#include "light.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unwind.h>

#include "base/check.h"
#include "mem/slot.h"
#include "pthread/core/real.h"
#include "pthread/core/self.h"
#include "pthread/core/started.h"
#include "sched/vcpu.h"
#include "thread/peek.h"

#define SLOTS	8192
#define KEYS	64
#define ROUNDS	4	/* PTHREAD_DESTRUCTOR_ITERATIONS */

struct light {
	struct wefti_pt pt;
	__pthread_unwind_buf_t *top;	/* of the buffers of cleanup handlers */
	struct _Unwind_Exception unwinds;
	uint64_t field[WEFTI_LIGHT_FIELDS][4];
	void *key[KEYS];
};

struct key {
	_Atomic uint32_t is_used;
	void (*destructor)(void *value);
};

static struct light lights[SLOTS];
static _Thread_local struct light of_kernel_thread;
static struct light *first;		/* the first thread's */
static pthread_t first_handle;
static struct key keys[KEYS];

/* What the compiler calls for volatile accesses: hidden_errno.h says why they do nothing. */
#define HIDDEN(name)				\
	void __tsan_volatile_##name(void *at);	\
	void __tsan_volatile_##name(void *at)	\
	{					\
		(void)at;			\
	}

HIDDEN(read1)
HIDDEN(read2)
HIDDEN(read4)
HIDDEN(read8)
HIDDEN(read16)
HIDDEN(write1)
HIDDEN(write2)
HIDDEN(write4)
HIDDEN(write8)
HIDDEN(write16)

static struct light *light_of(const struct wefti_thread *t)
{
	if (t == wefti_rt.main)
		return first;
	WEFT_CHECK(t->slot < SLOTS, "more threads than light.c has room for");
	return &lights[t->slot];
}

static struct light *me(void)
{
	const struct wefti_thread *self = wefti_self();

	return self && (self->kind == WEFTI_KIND_GREEN || self->kind == WEFTI_KIND_MAIN) ?
	       light_of(self) : &of_kernel_thread;
}

struct wefti_pt *wefti_light_pt(void)
{
	return &me()->pt;
}

struct wefti_pt *wefti_light_of(const struct wefti_thread *t)
{
	return &light_of(t)->pt;
}

int wefti_light_begin(struct wefti_thread *t)
{
	struct light *l = light_of(t);

	memset(l, 0, sizeof(*l));
	return (int)(WEFTI_KERNEL_IDS + t->slot);
}

/* The head of an empty list of robust mutexes points to itself. */
static void *field_of(struct light *l, enum wefti_light_field field)
{
	if (field == WEFTI_LIGHT_ROBUST && !l->field[field][0])
		l->field[field][0] = (uint64_t)(uintptr_t)l->field[field];
	return l->field[field];
}

void *wefti_light_field(enum wefti_light_field field)
{
	return field_of(me(), field);
}

void *wefti_light_field_of(const struct wefti_thread *t, enum wefti_light_field field)
{
	return field_of(light_of(t), field);
}

struct wefti_thread *wefti_pt_was_thread(pthread_t thread)
{
	const char *at = (const char *)thread;
	const char *low = (const char *)lights;
	struct wefti_thread *t;

	if (!wefti_pt_is_started())
		return NULL;
	if (thread == first_handle)
		return wefti_rt.main;
	if (at < low || at >= low + sizeof(lights))
		return NULL;
	t = wefti_slot_get((uint32_t)((size_t)(at - low) / sizeof(*lights)));
	return t && (wefti_peek_kind(t) == WEFTI_KIND_GREEN ||
		     wefti_peek_kind(t) == WEFTI_KIND_FREE) ? t : NULL;
}

pthread_t wefti_pt_handle(const struct wefti_thread *t)
{
	return t == wefti_rt.main ? first_handle : (pthread_t)&lights[t->slot];
}

static pthread_t real_self(void)
{
	pthread_t (*real)(void);

	*(void **)&real = dlsym(RTLD_DEFAULT, "pthread_self");
	return real();
}

EXPORT pthread_t pthread_self(void)
{
	const struct light *l = me();

	return l == &of_kernel_thread ? real_self() :
	       l == first ? first_handle : (pthread_t)l;
}

/* Cleanup handlers and unwinding, as in glibc (nptl/cleanup.c, unwind.c). */

enum { BEFORE, STACK };		/* what is in a buffer's words */

EXPORT void __pthread_register_cancel(__pthread_unwind_buf_t *buf)
{
	buf->__pad[BEFORE] = me()->top;
	buf->__pad[STACK] = __builtin_dwarf_cfa();
	me()->top = buf;
}

EXPORT void __pthread_unregister_cancel(__pthread_unwind_buf_t *buf)
{
	me()->top = buf->__pad[BEFORE];
}

/* Is the frame that has the buffer reached? */
static _Unwind_Reason_Code stop(int version, _Unwind_Action actions,
				_Unwind_Exception_Class class,
				struct _Unwind_Exception *unwinds,
				struct _Unwind_Context *context, void *arg)
{
	__pthread_unwind_buf_t *buf = arg;

	(void)version, (void)class, (void)unwinds;
	if ((actions & _UA_END_OF_STACK) ||
	    _Unwind_GetCFA(context) >= (uintptr_t)buf->__pad[STACK])
		wefti_real.longjmp((struct __jmp_buf_tag *)(void *)buf, 1);
	return _URC_NO_REASON;
}

static _Noreturn void unwind(void)
{
	struct light *l = me();

	memset(&l->unwinds, 0, sizeof(l->unwinds));
	_Unwind_ForcedUnwind(&l->unwinds, stop, l->top);
	abort();
}

EXPORT void __pthread_unwind_next(__pthread_unwind_buf_t *buf)
{
	me()->top = buf->__pad[BEFORE];
	unwind();
}

static _Noreturn void light_exit(void *result)
{
	(void)result;
	unwind();
}

void *wefti_light_libc(const char *name)
{
	return strcmp(name, "pthread_exit") == 0 ? (void *)light_exit :
						   dlsym(RTLD_DEFAULT, name);
}

/* Keys. */

EXPORT int pthread_key_create(pthread_key_t *key, void (*destructor)(void *value))
{
	for (uint32_t i = 0; i < KEYS; i++) {
		uint32_t unused = 0;

		if (!cas_seq_cst(&keys[i].is_used, &unused, 1))
			continue;
		keys[i].destructor = destructor;
		*key = i;
		return 0;
	}
	return EAGAIN;
}

EXPORT int pthread_setspecific(pthread_key_t key, const void *value)
{
	if (key >= KEYS)
		return EINVAL;
	me()->key[key] = (void *)(uintptr_t)value;
	return 0;
}

EXPORT void *pthread_getspecific(pthread_key_t key)
{
	return key < KEYS ? me()->key[key] : NULL;
}

void wefti_light_end(void)
{
	struct light *l = me();

	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < KEYS; i++) {
			void *value = l->key[i];

			l->key[i] = NULL;
			if (value && keys[i].destructor)
				keys[i].destructor(value);
		}
}

__attribute__((constructor(101))) static void begin(void)
{
	first = &of_kernel_thread;
	first_handle = real_self();
}

/* SPDX-License-Identifier: MIT */
/*
 * explore/native_memory.c - accesses to memory of weft's own threads
 *
 * Such a program runs on the runtime's VCPU, and gives it away at points alone. So an access
 * is made before any other thread's, as with pthreads (memory.c). A point is a weft_yield().
 * It is left out where a thread must not yield: with a weft_lock, and between
 * weft_preempt_off() and weft_preempt_on(). In a region of weft_block_begin() a thread may run
 * beside the others. So what it touches there is not looked at.
 *
 * A thread's stack is another one's later. What its functions have touched there is forgotten
 * at its end: from the place of its first frame to that of the deepest one.
 */
#include "native.h"

#include <errno.h>

#include "export.h"
#include "race.h"
#include "weft.h"

#define FRAME_MOST	64u			/* of what begins a thread */
#define STACK_MOST	(UINT64_C(1) << 26)	/* else it is a handler's */

static char ends;	/* the key of the ends of all threads */

struct wefti_ex_thread *wefti_ex_native_toucher(void)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	struct wefti_ex_thread *self;

	if (!wefti_ex.is_on || wefti_ex.is_choosing || !wefti_ex_native_has_clock())
		return NULL;
	self = wefti_ex_native_current();
	if (!self || self->state == WEFTI_EX_ENDED || self->native.blocks)
		return NULL;
	if (here < self->native.stack_low && self->native.stack_top - here < STACK_MOST)
		self->native.stack_low = here;
	return self;
}

void wefti_ex_native_stack_begins(struct wefti_ex_thread *self)
{
	self->native.stack_low = (uintptr_t)__builtin_frame_address(0);
	self->native.stack_top = self->native.stack_low + FRAME_MOST;
	wefti_ex_forget_own();
}

void wefti_ex_native_stack_ends(struct wefti_ex_thread *self)
{
	const int was = wefti_ex_shut();

	wefti_ex_forget((const void *)self->native.stack_low,
			self->native.stack_top - self->native.stack_low);
	wefti_ex_open(was);
}

void wefti_ex_native_gives_end(struct wefti_ex_thread *self)
{
	wefti_ex_give(self, &ends);
	if (self->call.group)
		wefti_ex_give(self, self->call.group);
}

EXPORT int weft_wait_all(int64_t deadline)
{
	const int error = NEXT(weft_wait_all)(deadline);

	if (!error)
		wefti_ex_native_take(wefti_ex_native_current(), &ends);
	return error;
}

EXPORT int weft_group_wait(struct weft_group *group, int64_t deadline, uint64_t *failed)
{
	struct wefti_ex_thread *self = wefti_ex_native_point(WEFTI_EX_GROUP_WAIT, group,
							     WEFTI_EX_GROUP, CALLER);
	const int result = wefti_ex_native_did(self, NEXT(weft_group_wait)(group, deadline,
									   failed));

	if (result != -EDEADLK && result != -EBUSY)
		wefti_ex_native_take(self, group);
	return result;
}

static void enter(uint32_t regions)
{
	struct wefti_ex_thread *self = wefti_ex_native_current();

	if (!self)
		return;
	self->native.stays++;
	self->native.blocks += regions;
}

static void leave(uint32_t regions)
{
	struct wefti_ex_thread *self = wefti_ex_native_current();

	if (!self || !self->native.stays || self->native.blocks < regions)
		return;
	self->native.stays--;
	self->native.blocks -= regions;
}

EXPORT void weft_block_begin(void)
{
	enter(1);
	NEXT(weft_block_begin)();
}

EXPORT void weft_block_end(void)
{
	NEXT(weft_block_end)();
	leave(1);
}

EXPORT void *weft_preempt_off(void)
{
	enter(0);
	return NEXT(weft_preempt_off)();
}

EXPORT void weft_preempt_on(void *held)
{
	NEXT(weft_preempt_on)(held);
	leave(0);
}

static void locked(struct wefti_ex_thread *self, const void *at)
{
	if (!self)
		return;
	wefti_ex_take(self, at);
	self->native.stays++;
}

/* Any thread may unlock it. */
static void unlocks(struct wefti_ex_thread *self, const void *at)
{
	if (!self)
		return;
	wefti_ex_give(self, at);
	self->native.stays -= self->native.stays > 0;
}

#define WORD(name, A)								\
	EXPORT void name##_lock(A lock)						\
	{									\
		struct wefti_ex_thread *self = wefti_ex_native_point(		\
			WEFTI_EX_LOCK, lock, WEFTI_EX_MUTEX, CALLER);		\
										\
		NEXT(name##_lock)(lock);					\
		locked(self, lock);						\
	}									\
	EXPORT int name##_try_lock(A lock)					\
	{									\
		struct wefti_ex_thread *self = wefti_ex_native_point(		\
			WEFTI_EX_TRYLOCK, lock, WEFTI_EX_MUTEX, CALLER);	\
		const int error = wefti_ex_native_did(self, NEXT(name##_try_lock)(lock)); \
										\
		if (!error)							\
			locked(self, lock);					\
		return error;							\
	}									\
	EXPORT void name##_unlock(A lock)					\
	{									\
		unlocks(wefti_ex_native_current(), lock);			\
		NEXT(name##_unlock)(lock);					\
	}

WORD(weft_lock, struct weft_lock *)
WORD(weft_plock, struct weft_plock *)

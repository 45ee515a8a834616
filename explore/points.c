/* SPDX-License-Identifier: MIT */
/*
 * explore/points.c - libweft-points.so: the hooks in a run that is not explored
 *
 * An access costs a call that returns. There is no order to keep: atomics alone do something.
 */
#include "hooks.h"

static inline void touch(const volatile void *at, size_t bytes, enum wefti_ex_access kind,
			 const void *where)
{
	(void)at;
	(void)bytes;
	(void)kind;
	(void)where;
}

static inline void touch_atomic(const volatile void *at, size_t bytes,
				enum wefti_ex_access kind, const void *where)
{
	touch(at, bytes, kind, where);
}

static inline void has_touched(const volatile void *at, int order, enum does does)
{
	(void)at;
	(void)order;
	(void)does;
}

static inline void fence(int order)
{
	(void)order;
}

static inline void enter(const void *where, const void *frame)
{
	(void)where;
	(void)frame;
}

static inline void leave(void)
{
}

static inline void load_module(const void *where)
{
	(void)where;
}

static inline void give(const void *at)
{
	(void)at;
}

static inline void take(const void *at)
{
	(void)at;
}

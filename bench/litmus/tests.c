/* SPDX-License-Identifier: MIT */
/*
 * litmus/tests.c - store buffering, message passing, load buffering,
 * independent reads of independent writes, and a lock whose section leaks
 *
 * In each, "load" and "store" have the order that the table is for; what is
 * said to be relaxed is so in all of them.
 */
#include "litmus/litmus.h"

#define PARTS(order, load, store)					\
									\
static void sb_0_##order(struct litmus_place *p)			\
{									\
	store(&p->x, 1u);						\
	p->read[0] = load(&p->y);					\
}									\
									\
static void sb_1_##order(struct litmus_place *p)			\
{									\
	store(&p->y, 1u);						\
	p->read[1] = load(&p->x);					\
}									\
									\
/* The message, x, is relaxed. */					\
static void mp_0_##order(struct litmus_place *p)			\
{									\
	store_relaxed(&p->x, 1u);					\
	store(&p->y, 1u);						\
}									\
									\
static void mp_1_##order(struct litmus_place *p)			\
{									\
	p->read[0] = load(&p->y);					\
	p->read[1] = load_relaxed(&p->x);				\
}									\
									\
static void lb_0_##order(struct litmus_place *p)			\
{									\
	p->read[0] = load(&p->x);					\
	store(&p->y, 1u);						\
}									\
									\
static void lb_1_##order(struct litmus_place *p)			\
{									\
	p->read[1] = load(&p->y);					\
	store(&p->x, 1u);						\
}									\
									\
static void iriw_0_##order(struct litmus_place *p)			\
{									\
	store(&p->x, 1u);						\
}									\
									\
static void iriw_1_##order(struct litmus_place *p)			\
{									\
	store(&p->y, 1u);						\
}									\
									\
static void iriw_2_##order(struct litmus_place *p)			\
{									\
	p->read[0] = load(&p->x);					\
	p->read[1] = load(&p->y);					\
}									\
									\
static void iriw_3_##order(struct litmus_place *p)			\
{									\
	p->read[2] = load(&p->y);					\
	p->read[3] = load(&p->x);					\
}

PARTS(relaxed, load_relaxed, store_relaxed)
PARTS(acq_rel, load_acquire, store_release)
PARTS(seq_cst, load_seq_cst, store_seq_cst)

/*
 * Two threads each add one to x and y, relaxed, under a lock: taken by a CAS of
 * the order, freed by a store of it. A thread that finds them different saw a
 * section from inside.
 */
#define LOCKED(order, cas, store)					\
									\
static void lock_##order(struct litmus_place *p, unsigned who)		\
{									\
	uint32_t is_free, x, y;						\
									\
	do {								\
		is_free = 0;						\
	} while (!cas(&p->lock, &is_free, 1u));				\
	x = load_relaxed(&p->x);					\
	y = load_relaxed(&p->y);					\
	store_relaxed(&p->x, x + 1);					\
	store_relaxed(&p->y, y + 1);					\
	store(&p->lock, 0u);						\
	p->read[who] = x != y;						\
}									\
									\
static void lock_0_##order(struct litmus_place *p)			\
{									\
	lock_##order(p, 0);						\
}									\
									\
static void lock_1_##order(struct litmus_place *p)			\
{									\
	lock_##order(p, 1);						\
}

LOCKED(relaxed, cas_relaxed, store_relaxed)
LOCKED(acq_rel, cas_acquire, store_release)
LOCKED(seq_cst, cas_seq_cst, store_seq_cst)

/* Both read what was there before either had written. */
static int sb_is_weak(const struct litmus_place *p)
{
	return p->read[0] == 0 && p->read[1] == 0;
}

/* The flag came, and not the message. */
static int mp_is_weak(const struct litmus_place *p)
{
	return p->read[0] == 1 && p->read[1] == 0;
}

/* Each read what the other wrote after its own read. */
static int lb_is_weak(const struct litmus_place *p)
{
	return p->read[0] == 1 && p->read[1] == 1;
}

/* One saw x before y, the other y before x. */
static int iriw_is_weak(const struct litmus_place *p)
{
	return p->read[0] == 1 && p->read[1] == 0 &&
		p->read[2] == 1 && p->read[3] == 0;
}

/* Or one of the two additions was lost. */
static int lock_is_weak(const struct litmus_place *p)
{
	return p->read[0] || p->read[1] || load_relaxed(&p->x) != 2 ||
		load_relaxed(&p->y) != 2;
}

#define TABLE2(name)							\
	const struct litmus_test litmus_##name[LITMUS_ORDERS] = {	\
		{ 2, { name##_0_relaxed, name##_1_relaxed },		\
		  name##_is_weak },					\
		{ 2, { name##_0_acq_rel, name##_1_acq_rel },		\
		  name##_is_weak },					\
		{ 2, { name##_0_seq_cst, name##_1_seq_cst },		\
		  name##_is_weak },					\
	}

#define TABLE4(name)							\
	const struct litmus_test litmus_##name[LITMUS_ORDERS] = {	\
		{ 4, { name##_0_relaxed, name##_1_relaxed,		\
		       name##_2_relaxed, name##_3_relaxed },		\
		  name##_is_weak },					\
		{ 4, { name##_0_acq_rel, name##_1_acq_rel,		\
		       name##_2_acq_rel, name##_3_acq_rel },		\
		  name##_is_weak },					\
		{ 4, { name##_0_seq_cst, name##_1_seq_cst,		\
		       name##_2_seq_cst, name##_3_seq_cst },		\
		  name##_is_weak },					\
	}

TABLE2(sb);
TABLE2(mp);
TABLE2(lb);
TABLE4(iriw);
TABLE2(lock);

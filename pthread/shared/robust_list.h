/* SPDX-License-Identifier: MIT */
/*
 * pthread/shared/robust_list.h - the list of robust mutexes that the kernel walks
 *
 * The list is as glibc keeps it: doubly linked through the mutexes. A forward link,
 * which the kernel follows, points to the second word of a pair. A backward link points
 * to the first word. The kernel walks the list when a kernel thread ends, and that may
 * be at any instruction of ours.
 *
 * Writers
 *   h->list_op_pending  wefti_robust_set_pending
 *   link->next  wefti_robust_set_next
 */
#ifndef WEFT_PTHREAD_SHARED_ROBUST_LIST_H
#define WEFT_PTHREAD_SHARED_ROBUST_LIST_H

#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>

#include "lockfree/atomic.h"

static inline struct robust_list *wefti_robust_link(pthread_mutex_t *m)
{
	return (struct robust_list *)(void *)&m->__data.__list.__next;
}

static inline pthread_mutex_t *wefti_robust_mutex(struct robust_list *link)
{
	return (pthread_mutex_t *)(void *)((char *)link -
		offsetof(pthread_mutex_t, __data.__list.__next));
}

/* The pair of links of which link is the second, as in a mutex. */
static inline struct __pthread_internal_list *
wefti_robust_node(struct robust_list *link)
{
	return (struct __pthread_internal_list *)(void *)
	       ((char *)link - offsetof(struct __pthread_internal_list,
					__next));
}

/*
 * Bit 0 of a pointer to a link tells the kernel that the mutex inherits priorities
 * (pthread/shared/pi.c).
 */
#define WEFTI_ROBUST_PI	((uintptr_t)1)

static inline struct robust_list *wefti_robust_clean(struct robust_list *link)
{
	return (struct robust_list *)((uintptr_t)link & ~WEFTI_ROBUST_PI);
}

static inline struct robust_list *wefti_robust_marked(pthread_mutex_t *m,
						      uintptr_t mark)
{
	return (struct robust_list *)((uintptr_t)wefti_robust_link(m) | mark);
}

/* The kernel may walk the list at any time: each store leaves a complete list. */
static inline void wefti_robust_set_next(struct robust_list *link,
					 struct robust_list *next)
{
	store_seq_cst((_Atomic(struct robust_list *) *)(void *)&link->next,
		      next);
}

/* Notes for the kernel that m is being changed, on the list or not; NULL: none is. */
static inline void wefti_robust_set_pending(struct robust_list_head *h,
					    pthread_mutex_t *m, uintptr_t mark)
{
	store_seq_cst((_Atomic(struct robust_list *) *)(void *)
		      &h->list_op_pending, m ? wefti_robust_marked(m, mark) : NULL);
}

static inline void wefti_robust_enqueue(struct robust_list_head *h,
					pthread_mutex_t *m, uintptr_t mark)
{
	struct robust_list *first = h->list.next, *me = wefti_robust_link(m);
	struct robust_list *second = wefti_robust_clean(first);

	m->__data.__list.__prev = wefti_robust_node(&h->list);
	wefti_robust_set_next(me, first);
	if (second != &h->list)
		wefti_robust_node(second)->__prev = &m->__data.__list;
	wefti_robust_set_next(&h->list, wefti_robust_marked(m, mark));
}

static inline void wefti_robust_dequeue(struct robust_list_head *h,
					pthread_mutex_t *m)
{
	struct robust_list *me = wefti_robust_link(m), *next = me->next;
	struct __pthread_internal_list *prev = m->__data.__list.__prev;

	if (wefti_robust_clean(next) != &h->list)
		wefti_robust_node(wefti_robust_clean(next))->__prev = prev;
	wefti_robust_set_next((struct robust_list *)(void *)&prev->__next,
			      next);
	m->__data.__list.__prev = NULL;
	m->__data.__list.__next = NULL;
}

#endif

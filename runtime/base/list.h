/* SPDX-License-Identifier: MIT */
/*
 * base/list.h - a doubly linked list through a member of its elements
 *
 * The list is a ring through a head that is a link as well, so no operation has
 * a special case. A link that is in no list points to itself: removing it again
 * does nothing, and wefti_list_is_empty tells of a link whether it is in one.
 * Whoever shares a list protects it.
 */
#ifndef WEFT_BASE_LIST_H
#define WEFT_BASE_LIST_H

#include <stdbool.h>

#include "base/compiler.h"

struct wefti_list {
	struct wefti_list *next, *prev;
};

/* For heads and for links; before any other use. */
static inline void wefti_list_init(struct wefti_list *l)
{
	l->next = l;
	l->prev = l;
}

/* Of a head: no element. Of a link: not in a list. */
static inline bool wefti_list_is_empty(const struct wefti_list *l)
{
	return l->next == l;
}

/* The link is in no list. With a head as `place`: to the end of the list. */
static inline void wefti_list_insert_before(struct wefti_list *place,
					    struct wefti_list *link)
{
	link->next = place;
	link->prev = place->prev;
	place->prev->next = link;
	place->prev = link;
}

static inline void wefti_list_push_back(struct wefti_list *head,
					struct wefti_list *link)
{
	wefti_list_insert_before(head, link);
}

static inline void wefti_list_push_front(struct wefti_list *head,
					 struct wefti_list *link)
{
	wefti_list_insert_before(head->next, link);
}

static inline void wefti_list_remove(struct wefti_list *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
	wefti_list_init(link);
}

/* NULL when the list is empty. */
static inline struct wefti_list *wefti_list_pop_front(struct wefti_list *head)
{
	struct wefti_list *link = head->next;

	if (link == head)
		return NULL;
	wefti_list_remove(link);
	return link;
}

/* The loop's body may remove `link`, but no other element. */
#define wefti_list_for_each(link, head)					\
	for (struct wefti_list *link = (head)->next,			\
			       *link##_next = link->next;		\
	     link != (head);						\
	     link = link##_next, link##_next = link->next)

#endif

/* SPDX-License-Identifier: MIT */
/* observe/groups.h - threads that wait in the same place, described once */
#ifndef WEFT_OBSERVE_GROUPS_H
#define WEFT_OBSERVE_GROUPS_H

#include "observe/dump.h"

void wefti_groups_clear(void);

/* Returns 0, or -ENOSPC: the thread must be described alone. */
int wefti_groups_add(const struct wefti_view *view, const uintptr_t *pcs,
		     size_t n);
void wefti_groups_tell(struct wefti_out *o);

#endif

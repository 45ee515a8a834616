/* SPDX-License-Identifier: MIT */
/* atomic/section.c - the table for objects that no instruction can handle */
#include "atomic/section.h"

struct wefti_atomic_entry wefti_atomic_table[1u << WEFTI_ATOMIC_ENTRY_BITS];

/* SPDX-License-Identifier: MIT */
/* explore/access.h - kinds of accesses to memory */
#ifndef WEFT_EXPLORE_ACCESS_H
#define WEFT_EXPLORE_ACCESS_H

enum wefti_ex_access { WEFTI_EX_LOADS, WEFTI_EX_STORES, WEFTI_EX_ATOMIC_LOADS,
		       WEFTI_EX_ATOMIC_STORES };

#endif

/* SPDX-License-Identifier: MIT */
/* explore/export.h - functions that programs call, and where they were called */
#ifndef WEFT_EXPLORE_EXPORT_H
#define WEFT_EXPLORE_EXPORT_H

#define EXPORT	__attribute__((visibility("default")))
#define CALLER	__builtin_return_address(0)

#endif

/* SPDX-License-Identifier: MIT */
/*
 * u.h - types that programs for Plan 9 expect, for programs compiled by weft 9c
 *
 * It must come first, because it says which of libc's names the headers show. It has the
 * system's headers in which the short names of weft/plan9.h and libc.h are other things.
 */
#ifndef WEFT_PLAN9_U_H
#define WEFT_PLAN9_U_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE	1
#endif
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/times.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <weft/plan9.h>

/* The library's own sources have no short names from there. */
typedef unsigned char uchar;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef long long vlong;
typedef unsigned long long uvlong;
typedef unsigned short ushort;
typedef signed char schar;
typedef uintptr_t uintptr;
typedef intptr_t intptr;
typedef uint8_t u8int;
typedef uint16_t u16int;
typedef uint32_t u32int;
typedef uint64_t u64int;
typedef int8_t s8int;
typedef int16_t s16int;
typedef int32_t s32int;
typedef int64_t s64int;
typedef uint32_t Rune;

#endif

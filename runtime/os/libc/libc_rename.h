/* SPDX-License-Identifier: MIT */
/*
 * os/libc/libc_rename.h - calls of libc that no program can answer
 *
 * The compiler is told to include this before each source of a library (-include). A
 * call of close() then goes to wefti_libc_close(), in arch/<cpu>/libc_entry.S, which
 * jumps to libc's own. The sources say close().
 *
 * Headers that check calls (_FORTIFY_SOURCE) would call __read_chk() and its like in
 * place of what is renamed here, so they do not check.
 *
 * Rejected: to tell the linker (--wrap). It would do for the shared libraries, and
 * libweft.a would call by name.
 */
#ifndef WEFT_OS_LIBC_LIBC_RENAME_H
#define WEFT_OS_LIBC_LIBC_RENAME_H

#include "os/libc/libc_names.h"

#undef _FORTIFY_SOURCE

/*
 * The functions that stand before libc's have libc's declarations, by which a compiler
 * takes some of their pointers for never null, and leaves out the checks. Programs pass
 * null pointers to be told EFAULT. (-fno-delete-null-pointer-checks does not keep gcc 12
 * from it.)
 */
#ifdef WEFTI_INTERPOSES
#include <features.h>
#undef __nonnull
#define __nonnull(params)
#endif

#define WEFTI_PRAGMA(text)	_Pragma(#text)
#define WEFTI_LIBC_RENAME(name) \
	WEFTI_PRAGMA(redefine_extname name wefti_libc_##name)

WEFTI_LIBC_ONLY(WEFTI_LIBC_RENAME)
#ifndef WEFTI_INTERPOSES
WEFTI_LIBC_INTERPOSED(WEFTI_LIBC_RENAME)
#endif

#endif

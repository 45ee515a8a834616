/* SPDX-License-Identifier: MIT */
/*
 * pthread/thread/code_on_stack.c - stacks on which code may run
 *
 * GCC's nested functions put code on the stack if their address is taken. A program or a
 * library asks for such stacks by a header that the linker writes. libc makes its own
 * stacks executable then. If it loads such a library later, it does so for all existing
 * stacks. We do the same when dlopen() is over (pthread/init/dlopen.c).
 *
 * Writers
 *   unseen  wefti_code_on_stack, wefti_code_on_stack_again
 */
#include "pthread/thread/code_on_stack.h"

#include "base/compiler.h"
#include "base/log.h"
#include "lockfree/atomic.h"
#include "mem/stack_code.h"
#include "os/object/code_on_stack.h"

/* A library may have been loaded that has not been looked at. */
static _Atomic uint8_t unseen = 1;

void wefti_code_on_stack(void)
{
	if (likely(!load_relaxed(&unseen)))
		return;
	store_relaxed(&unseen, 0);
	if (!wefti_stack_allows_code() && wefti_os_code_on_stack() &&
	    wefti_stack_allow_code() != 0)
		wefti_log(WEFTI_LOG_WARNING, "weft: no memory to allow code on all "
			  "stacks, as the program asks\n");
}

void wefti_code_on_stack_again(void)
{
	store_relaxed(&unseen, 1);
}

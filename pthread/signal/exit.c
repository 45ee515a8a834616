/* SPDX-License-Identifier: MIT */
/* pthread/signal/exit.c - pthread_exit(), by which a thread acts on a cancellation too */
#include "pthread/core/real.h"
#include "pthread/core/self.h"
#include "pthread/signal/cancel.h"

EXPORT void pthread_exit(void *result)
{
	wefti_pt.result = result;
	wefti_cancel_end();
	REAL(pthread_exit)(result);
	__builtin_unreachable();
}

/* SPDX-License-Identifier: MIT */
/* arch/aarch64/cpu.c - nothing has to be found out on this processor */
#include "cpu.h"

_Thread_local struct wefti_thread *wefti_tls_self;

void wefti_arch_init(void)
{
}

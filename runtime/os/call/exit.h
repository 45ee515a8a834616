/* SPDX-License-Identifier: MIT */
/* os/call/exit.h - the process ends at once, without its atexit functions */
#ifndef WEFT_OS_CALL_EXIT_H
#define WEFT_OS_CALL_EXIT_H

_Noreturn void wefti_os_exit(int status);

#endif

/* SPDX-License-Identifier: MIT */
/* os/call/exit.c - the process ends at once, without its atexit functions */
#include "os/call/exit.h"

#include <unistd.h>

void wefti_os_exit(int status)
{
	_exit(status);
}

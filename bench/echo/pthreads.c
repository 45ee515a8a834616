/* SPDX-License-Identifier: MIT */
/* echo/pthreads.c - the server of the suite, compiled for this variant */
#include <errno.h>

#define FACE_PTHREADS
#include "echo/serve.h"

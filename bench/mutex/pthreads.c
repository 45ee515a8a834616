/* SPDX-License-Identifier: MIT */
/* mutex/pthreads.c - the bodies of the suite, compiled for this variant */
#define FACE_PTHREADS
#include "mutex/bodies.h"

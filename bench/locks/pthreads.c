/* SPDX-License-Identifier: MIT */
/* locks/pthreads.c - the bodies of the suite, compiled for this variant */
#define FACE_PTHREADS
#include "locks/bodies.h"

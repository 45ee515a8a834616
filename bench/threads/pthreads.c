/* SPDX-License-Identifier: MIT */
/* threads/pthreads.c - the bodies of the suite, compiled for this variant */
#define FACE_PTHREADS
#include "threads/bodies.h"

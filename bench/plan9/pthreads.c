/* SPDX-License-Identifier: MIT */
/* plan9/pthreads.c - the bodies of the suite, compiled for this variant */
#define FACE_PTHREADS
#include "plan9/bodies.h"

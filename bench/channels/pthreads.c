/* SPDX-License-Identifier: MIT */
/* channels/pthreads.c - the bodies of the suite, compiled for this variant */
#define FACE_PTHREADS
#include "channels/bodies.h"

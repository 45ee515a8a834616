/* SPDX-License-Identifier: MIT */
/* locks/light.c - the bodies of the suite, compiled for this variant */
#define FACE_LIGHT
#include "locks/bodies.h"

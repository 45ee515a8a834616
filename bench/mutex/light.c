/* SPDX-License-Identifier: MIT */
/* mutex/light.c - the bodies of the suite, compiled for this variant */
#define FACE_LIGHT
#include "mutex/bodies.h"

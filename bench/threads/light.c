/* SPDX-License-Identifier: MIT */
/* threads/light.c - the bodies of the suite, compiled for this variant */
#define FACE_LIGHT
#include "threads/bodies.h"

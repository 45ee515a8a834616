/* SPDX-License-Identifier: MIT */
/* plan9/light.c - the bodies of the suite, compiled for this variant */
#define FACE_LIGHT
#include "plan9/bodies.h"

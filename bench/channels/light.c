/* SPDX-License-Identifier: MIT */
/* channels/light.c - the bodies of the suite, compiled for this variant */
#define FACE_LIGHT
#include "channels/bodies.h"

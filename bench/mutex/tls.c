/* SPDX-License-Identifier: MIT */
/* mutex/tls.c - the bodies of the suite, compiled for this variant */
#define FACE_TLS
#include "mutex/bodies.h"

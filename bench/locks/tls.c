/* SPDX-License-Identifier: MIT */
/* locks/tls.c - the bodies of the suite, compiled for this variant */
#define FACE_TLS
#include "locks/bodies.h"

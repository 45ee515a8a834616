/* SPDX-License-Identifier: MIT */
/* plan9/tls.c - the bodies of the suite, compiled for this variant */
#define FACE_TLS
#include "plan9/bodies.h"

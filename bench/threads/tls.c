/* SPDX-License-Identifier: MIT */
/* threads/tls.c - the bodies of the suite, compiled for this variant */
#define FACE_TLS
#include "threads/bodies.h"

/* SPDX-License-Identifier: MIT */
/* channels/tls.c - the bodies of the suite, compiled for this variant */
#define FACE_TLS
#include "channels/bodies.h"

/* SPDX-License-Identifier: MIT */
/* echo/light.c - the server of the suite, compiled for this variant */
#include <errno.h>

#define FACE_LIGHT
#include "echo/serve.h"

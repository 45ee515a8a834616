/* SPDX-License-Identifier: MIT */
/* echo/tls.c - the server of the suite, compiled for this variant */
#include <errno.h>

#define FACE_TLS
#include "echo/serve.h"

/* SPDX-License-Identifier: MIT */
/* init/tell.h - what the runtime chose when it started, and why */
#ifndef WEFT_INIT_TELL_H
#define WEFT_INIT_TELL_H

#include "weft/runtime.h"

/* Lines of WEFT_LOG=info. The runtime has just been started, with options or NULL. */
void wefti_tell_start(const struct weft_options *options);

#endif

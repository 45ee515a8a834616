/* SPDX-License-Identifier: MIT */
/* init/chosen.h - prints what the runtime chose at its start, and why */
#ifndef WEFT_INIT_CHOSEN_H
#define WEFT_INIT_CHOSEN_H

#include "weft/runtime.h"

/* Prints lines of WEFT_LOG=info. The runtime was just started, with options or NULL. */
void wefti_tell_start(const struct weft_options *options);

/* Can threads run in a program with this sanitizer? Returns 0 or -ENOTSUP, with a line. */
int wefti_check_sanitizer(void);

#endif

/* SPDX-License-Identifier: MIT */
/* pthread/init/layout.h - what a debugger has to know of this layer */
#ifndef WEFT_PTHREAD_INIT_LAYOUT_H
#define WEFT_PTHREAD_INIT_LAYOUT_H

/* Called when the runtime has been started. */
void wefti_pt_layout_begin(void);

#endif

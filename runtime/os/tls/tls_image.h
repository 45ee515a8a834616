/* SPDX-License-Identifier: MIT */
/* os/tls/tls_image.h - what static TLS is like before anybody has written to it */
#ifndef WEFT_OS_TLS_TLS_IMAGE_H
#define WEFT_OS_TLS_TLS_IMAGE_H

#include <stdint.h>

/*
 * Finds where the loader counts libraries with TLS, by a block that has just
 * been built. Once, before the others.
 */
void wefti_tls_image_find(uintptr_t fresh_tp);

/*
 * Makes the static TLS of a block like new. Returns 0 when it cannot: the loader
 * has libraries that the image does not know. All of it is then to be made
 * anew, also what was written here.
 */
int wefti_tls_image_apply(uintptr_t tp);

/* The same by the loader; its result is the image, if there is no good one. */
void wefti_tls_image_make(uintptr_t tp);

#endif

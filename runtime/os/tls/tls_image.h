/* SPDX-License-Identifier: MIT */
/* os/tls/tls_image.h - an image of static TLS, as it is before any write */
#ifndef WEFT_OS_TLS_TLS_IMAGE_H
#define WEFT_OS_TLS_TLS_IMAGE_H

#include <stdint.h>

/*
 * Finds where the loader counts libraries with TLS, by a block that has just been built.
 * Called once, before the other functions.
 */
void wefti_tls_image_find(uintptr_t fresh_tp);

/*
 * Makes the static TLS of a block like new. Returns 0 if it cannot: the loader has
 * libraries that the image does not know. Then the whole static TLS has to be initialized
 * again, also what was written here.
 */
int wefti_tls_image_apply(uintptr_t tp);

/* The same by the loader. If there is no valid image, the result becomes the image. */
void wefti_tls_image_make(uintptr_t tp);

#endif

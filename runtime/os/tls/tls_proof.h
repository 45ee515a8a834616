/* SPDX-License-Identifier: MIT */
/* os/tls/tls_proof.h - what was found of libc's layout, proved by what libc and Linux do */
#ifndef WEFT_OS_TLS_TLS_PROOF_H
#define WEFT_OS_TLS_TLS_PROOF_H

#include <stddef.h>
#include <stdint.h>

/*
 * Called by the kernel thread that was looked at, on its own block and with that stack.
 * at_start is its static TLS as it was before its first malloc. Changes the layout in
 * nothing. Returns NULL, or what does not hold.
 */
const char *wefti_tls_prove(const char *stack, size_t bytes, const uintptr_t *at_start);

/*
 * Called on any block: shows libc a cancellation that is not to be acted on. Returns
 * NULL, or what does not hold.
 */
const char *wefti_tls_prove_cancel(void);

#endif

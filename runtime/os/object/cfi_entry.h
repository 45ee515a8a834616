/* SPDX-License-Identifier: MIT */
/* os/object/cfi_entry.h - what .eh_frame has for an instruction */
#ifndef WEFT_OS_OBJECT_CFI_ENTRY_H
#define WEFT_OS_OBJECT_CFI_ENTRY_H

#include "os/object/cfi_bytes.h"

#define WEFTI_CFI_ENTRY_MOST	65536	/* bytes of an entry: none that is right has more */

struct wefti_cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t link;		/* the register that has the return address */
	uint8_t encoding;	/* of the function's address */
	int has_more;		/* bytes of augmentation */
	struct wefti_bytes code;
};

/*
 * The common entry and the instructions of the function that pc is in, and the function's
 * address. Returns 0, or -1: there are none.
 */
int wefti_os_cfi_entries(uintptr_t pc, struct wefti_cie *c, struct wefti_bytes *code,
			 uintptr_t *low);

#endif

/* SPDX-License-Identifier: MIT */
/* mem/dense.c - grows a dense table; mem/dense.h has the argument */
#include "mem/dense.h"

#include <errno.h>

#include "os/call/vm.h"

static int make_chunk(_Atomic(char *) *chunk, size_t item_bytes)
{
	if (load_acquire(chunk))	/* P1: from grow; P2 passes it on */
		return 0;

	size_t page = wefti_os_page_size();
	size_t bytes = (WEFTI_DENSE_CHUNK * item_bytes + page - 1) & ~(page - 1);
	char *mine = wefti_os_vm_reserve(bytes);
	char *old = NULL;

	if (!mine)
		return -ENOMEM;
	/* As for stacks: neighbours with the same advice are one mapping. */
	wefti_os_vm_nohugepage(mine, bytes);
	if (!cas_release(chunk, &old, mine)) {	/* P1: to at and grow */
		wefti_os_vm_unmap(mine, bytes);		/* another thread made it */
		(void)load_acquire(chunk);		/* P1: from its grow */
	}
	return 0;
}

COLD int wefti_dense_grow(struct wefti_dense *d, size_t item_bytes,
			  uint32_t count, uint32_t *first)
{
	uint32_t n = load_relaxed(&d->next);	/* a guess; the CAS checks it */

	do {
		if (count > WEFTI_DENSE_MOST - n)
			return -ENOMEM;
		for (uint32_t c = n / WEFTI_DENSE_CHUNK;
		     c <= (n + count - 1) / WEFTI_DENSE_CHUNK; c++) {
			int error = make_chunk(&d->chunk[c], item_bytes);

			if (error)
				return error;
		}
	} while (!cas_weak_release(&d->next, &n, n + count));	/* P2: to limit */
	*first = n;
	return 0;
}

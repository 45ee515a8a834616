/* SPDX-License-Identifier: MIT */
/*
 * os/tls/tls_image.c - an image of static TLS, as it is before any write
 *
 * The loader's own initialization takes one lock for the whole process. Two VCPUs that
 * spawn would contend for it all the time (a fork-join program was slower on two VCPUs
 * than on one). So the static TLS of a fresh block is kept as an image, and copied over
 * that of a block that is reused.
 *
 * The image is right until a library with TLS is loaded or unloaded. Before the loader
 * then touches any thread's block, it changes words of _rtld_global that are side by
 * side: the highest module number, the list of modules, how much static TLS is in use,
 * the generation. We compare all of them after the copy: a library that was loaded since
 * the image was made may have been initialized in the block before we copied over it. Then
 * the loader initializes the block. To check that these are the right words, the generation is looked for among them. Each
 * block's table of dynamic TLS has the generation too. If it is not found, there is no
 * image, and the loader initializes every block.
 *
 * Most of static TLS is room for libraries that may be loaded. One of the words says how
 * much is in use. It is believed if the TLS of all objects is within that.
 *
 * An image that is replaced stays allocated, some kilobytes for each library:
 * another kernel thread may be copying it.
 *
 * Writers
 *   current  wefti_tls_image_make
 *
 * Pairs
 *   P1  make publishes the image  ->  apply loads it: its bytes
 *   P2  the loader's stores of its words, then of TLS  ->  our copy, then our check.
 *       The loader synchronizes by its own locks, we by the fence here.
 */
#include "os/tls/tls_image.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "cpu.h"
#include "lockfree/atomic.h"
#include "os/libc/real.h"
#include "os/tls/tls_layout.h"

#define WORDS_BEFORE	2	/* the list of modules: highest number, gaps */
#define WORDS_AFTER	6	/* counts, sizes, the first table, generation */
#define WORDS		(WORDS_BEFORE + 1 + WORDS_AFTER)
#define USED		(WORDS_BEFORE + 2)	/* bytes of static TLS in use */

_Static_assert(WORDS % 3 == 0, "they are compared by threes");

struct image {
	uintptr_t loader[WORDS];
	intptr_t at;		/* from the thread pointer */
	size_t bytes;
	char data[];
};

static _Atomic(struct image *) current;
static _Atomic uintptr_t *loader_words;		/* NULL: not known */

static void copy_loader_words(uintptr_t *out)
{
	for (int i = 0; i < WORDS; i++)
		out[i] = load_relaxed(&loader_words[i]);
}

static ALWAYS_INLINE int loader_is_as(const uintptr_t *then)
{
	const _Atomic uintptr_t *now = loader_words;
	uintptr_t differs = 0;

	for (int i = 0; i < WORDS; i += 3)
		differs |= (load_relaxed(&now[i]) ^ then[i]) |
			   (load_relaxed(&now[i + 1]) ^ then[i + 1]) |
			   (load_relaxed(&now[i + 2]) ^ then[i + 2]);
	return differs == 0;
}

void wefti_tls_image_find(uintptr_t fresh_tp)
{
	char *global = wefti_os_real("_rtld_global");
	const uint32_t *list = wefti_os_real(
		"_thread_db_rtld_global__dl_tls_dtv_slotinfo_list");
	const char *stacks = (const char *)wefti_tls_layout.stacks_used;
	const uintptr_t *dtv = wefti_arch_tp_dtv(fresh_tp);
	_Atomic uintptr_t *words;

	if (!global || !list)
		return;
	words = (_Atomic uintptr_t *)(void *)(global + list[2]) - WORDS_BEFORE;
	/* The lists of stacks change with every thread. */
	if (stacks >= (const char *)words &&
	    stacks < (const char *)(words + WORDS))
		return;
	for (int i = WORDS_BEFORE + 1; i < WORDS; i++)
		if (dtv[0] && load_relaxed(&words[i]) == dtv[0])
			loader_words = words;
}

struct range {
	uintptr_t from, to;
};

static struct range all_of(uintptr_t tp)
{
	struct range r;

	wefti_arch_static_tls(tp, &wefti_tls_layout.sizes, &r.from, &r.to);
	return r;
}

/* An object's TLS in this thread: if it is static, is it within `used`? */
static int object_fits(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct range *used = arg, all = all_of(wefti_arch_tp_get());
	uintptr_t data = (uintptr_t)info->dlpi_tls_data;

	(void)size;
	if (data < all.from || data >= all.to)
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS &&
		    (data < used->from ||
		     data + info->dlpi_phdr[i].p_memsz > used->to))
			return 1;
	return 0;
}

/* The part of static TLS that may have been written to. */
static struct range used_of(uintptr_t tp, const uintptr_t *loader)
{
	uintptr_t here = wefti_arch_tp_get();
	struct range all = all_of(tp), used, used_here;

	if (loader[USED] < sizeof(void *) || loader[USED] > all.to - all.from)
		return all;
	wefti_arch_static_tls_used(tp, loader[USED], &used.from, &used.to);
	wefti_arch_static_tls_used(here, loader[USED], &used_here.from,
				   &used_here.to);
	return dl_iterate_phdr(object_fits, &used_here) ? all : used;
}

int wefti_tls_image_apply(uintptr_t tp)
{
	struct image *image = load_acquire(&current);	/* P1 */

	if (unlikely(!image))
		return 0;
	memcpy((void *)(tp + (uintptr_t)image->at), image->data, image->bytes);
	fence_seq_cst();	/* P2 */
	return loader_is_as(image->loader);
}

void wefti_tls_image_make(uintptr_t tp)
{
	struct range all = all_of(tp), used;
	struct image *known = load_acquire(&current), *image = NULL;	/* P1 */

	if (loader_words && !(known && loader_is_as(known->loader)))
		image = malloc(sizeof(*image) + all.to - all.from);
	if (image)
		copy_loader_words(image->loader);
	wefti_tls_layout.allocate_init((void *)tp, 1);
	if (!image)
		return;
	used = used_of(tp, image->loader);
	image->at = (intptr_t)(used.from - tp);
	image->bytes = used.to - used.from;
	memcpy(image->data, (void *)used.from, image->bytes);
	fence_seq_cst();	/* P2 */
	if (loader_is_as(image->loader))
		store_release(&current, image);		/* P1 */
	else
		free(image);
}

/* SPDX-License-Identifier: MIT */
/* os/libc/allocator.c - whose malloc() the program has */
#include "os/libc/allocator.h"

#include <dlfcn.h>
#include <link.h>

#include "os/libc/named.h"
#include "os/libc/real.h"

int wefti_os_allocator_is_served;

static const char *const known[] = {
	"libjemalloc.so", "libtcmalloc.so", "libtcmalloc_minimal.so",
	"libmimalloc.so",
};

/*
 * The object that has an address. dladdr() would tell it too, but it looks at each symbol
 * of that object: 30 us for libc's, in each process.
 */
struct object {
	uintptr_t address, base;
	const char *path;	/* NULL: there is none */
	int count;		/* the program is the first */
};

static int has_address(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct object *o = arg;

	(void)size;
	o->count++;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD ||
		    o->address - info->dlpi_addr - p->p_vaddr >= p->p_memsz)
			continue;
		o->base = info->dlpi_addr;
		o->path = info->dlpi_name;
		return 1;
	}
	return 0;
}

static struct object object_of(const void *address)
{
	struct object o = { .address = (uintptr_t)address };

	(void)dl_iterate_phdr(has_address, &o);
	return o;
}

/*
 * If a program is not PIE and takes the function's address, the search may find a stub
 * for the function in the program.
 */
static int is_stub(const void *found)
{
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	return object_of(found).count == 1 &&
	       dladdr1(found, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
	       symbol->st_shndx == SHN_UNDEF;
}

/* weft explore's library looks at what malloc() gives, and calls the next one. */
static const char *const in_between[] = { "libweft-explore.so" };

static void *find_function(void)
{
	static const char *const names[] = {
		"malloc", "calloc", "realloc", "free", "posix_memalign",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		void *found = dlsym(RTLD_DEFAULT, names[i]);

		if (!found || !is_stub(found))
			return found;
	}
	return wefti_os_real(names[0]);
}

int wefti_os_allocator_is_known(const char *path)
{
	return wefti_os_is_named(path, known, sizeof(known) / sizeof(*known));
}

enum wefti_os_allocator wefti_os_allocator_find(uintptr_t *base)
{
	const void *of_malloc = find_function();
	struct object o = object_of(of_malloc);

	if (o.path && wefti_os_is_named(o.path, in_between, 1)) {
		of_malloc = dlsym(RTLD_NEXT, "malloc");
		o = object_of(of_malloc);
	}
	if (!of_malloc || !o.path)
		return WEFTI_ALLOCATOR_OTHER;
	*base = o.base;
	if (o.base == object_of(wefti_os_real("gnu_get_libc_version")).base)
		return WEFTI_ALLOCATOR_LIBC;
	return wefti_os_allocator_is_known(o.path) ? WEFTI_ALLOCATOR_KNOWN :
						     WEFTI_ALLOCATOR_OTHER;
}

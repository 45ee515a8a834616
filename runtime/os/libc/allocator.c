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
 * If a program is not PIE and takes the function's address, the search may find a stub
 * for the function in the program.
 */
static void *find_function(void)
{
	static const char *const names[] = {
		"malloc", "calloc", "realloc", "free", "posix_memalign",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		void *found = dlsym(RTLD_DEFAULT, names[i]);
		const ElfW(Sym) *symbol = NULL;
		Dl_info info;

		if (!found || !dladdr1(found, &info, (void **)&symbol,
				       RTLD_DL_SYMENT) ||
		    !symbol || symbol->st_shndx != SHN_UNDEF)
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
	void *of_malloc = find_function();
	void *of_libc = wefti_os_real("gnu_get_libc_version");
	Dl_info a, b;

	if (!of_malloc || !dladdr(of_malloc, &a) || !dladdr(of_libc, &b))
		return WEFTI_ALLOCATOR_OTHER;
	*base = (uintptr_t)a.dli_fbase;
	if (a.dli_fbase == b.dli_fbase)
		return WEFTI_ALLOCATOR_LIBC;
	return wefti_os_allocator_is_known(a.dli_fname) ?
		       WEFTI_ALLOCATOR_KNOWN : WEFTI_ALLOCATOR_OTHER;
}

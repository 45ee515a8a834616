/* SPDX-License-Identifier: MIT */
/*
 * pthread/uring.c - io_uring: which programs are told that there is none
 *
 * The kernel has kernel threads of its own in the process for it, some for each kernel
 * thread that submits. A program that is linked with libaio as well as with liburing
 * takes libaio where the kernel has no io_uring, and kernel threads for neither
 * requests nor who waits for them (pthread/kaio.c). So that is what it is told, once
 * there are green threads, unless WEFT_IO_URING says otherwise.
 */
#include "pthread/uring.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>

#include "base/format.h"
#include "os/named.h"
#include "pthread/real.h"
#include "pthread/start.h"
#include "sched/vcpu.h"

#define STDERR	2

struct library {
	const char *name;
	const char *path;	/* of the one that is loaded; NULL: none */
};

static int find(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct library *l = arg;

	(void)size;
	if (!wefti_os_is_named(info->dlpi_name, &l->name, 1))
		return 0;
	l->path = info->dlpi_name;
	return 1;
}

static const char *path_of(const char *name)
{
	struct library l = { .name = name };

	dl_iterate_phdr(find, &l);
	return l.path;
}

int wefti_uring_is_refused(int has_other_way)
{
	int refused;

	if (!wefti_pt_is_started())
		return 0;
	refused = wefti_rt.settings.io_uring == WEFTI_IO_URING_NO ||
		  (wefti_rt.settings.io_uring == WEFTI_IO_URING_AUTO &&
		   has_other_way);
	if (refused && wefti_rt.settings.verbose)
		wefti_print(STDERR, "weft: io_uring: refused, see "
			    "WEFT_IO_URING\n");
	return refused;
}

/* liburing's own. NULL: the program is to be told that there is none. */
static void *real(const char *name)
{
	const char *path = path_of("liburing.so");
	void *library, *found;

	if (!path || wefti_uring_is_refused(path_of("libaio.so") != NULL))
		return NULL;
	library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return NULL;
	found = dlsym(library, name);
	(void)dlclose(library);		/* whoever calls has it too */
	return found;
}

EXPORT int io_uring_queue_init(unsigned entries, struct io_uring *ring,
			       unsigned flags)
{
	__typeof__(io_uring_queue_init) *fn = real("io_uring_queue_init");

	return fn ? fn(entries, ring, flags) : -ENOSYS;
}

EXPORT int io_uring_queue_init_params(unsigned entries, struct io_uring *ring,
				      struct io_uring_params *params)
{
	__typeof__(io_uring_queue_init_params) *fn =
		real("io_uring_queue_init_params");

	return fn ? fn(entries, ring, params) : -ENOSYS;
}

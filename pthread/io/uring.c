/* SPDX-License-Identifier: MIT */
/*
 * pthread/io/uring.c - io_uring: which programs are told that there is none
 *
 * For io_uring the kernel keeps kernel threads of its own in the process, some for each
 * kernel thread that submits. A program that is linked with both libaio and liburing uses
 * libaio if the kernel has no io_uring. Then neither requests nor the threads that wait
 * for them need kernel threads (pthread/io/kaio.c). So such a program is told that there
 * is no io_uring, once there are green threads, unless WEFT_IO_URING says otherwise.
 */
#include "pthread/io/uring.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <linux/io_uring.h>

#include "base/log.h"
#include "os/libc/named.h"
#include "pthread/core/real.h"
#include "pthread/core/self.h"
#include "pthread/core/started.h"
#include "sched/spare.h"

#ifndef IORING_SETUP_SINGLE_ISSUER
#define IORING_SETUP_SINGLE_ISSUER	(1u << 12)
#endif
#ifndef IORING_SETUP_DEFER_TASKRUN
#define IORING_SETUP_DEFER_TASKRUN	(1u << 13)
#endif

struct library {
	const char *name;
	const char *path;	/* of the loaded library; NULL: not loaded */
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

static int is_refused(int has_other_way)
{
	const struct wefti_settings *s = &wefti_rt.settings;
	int refused = s->io_uring == WEFTI_IO_URING_NO ||
		      (s->io_uring == WEFTI_IO_URING_AUTO && has_other_way);

	if (refused)
		wefti_log(WEFTI_LOG_INFO, "weft: io_uring: refused%s; "
			  "WEFT_IO_URING=yes allows it\n",
			  s->io_uring == WEFTI_IO_URING_AUTO ?
			  ", as the program has libaio too" : "");
	return refused;
}

/*
 * A green thread moves between kernel threads, so a ring that belongs to one kernel
 * thread is of no use. And when a kernel thread ends, the kernel cancels what it has
 * submitted.
 */
int wefti_uring_error(unsigned flags, int has_other_way)
{
	if (wefti_pt_is_started() && is_refused(has_other_way))
		return ENOSYS;
	if (wefti_pt_is_started() && wefti_pt_green() &&
	    (flags & (IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN)))
		return EINVAL;
	store_relaxed(&wefti_spares_stay, 1);
	return 0;
}

/* liburing's own function. */
static void *real(const char *name)
{
	const char *path = path_of("liburing.so");
	void *library = path ? REAL(dlopen)(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
	void *found;

	if (!library)
		return NULL;
	found = dlsym(library, name);
	(void)dlclose(library);		/* the caller has it open too */
	return found;
}

EXPORT int io_uring_queue_init(unsigned entries, struct io_uring *ring,
			       unsigned flags)
{
	__typeof__(io_uring_queue_init) *fn = real("io_uring_queue_init");
	int error = fn ? wefti_uring_error(flags, path_of("libaio.so") != NULL) :
			 ENOSYS;

	return error ? -error : fn(entries, ring, flags);
}

EXPORT int io_uring_queue_init_params(unsigned entries, struct io_uring *ring,
				      struct io_uring_params *params)
{
	__typeof__(io_uring_queue_init_params) *fn =
		real("io_uring_queue_init_params");
	int error = fn ? wefti_uring_error(params->flags,
					   path_of("libaio.so") != NULL) :
			 ENOSYS;

	return error ? -error : fn(entries, ring, params);
}

/* The kernel registers the ring for the calling kernel thread only. */
EXPORT int io_uring_register_ring_fd(struct io_uring *ring)
{
	__typeof__(io_uring_register_ring_fd) *fn =
		real("io_uring_register_ring_fd");

	if (!fn || (wefti_pt_is_started() && wefti_pt_green()))
		return -EINVAL;
	return fn(ring);
}

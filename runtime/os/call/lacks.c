/* SPDX-License-Identifier: MIT */
/* os/call/lacks.c - what this kernel lacks that a user would notice */
#include "os/call/lacks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/membarrier.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/format.h"
#include "cpu.h"
#include "os/call/calls.h"
#include "os/call/missing.h"
#include "os/call/newer.h"
#include "os/call/root.h"
#include "os/call/vm.h"
#include "syscall.h"

#define NOWHERE		(-1l)	/* no address of a program */
#define INCLUSIVE_ON	2

static long call(long number, long a, long b, long c, long d, long e)
{
	return wefti_arch_syscall(number, a, b, c, d, e, 0);
}

/* Closes what a call has opened. */
static int no_fd(long fd)
{
	if (fd >= 0)
		(void)call(SYS_close, fd, 0, 0, 0, 0);
	return wefti_os_is_missing(fd);
}

static int no_epoll(void)
{
	return no_fd(call(SYS_epoll_create1, EPOLL_CLOEXEC, 0, 0, 0, 0));
}

/* The kernel says that the number is no descriptor. */
static int no_epoll_ctl(void)
{
	return wefti_os_is_missing(call(SYS_epoll_ctl, -1, EPOLL_CTL_DEL, -1, 0, 0));
}

static int no_eventfd(void)
{
	return no_fd(call(SYS_eventfd2, 0, O_CLOEXEC, 0, 0, 0));
}

/* The kernel refuses a wait for no word. */
static int no_waitv(void)
{
	return wefti_os_is_missing(call(SYS_futex_waitv, 0, 0, 0, 0, 0));
}

static int no_disk(void)
{
	aio_context_t context = 0;
	long error = call(SYS_io_setup, 1, (long)&context, 0, 0, 0);

	if (!error)
		(void)call(SYS_io_destroy, (long)context, 0, 0, 0, 0);
	return wefti_os_is_missing(error);
}

static int no_membarrier(void)
{
	long known = call(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0, 0, 0);

	return known < 0 || !(known & MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

static int no_pidfd(void)
{
	return no_fd(call(SYS_pidfd_open, call(SYS_getpid, 0, 0, 0, 0, 0), 0, 0, 0, 0));
}

/* The kernel says that the number is no descriptor. */
static int no_preadv2(void)
{
	return wefti_os_is_missing(call(SYS_preadv2, -1, 0, 0, 0, 0));
}

static int no_guards(void)
{
	const size_t page = wefti_os_page_size();
	void *p = wefti_os_vm_reserve(page);
	int error = p ? wefti_os_vm_guard(p, page) : 0;

	if (p)
		wefti_os_vm_unmap(p, page);
	return error == -ENOTSUP;
}

/* The kernel says that the selector is at no address, if it knows the command. */
static int no_dispatch(void)
{
	return call(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, INCLUSIVE_ON, 1, 1,
		    NOWHERE) != -EFAULT;
}

static int no_fast_tp(void)
{
	return !wefti_arch_tp_is_fast();
}

static int no_proc(void)
{
	long fd = wefti_os_proc_open("/proc/self", O_RDONLY | O_DIRECTORY);

	(void)no_fd(fd);
	return fd < 0;
}

#define CALL(name, need, where, since, without)		{ #name, where, without },
#define FLAG(name, call, argument, value, error, need, where, since, without)	\
						{ #name, where, without },
#define PART(name, kind, value, bits, need, where, since, without)		\
						{ #name, where, without },

enum { ALL, RUN };

static const struct row {
	const char *name;
	int where;
	const char *without;
} rows[] = { WEFTI_CALLS(CALL) WEFTI_FLAGS(FLAG) WEFTI_PARTS(PART) };

static const struct {
	const char *name;
	int (*is_missing)(void);
	int is_told_later;
} tried[] = {
	{ "epoll_create1", no_epoll, 0 },
	{ "epoll_ctl", no_epoll_ctl, 0 },
	{ "eventfd2", no_eventfd, 0 },
	{ "futex_waitv", no_waitv, 0 },
	{ "io_setup", no_disk, 0 },
	{ "membarrier", no_membarrier, 1 },
	{ "pidfd_open", no_pidfd, 0 },
	{ "preadv2", no_preadv2, 0 },
	{ "DISPATCH_INCLUSIVE_ON", no_dispatch, 1 },
	{ "GUARD_INSTALL", no_guards, 1 },
	{ "HWCAP2_FSGSBASE", no_fast_tp, 0 },
	{ "/proc", no_proc, 0 },
};

static const struct row *row_of(const char *name)
{
	const struct row *r = rows;

	while (strcmp(r->name, name) != 0)
		r++;
	return r;
}

void wefti_os_lacks(wefti_os_lack_fn *fn, void *arg)
{
	wefti_arch_init();
	for (size_t i = 0; i < sizeof(tried) / sizeof(*tried); i++) {
		const struct row *r = row_of(tried[i].name);
		const char *end = strstr(r->without, ". ");
		char text[WEFTI_PRINT_MOST];
		struct wefti_os_lack lack = {
			.name = r->name, .without = text, .is_run = r->where == RUN,
			.is_told_later = tried[i].is_told_later,
		};

		if (!tried[i].is_missing())
			continue;
		wefti_format(text, sizeof(text), "%s", r->without);
		if (end && end - r->without < (ptrdiff_t)sizeof(text))
			text[end - r->without] = 0;
		fn(&lack, arg);
	}
}

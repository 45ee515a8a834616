/* SPDX-License-Identifier: MIT */
/* pthread/kthread/name.c - the name of a thread */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/format.h"
#include "os/call/root.h"
#include "pthread/core/real.h"
#include "pthread/core/self.h"
#include "pthread/kthread/proc.h"
#include "syscall.h"
#include "thread/bare.h"
#include "weft/thread.h"

#define NAME_MAX_BYTES	16

static int is_main(const struct wefti_thread *t)
{
	return t == wefti_rt.main;
}

/*
 * The first thread's name is also the name by which others know the process. It is set on
 * the kernel thread with the process's id. A failure is not reported: there may be no
 * /proc.
 */
static void name_process(const char *name)
{
	char path[64];
	long fd;

	wefti_format(path, sizeof(path), "/proc/self/task/%d/comm", getpid());
	fd = wefti_os_proc_open(path, O_WRONLY);
	if (fd < 0)
		return;
	wefti_arch_syscall(SYS_write, fd, (long)name, (long)strlen(name), 0, 0,
			   0);
	wefti_arch_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

EXPORT int pthread_setname_np(pthread_t thread, const char *name)
{
	struct wefti_thread *t = wefti_pt_thread(thread);

	if (strlen(name) >= NAME_MAX_BYTES)
		return ERANGE;
	if (!t)
		return REAL(pthread_setname_np)(thread, name);
	if (wefti_pt_has_ended(t))
		return ENOENT;
	wefti_proc_take_name(t);
	strcpy(wefti_pt_of(t)->name, name);
	if (is_main(t))
		name_process(name);
	return -weft_set_name(wefti_thread_id(t), name);
}

EXPORT int pthread_getname_np(pthread_t thread, char *name, size_t size)
{
	struct wefti_thread *t = wefti_pt_thread(thread);

	if (size < NAME_MAX_BYTES)
		return ERANGE;
	if (!t)
		return REAL(pthread_getname_np)(thread, name, size);
	if (wefti_pt_has_ended(t))
		return ENOENT;
	wefti_proc_refresh_name(t);
	strcpy(name, wefti_pt_of(t)->name);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * pthread/kthread/proc.c - the files of a green thread in /proc
 *
 * The kernel has files for kernel threads. With the id of a green thread (and for
 * /proc/thread-self) libc's functions open the files of the process's first kernel
 * thread. Most of these are the same for the whole process: limits, maps, cgroups. Three
 * files are the thread's own, and are made when they are opened: comm, stat and status.
 * They have the thread's id, name, state, CPU time (counted from the first question on)
 * and signal mask. A write to comm sets the thread's name. The first thread has the id
 * of the first kernel thread, but may run on another. So stat and status are made for it
 * too, in /proc/self/task only. pthread/kthread/proc_text.c writes the text of the three.
 *
 * Such a file is a file in memory. A comm that is opened for writing is mapped, and read
 * when a call asks for the name.
 *
 * Writers
 *   pt.comm  map_comm, wefti_proc_take_name, wefti_proc_thread_ends
 */
#include "pthread/kthread/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/call/vm.h"
#include "pthread/core/real.h"
#include "pthread/core/self.h"
#include "pthread/core/started.h"
#include "pthread/kthread/proc_text.h"
#include "pthread/signal/signal.h"
#include "syscall.h"

/* What a path names: a thread, and the rest of the path behind it. */
struct named {
	struct wefti_thread *t;
	const char *rest;
	int is_process;		/* /proc/ID, which has more than its task directory */
	int is_link;		/* /proc/thread-self */
};

/* Is `part` the next part of the path? Then it is skipped. */
static int skip(const char **path, const char *part)
{
	const size_t n = strlen(part);

	if (strncmp(*path, part, n) != 0 || ((*path)[n] != '/' && (*path)[n]))
		return 0;
	*path += n;
	while (**path == '/' && (*path)[1] == '/')
		++*path;
	return 1;
}

/* Skips a number, as the kernel reads it: no sign, no leading zero. 0: not a number. */
static pid_t skip_id(const char **path)
{
	const char *p = *path;
	long id = 0;

	if (*p < '1' || *p > '9')
		return 0;
	for (; *p >= '0' && *p <= '9' && id < INT32_MAX / 10; p++)
		id = id * 10 + (*p - '0');
	if (*p && *p != '/')
		return 0;
	*path = p;
	return (pid_t)id;
}

static int is_made(pid_t id)
{
	return id >= WEFTI_KERNEL_IDS && wefti_thread_by_id(id);
}

static int parse_task(const char *p, struct named *n)
{
	if (!skip(&p, "/task") || *p != '/')
		return 0;
	p++;
	*n = (struct named){ wefti_thread_by_id(skip_id(&p)), p, 0, 0 };
	return n->t != NULL;
}

static int parse(const char *path, struct named *n)
{
	const char *p = path + sizeof("/proc/") - 1;
	struct wefti_thread *self = wefti_pt_green();
	pid_t id;

	if (!wefti_proc_is_in(path) || !wefti_pt_is_started())
		return 0;
	while (*p == '/')
		p++;
	if (skip(&p, "thread-self")) {
		*n = (struct named){ self, p, 0, 1 };
		return self != NULL;
	}
	if (skip(&p, "self"))
		return parse_task(p, n);
	id = skip_id(&p);
	if (id == getpid())
		return parse_task(p, n);
	*n = (struct named){ is_made(id) ? wefti_thread_by_id(id) : NULL, p, 1, 0 };
	return n->t != NULL;
}

const char *wefti_proc_map(const char *path, char room[WEFTI_PROC_BYTES])
{
	struct named n;
	int bytes;

	if (!parse(path, &n) || (n.is_link && !n.rest[0]))
		return path;
	bytes = n.is_process ?
		snprintf(room, WEFTI_PROC_BYTES, "/proc/self%s", n.rest) :
		snprintf(room, WEFTI_PROC_BYTES, "/proc/self/task/%d%s", (int)getpid(),
			 n.rest);
	return bytes < WEFTI_PROC_BYTES ? room : path;
}

/* --- comm, opened for writing ---------------------------------------- */

/* Maps the page that receives the writes. The page before may have been written into. */
static int map_comm(struct wefti_thread *t, int fd)
{
	char *page = MAP_FAILED;

	wefti_proc_take_name(t);
	if (ftruncate(fd, sizeof(wefti_pt.name)) == 0)
		page = mmap(NULL, wefti_os_page_size(), PROT_READ | PROT_WRITE,
			    MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return -1;
	page = xchg_seq_cst(&wefti_pt_of(t)->comm, page);
	if (page)
		munmap(page, wefti_os_page_size());
	return 0;
}

/* The file may have been truncated. Then there is nothing to read. */
void wefti_proc_take_name(struct wefti_thread *t)
{
	char *page = xchg_seq_cst(&wefti_pt_of(t)->comm, NULL);
	char name[sizeof(wefti_pt.name)] = "";

	if (likely(!page))
		return;
	memcpy(name, page, sizeof(name) - 1);
	name[strcspn(name, "\n")] = 0;
	memset(page, 0, sizeof(name));
	if (name[0])
		(void)!pthread_setname_np(wefti_pt_handle(t), name);
	page = xchg_seq_cst(&wefti_pt_of(t)->comm, page);
	if (page)
		munmap(page, wefti_os_page_size());
}

void wefti_proc_refresh_name(struct wefti_thread *t)
{
	char text[WEFTI_PROC_TEXT_BYTES];

	wefti_proc_take_name(t);
	/* With WEFT_PERF_NAMES the file has the name of a thread, or of a VCPU. */
	if (!wefti_proc_has_kernels_name(t) || wefti_rt.settings.perf_names ||
	    !wefti_proc_read_firsts("comm", text))
		return;
	text[strcspn(text, "\n")] = 0;
	if (strlen(text) < sizeof(wefti_pt.name))
		strcpy(wefti_pt_of(t)->name, text);
}

void wefti_proc_thread_ends(void)
{
	char *page;

	if (likely(!load_seq_cst(&wefti_pt.comm)))
		return;
	page = xchg_seq_cst(&wefti_pt.comm, NULL);
	if (page)
		munmap(page, wefti_os_page_size());
}

/* --- opening --------------------------------------------------------- */

/*
 * Opens it with the caller's flags: O_RDONLY gives a descriptor that cannot be written.
 */
static int open_again(int fd, int flags)
{
	char path[32];
	int again;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = REAL(open)(path, flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_NOFOLLOW));
	(void)!REAL(close)(fd);
	return again;
}

/* Returns a descriptor; -1: out of memory; NONE: not one of these files. */
static int make(struct wefti_thread *t, const char *file, int flags)
{
	const int is_comm = strcmp(file, "comm") == 0;
	const int is_written = (flags & O_ACCMODE) != O_RDONLY;
	struct wefti_proc_text out = { .bytes = 0 };
	int fd;

	if ((!is_comm && strcmp(file, "stat") != 0 && strcmp(file, "status") != 0) ||
	    (!is_comm && is_written))
		return WEFTI_PROC_NONE;
	fd = (int)wefti_arch_syscall(SYS_memfd_create, (long)file, MFD_CLOEXEC, 0, 0, 0,
				     0);
	if (fd < 0)
		return WEFTI_PROC_NONE;
	wefti_proc_take_name(t);
	if (is_written) {
		(void)map_comm(t, fd);
	} else {
		wefti_proc_write_text(t, file, &out);
		(void)!REAL(write)(fd, out.at, out.bytes);
	}
	return open_again(fd, flags);
}

int wefti_proc_open(const char *path, int flags)
{
	struct named n;

	if (!parse(path, &n) || (flags & O_PATH) || n.rest[0] != '/' ||
	    (wefti_proc_has_kernels_name(n.t) && strcmp(n.rest, "/comm") == 0))
		return WEFTI_PROC_NONE;
	return make(n.t, n.rest + 1, flags);
}

long wefti_proc_readlink(const char *path, char *to, size_t bytes)
{
	char text[64];
	struct named n;
	size_t length;

	if (!parse(path, &n) || !n.is_link || n.rest[0])
		return WEFTI_PROC_NONE;
	length = (size_t)snprintf(text, sizeof(text), "%d/task/%d", (int)getpid(),
				  (int)wefti_proc_id(n.t));
	if (length > bytes)
		length = bytes;
	memcpy(to, text, length);
	return (long)length;
}

/* SPDX-License-Identifier: MIT */
/* pthread/kthread/proc_text.c - what a green thread's comm, stat and status say */
#include "pthread/kthread/proc_text.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "observe/view.h"
#include "os/kthread/kthread.h"
#include "pthread/core/real.h"
#include "pthread/core/self.h"
#include "pthread/kthread/cpu_clock.h"
#include "sched/loop.h"
#include "thread/wait.h"

#define TICK_NS		10000000	/* sysconf(_SC_CLK_TCK) is 100 */

pid_t wefti_proc_id(const struct wefti_thread *t)
{
	return t == wefti_rt.main ? getpid() : load_relaxed(&wefti_pt_of(t)->tid);
}

int wefti_proc_has_kernels_name(const struct wefti_thread *t)
{
	return t == wefti_rt.main;
}

/* The kernel thread that runs t, or that t blocks; 0 if t is only ready. */
static int kernel_thread_of(struct wefti_thread *t)
{
	struct wefti_view view;

	wefti_view_thread(t, &view);
	return view.state == WEFTI_VIEW_UNSEATED ? view.tid :
	       view.state == WEFTI_VIEW_RUNNING ?
	       wefti_kthread_carrier(wefti_vcpu_at(view.vcpu)) : 0;
}

/*
 * A thread that is not parked may block a kernel thread, and then has its state. If it has
 * another kernel thread behind the look, it ran meanwhile, and the first one may sleep.
 */
static char state_of(struct wefti_thread *t)
{
	int tid;
	char state;

	if (wefti_wait_is_parked(t))
		return 'S';
	tid = kernel_thread_of(t);
	state = tid ? wefti_os_kthread_state(tid) : 'R';
	if (tid != kernel_thread_of(t))
		return 'R';
	return state == 'S' || state == 'D' ? state : 'R';
}

static const char *name_of_state(char state)
{
	return state == 'R' ? "R (running)" :
	       state == 'S' ? "S (sleeping)" : "D (disk sleep)";
}

static int64_t cpu_ns_of(struct wefti_thread *t)
{
	struct timespec used = { 0, 0 };
	clockid_t clock;

	if (pthread_getcpuclockid(wefti_pt_handle(t), &clock) == 0)
		(void)!clock_gettime(clock, &used);
	return used.tv_sec * INT64_C(1000000000) + used.tv_nsec;
}

size_t wefti_proc_read_firsts(const char *file, char *text)
{
	size_t bytes = 0;
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", (int)getpid(), file);
	fd = REAL(open)(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	while (bytes < WEFTI_PROC_TEXT_BYTES - 1 &&
	       (n = REAL(read)(fd, text + bytes,
			       WEFTI_PROC_TEXT_BYTES - 1 - bytes)) > 0)
		bytes += (size_t)n;
	(void)!REAL(close)(fd);
	text[bytes] = 0;
	return bytes;
}

static void put(struct wefti_proc_text *out, const char *format, ...)
{
	const size_t room = sizeof(out->at) - out->bytes;
	va_list list;
	int n;

	va_start(list, format);
	n = vsnprintf(out->at + out->bytes, room, format, list);
	va_end(list);
	if (n > 0 && (size_t)n < room)
		out->bytes += (size_t)n;
}

/* The 14th and 15th numbers are the CPU time, of the program and of the kernel. */
static void write_stat(struct wefti_thread *t, const char *from,
		       struct wefti_proc_text *out)
{
	const char *p = strrchr(from, ')');

	if (!p)
		return;
	if (wefti_proc_has_kernels_name(t))
		put(out, "%.*s %c", (int)(p + 1 - from), from, state_of(t));
	else
		put(out, "%d (%s) %c", (int)wefti_proc_id(t), wefti_pt_of(t)->name,
		    state_of(t));
	p += sizeof(") R") - 1;
	for (int i = 4; *p; i++) {
		const size_t n = strcspn(p + 1, " ") + 1;

		if (i == 14)
			put(out, " %lld", (long long)(cpu_ns_of(t) / TICK_NS));
		else if (i == 15)
			put(out, " 0");
		else
			put(out, "%.*s", (int)n, p);
		p += n;
	}
}

/* Returns 1: the line differs for this thread, and has been written. */
static int write_own_line(struct wefti_thread *t, const char *line,
			  struct wefti_proc_text *out)
{
	const struct wefti_pt *pt = wefti_pt_of(t);

	if (strncmp(line, "Name:", 5) == 0 && !wefti_proc_has_kernels_name(t))
		put(out, "Name:\t%s\n", pt->name);
	else if (strncmp(line, "State:", 6) == 0)
		put(out, "State:\t%s\n", name_of_state(state_of(t)));
	else if (strncmp(line, "Pid:", 4) == 0)
		put(out, "Pid:\t%d\n", (int)wefti_proc_id(t));
	else if (strncmp(line, "NSpid:", 6) == 0)
		put(out, "NSpid:\t%d\n", (int)wefti_proc_id(t));
	else if (strncmp(line, "SigBlk:", 7) == 0)
		put(out, "SigBlk:\t%016llx\n",
			(unsigned long long)load_relaxed(&pt->mask));
	else
		return 0;
	return 1;
}

static void write_status(struct wefti_thread *t, const char *from,
			 struct wefti_proc_text *out)
{
	while (*from) {
		const size_t n = strcspn(from, "\n") + 1;

		if (!write_own_line(t, from, out))
			put(out, "%.*s", (int)n, from);
		from += from[n - 1] ? n : n - 1;
	}
}

void wefti_proc_write_text(struct wefti_thread *t, const char *file,
			   struct wefti_proc_text *out)
{
	char text[WEFTI_PROC_TEXT_BYTES];

	if (strcmp(file, "comm") == 0)
		put(out, "%s\n", wefti_pt_of(t)->name);
	else if (!wefti_proc_read_firsts(file, text))
		return;
	else if (strcmp(file, "stat") == 0)
		write_stat(t, text, out);
	else
		write_status(t, text, out);
}

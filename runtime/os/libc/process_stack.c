/* SPDX-License-Identifier: MIT */
/*
 * os/libc/process_stack.c - the stack that the kernel gave the process
 *
 * By what the kernel has written at the stack's upper end. Where that is not as Linux
 * does it, by the kernel's list of mappings, as libc finds it. To have that list printed
 * takes a tenth of the runtime's start. It is read without stdio: its formatted input alone
 * is 64 KB of text that few programs have in memory.
 */
#include "os/libc/process_stack.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/call/root.h"
#include "os/call/tid.h"
#include "os/call/vm.h"
#include "syscall.h"

#define LOADER_BYTES	((uintptr_t)16 << 20)	/* more than it and the vDSO have */

struct maps {
	int fd;
	const char *at, *end;
	char text[1024];
};

/* The next character, or -1. */
static int next_char(struct maps *m)
{
	if (m->at == m->end) {
		long got = wefti_arch_syscall(SYS_read, m->fd, (long)m->text,
					      sizeof(m->text), 0, 0, 0);

		if (got <= 0)
			return -1;
		m->at = m->text;
		m->end = m->text + got;
	}
	return (unsigned char)*m->at++;
}

/* Hexadecimal, and the character behind it. */
static uintptr_t number(struct maps *m, char behind)
{
	uintptr_t n = 0;
	int c;

	while ((c = next_char(m)) > 0 && c != behind) {
		if (c >= '0' && c <= '9')
			n = n << 4 | (unsigned)(c - '0');
		else if (c >= 'a' && c <= 'f')
			n = n << 4 | (unsigned)(c - 'a' + 10);
		else
			return 0;
	}
	return n;
}

/* "low-high rest": the mapping that has `inside`, and where the one before ends. */
static uintptr_t find(struct maps *m, uintptr_t inside, uintptr_t *before)
{
	*before = 0;
	for (;;) {
		uintptr_t low = number(m, '-'), high = number(m, ' ');
		int c;

		if (!high)
			return 0;
		if (low <= inside && inside < high)
			return high;
		*before = high;
		while ((c = next_char(m)) != '\n')
			if (c < 0)
				return 0;
	}
}

/*
 * At the upper end lie the name of the program's file, as exec had it, and a word. A
 * program that has written over the name moves the end that is found here, but not by
 * whole pages. 0: not found.
 */
static uintptr_t upper_end(size_t page)
{
	const char *name = (const char *)getauxval(AT_EXECFN);
	const uintptr_t end = (uintptr_t)name + (name ? strlen(name) : 0) + 1 +
			      sizeof(uintptr_t);

	return name && (end & (page - 1)) == 0 && end > getauxval(AT_RANDOM) ? end : 0;
}

/*
 * Mappings grow down from the loader's, which was the first, or up from below it. So the
 * limit alone ends a stack whose whole room is above the loader.
 */
static int is_free_below(uintptr_t low)
{
	const uintptr_t loader = getauxval(AT_BASE);

	return loader && low > loader && low - loader > LOADER_BYTES;
}

static int by_upper_end(uintptr_t *low, uintptr_t *high)
{
	const size_t page = wefti_os_page_size();
	const uintptr_t end = upper_end(page);
	struct rlimit limit;

	if (!end || getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= end)
		return 0;
	*high = end;
	*low = end - (limit.rlim_cur & ~(rlim_t)(page - 1));
	return is_free_below(*low);
}

/* It grows down, until its limit or the mapping below. */
static int find_stack(uintptr_t *low, uintptr_t *high)
{
	uintptr_t inside = getauxval(AT_RANDOM), before = 0;
	size_t page = wefti_os_page_size();
	struct rlimit limit;
	struct maps m;

	m.fd = (int)wefti_os_proc_open("/proc/self/maps", O_RDONLY);
	m.at = m.end = NULL;
	if (m.fd < 0)
		return 0;
	*high = inside ? find(&m, inside, &before) : 0;
	wefti_arch_syscall(SYS_close, m.fd, 0, 0, 0, 0, 0);
	if (!*high || getrlimit(RLIMIT_STACK, &limit) != 0)
		return 0;
	*low = before;
	if (limit.rlim_cur < *high - before)
		*low = *high - (limit.rlim_cur & ~(rlim_t)(page - 1));
	return 1;
}

static void ask_libc(uintptr_t *low, uintptr_t *high)
{
	pthread_attr_t attr;
	void *start = NULL;
	size_t size = 0;

	if (pthread_getattr_np(pthread_self(), &attr) == 0) {
		pthread_attr_getstack(&attr, &start, &size);
		pthread_attr_destroy(&attr);
	}
	*low = (uintptr_t)start;
	*high = (uintptr_t)start + size;
}

void wefti_os_process_stack(const void **low, size_t *bytes)
{
	uintptr_t from, to;

	if (wefti_os_gettid() != getpid() ||
	    (!by_upper_end(&from, &to) && !find_stack(&from, &to)))
		ask_libc(&from, &to);
	*low = (const void *)from;
	*bytes = to - from;
}

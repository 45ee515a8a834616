/* SPDX-License-Identifier: MIT */
/*
 * os/call/fatal.c - the end, if a system call has an impossible result
 *
 * Writers
 *   is_said  wefti_os_fatal
 */
#include "os/call/fatal.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"
#include "lockfree/atomic.h"
#include "os/call/missing.h"
#include "syscall.h"

#define PATIENCE	1000	/* turns; the other may be below a handler */
#define RESULT_MOST	50	/* what follows `what`, and some */

struct line {
	char text[256];
	size_t used;
};

/* Appends as much as there is room for, with `spare` bytes left behind it. */
static void append(struct line *l, const char *text, size_t spare)
{
	while (*text && l->used < sizeof(l->text) - spare)
		l->text[l->used++] = *text++;
}

static void append_number(struct line *l, long number)
{
	char digits[24];
	size_t i = sizeof(digits);
	unsigned long rest = number < 0 ? 0 - (unsigned long)number
					: (unsigned long)number;

	digits[--i] = '\0';
	do
		digits[--i] = (char)('0' + rest % 10);
	while (rest /= 10);
	if (number < 0)
		digits[--i] = '-';
	append(l, digits + i, 0);
}

/* Several kernel threads may get here at once: one line is enough. */
static _Atomic int is_said;

static void leave_to_another(void)
{
	for (int i = 0; i < PATIENCE; i++)
		(void)wefti_arch_syscall(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	_exit(WEFTI_EXIT_REFUSED);
}

COLD _Noreturn void wefti_os_fatal(const char *what, long result)
{
	struct line l = { .used = 0 };

	append(&l, "weft: ", 0);
	if (wefti_os_is_missing(result)) {
		if (xchg_seq_cst(&is_said, 1))
			leave_to_another();
		append(&l, "the kernel or a filter refuses ", 0);
		append(&l, what, RESULT_MOST);
		append(&l, ", which weft needs: see weft-calls(7)\n", 0);
		wefti_arch_syscall(SYS_write, 2, (long)l.text, (long)l.used, 0,
				   0, 0);
		_exit(WEFTI_EXIT_REFUSED);
	}
	append(&l, what, RESULT_MOST);
	append(&l, ": unexpected result ", 0);
	append_number(&l, result);
	append(&l, "\n", 0);
	wefti_arch_syscall(SYS_write, 2, (long)l.text, (long)l.used, 0, 0, 0);
	abort();
}

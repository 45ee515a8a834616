/* SPDX-License-Identifier: MIT */
/* os/fatal.c - the end, when the system answers what it cannot answer */
#include "os/fatal.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"
#include "os/missing.h"
#include "syscall.h"

#define RESULT_MOST	50	/* what follows `what`, and some */

struct line {
	char text[256];
	size_t used;
};

/* As far as there is room, with `spare` bytes left behind it. */
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

COLD _Noreturn void wefti_os_fatal(const char *what, long result)
{
	struct line l = { .used = 0 };

	append(&l, "weft: ", 0);
	if (wefti_os_is_missing(result)) {
		append(&l, "the kernel or a filter refuses ", 0);
		append(&l, what, RESULT_MOST);
		append(&l, ", which weft needs: see weft(7)\n", 0);
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

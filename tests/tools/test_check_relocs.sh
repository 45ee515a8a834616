#!/bin/sh
# SPDX-License-Identifier: MIT
# test_check_relocs.sh - a library that calls libc by name is found
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

cd "$work" || exit 1
if ! command -v python3 >/dev/null || ! command -v "${CC:-cc}" >/dev/null; then
	echo "test_check_relocs.sh: skipped: there is no python3, or no compiler"
	exit 0
fi

cat >good.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *own(size_t n);
void *own(size_t n)
{
	void *p = malloc(n);

	memset(p, 0, n);
	return close((int)n) ? p : NULL;
}
END
cat >stub.c <<'END'
__attribute__((visibility("hidden"))) int wefti_libc_close(int fd)
{
	return fd;
}
END
cat >exported.c <<'END'
int close(int fd);
int close(int fd)
{
	return fd;
}
int other(void);
int other(void)
{
	return close(1);
}
END

# library NAME SOURCE... OPTION...: builds it
library()
{
	to=$1
	shift
	"${CC:-cc}" -O2 -fPIC -shared -I"$top/runtime" -o "$to" "$@"
}

rename="-include $top/runtime/os/libc/libc_rename.h"
# shellcheck disable=SC2086 # two words
library good.so $rename good.c stub.c || exit 1
library bad.so good.c || exit 1
library bound.so -Wl,-Bsymbolic-functions exported.c || exit 1
library loose.so -fno-plt exported.c || exit 1
printf 'int close(int); int (*at)(int) = close;\n' >pointer.c
library pointer.so pointer.c || exit 1
"${CC:-cc}" -O2 -c good.c && ar cr bad.a good.o || exit 1

check=$tools/check-relocs
passes "calls that are renamed" "$check" good.so
passes "an own function that is bound inside" "$check" bound.so
fails "a call by name" "bad.so: close is bound" "$check" good.so bad.so
fails "an own function that the program may replace" "loose.so: close is" \
	"$check" loose.so
fails "a pointer to libc's function" "pointer.so: close is" "$check" pointer.so
fails "a call in an archive" "bad.a: close is bound" "$check" bad.a
fails "nothing to look at" "no library" "$check"
finish

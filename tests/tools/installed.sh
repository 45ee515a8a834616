#!/bin/sh
# SPDX-License-Identifier: MIT
# installed.sh PKGCONFIGDIR LIBDIR MANDIR - what make install left can be used
#
# Run by make installcheck: the program of README.md, built the way that README
# says, against the shared and the static library, prints what it says.
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"
pkgconfig=$1 lib=$2 man=$3
cc=${CC-cc}

# shellcheck disable=SC2016 # no expansion is meant
sed -n '/^```c$/,/^```$/p' "$top/README.md" | sed '1d;$d' >"$work/hello.c"

command -v pkg-config >/dev/null || {
	echo "installed.sh: skipped, there is no pkg-config"
	exit 0
}

of=weft
flags()
{
	PKG_CONFIG_PATH=$pkgconfig pkg-config "$@" $of
}

says_hello()
{
	LD_LIBRARY_PATH=$lib timeout 60 "$1" >"$work/said" &&
	[ "$(cat "$work/said")" = "hello from a thread" ]
}

# shellcheck disable=SC2046,SC2086 # flags are words
{
	passes "compiling with the shared library" \
		$cc -o "$work/shared" "$work/hello.c" $(flags --cflags --libs)
	passes "compiling with the static library" \
		$cc -o "$work/static" "$work/hello.c" \
		$(flags --cflags) "$lib/libweft.a" \
		$(flags --static --libs | sed 's/-lweft//')
}
passes "running with the shared library" says_hello "$work/shared"
passes "running with the static library" says_hello "$work/static"

cat >"$work/plan9.c" <<'END'
#include <stdio.h>
#include <weft/plan9.h>
void threadmain(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	puts("hello from a thread");
}
END
cat >"$work/atomic.c" <<'END'
#include <stdatomic.h>
#include <stdio.h>
struct three { long a, b, c; };
int main(void)
{
	static _Atomic struct three three;
	struct three one = { 1, 2, 3 };
	atomic_store(&three, one);
	puts(atomic_load(&three).c == 3 ? "hello from a thread" : "wrong");
	return 0;
}
END
# shellcheck disable=SC2046,SC2086 # flags are words
for of in weft-plan9 weft-atomic; do
	passes "compiling with $of" $cc -o "$work/$of" \
		"$work/${of#weft-}.c" $(flags --cflags --libs)
	passes "running with $of" says_hello "$work/$of"
done
if command -v python3 >/dev/null; then
	passes "the manual" test -s "$man/man3/weft_spawn.3"
fi
passes "the manual's overview" test -s "$man/man7/weft.7"
finish

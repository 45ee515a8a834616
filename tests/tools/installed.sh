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

flags()
{
	PKG_CONFIG_PATH=$pkgconfig pkg-config "$@" weft
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
if command -v python3 >/dev/null; then
	passes "the manual" test -s "$man/man3/weft_spawn.3"
fi
passes "the manual's overview" test -s "$man/man7/weft.7"
finish

#!/bin/sh
# SPDX-License-Identifier: MIT
# test_sanitizers.sh - programs with sanitizers and a libweft that is built for none
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
build=$PWD
. "$(dirname "$0")/common.sh"

library=$build/.libs/libweft.so
# The preload library is in builds without a sanitizer only.
if [ ! -f "$build/.libs/libweft-pthread.so" ] || ! command -v "${CC-cc}" >/dev/null; then
	echo "test_sanitizers.sh: left out, there is no such library here"
	exit 0
fi

cat >"$work/program.c" <<'EOF'
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <weft.h>

static void *yield_often(void *arg)
{
	volatile char *p = malloc(10);

	for (int i = 0; i < 100; i++) {
		p[0] = (char)i;
		weft_yield();
	}
	if (arg)
		p[10] = 1;
	free((void *)p);
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t id[20];
	int error = weft_start(NULL);

	(void)argv;
	if (error)
		return error == -ENOTSUP ? 3 : 1;
	for (int i = 0; i < 20; i++)
		if (weft_spawn(&id[i], NULL, yield_often, argc > 1 ? id : NULL) != 0)
			return 1;
	for (int i = 0; i < 20; i++)
		if (weft_join(id[i], NULL) != 0)
			return 1;
	puts("done");
	return weft_stop() != 0;
}
EOF

# built SANITIZER: no program if the compiler has no such sanitizer, or none that starts
built()
{
	set -- "${CC-cc}" -g -fsanitize="$1" -I"$top/include"
	echo 'int main(void) { return 0; }' >"$work/empty.c"
	"$@" -o "$work/empty" "$work/empty.c" && "$work/empty" &&
		"$@" -o "$work/program" "$work/program.c" "$library" \
			-Wl,-rpath,"$build/.libs"
} >/dev/null 2>&1

# status_is N ARGUMENT...: what the program said is in $work/said
status_is()
{
	want=$1
	shift
	timeout 60 "$work/program" "$@" >"$work/said" 2>&1
	status=$?
	[ "$status" = "$want" ]
}

said()
{
	cat "$work/said"
	[ "$(wc -l <"$work/said")" = "$1" ] && grep -q "$2" "$work/said"
}

if built thread; then
	passes "ThreadSanitizer is refused" status_is 3
	passes "in one line, which helps" said 1 \
		'^weft: cannot start: .*ThreadSanitizer.*--with-sanitizer=thread)$'
else
	echo "test_sanitizers.sh: there is no ThreadSanitizer here"
fi
if built address; then
	passes "AddressSanitizer works" status_is 0
	passes "with a line that says what it may see" said 2 \
		'^weft: AddressSanitizer may .*--with-sanitizer=address)$'
	passes "and to the end" said 2 '^done$'
	passes "a mistake is seen" status_is 1 wrong
	passes "in the thread" grep -q 'in yield_often' "$work/said"
	WEFT_LOG=error
	export WEFT_LOG
	passes "it works without the line, too" status_is 0
	passes "as asked for" said 1 '^done$'
else
	echo "test_sanitizers.sh: there is no AddressSanitizer here"
fi
finish

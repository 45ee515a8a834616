#!/bin/sh
# SPDX-License-Identifier: MIT
# test_valgrind.sh - native programs run under Valgrind, and it sees what is wrong
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
build=$PWD
. "$(dirname "$0")/common.sh"

command -v valgrind >/dev/null || {
	echo "test_valgrind.sh: left out, there is no valgrind"
	exit 0
}
valgrind -q true 2>/dev/null || {
	echo "test_valgrind.sh: left out, valgrind does not run here"
	exit 0
}
if [ ! -e "$build/.libs/libweft.so" ]; then
	echo "test_valgrind.sh: left out, there is no shared library"
	exit 0
fi
# An emulated build's programs are of another machine.
[ "$(od -An -j18 -N2 -tx1 "$build/examples/sieve")" = \
	"$(od -An -j18 -N2 -tx1 /bin/sh)" ] || {
	echo "test_valgrind.sh: left out, of another machine"
	exit 0
}

checked()
{
	timeout 300 valgrind -q --error-exitcode=3 "$@"
}

primes()
{
	checked "$build/examples/sieve" 20 >"$work/primes" &&
		[ "$(tail -n 1 "$work/primes")" = 71 ]
}
passes "the 20th prime" primes
passes "philosophers eat" checked "$build/examples/philosophers" 10

# A thread reads what it has not written, below its own frame.
cat >"$work/wrong.c" <<'END'
#include <stdlib.h>
#include <weft.h>

static void *wrong(void *arg)
{
	volatile char room[1000];

	(void)arg;
	weft_yield();
	return room[500] ? (void *)"yes" : NULL;
}

int main(void)
{
	uint64_t id;

	if (weft_start(NULL) || weft_spawn(&id, NULL, wrong, NULL) ||
	    weft_join(id, NULL))
		return 1;
	return weft_stop() != 0;
}
END
compiled()
{
	${CC-cc} -g -w -I"$top/include" -o "$work/wrong" "$work/wrong.c" \
		-L"$build/.libs" -lweft -Wl,-rpath,"$build/.libs"
}
passes "compiling a wrong program" compiled
fails "a byte that was never written" "Conditional jump.*uninit" \
	checked "$work/wrong"
finish

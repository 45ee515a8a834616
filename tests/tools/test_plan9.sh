#!/bin/sh
# SPDX-License-Identifier: MIT
# test_plan9.sh - weft 9c compiles programs for Plan 9's threads, and they run right
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
build=$PWD
. "$(dirname "$0")/common.sh"

# An emulated build's programs are of another machine.
machine()
{
	od -An -j18 -N2 -tx1 "$1"
}
if [ ! -e "$build/.libs/libweft-plan9.so" ] ||
    ! command -v "${CC:-cc}" >/dev/null ||
    [ "$(machine "$build/cli/weft")" != "$(machine /bin/sh)" ]; then
	echo "test_plan9.sh: left out, no shared library or compiler of this machine"
	exit 0
fi

# prints STATUS TEXT COMMAND...
prints()
{
	status=$1 text=$2
	shift 2
	timeout 60 "$@" >"$work/said" 2>&1
	[ $? -eq "$status" ] || { cat "$work/said"; return 1; }
	[ "$(cat "$work/said")" = "$text" ] || { cat "$work/said"; return 1; }
}

primes='2
3
5
7
11'

run_all()
{
	passes "the verbs of print" prints 0 "all right" "$work/print"
	passes "the library" prints 0 "all right" "$work/lib"
	passes "an option that there is not" prints 1 \
		"$work/print: bad option z" "$work/print" -z
	"$work/print" -t >"$work/lines"
	passes "lines of four procs are whole" test "$(sort -u "$work/lines")" = \
		0123456789012345678901234567890123456789
	passes "all lines are there" test "$(wc -l <"$work/lines")" -eq 200
	passes "threads sieve" prints 0 "$primes" "$work/sieve" 12
	passes "procs sieve" prints 0 "$primes" "$work/sieve" -p -b 3 12
	passes "a note" prints 0 "note: hangup
$primes" "$work/sieve" -n 12
	timeout 60 "$work/note" >"$work/lines" 2>&1
	passes "two notes at once, SIGUSR1 is to kill it" test $? -eq 138
	passes "usage" prints 1 "usage: $work/sieve [-p] [-b buffer] [most]" \
		"$work/sieve" -b
	passes "hello" prints 0 "hello, world" "$work/life"
	passes "exit beside a proc" prints 1 "" "$work/life" -e
	passes "a proc goes on" prints 0 "still running" "$work/life" -d
	passes "sysfatal" prints 1 "$work/life: no way: a reason" "$work/life" -f
	passes "_exits" prints 0 "" "$work/life" -x
	passes "_exits of an empty text" prints 0 "" "$work/life" -x ""
	passes "_exits of a text" prints 1 "" "$work/life" -x why
	passes "rfork" prints 0 "rfork: a program with threads cannot do 0x10
hello, world" "$work/life" -r
	passes "a command twice" prints 0 "ended '3'
ended '3'" "$work/spawn" sh -c 'exit 3'
	passes "a command that ends well" prints 0 "ended ''
ended ''" "$work/spawn" true
	passes "no program" prints 0 "No such file or directory" "$work/spawn" -x
	passes "threadexecl of no program" prints 0 "No such file or directory" \
		"$work/spawn" -e
	passes "twenty echos" prints 0 "$(i=0; while [ $i -lt 20 ]; do
		echo "$i
ended ''"; i=$((i + 1)); done)" "$work/spawn" -l
}

for cc in "${CC:-cc}" clang; do
	command -v "${cc%% *}" >/dev/null || continue
	for p in print lib sieve life spawn note; do
		passes "$cc $p.c" env CC="$cc" "$build/cli/weft" 9c -Wall -Werror -pthread \
			-o "$work/$p" "$top/tests/plan9/$p.c"
	done
	run_all
done
passes "an object" "$build/cli/weft" 9c -c -o "$work/life.o" "$top/tests/plan9/life.c"
fails "a compiler that there is not" "No such file" env CC=none-such \
	"$build/cli/weft" 9c -c "$top/tests/plan9/life.c"
passes "help" "$build/cli/weft" 9c --help
finish

#!/bin/sh
# SPDX-License-Identifier: MIT
# test_cli.sh - weft run: statuses, refusals, what the program gets
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

weft=${WEFT_TEST_CLI-cli/weft}
if [ ! -x "$weft" ] || [ ! -f .libs/libweft-pthread.so ]; then
	echo "test_cli.sh: skipped, there is no $weft with its library here"
	exit 0
fi

# status_is N COMMAND...: it exits so; what it said is in $work/said
status_is()
{
	want=$1
	shift
	"$@" >"$work/said" 2>&1
	status=$?
	[ "$status" = "$want" ]
}

says()
{
	grep -q "$1" "$work/said"
}

passes "the program's status" status_is 7 "$weft" run sh -c 'exit 7'
passes "its arguments" status_is 0 "$weft" run echo -n --help one
passes "they are its own" says '^-*n* *--help one'
# shellcheck disable=SC2016 # for the shell that weft runs
passes "an option" status_is 0 "$weft" run -n 3 sh -c 'echo $WEFT_VCPUS'
passes "is a variable" says '^3$'
passes "the library is there" status_is 0 "$weft" run \
	grep -c libweft-pthread /proc/self/maps
passes "nothing of that name" status_is 127 "$weft" run no-such-program
passes "and it says so" says '^weft: no-such-program: not found$'
passes "no path" status_is 127 "$weft" run /no/such/program
echo text >"$work/text"
passes "not executable" status_is 126 "$weft" run "$work/text"
chmod +x "$work/text"
passes "no program" status_is 126 "$weft" run "$work/text"
passes "a directory" status_is 126 "$weft" run "$work"
printf '#!/bin/sh\nexit 5\n' >"$work/script"
chmod +x "$work/script"
passes "a script" status_is 5 "$weft" run "$work/script"
echo 'int main(void) { return 0; }' >"$work/static.c"
if ${CC-cc} -static -o "$work/static" "$work/static.c" 2>/dev/null; then
	passes "a static program" status_is 126 "$weft" run "$work/static"
	passes "and why" says 'statically linked'
fi
passes "no program at all" status_is 125 "$weft" run
passes "no such command" status_is 125 "$weft" walk
passes "help" status_is 0 "$weft" run --help
passes "names the variables" says WEFT_VCPUS
passes "a dump of who is not weft's" status_is 1 "$weft" dump $$
finish

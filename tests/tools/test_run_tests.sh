#!/bin/sh
# SPDX-License-Identifier: MIT
# test_run_tests.sh - the runner counts what fails, hangs, and is not there
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"
cd "$work" || exit 1

# program NAME LINE: a script that stands for a test program
program()
{
	printf '#!/bin/sh\n%s\n' "$2" >"$1"
	chmod +x "$1"
}

# shellcheck disable=SC2016 # to be expanded there
{
	program good 'exit 0'
	program bad 'echo "x: WEFT_TEST_SEED=77 WEFT_TEST_SCALE=1"; exit 1'
	program crash 'kill -SEGV $$'
	program hangs 'sleep 60'
	program only2 'test "$WEFT_VCPUS" = 2'
	program none 'echo "skipped: there is no x"; exit 77'
	program odd 'echo "there is no x"; exit 77'
	program wrap 'echo "$*" >>wrapped; exec "$@"'
}

run()
{
	"$tools/run-tests" --logs logs "$@" >said
	status=$?
	cat said
	return "$status"
}

says()
{
	tail -n 1 said | grep -qx "$1"
}

passes "programs that pass" run --once good ./good
passes "its count" says "2 passed, 0 failed"
fails "one that fails" "WEFT_TEST_SEED=77 ./bad" run --once good bad
passes "its count" says "1 passed, 1 failed"
passes "one that is skipped" run --once good none
passes "its count" says "1 passed, 0 failed"
fails "one that only has its status" "status 77" run --once good none odd
passes "its count" says "1 passed, 1 failed"
fails "one that crashes" "status 139" run --once crash
fails "one that hangs" "over its limit of 1 s" run --limit 1 --once hangs
fails "one that is not there" "status 127" run --once ./nowhere
fails "each of the settings" "only2 WEFT_VCPUS=8" \
	run --each "WEFT_VCPUS=2 WEFT_VCPUS=8" only2
passes "its count" says "1 passed, 1 failed"
passes "the summary" grep -qx "1 passed, 1 failed" logs/summary
passes "a command before each" run --exec "./wrap env" --once good
passes "that it was run" grep -q "env ./good" wrapped

# What failed is run again, and so is a program with another setting.
again()
{
	WEFT_TEST_PASSED=$work/passed run --each "WEFT_VCPUS=2 WEFT_VCPUS=8" "$@"
}
rm -f wrapped
fails "one of what is to be remembered" "only2 WEFT_VCPUS=8" again --exec "./wrap env" only2
printf '#!/bin/sh\nexit 0\n' >only2
passes "the call goes on" again --exec "./wrap env" only2
passes "its count" says "2 passed, 0 failed"
runs_are()
{
	[ "$(grep -c only2 wrapped)" -eq "$1" ]
}
passes "what had passed was not run again" runs_are 3
finish

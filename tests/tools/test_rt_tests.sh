#!/bin/sh
# SPDX-License-Identifier: MIT
# test_rt_tests.sh - rt-tests under weft run: each program ends as with libc's threads
#
# They have a gettid() of their own, timers that send to one thread, real-time
# priorities, CPUs, mutexes that inherit priorities, and message queues.
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

weft=${WEFT_TEST_CLI-cli/weft}
if [ ! -x "$weft" ] || [ ! -f .libs/libweft-pthread.so ] ||
    ! command -v cyclictest >/dev/null; then
	echo "test_rt_tests.sh: skipped, there is no $weft here, or no rt-tests"
	exit 0
fi

# same PROGRAM ARGUMENT...: its status; a machine may lack what it wants
same()
{
	timeout 30 "$@" >"$work/stock" 2>&1
	stock=$?
	timeout 60 "$weft" run "$@" >"$work/weft" 2>&1
	status=$?
	[ "$status" = "$stock" ] && return
	echo "status $stock with libc's threads, $status with weft's"
	tail -n 5 "$work/weft"
	return 1
}

while read -r line; do
	command -v "${line%% *}" >/dev/null || continue
	# shellcheck disable=SC2086 # words
	passes "$line" same $line
done <<'END'
cyclictest -l 100 -q -t 2 -i 1000
cyclicdeadline -D 1 -q -t 1
ptsematest -l 50 -t 1
svsematest -l 50 -t 1
pmqtest -l 50 -t 1
sigwaittest -l 50 -t 1
signaltest -l 50 -q -t 2
pi_stress -D 1 -g 1 -q
rt-migrate-test -l 2
queuelat -m 1000 -c 100 -p 100 -f 1000 -t 1
oslat -D 1 -q
ssdd -i 3 -f 2
hackbench -l 20 -g 1 -T
END
finish

#!/bin/sh
# SPDX-License-Identifier: MIT
# test_trace_cut.sh - a recording whose writer was killed at any byte can be read
#
# trace_cut.py cuts a log, and a copy of the recorder's memory, off at many lengths. Each
# part has the events that are whole in it, or weft trace says that there are none. A wrong
# byte is refused. The last part is a process whose counter is not this machine's.
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
build=$PWD
. "$(dirname "$0")/common.sh"

if [ ! -x tests/tools/waits ] || ! command -v python3 >/dev/null; then
	echo "test_trace_cut.sh: skipped, there is no python3, or no program here"
	exit 0
fi
weft=$(cd "$(dirname "${WEFT_TEST_CLI-cli/weft}")" && pwd)/weft
cuts=$(cd "$(dirname "$0")" && pwd)/trace_cut.py
seed=${WEFT_TEST_SEED-$$}
cd "$work" || exit 1
echo "test_trace_cut.sh: WEFT_TEST_SEED=$seed"
passes "a recording" "$weft" trace --native -b 1M -o whole.weft \
	"$build/tests/tools/waits" 200
passes "all its parts" python3 "$cuts" "$weft" "$seed" whole.weft
passes "another machine's counter" python3 "$cuts" "$weft" "$seed" whole.weft counter
finish

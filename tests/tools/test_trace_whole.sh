#!/bin/sh
# SPDX-License-Identifier: MIT
# test_trace_whole.sh - a recording of many waits is whole, whichever readers are killed
#
# waits.c sends messages through channels on two VCPUs, and says what weft_stat() has
# counted. weft trace records it from its start. Other readers attach meanwhile, and are
# killed at random. trace_whole.py then looks for each wait's READY and each READY's run,
# and compares the counts. Controls take single events away.
#
# At WEFT_TEST_SCALE=1 the rings have place for all events, so no load makes a reader lose
# one. At 30 there are about ten million events, and the reader has to keep up.
#
# WEFT_TEST_EXEC is what the program needs in front of it, such as an emulator. Then
# WEFT_TEST_CLI is the command `weft` of the machine's own.
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
build=$PWD
. "$(dirname "$0")/common.sh"

if [ ! -x tests/tools/waits ] || ! command -v python3 >/dev/null; then
	echo "test_trace_whole.sh: skipped, there is no python3, or no program here"
	exit 0
fi
weft=$(cd "$(dirname "${WEFT_TEST_CLI-cli/weft}")" && pwd)/weft
reader=$(cd "$(dirname "$0")" && pwd)/trace_whole.py
format=$top/runtime/record/format.h
export WEFT_VCPUS="${WEFT_VCPUS-2}"
seed=${WEFT_TEST_SEED-$$}
messages=$(echo "${WEFT_TEST_SCALE-1}" | awk '{ n = int(80000 * $1); print n < 100 ? 100 : n }')
echo "test_trace_whole.sh: WEFT_TEST_SEED=$seed, $messages messages through each channel"
cd "$work" || exit 1

# kill_readers PID: of the tracer; its program gets other readers until it ends
kill_readers()
{
	n=0
	while kill -0 "$1" 2>/dev/null; do
		n=$((n + 1))
		rm -f other.weft
		program=$(cat "/proc/$1/task/$1/children" 2>/dev/null)
		"$weft" trace -o other.weft "${program% }" >/dev/null 2>&1 &
		other=$!
		sleep "$(echo "$seed $n" | awk '{ srand($1 + $2); print rand() / 10 }')"
		kill -KILL $other 2>/dev/null
		wait $other 2>/dev/null
	done
}

# shellcheck disable=SC2086 # WEFT_TEST_EXEC is a command with arguments
"$weft" trace --native -b 128M -o whole.weft ${WEFT_TEST_EXEC-} \
	"$build/tests/tools/waits" "$messages" >counts 2>said &
tracer=$!
kill_readers $tracer
passes "the traced program" wait $tracer
passes "which lost no event" sh -c '! grep lost said'
# shellcheck disable=SC2046 # words
set -- $(cat counts)
passes "the whole recording" python3 "$reader" whole.weft "$format" "$@"
tail -n 1 out
# can_be_read FILE: it has events, or its writer was killed before there was a block
can_be_read()
{
	"$weft" trace -o other.txt "$1" 2>said || {
		cat said
		grep -q 'it holds no whole block: its writer was killed at the start$' said
	}
}
# What the last killed reader has written can be read, if it came to that.
if [ -s other.weft ]; then
	passes "a part of a recording" can_be_read other.weft
fi

# without KIND: the event in the middle of all of the kind before the mark is a signal now
cat >spoil.py <<'EOF'
import re, struct, sys

enum = open(sys.argv[2]).read().split('enum wefti_event_kind {')[1].split('};')[0]
kinds = re.findall(r'^\tWEFTI_EVENT_(\w+),', enum, re.M)
data = bytearray(open('whole.weft', 'rb').read())
at, rings = (struct.unpack_from('<I', data, i)[0] for i in (12, 24))
found = []
while at < len(data):
    ring, count, first = struct.unpack_from('<IIQ', data, at)
    at += 16
    if ring < rings:
        found += [i for i in range(at, at + 32 * count, 32)
                  if data[i] == kinds.index(sys.argv[1])]
    at += count * (32 if ring < rings else 64)
data[found[len(found) // 2]] = kinds.index('SIGNAL')
open('spoiled.weft', 'wb').write(data)
EOF
without()
{
	event=$1
	shift
	python3 spoil.py "$event" "$format" &&
		python3 "$reader" spoiled.weft "$format" "$@"
}
fails "without a READY" 'wrong: thread' without READY "$@"
fails "without a run" 'wrong: thread' without RUN "$@"
fails "without a spawn" 'wrong: spawns' without SPAWN "$@"
# A number that is not the next one: as if a reader had passed over an event.
python3 - <<'EOF'
import struct
data = bytearray(open('whole.weft', 'rb').read())
at = struct.unpack_from('<I', data, 12)[0] + 16
word = struct.unpack_from('<Q', data, at)[0]
struct.pack_into('<Q', data, at, word + (1 << 32))
open('spoiled.weft', 'wb').write(data)
EOF
fails "with a wrong number" 'has another number' python3 "$reader" spoiled.weft "$format" "$@"
finish

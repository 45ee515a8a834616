#!/bin/sh
# SPDX-License-Identifier: MIT
# test_seeing.sh - the commands of doc/seeing.md say of examples/shop what the page says
#
# Each pattern must be in the page, and in what the command says now.
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
build=$PWD
. "$(dirname "$0")/common.sh"
shop=$build/examples/shop
weft=$(cd "$(dirname "${WEFT_TEST_CLI-cli/weft}")" && pwd)/weft

if [ ! -x "$shop" ]; then
	echo "there is no $shop: make tests"
	exit 1
fi

# An emulated build's programs are of another machine.
machine()
{
	od -An -j18 -N2 -tx1 "$1"
}
if [ "$(machine "$shop")" != "$(machine /bin/sh)" ] || [ ! -x "$weft" ]; then
	echo "test_seeing.sh: left out, of another machine, or without the command"
	exit 0
fi
export WEFT_VCPUS=2

# said PATTERN...: in the page, and in the output
said()
{
	for pattern in "$@"; do
		grep -q -e "$pattern" "$top/doc/seeing.md" &&
			grep -q -e "$pattern" "$work/said" && continue
		echo "not in both: $pattern"
		cat "$work/said"
		return 1
	done
}

# says COMMAND...: until the output has all patterns, while the program runs
says()
{
	until "$@" >"$work/said" 2>&1 && matches >/dev/null; do
		kill -0 "$pid" || return 1
		sleep 0.1
	done
	matches
}

# starts [ARGUMENT]: shop, which goes on until ends
starts()
{
	"$shop" "$@" >"$work/sales" &
	pid=$!
}

ends()
{
	kill -KILL "$pid"
	wait "$pid" 2>/dev/null
}

starts
matches()
{
	said '^ VCPU %  STATE     FOR         THREAD$' \
		'^ *[0-9.]*  parked    mutex       "[a-d]' \
		'^      3  *[0-9.]*  mutex       0x[0-9a-f]*  *"[a-d]'
}
passes "a lock that all wait for" says "$weft" top --batch --count=1 --every=0.3 $pid
matches()
{
	said '^switches/s steals/s preempt/s   comp/s  threads ' \
		'^ *[0-9]*  *[0-9]*  *0  *0  *5  *[0-9]* '
}
passes "rows" says "$weft" stat --every=0.2 --count=3 $pid
if "$weft" profile 2>&1 | grep -q 'was built without'; then
	echo "test_seeing.sh: without weft profile"
else
	matches()
	{
		said ';clerk;sell;.*;\[waits for mutex book\] [0-9]*$'
	}
	passes "where the clerks wait" says "$weft" profile --folded=lock --for=0.5 $pid
	"$weft" profile --folded --for=1s $pid >"$work/said" 2>&1
	# Without debug information an inlined call has no name.
	passes "what they do" grep -q ';clerk;sell\(;add_up\)\{0,1\} [0-9]*$' "$work/said"
fi
ends

# Which of the others is in the cycle with bob differs from run to run.
starts hang
matches()
{
	said '^thread "[acd][a-z]*" .* waits for mutex .*, owned by "bob"' \
		'^thread "bob" .* waits for mutex .*, owned by "[acd][a-z]*"' \
		'waits for itself through: "bob" .* -> "[acd][a-z]*" .* -> "bob" '
}
passes "a hang" says "$weft" dump $pid
matches()
{
	said '^cycle 1: 2 threads wait for each other$' \
		'^    "[acd][a-z]*" (id [0-9]*): parked .* waits for mutex .*, owned by "bob" (id [0-9]*)$' \
		'^"[acd][a-z]*" (id [0-9]*): parked .*, owned by "[acd][a-z]*" (id [0-9]*)$' \
		'^    "[acd][a-z]*" (id [0-9]*): in cycle 1$' \
		'^weft: 5 threads, 4 wait for another one, 1 cycle; parked otherwise: sleep 1$'
}
passes "its graph" says "$weft" dump --graph $pid
ends

# shellcheck disable=SC3045 # where there is none, there is no core file
(cd "$work" && ulimit -c unlimited && WEFT_TRACE=flight exec "$shop" crash) \
	>"$work/sales" 2>"$work/said"
passes "a crash" said '^weft: SIGSEGV at address 0x0 in thread "[a-d]' \
	'^weft: it owns mutex 0x[0-9a-f]*, for which [1-3] thread' \
	'^weft: the last events are in weft\.[0-9]*\.weft, which weft trace reads$'
for core in "$work"/weft.*.weft "$work"/core*; do
	[ -f "$core" ] || continue
	"$weft" trace --format=text "$core" >"$work/said" 2>&1
	# Handed over, or woken: that depends on how long a bill takes here.
	passes "what was before it" said ' begin "bill" 0$' ' end$' \
		' is ready, [a-z ]* by [a-d]'
done
(cd "$work" && WEFT_DEADLOCK=watch exec "$shop" hang) >"$work/sales" 2>"$work/said" &
pid=$!
matches()
{
	said '^weft: deadlock: 2 threads wait for each other; others go on$'
}
until matches >/dev/null || ! kill -0 $pid; do
	sleep 0.1
done
passes "a hang that tells of itself" matches
ends
fails "what it does not say" 'not in both' said 'no such words'
finish

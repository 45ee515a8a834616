#!/bin/sh
# SPDX-License-Identifier: MIT
# test_bench.sh - a benchmark says what it can do, and a short run has all results
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$(dirname "$0")/common.sh"

program=bench/bench-threads
# make check does not build it: in other tiers that would be for nothing.
[ -f Makefile ] || {
	echo "skipped: this is no build directory"
	exit 77
}
env -u MAKEFLAGS -u MAKELEVEL make -s $program >"$work/out" 2>&1 || {
	cat "$work/out"
	exit 1
}

# says TEXT...: the last command's output has each text
says()
{
	for text; do
		grep -Fq -e "$text" "$work/out" && continue
		echo "not said: $text"
		faults=$((faults + 1))
	done
}

passes "--help" $program --help
says 'light,tls,preload,pthreads' 'VCPUs: 1,2' 'yield 2,1000' \
	'parked-million 1000000; up to 1 VCPU; not with --quick' '--csv=PATH' \
	'5 repetitions of 200 ms; with --quick 3 of 50 ms'
cp "$work/out" "$work/help"
passes "--list" $program --list
while read -r name; do
	grep -q "^  $name\( \|;\|\$\)" "$work/help" || {
		echo "--help does not have the case $name"
		faults=$((faults + 1))
	}
done <"$work/out"

# wrong MESSAGE ARGUMENT...: is refused with status 2
wrong()
{
	message=$1
	shift
	fails "$*" "$message" $program "$@"
	$program "$@" >/dev/null 2>&1
	status=$?
	[ $status -eq 2 ] || {
		echo "$*: status $status"
		faults=$((faults + 1))
	}
}

wrong "no variant .kernel', but light,tls,preload,pthreads" --variants=light,kernel
wrong "no case begins with .lokc'" --only=yield,lokc
wrong "\`yield' is no option" yield
wrong '--reps: not understood' --reps=0
wrong '--vcpus: not understood' --vcpus=1,x
wrong 'see bench-threads --help' --nothing

# The results lie beside the program. It runs from where libtool put it.
mkdir -p "$work/build/bench"
cat >"$work/build/bench/bench-threads" <<END
#!/bin/sh
exec "$PWD/$program" "\$@"
END
chmod +x "$work/build/bench/bench-threads"
passes "a short run" "$tools/bench" --build "$work/build" threads --only=lock \
	--vcpus=1 --reps=2 --ms=1 --variants=light,pthreads
says 'bench: report: ' 'bench: results: '
json=$work/build/bench/threads.json
python3 - "$json" <<'END' || faults=$((faults + 1))
import json
import re
import sys

top = json.load(open(sys.argv[1], encoding="utf-8"))
assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", top["date"]), top["date"]
assert top["command"] == ("bench-threads --only=lock --vcpus=1 --reps=2 --ms=1"
                          " --variants=light,pthreads"), top["command"]
assert top["commit"] and top["commit"] != "unknown"
assert {r["bench"] for r in top["results"]} == {"lock", "lock-strict"}
assert {r["variant"] for r in top["results"]} == {"light", "pthreads"}
for r in top["results"]:
    assert r["n"] == len(r["values"]) == 2, r
    assert r["min"] == min(r["values"]) and r["max"] == max(r["values"]), r
END
[ -f "$work/build/bench/report.html" ] || faults=$((faults + 1))
passes "tools/bench NAME --help" "$tools/bench" --build "$work/build" threads --help
says 'Usage: bench-threads'
[ -f "$json" ] || {
	echo "--help removed the results"
	faults=$((faults + 1))
}
fails "a benchmark that is not there" 'the benchmarks are' \
	"$tools/bench" --build "$work/build" nothing
fails "no name" 'usage: tools/bench' "$tools/bench"

finish

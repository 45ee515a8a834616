#!/bin/sh
# SPDX-License-Identifier: MIT
# test_coherence.sh - tools/coherence counts the transfers that a known program has
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC1091,SC2154
. "$(dirname "$0")/common.sh"

command -v python3 >/dev/null || {
	echo "skipped: there is no python3"
	exit 77
}
grep -q '^SANITIZE_CFLAGS = *-f\|^WEFT_CPPFLAGS = .*WEFT_PERTURB' Makefile && {
	echo "skipped: a build with a sanitizer, or a perturbed one"
	exit 77
}

# within CASE VCPUS LEAST MOST: the transfers an operation lie between the two
within()
{
	"$tools/coherence" --build . --vcpus "$2" --part 60000 "$1" >"$work/out" || {
		echo "tools/coherence $1 fails"
		faults=$((faults + 1))
		return
	}
	awk -v least="$3" -v most="$4" '
		NR == 3 { found = $2 }
		END { exit !(found >= least && found <= most) }' "$work/out" || {
		echo "$1, $2 VCPUs: transfers are not between $3 and $4"
		sed -n 3p "$work/out"
		faults=$((faults + 1))
	}
}

# One lock: of two VCPUs by turns, each takes its line for a read, and for two writes,
# one of which comes too late.
within one-lock 2 3.5 4.5
within yield 2 0 0.1
# A thread that is spawned beside an idle VCPU writes no line that all VCPUs read.
within spawn 32 0 3

finish

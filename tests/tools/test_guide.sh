#!/bin/sh
# SPDX-License-Identifier: MIT
# test_guide.sh - the programs of doc/guide.md print what the guide says
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
build=$PWD
. "$(dirname "$0")/common.sh"
guide=$build/examples/guide

if [ ! -x "$guide/01_hello" ]; then
	echo "there is no $guide/01_hello: make tests"
	exit 1
fi

# An emulated build's programs are of another machine.
machine()
{
	od -An -j18 -N2 -tx1 "$1"
}
if [ "$(machine "$guide/01_hello")" != "$(machine /bin/sh)" ]; then
	echo "test_guide.sh: left out, of another machine"
	exit 0
fi

# said PROGRAM: the block of the guide behind "<!-- output of PROGRAM -->"
said()
{
	awk -v head="<!-- output of $1 -->" '
		$0 == head { near = 1; next }
		near && /^```/ { inside++; if (inside == 2) exit; next }
		inside == 1' "$top/doc/guide.md"
}

# How many kernel threads there are depends on the moment.
counted()
{
	sed 's/, [0-9][0-9]* kernel threads$/, N kernel threads/'
}

prints_what_the_guide_says()
{
	said "$1" | counted > "$work/wanted"
	[ -s "$work/wanted" ] || { echo "the guide has no output of $1"; return 1; }
	WEFT_VCPUS=$2 timeout 60 "$guide/$1" > "$work/printed" || return 1
	counted < "$work/printed" | diff "$work/wanted" - 
}

for vcpus in 1 2 4; do
	for p in 01_hello 02_many 03_results 04_mutex 05_channels 06_alt \
		07_deadlines 08_groups 09_sockets 10_blocking; do
		passes "$p on $vcpus VCPUs" prints_what_the_guide_says $p $vcpus
	done
done

# Its output goes to standard error, and has addresses.
hang()
{
	timeout 60 "$guide/11_hang" 2> "$work/dump"
	[ $? -eq 2 ] || { cat "$work/dump"; return 1; }
	for text in 'weft: deadlock: all 3 threads are parked' \
	    'thread "ann" .* waits for mutex .*, owned by "bob"' \
	    'thread "bob" .* waits for mutex .*, owned by "ann"' \
	    'waits for itself through: "ann" .* -> "bob" '; do
		if ! grep -q -e "$text" "$work/dump" ||
		    ! said 11_hang | grep -q -e "$text"; then
			echo "not found: $text"
			cat "$work/dump"
			return 1
		fi
	done
}
passes "11_hang tells its deadlock" hang
finish

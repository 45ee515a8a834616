#!/bin/bash
# SPDX-License-Identifier: MIT
# test_examples.sh - the examples for several ranks give what one process gives
#
# With each MPI that is here, on 2 and 4 ranks: with libc's threads, by weft run, and,
# where libweft-mpi was built, with it. Runs in the build folder. The status is 77 where
# there is no MPI.
# shellcheck source-path=SCRIPTDIR source=../tools/common.sh disable=SC2317
build=$PWD
. "$(dirname "$0")/../tools/common.sh"

[ -f Makefile ] || {
	echo "skipped: this is no build directory"
	exit 77
}
vendors=
for vendor in openmpi mpich; do
	if command -v mpicc.$vendor >/dev/null && command -v mpirun.$vendor >/dev/null; then
		vendors="$vendors $vendor"
	else
		echo "left out: there is no mpicc.$vendor with mpirun.$vendor"
	fi
done
[ -n "$vendors" ] || {
	echo "skipped: there is no MPI"
	exit 77
}
env -u MAKEFLAGS -u MAKELEVEL make -s examples-mpi examples/sieve \
	examples/wordfreq-pthreads >"$work/made" 2>&1 || {
	cat "$work/made"
	exit 1
}

# Ranks that wait look again and again, so with more ranks than CPUs each step may take
# a time slice. The work is small.
heat="-n 60 -r 8 -c 3 -s 4"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# ranks N COMMAND...
ranks()
{
	local n=$1
	shift
	case $vendor in
	openmpi) set -- mpirun.openmpi --oversubscribe --bind-to none -n "$n" "$@" ;;
	mpich) set -- mpirun.mpich -n "$n" "$@" ;;
	esac
	timeout -k 10 240 "$@"
}

# What stands in front of a program.
by_kind()
{
	local program=examples/mpi/$vendor/$1
	case $kind in
	pthreads) command=("$build/$program-pthreads") ;;
	weft-run) command=("$build/cli/weft" run -- "$build/$program-pthreads") ;;
	weft-run-mpi) command=("$build/cli/weft" run --mpi -- "$build/$program-pthreads") ;;
	weft) command=("$build/$program-weft") ;;
	esac
}

# same FILE N NAME ARGUMENT...: the program's output is the file
same()
{
	local file=$1 n=$2 command
	by_kind "$3"
	shift 3
	ranks "$n" "${command[@]}" "$@" >"$work/got" 2>"$work/errors" &&
		cmp "$file" "$work/got" && return
	cat "$work/errors"
	return 1
}

heated()
{
	local command
	by_kind heat
	rm -f "$work/plate"
	# shellcheck disable=SC2086 # words
	ranks "$1" "${command[@]}" $heat -k -o "$work/plate" &&
		cmp "$work/right" "$work/plate"
}

plate_alone()
{
	# shellcheck disable=SC2086 # words
	ranks "$1" "$build/examples/mpi/$vendor/heat-alone" $heat -k -o "$2"
}

# Deep, so that two ranks have several files each.
mkdir -p "$work/tree/a/b" || exit 1
for i in 1 2 3 4 5; do
	sed -n "$i~5p" "$top/README.md" >"$work/tree/a/$i"
	sed -n "$i~5p" "$top/HACKING.md" >"$work/tree/a/b/$i"
done
"$build/examples/wordfreq-pthreads" --top=0 --output="$work/words" "$work/tree" 2>/dev/null &&
	"$build/examples/sieve" 12 >"$work/primes" && echo 2680 >"$work/ways" || exit 1

kinds="pthreads weft-run"
# With glibc before 2.34 no program has green threads.
first=${vendors# }
has_green "examples/mpi/${first%% *}/heat-pthreads" || kinds=pthreads

for vendor in $vendors; do
	of_vendor=$kinds
	[ ! -e ".libs/libweft-mpi-$vendor.so" ] || of_vendor="$kinds weft-run-mpi weft"
	passes "$vendor: the plate of one rank" plate_alone 1 "$work/right"
	for n in 2 4; do
		passes "$vendor, $n ranks: a plate of one thread a rank" plate_alone $n "$work/plate"
		passes "$vendor, $n ranks: the same plate" cmp "$work/right" "$work/plate"
		for kind in $of_vendor; do
			passes "$vendor, $n ranks, $kind: heat" heated $n
			passes "$vendor, $n ranks, $kind: words" same "$work/words" $n words "$work/tree"
			passes "$vendor, $n ranks, $kind: sieve" same "$work/primes" $n sieve 12
			passes "$vendor, $n ranks, $kind: queens" same "$work/ways" $n queens -t 2 11
			echo "$vendor, $n ranks, $kind: done"
		done
	done
done
finish

# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# common.sh - for the tests of the lints: each must be seen to fail
set -u
tools=$(cd "$(dirname "$0")/../../tools" && pwd)
# shellcheck disable=SC2034 # for those who include this
top=$(dirname "$tools")
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
faults=0

# passes WHAT COMMAND...
passes()
{
	what=$1
	shift
	"$@" >"$work/out" 2>&1 && return
	echo "refused: $what"
	cat "$work/out"
	faults=$((faults + 1))
}

# fails WHAT MESSAGE COMMAND...: with the message, and not by a crash
fails()
{
	what=$1 message=$2
	shift 2
	if "$@" >"$work/out" 2>&1; then
		echo "accepted: $what"
	elif grep -q Traceback "$work/out" ||
	    ! grep -q -e "$message" "$work/out"; then
		echo "refused, but not with \"$message\": $what"
		cat "$work/out"
	else
		return
	fi
	faults=$((faults + 1))
}

# status_is STATUS COMMAND...: its output is in $work/said
status_is()
{
	want=$1
	shift
	"$@" >"$work/said" 2>&1
	status=$?
	[ "$status" = "$want" ] || { cat "$work/said"; false; }
}

says()
{
	grep -q -e "$1" "$work/said"
}

refuses()
{
	! "$@"
}

# has_green PROGRAM: with glibc before 2.34 no program has green threads.
has_green()
{
	! "${WEFT_TEST_CLI-cli/weft}" run --check "$1" | grep -q '^Its threads stay kernel threads: .*(glibc'
}

finish()
{
	[ $faults -eq 0 ] || exit 1
	echo "$(basename "$0"): passed"
	exit 0
}

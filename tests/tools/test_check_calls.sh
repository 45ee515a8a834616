#!/bin/sh
# SPDX-License-Identifier: MIT
# test_check_calls.sh - what check-calls must find, and what it must not
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

mkdir -p "$work/runtime/os/call" "$work/doc/man"
cd "$work" || exit 1
check="$tools/check-calls"

# table ROW...: and the manual that belongs to it
table()
{
	{
		printf '#define WEFTI_CALLS(CALL) \\\n'
		for row in "$@"; do
			printf '\tCALL(%s) \\\n' "$row"
		done
	} >runtime/os/call/calls.h
	{
		echo '.\" calls: begin'
		"$check" --man .
		echo '.\" calls: end'
	} >doc/man/weft.7
}

source()
{
	printf '%s\n' "$1" >runtime/os/x.c
	"$check" .
}

table 'futex, LIBC, ALL, 0, ""' 'madvise, ELSE, ALL, 0, "less"'
both='x = call(SYS_futex, 1); y = wefti_arch_syscall(SYS_madvise, 2);'
passes "a call for each row" source "$both"
passes "what programs call" source "$both
	switch (n) { case SYS_read: case SYS_write: return n == SYS_close; }"
fails "a call without a row" "read is not in" source "$both z(SYS_read);"
fails "a row without a call" "nothing calls madvise" source 'call(SYS_futex);'
table 'madvise, ELSE, ALL, 0, "less"' 'futex, LIBC, ALL, 0, ""'
fails "no order" "order of the names" source "$both"
table 'futex, LIBC, ALL, 0, ""' 'madvise, ELSE, ALL, 0, "less"'
sed -i 's/less/more/' doc/man/weft.7
fails "another manual" "check-calls --fix mends it" source "$both"
passes "a manual that is mended" "$check" --fix .
passes "the mended manual" source "$both"
table 'futex, LIBC, ALL, 0, ""' 'madvise, ELSE, ALL, 0, less'
fails "a row that is none" "is not understood" source 'call(SYS_futex);'
finish

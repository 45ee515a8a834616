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
	} >doc/man/weft-calls.7
}

calls()
{
	printf '%s\n' "$1" >runtime/os/x.c
	"$check" .
}

table 'futex, LIBC, ALL, 0, ""' 'madvise, ELSE, ALL, 0, "less"'
both='x = call(SYS_futex, 1); y = wefti_arch_syscall(SYS_madvise, 2);'
passes "a call for each row" calls "$both"
passes "what programs call" calls "$both
	switch (n) { case SYS_read: case SYS_write: return n == SYS_close; }"
fails "a call without a row" "read is not in" calls "$both z(SYS_read);"
fails "a row without a call" "nothing calls madvise" calls 'call(SYS_futex);'
table 'madvise, ELSE, ALL, 0, "less"' 'futex, LIBC, ALL, 0, ""'
fails "no order" "order of the names" calls "$both"
table 'futex, LIBC, ALL, 0, ""' 'madvise, ELSE, ALL, 0, "less"'
sed -i 's/less/more/' doc/man/weft-calls.7
fails "another manual" "check-calls --fix mends it" calls "$both"
passes "a manual that is mended" "$check" --fix .
passes "the mended manual" calls "$both"
table 'futex, LIBC, ALL, 0, ""' 'madvise, ELSE, ALL, 0, less'
fails "a row that is none" "is not understood" calls 'call(SYS_futex);'

# flags FLAG PART: with two calls
flags()
{
	table 'close, LIBC, ALL, 0, ""' 'prctl, ELSE, RUN, 0, "less"'
	{
		printf '#define WEFTI_FLAGS(FLAG) \\\n\tFLAG(%s)\n' "$1"
		printf '#define WEFTI_PARTS(PART) \\\n\tPART(%s)\n' "$2"
	} >>runtime/os/call/calls.h
	"$check" --fix . >/dev/null
	calls 'call(SYS_close, CLOSE_ALL); call(SYS_prctl, PR_X); get(AT_ONE);'
}
flag='PR_X, prctl, 0, 59, EINVAL, ELSE, RUN, 511, "less"'
part='AT_ONE, AUXV, 51, ~0ul, ELSE, ALL, 514, "less"'
passes "a flag and a part" flags "$flag" "$part"
passes "the manual has them" grep -q '^.It PR_X of prctl$' doc/man/weft-calls.7
fails "a flag that no source has" "no source has PR_Y" \
	flags 'PR_Y, prctl, 0, 59, EINVAL, ELSE, RUN, 511, "less"' "$part"
fails "a part that no source has" "no source has AT_TWO" \
	flags "$flag" 'AT_TWO, AUXV, 51, ~0ul, ELSE, ALL, 514, "less"'
fails "a flag of another call" "is a flag of seccomp, which" \
	flags 'PR_X, seccomp, 0, 59, EINVAL, ELSE, RUN, 511, "less"' "$part"
fails "a flag that is none" "is not understood" \
	flags 'PR_X, prctl, 0, 59, EINVAL, ELSE, RUN' "$part"
finish

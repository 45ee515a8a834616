#!/bin/sh
# SPDX-License-Identifier: MIT
# test_check_layers.sh - what check-layers must find, and what it must not
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

mkdir -p "$work/tools" "$work/include/weft" "$work/arch/x86_64" \
	"$work/runtime/base" "$work/runtime/os" "$work/runtime/sched" \
	"$work/runtime/chan" "$work/runtime/io"
cp "$top/tools/layers.txt" "$work/tools"
cd "$work" || exit 1
for f in include/weft/base.h arch/x86_64/cpu.h runtime/base/list.h \
	runtime/os/futex.h runtime/sched/park.h runtime/sched/park.c \
	runtime/chan/chan.h runtime/io/poll.h; do
	: >$f
done

check()
{
	printf '%s\n' "$2" >"$1"
	"$tools/check-layers" .
	status=$?
	: >"$1"
	return "$status"
}

park=runtime/sched/park.c
passes "an empty tree" check $park ""
passes "lower layers" check $park '#include "os/futex.h"
#include "base/list.h"
#include "cpu.h"
#include <weft/base.h>'
passes "a name in a comment" check $park \
	'/* not pthread_create(), __x86_64__, nor "sched/x.h" */'
passes "a call in os" check runtime/os/futex.h 'long x = syscall(1);'
passes "a field of that name" check $park 'int x = o->syscall(1);'

fails "a higher layer" "lies higher or beside" \
	check runtime/os/futex.h '#include "sched/park.h"'
fails "a sibling" "lies higher or beside" \
	check runtime/chan/chan.h '#include "io/poll.h"'
fails "an unknown file" "is not in the tree" \
	check $park '#include "sched/nowhere.h"'
fails "a .c file" "a .c file" check runtime/sched/park.h \
	'#include "sched/park.c"'
fails "a public header that needs ours" "public, but includes" \
	check include/weft/base.h '#include "base/list.h"'
fails "a CPU name" "CPU name" check $park '#ifdef __aarch64__'
fails "a system call" "outside runtime/os" check $park 'x = mmap(0, 1);'
fails "a pthread call" "outside runtime/os" check $park 'pthread_self();'
fails "a system header" "outside runtime/os" check $park \
	'#include <sys/mman.h>'
mkdir runtime/stray && : >runtime/stray/x.c
fails "a folder in no layer" "is in no layer" "$tools/check-layers" .
finish

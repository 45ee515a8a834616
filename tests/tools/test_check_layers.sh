#!/bin/sh
# SPDX-License-Identifier: MIT
# test_check_layers.sh - what check-layers must find, and what it must not
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

mkdir -p "$work/tools" "$work/include/weft" "$work/arch/x86_64" \
	"$work/runtime/base" "$work/runtime/os/call" "$work/runtime/sched" \
	"$work/runtime/chan" "$work/runtime/io" "$work/pthread/core" \
	"$work/pthread/wait" "$work/pthread/init" "$work/build"
cp "$top/tools/layers.txt" "$work/tools"
cd "$work" || exit 1
for f in include/weft/base.h arch/x86_64/cpu.h runtime/base/list.h \
	runtime/os/call/futex.h runtime/sched/park.h runtime/sched/park.c \
	runtime/chan/chan.h runtime/io/poll.h pthread/core/self.h \
	pthread/core/self.c pthread/wait/lot.h pthread/wait/lot.c; do
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
passes "lower layers" check $park '#include "os/call/futex.h"
#include "base/list.h"
#include "cpu.h"
#include <weft/base.h>'
passes "a name in a comment" check $park \
	'/* not pthread_create(), __x86_64__, nor "sched/x.h" */'
passes "a call in os" check runtime/os/call/futex.h 'long x = syscall(1);'
passes "a field of that name" check $park 'int x = o->syscall(1);'

fails "a higher layer" "lies higher or beside" \
	check runtime/os/call/futex.h '#include "sched/park.h"'
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
fails "a higher room" "lies higher or beside" \
	check pthread/core/self.h '#include "pthread/wait/lot.h"'
passes "a lower room" check pthread/wait/lot.h '#include "pthread/core/self.h"'

# object FILE TEXT: of a library, made from the text
object()
{
	folder=build/$(dirname "$1")
	mkdir -p "$folder"
	printf '%s\n' "$2" |
		${CC:-cc} -x c -c -o "$folder/liblot_la-$(basename "$1" .c).o" -
}

# links TEXT: pthread/core/self.c has it, and wefti_wait() and a hook are above
links()
{
	object pthread/core/self.c "$1" &&
		object pthread/wait/lot.c 'int wefti_wait(void) { return 0; }' &&
		object pthread/init/above.c 'const int wefti_above = 1;' &&
		"$tools/check-layers" . build
}

: >pthread/init/above.c
hook='extern const int wefti_above; int use(void) { return wefti_above; }'
passes "a hook" links "$hook"
fails "a call of what a higher room defines" \
	"pthread/core uses wefti_wait of pthread/wait/lot.c" \
	links "$hook int wefti_wait(void); int x(void) { return wefti_wait(); }"
fails "a hook that nobody uses" "nothing below uses" links 'int x;'
rm -r build/pthread
fails "no objects" "no objects" "$tools/check-layers" . build

{ echo '# layers' && "$tools/check-layers" --table .; } >HACKING.md
passes "the table" "$tools/check-layers" .
sed -i 's/threads/wefts/' HACKING.md
fails "another text in the table" "is not layers.txt's" "$tools/check-layers" .
{ "$tools/check-layers" --table . | sed -n 1,3p; } >HACKING.md
fails "a table that is not whole" "another number" "$tools/check-layers" .
rm HACKING.md

mkdir runtime/stray && : >runtime/stray/x.c
fails "a folder in no layer" "is in no layer" "$tools/check-layers" .
finish

#!/bin/sh
# SPDX-License-Identifier: MIT
# test_explore_native.sh - weft explore: programs of weft's own threads
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317,SC1091,SC2154
. "$(dirname "$0")/common.sh"

weft=${WEFT_TEST_CLI-cli/weft}
if [ ! -x "$weft" ] || [ ! -f .libs/libweft-explore.so ] || [ ! -f .libs/libweft.so ] ||
    ! command -v "${CC-cc}" >/dev/null; then
	echo "test_explore_native.sh: left out, there is no $weft with its libraries, or no compiler"
	exit 0
fi

# compile NAME FILE FLAG...
compile()
{
	name=$1
	shift
	# shellcheck disable=SC2086 # CC may have options
	${CC-cc} -g -O1 -I"$top/include" -o "$work/$name" "$@" -L.libs -lweft \
		-Wl,-rpath,"$PWD/.libs" || { echo "cannot compile $name"; exit 1; }
}

explore()
{
	"$weft" explore --timeout 10m "$@"
}

cat >"$work/embrace.c" <<'END'
#include <weft.h>
static struct weft_mutex lock[2] = { WEFT_MUTEX_INIT, WEFT_MUTEX_INIT };
static void *work(void *first)
{
	struct weft_mutex *one = first, *other = one == lock ? lock + 1 : lock;
	(void)!weft_mutex_lock(one);
	(void)!weft_mutex_lock(other);
	(void)!weft_mutex_unlock(other);
	(void)!weft_mutex_unlock(one);
	return first;
}
int main(void)
{
	uint64_t a, b;
	if (weft_start(0) || weft_spawn(&a, 0, work, lock) || weft_spawn(&b, 0, work, lock + 1) ||
	    weft_join(a, 0) || weft_join(b, 0))
		return 1;
	return weft_stop() != 0;
}
END

# says MESSAGE: the last output has it
says()
{
	grep -q -e "$1" "$work/last"
}

# status_is STATUS COMMAND...: its output is in $work/last
status_is()
{
	wanted=$1
	shift
	"$@" >"$work/last" 2>&1
	got=$?
	[ "$got" = "$wanted" ] || { cat "$work/last"; echo "status $got"; return 1; }
}

compile native "$top/examples/buggy/native.c"
passes "an early close" status_is 1 explore --runs 100 "$work/native"
passes "it is told" says 'exit status 1'
passes "with the steps" says '^ *[0-9]*  *weft_chan_close, native.c:[0-9]'
passes "in one course" sh -c "! grep -q 'another course' '$work/last'"
seed=$(sed -n 's/.*seeds \([0-9]*\).*/\1/p' "$work/last")
i=0
while [ $i -lt 10 ]; do
	passes "again: seed $seed" status_is 1 "$weft" run --seed "$seed" "$work/native"
	grep interleaving "$work/last" >>"$work/courses"
	i=$((i + 1))
done
passes "each the same" sh -c "[ \$(sort -u '$work/courses' | wc -l) = 1 ]"
compile native.right "$top/examples/buggy/native.c" -DFIXED
passes "no alarm" status_is 0 explore --runs 100 "$work/native.right"

compile embrace "$work/embrace.c"
passes "locks in the wrong order" status_is 1 explore --runs 100 "$work/embrace"
passes "the runtime tells the deadlock" says 'deadlock: all 3 threads are parked'
passes "and its cycle" says 'waits for itself through'
passes "a normal run" status_is 0 "$work/embrace"

fails "a strategy" "there is no --strategy" explore -s pct "$work/native"
finish

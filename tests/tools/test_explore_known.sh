#!/bin/sh
# SPDX-License-Identifier: MIT
# test_explore_known.sh - weft explore finds known bugs of other projects, in the walk-through
# of doc/explore.md; and what it answers when it cannot go on
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317,SC1091,SC2154
. "$(dirname "$0")/common.sh"

weft=${WEFT_TEST_CLI-cli/weft}
if [ ! -x "$weft" ] || [ ! -f .libs/libweft-explore.so ] ||
    ! command -v "${CC-cc}" >/dev/null; then
	echo "test_explore_known.sh: left out, there is no $weft with its library, or no compiler"
	exit 0
fi

# compile NAME FILE FLAG...
compile()
{
	name=$1
	shift
	# shellcheck disable=SC2086 # CC may have options
	${CC-cc} -g -O1 -pthread -o "$work/$name" "$@" || { echo "cannot compile $name"; exit 1; }
}

explore()
{
	"$weft" explore --timeout 10m "$@"
}

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

# known NAME MESSAGE STATUS: found within 100 schedules, replayed by its shortest list, and not
# found when it is mended
known()
{
	compile "$1" "$top/examples/buggy/$1.c"
	passes "$1" status_is 1 explore --runs 100 "$work/$1"
	passes "$1: what it is" says "$2"
	passes "$1: the steps" says "^ *[0-9]*  .*, $1.c:[0-9]"
	seed=$(sed -n 's/.*weft run --seed \(list:[^ ]*\).*/\1/p' "$work/last" | head -n 1)
	passes "$1: a short run" test -n "$seed"
	passes "$1: again" status_is "$3" "$weft" run --seed "$seed" "$work/$1"
	compile "$1.right" "$top/examples/buggy/$1.c" -DFIXED
	passes "$1: mended" status_is 0 explore --runs 100 "$work/$1.right"
}

known pbzip2 'misuse of mutex 1 by thread 1: it destroys what a thread holds' 134
known aget "Assertion .sum == saved.written. failed" 134

# Each step is in the column of its thread; the columns are in the order of the threads.
passes "aget again" status_is 1 explore --runs 100 "$work/aget"
in_columns()
{
	awk '/^ +thread 1 +thread 2 /{ for (i = 2; i <= NF; i += 2) at[$i] = index($0, "thread " $i " ")
		at[$NF] = length($0) - length("thread " $NF) + 1; named = 1; next }
	     named && /begins, aget.c:/ { begins++; where = index($0, "begins")
		for (t in at) if (at[t] == where && !(t in had)) { had[t] = 1; right++ } }
	     /^weft: /{ exit }
	     END { exit !(begins >= 2 && right == begins) }' "$work/last"
}
passes "aget: a column for each thread" in_columns

# One assertion that fails by two calls is two failures.
cat >"$work/twice.c" <<'END'
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void __attribute__((noinline)) check(int wanted) { assert(n == wanted); }
static void *f(void *arg)
{
	pthread_mutex_lock(&lock);
	if (n++ && arg)
		check(0);
	else if (n > 1)
		check(1);
	pthread_mutex_unlock(&lock);
	return arg;
}
int main(void)
{
	pthread_t t[2];
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, f, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
END
compile twice "$work/twice.c" -fno-optimize-sibling-calls
passes "two calls" status_is 1 explore --runs 100 "$work/twice"
passes "two calls: two failures" says 'different failures: 2$'

# With more threads than have room beside each other, the steps are a list.
cat >"$work/many.c" <<'END'
#include <pthread.h>
#include <stdlib.h>
#define N 12
static void *f(void *arg) { return arg; }
int main(void)
{
	pthread_t t[N];
	for (int i = 0; i < N; i++)
		pthread_create(&t[i], NULL, f, NULL);
	for (int i = 0; i < N; i++)
		pthread_join(t[i], NULL);
	abort();
}
END
compile many "$work/many.c"
passes "twelve threads" status_is 1 explore --runs 1 "$work/many"
passes "twelve threads: a list" says '^ *[0-9]*  thread 12  begins'

passes "one run" status_is 0 explore --runs 1 "$work/aget.right"
passes "one run is told" says '^1 run, '
passes "no folder" status_is 125 explore --runs 1 -o "$work/none/here" "$work/aget.right"
passes "before the runs" sh -c "! grep -q 'a second' '$work/last'"

# A signal that ends it. Without "exec" it would go to the shell.
sh -c "exec '$weft' explore --runs 1000000 '$work/aget.right'" >"$work/last" 2>&1 &
sleep 1
kill -TERM $!
wait $!
passes "ended by SIGTERM" test $? = 143

if "$weft" cc --version >/dev/null 2>&1; then
	passes "a command for a shell" status_is 0 "$weft" cc --print -DX='a b' -DY="it's" x.c
	passes "its quotes" says "'-DX=a b' '-DY=it'.''s'"
fi
finish

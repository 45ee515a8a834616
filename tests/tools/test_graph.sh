#!/bin/sh
# SPDX-License-Identifier: MIT
# test_graph.sh - weft dump --graph names the cycles of a running program, and no others
#
# The same program is native and one of libc's threads under weft run. It has a cycle of two
# threads and one of three, a thread that waits for the first, a chain that ends at a thread
# that sleeps, and a thread that runs all the time.
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
build=$PWD
. "$(dirname "$0")/common.sh"

library=$build/.libs/libweft.so
if [ ! -f "$library" ] || ! command -v "${CC-cc}" >/dev/null; then
	echo "test_graph.sh: skipped, there is no compiler, or no library here"
	exit 0
fi
weft=$(cd "$(dirname "${WEFT_TEST_CLI-cli/weft}")" && pwd)/weft
export WEFT_VCPUS="${WEFT_VCPUS-2}"

cat >"$work/waits.h" <<'END'
/* Locks 0, 1: a cycle of two; 2, 3, 4: one of three; 5: a thread sleeps with it. */
static const struct { const char *name; int first, second; } takers[] = {
	{ "two-a", 0, 1 }, { "two-b", 1, 0 },
	{ "three-a", 2, 3 }, { "three-b", 3, 4 }, { "three-c", 4, 2 },
	{ "sleeps", 5, -1 },
};
#define TAKERS 6
static _Atomic int have_one;
END
cat >"$work/native.c" <<'END'
#include <stdlib.h>
#include <unistd.h>
#include <weft.h>
#include "waits.h"

static struct weft_mutex lock[TAKERS];

static void *takes(void *i)
{
	weft_mutex_lock(&lock[takers[(long)i].first]);
	have_one++;
	while (have_one < TAKERS)
		(void)weft_sleep(1000000);
	for (;;)
		if (takers[(long)i].second < 0)
			(void)weft_sleep(1000000000);
		else
			weft_mutex_lock(&lock[takers[(long)i].second]);
	return i;
}

static void *waits(void *i)
{
	weft_mutex_lock(&lock[(long)i]);
	return i;
}

static void *runs(void *arg)
{
	while (getppid() != 1)
		(void)weft_yield();
	exit(0);
	return arg;
}

static uint64_t spawn(const char *name, void *(*fn)(void *), long arg)
{
	const struct weft_attr attr = { .name = name };
	uint64_t id;

	if (weft_spawn(&id, &attr, fn, (void *)arg) != 0)
		abort();
	return id;
}

int main(void)
{
	if (weft_start(NULL) != 0)
		return 1;
	spawn("runs", runs, 0);
	for (long i = 0; i < TAKERS; i++)
		spawn(takers[i].name, takes, i);
	while (have_one < TAKERS)
		(void)weft_sleep(1000000);
	spawn("behind", waits, 1);
	return weft_join(spawn("last", waits, 5), NULL);
}
END
cat >"$work/pthreads.c" <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "waits.h"

static pthread_rwlock_t rwlock[2] = { PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER };
static pthread_mutex_t lock[TAKERS] = {
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
};

/* The cycle of two is one of rwlocks. */
static void take(int i)
{
	if (i < 2)
		pthread_rwlock_wrlock(&rwlock[i]);
	else
		pthread_mutex_lock(&lock[i]);
}

static void *takes(void *i)
{
	take(takers[(long)i].first);
	have_one++;
	while (have_one < TAKERS)
		usleep(1000);
	for (;;)
		if (takers[(long)i].second < 0)
			sleep(1);
		else
			take(takers[(long)i].second);
	return i;
}

static void *waits(void *i)
{
	take((int)(long)i);
	return i;
}

static volatile long count;

static void *runs(void *arg)
{
	while (getppid() != 1)
		count++;
	exit(0);
	return arg;
}

static pthread_t spawn(const char *name, void *(*fn)(void *), long arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, fn, (void *)arg) != 0)
		abort();
	pthread_setname_np(t, name);
	return t;
}

int main(void)
{
	spawn("runs", runs, 0);
	for (long i = 0; i < TAKERS; i++)
		spawn(takers[i].name, takes, i);
	while (have_one < TAKERS)
		usleep(1000);
	spawn("behind", waits, 1);
	return pthread_join(spawn("last", waits, 5), NULL);
}
END
passes "a program" "${CC-cc}" -I"$top/include" -o "$work/native" "$work/native.c" \
	"$library" -Wl,-rpath,"$build/.libs" -pthread
passes "one with pthreads" "${CC-cc}" -o "$work/pthreads" "$work/pthreads.c" -pthread
[ $faults -eq 0 ] || finish

# the_graph LOCK OF-TWO: what the output says; the thread's ids are left out
the_graph()
{
	sed 's/ (id [0-9]*)//g; s/parked for [0-9.]* s/parked/; s/0x[0-9a-f]*/X/' \
		"$work/said" >"$work/graph"
	for line in '^cycle [12]: 2 threads wait for each other$' \
		'^cycle [12]: 3 threads wait for each other$' \
		"^    \"two-a\": parked, waits $1 X, owned by \"two-b\"\$" \
		"^    \"two-b\": parked, waits $1 X, owned by \"two-a\"\$" \
		'^    "three-c": parked, waits for mutex X, owned by "three-a"$' \
		"^\"behind\": parked, waits $1 X, owned by \"two-b\"\$" \
		'^    "two-b": in cycle [12]$' \
		'^"last": parked, waits for mutex X, owned by "sleeps"$' \
		'^    "sleeps": parked, sleeps$' \
		'^    "last": parked, waits for mutex X, owned by "sleeps"$' \
		'^weft: [0-9]* threads, 8 wait for another one, 2 cycles; parked'; do
		grep -q -e "$line" "$work/graph" || {
			echo "not there: $line"
			cat "$work/graph"
			return 1
		}
	done
	test "$(grep -c '^cycle ' "$work/graph")" = 2
}

# looks NAME WAIT COMMAND...: the graphs of a program that has got so far
looks()
{
	name=$1 wait=$2
	shift 2
	"$@" 2>"$work/stderr" &
	pid=$!
	until "$weft" dump --graph $pid >"$work/said" 2>&1 &&
	    grep -q ' 8 wait for another one' "$work/said"; do
		kill -0 $pid || break
		sleep 0.05
	done
	passes "$name" the_graph "$wait"
	"$weft" dump --graph=dot $pid >"$work/dot"
	passes "$name: nodes" grep -q '^    "[0-9]*" \[label="two-a\\nid [0-9]*\\nparked", color=red\];$' \
		"$work/dot"
	passes "$name: edges of cycles" test "$(grep -c -e '->.*, color=red\];$' "$work/dot")" = 5
	passes "$name: other edges" test "$(grep -e '->' "$work/dot" | grep -vc color)" = 3
	! command -v dot >/dev/null || passes "$name: Graphviz reads it" \
		dot -Tsvg -o "$work/svg" "$work/dot"
	kill -KILL $pid
	wait $pid 2>/dev/null
}

looks native "for mutex" "$work/native"
if [ -f "$build/.libs/libweft-pthread.so" ] && has_green "$work/pthreads"; then
	looks "weft run" "to write, for lock" "$weft" run "$work/pthreads"
fi
fails "a form that there is not" 'is not text or dot' "$weft" dump --graph=svg $$
finish

#!/bin/sh
# SPDX-License-Identifier: MIT
# test_core.sh - core files have the stacks of all threads: weft core's, and the kernel's
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
build=$PWD
. "$(dirname "$0")/common.sh"

library=$build/.libs/libweft.so
if [ ! -f "$build/.libs/libweft-pthread.so" ] || ! command -v gdb >/dev/null ||
    ! command -v "${CC-cc}" >/dev/null; then
	echo "test_core.sh: skipped, there is no gdb, or no library here"
	exit 0
fi

cat >"$work/program.c" <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <weft.h>

#define THREADS 40

static volatile unsigned long *places[THREADS];
static struct weft_sem there, never;

static void *wait_here(void *arg)
{
	unsigned long i = (unsigned long)arg;
	volatile unsigned long mark = 0x5eed0000 + i;

	places[i] = &mark;
	(void)weft_sem_post(&there);
	(void)weft_sem_wait(&never);
	return (void *)(mark + (unsigned long)places[i]);
}

int main(int argc, char **argv)
{
	struct rlimit core;
	uint64_t id;

	(void)argv;
	if (getrlimit(RLIMIT_CORE, &core) != 0)
		return 1;
	core.rlim_cur = core.rlim_max;
	if (setrlimit(RLIMIT_CORE, &core) != 0 || weft_start(NULL) != 0)
		return 1;
	for (unsigned long i = 0; i < THREADS; i++)
		if (weft_spawn(&id, NULL, wait_here, (void *)i) != 0)
			return 1;
	for (unsigned long i = 0; i < THREADS; i++)
		(void)weft_sem_wait(&there);
	for (unsigned long i = 0; i < THREADS; i++)
		printf("%p %#lx\n", (void *)places[i], 0x5eed0000 + i);
	puts("ready");
	fflush(stdout);
	if (argc > 1)
		abort();
	for (;;)	/* no deadlock */
		(void)weft_sleep(1000000000);
}
EOF
passes "a program" "${CC-cc}" -g -I"$top/include" -o "$work/program" \
	"$work/program.c" "$library" -Wl,-rpath,"$build/.libs" -pthread
[ $faults -eq 0 ] || finish

# has_all CORE: gdb reads from it what each thread has on its stack, and finds frames
has_all()
{
	set -- -nx -batch "$work/program" "$1" -ex 'thread apply all -s bt'
	while read -r at mark; do
		[ "$at" = ready ] || set -- "$@" -ex "output *(unsigned long *)$at == $mark" \
			-ex 'echo \ same\n'
	done <"$work/places"
	timeout 60 gdb "$@" </dev/null >"$work/said" 2>&1
	[ "$(grep -c '^1 same$' "$work/said")" = 40 ] && grep -q '^#1 ' "$work/said" &&
		return
	cat "$work/said"
	return 1
}

weft=$(cd "$(dirname "${WEFT_TEST_CLI-cli/weft}")" && pwd)/weft

# The shell of the environment may be one that only refuses.
written()
{
	(cd "$work" && SHELL=/bin/false "$weft" core "$pid")
}

says_what_it_lacks()
{
	"$weft" core "$work/own" -o "$work/copy" >"$work/said" 2>&1 &&
		grep -q 'own: the stacks of [0-9]* threads are not in it' "$work/said" &&
		return
	cat "$work/said"
	return 1
}

"$work/program" >"$work/places" &
pid=$!
until grep -q ready "$work/places"; do
	kill -0 $pid || break
	sleep 0.05
done
if written >"$work/written" 2>&1 || ! grep -q -i 'not permitted' "$work/written"; then
	passes "weft core" grep -q "^core.$pid is written\$" "$work/written"
	passes "a core file for its owner alone" \
		[ "$(stat -c %a "$work/core.$pid")" = 600 ]
	passes "has all stacks" has_all "$work/core.$pid"
	passes "the program goes on" kill -0 $pid
	# gdb's own may lack the stacks, and so will a copy of it.
	timeout 60 gdb -nx -batch -p $pid -ex "gcore $work/own" >/dev/null 2>&1
	if [ -f "$work/own" ] && ! has_all "$work/own" >/dev/null; then
		passes "a copy of it says so" says_what_it_lacks
	fi
else
	echo "test_core.sh: gdb cannot attach here"
fi
kill -KILL $pid
wait $pid 2>/dev/null
fails "no process" '4194305: there is no such process' "$weft" core 4194305
fails "a process with -o" '4194305: -o needs a core file; without -o,' \
	"$weft" core 4194305 -o "$work/x"
fails "no number" 'x is not a process ID' "$weft" core x
# shellcheck disable=SC2123 # without gdb
fails "no gdb" 'gdb has to be installed' env PATH=/nothing "$weft" core $$

# The kernel's own, if it writes one here.
rm -f "$work"/core*
(cd "$work" && exec ./program abort) >"$work/places" 2>/dev/null
for core in "$work"/core*; do
	[ ! -f "$core" ] || passes "the kernel's has all stacks" has_all "$core"
done
finish

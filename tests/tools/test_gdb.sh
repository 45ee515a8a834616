#!/bin/sh
# SPDX-License-Identifier: MIT
# test_gdb.sh - a debugger attaches to a program on these threads, and lets it go on
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

library=$PWD/.libs/libweft-pthread.so
if [ ! -f "$library" ] || ! command -v gdb >/dev/null ||
    ! command -v "${CC-cc}" >/dev/null; then
	echo "test_gdb.sh: skipped, there is no gdb, or no library here"
	exit 0
fi

cat >"$work/program.c" <<'EOF'
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static __thread int mine;
static volatile int stop;
static volatile unsigned long turns;

static void *spin_here(void *arg)
{
	mine = 77;
	errno = ENOTTY;
	while (!stop)
		turns++;
	return arg;
}

int main(void)
{
	unsigned long before;
	pthread_t t;
	char c;

	if (pthread_create(&t, NULL, spin_here, NULL) != 0)
		return 1;
	puts("ready");
	fflush(stdout);
	(void)!read(0, &c, 1);
	before = turns;
	while (turns == before)
		usleep(1000);
	stop = 1;
	pthread_join(t, NULL);
	return 3;
}
EOF
passes "a program" "${CC-cc}" -g -pthread -o "$work/program" "$work/program.c"

# debugged VCPUS: what gdb says is in $work/said, the program's status in $status
debugged()
{
	mkfifo "$work/in" || return
	LD_PRELOAD=$library WEFT_VCPUS=$1 "$work/program" \
		<"$work/in" >"$work/ready" &
	pid=$!
	exec 3>"$work/in"
	until grep -q ready "$work/ready"; do
		kill -0 "$pid" || return
		sleep 0.05
	done
	timeout 60 gdb -nx -batch -p "$pid" -ex 'thread apply all -s frame' \
		-ex 'thread apply all -s bt' \
		-ex 'thread apply all -s -q frame function spin_here' \
		-ex 'thread apply all -s -q printf "mine %d\n", mine' \
		</dev/null >"$work/said" 2>&1
	exec 3>&-
	wait "$pid"
	status=$?
	rm -f "$work/in"
	[ "$status" = 3 ]
}

for vcpus in 1 2; do
	passes "it goes on, with $vcpus VCPUs" debugged $vcpus
	passes "the thread that runs is seen" grep -q 'spin_here (arg' "$work/said"
	! has_green "$work/program" ||
		passes "its frames, down to the first" grep -q 'wefti_arch_start' \
			"$work/said"
	passes "and its variables" grep -q '^mine 77$' "$work/said"
done
finish

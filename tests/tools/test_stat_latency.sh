#!/bin/sh
# SPDX-License-Identifier: MIT
# test_stat_latency.sh - weft stat says how long threads are ready before they run
#
# In the program each wake-up of one thread is followed by 2 ms in which the only VCPU
# computes. So of all runs half come at least 2 ms after the thread became ready, however
# loaded the machine is. The other half are main's, which yields.
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
build=$PWD
. "$(dirname "$0")/common.sh"

library=$build/.libs/libweft.so
if [ ! -f "$library" ] || ! command -v python3 >/dev/null ||
    ! command -v "${CC-cc}" >/dev/null; then
	echo "test_stat_latency.sh: skipped, there is no python3, or no library here"
	exit 0
fi
weft=$(cd "$(dirname "${WEFT_TEST_CLI-cli/weft}")" && pwd)/weft

cat >"$work/program.c" <<'EOF'
#include <stdlib.h>
#include <weft.h>

static struct weft_sem sem = WEFT_SEM_INIT;

static void *woken(void *arg)
{
	for (;;)
		weft_sem_wait(&sem);
	return arg;
}

int main(int argc, char **argv)
{
	const int64_t ns = argc > 1 ? atol(argv[1]) : 0;
	uint64_t id;

	if (weft_start(NULL) != 0 || weft_spawn(&id, NULL, woken, NULL) != 0)
		return 1;
	for (;;) {
		const int64_t until = weft_clock() + ns;

		weft_sem_post(&sem);
		while (weft_clock() < until)
			;
		(void)weft_yield();
	}
}
EOF
passes "a program" "${CC-cc}" -g -I"$top/include" -o "$work/program" \
	"$work/program.c" "$library" -Wl,-rpath,"$build/.libs" -pthread
[ $faults -eq 0 ] || finish

cat >"$work/rows.py" <<'EOF'
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
has = [row for row in rows if 'ready_runs' in row]
if sys.argv[2] == 'none':
    sys.exit(len(has))
assert len(has) == len(rows) == int(sys.argv[2]), rows
for row in rows:
    assert row['ready_runs'] >= 10, row
    assert 0 <= row['ready_p50_ns'] <= row['ready_p99_ns'], row
    assert row['ready_p99_ns'] >= int(sys.argv[3]), row
EOF

# rows COUNT LEAST OPTION...: so many lines, each with a 99th percentile of LEAST or more
rows()
{
	count=$1 least=$2
	shift 2
	"$weft" stat --json "$@" "$pid" >"$work/json" &&
		python3 "$work/rows.py" "$work/json" "$count" "$least"
}

none()
{
	"$weft" stat --json "$pid" >"$work/json" &&
		python3 "$work/rows.py" "$work/json" none
}

# starts NS: the program, until it runs on weft
starts()
{
	WEFT_VCPUS=1 WEFT_SLICE=0 "$work/program" "$1" &
	pid=$!
	until grep -q -s -x weft-monitor /proc/$pid/task/*/comm; do
		kill -0 $pid || break
		sleep 0.05
	done
}

ends()
{
	kill -KILL $pid
	wait $pid 2>/dev/null
}

starts 2000000
passes "no latency while nothing is recorded" none
passes "one answer" rows 1 2000000 --latency
passes "two lines" rows 2 2000000 --latency --every=0.3 --count=2
until none; do		# the last lease ends
	kill -0 $pid || break
	sleep 0.1
done
passes "nothing is recorded any more" none
passes "for Prometheus" "$weft" stat --latency --prometheus "$pid"
cp "$work/out" "$work/metrics"
passes "the quantiles" grep -q '^weft_ready_latency_seconds{quantile="0.99"} [0-9.]*$' \
	"$work/metrics"
ends

# A recorder that is on anyway is read without being asked for.
export WEFT_TRACE=flight
starts 2000000
until rows 1 2000000 >/dev/null 2>&1; do	# it has begun this moment
	kill -0 $pid || break
	sleep 0.1
done
passes "by a flight recorder" rows 1 2000000
ends
unset WEFT_TRACE

# Control: the time in question is that of a ready thread. Here each is ready for less.
starts 0
refuses()
{
	! rows "$@" 2>/dev/null
}
passes "no thread is ready for a minute" refuses 1 60000000000 --latency
ends
finish

#!/bin/sh
# SPDX-License-Identifier: MIT
# smoke_sysbench.sh - sysbench's threads, which yield under locks, and its mutexes
for test in "threads --threads=64 --events=200 --thread-yields=5" "mutex --threads=32 --mutex-locks=500 --mutex-loops=10"; do
	# shellcheck disable=SC2086 # words
	sysbench $test --time=0 run | sed -n 's/.*total number of events: *//p'
	echo "$test"
done

#!/bin/sh
# SPDX-License-Identifier: MIT
# smoke_redis.sh - redis with threads for its sockets: commands, many clients, forks
set -u
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
socket=$dir/socket

client()
{
	redis-cli -s "$socket" "$@"
}

redis-server --port 0 --unixsocket "$socket" --dir "$dir" --save '' --appendonly yes \
	--io-threads 3 --io-threads-do-reads yes >"$dir/log" 2>&1 &
for _ in $(seq 600); do
	[ "$(client ping 2>/dev/null)" != PONG ] || break
	kill -0 $! 2>/dev/null || break
	sleep 0.1
done
client set word weft
client get word
client rpush list a b c
client lrange list 0 -1
redis-benchmark -s "$socket" -c 20 -n 2000 -q -t incr >/dev/null
client get counter:__rand_int__
client save
client bgrewriteaof
while client info persistence | grep -q 'aof_rewrite_\(in_progress\|scheduled\):1'; do
	sleep 0.1
done
client info persistence | tr -d '\r' | grep 'last_bg[a-z]*_status'
client shutdown
wait $!
echo "its status: $?"
grep -i 'crash\|signal [0-9]' "$dir/log"
[ -s "$dir/dump.rdb" ] && find "$dir" -name '*.aof' | grep -q .

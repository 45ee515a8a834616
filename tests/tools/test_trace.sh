#!/bin/sh
# SPDX-License-Identifier: MIT
# test_trace.sh - what weft trace records of a program is complete, and others can read it
#
# The program knows how many threads it has spawned and how many marks it has set. The
# readers are Python's json and, where it is installed, the package perfetto. Controls
# spoil the recording: the same readers must notice.
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
build=$PWD
. "$(dirname "$0")/common.sh"

library=$build/.libs/libweft.so
if [ ! -f "$library" ] || ! command -v python3 >/dev/null ||
    ! command -v "${CC-cc}" >/dev/null; then
	echo "test_trace.sh: skipped, there is no python3, or no library here"
	exit 0
fi
weft=$(cd "$(dirname "${WEFT_TEST_CLI-cli/weft}")" && pwd)/weft
reader=$(cd "$(dirname "$0")" && pwd)/trace_perfetto.py
export WEFT_VCPUS="${WEFT_VCPUS-2}"

cat >"$work/program.c" <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <weft.h>

#define THREADS 8
#define ROUNDS 50

static struct weft_mutex lock;
static unsigned long shared;

static void *work(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		weft_trace_begin("job");
		weft_mutex_lock(&lock);
		shared++;
		(void)weft_yield();
		weft_mutex_unlock(&lock);
		weft_trace_end();
		weft_trace_mark("a round with a name of more than one event");
	}
	return arg;
}

static void all(void)
{
	uint64_t id[THREADS];

	for (unsigned long i = 0; i < THREADS; i++)
		if (weft_spawn(&id[i], NULL, work, (void *)i) != 0)
			abort();
	for (unsigned long i = 0; i < THREADS; i++)
		if (weft_join(id[i], NULL) != 0)
			abort();
}

/* "for ever": until the test ends it. Else until the reader has had its time. */
int main(int argc, char **argv)
{
	if (weft_start(NULL) != 0)
		return 1;
	do
		all();
	while (argc > 1 && weft_sleep(1000000) == 0);
	printf("spawns=%d marks=%d jobs=%d\n", THREADS, THREADS * ROUNDS,
	       THREADS * ROUNDS);
	fflush(stdout);
	if (argc == 1 && argv[0][0] != '.')
		abort();
	(void)weft_sleep(300000000);
	return getenv("WEFT_TRACE_PID") && atoi(getenv("WEFT_TRACE_PID")) == getpid() ? 7 : 8;
}
EOF
passes "a program" "${CC-cc}" -g -I"$top/include" -o "$work/program" \
	"$work/program.c" "$library" -Wl,-rpath,"$build/.libs" -pthread
[ $faults -eq 0 ] || finish
cd "$work" || exit 1

# ends_with STATUS COMMAND...
ends_with()
{
	wanted=$1
	shift
	"$@"
	[ $? -eq "$wanted" ]
}

# has COUNT WORDS FILE: so many lines
has()
{
	[ "$(grep -c -e "$2" "$3")" = "$1" ]
}

# --- a program that weft trace starts

passes "a program, with its status" ends_with 7 "$weft" trace -o a.weft ./program
cp out counts
passes "all its events" has 0 'were lost' counts
passes "what it has counted" grep -q '^spawns=8 marks=400 jobs=400$' counts
read -r spawns marks jobs <counts

passes "text" "$weft" trace -o a.txt a.weft
passes "spawns in the text" has "${spawns#*=}" ' is spawned, ' a.txt
passes "marks in the text" has "${marks#*=}" \
	' mark "a round with a name of more than one event"' a.txt
passes "begins in the text" has "${jobs#*=}" ' begin "job"' a.txt
passes "ends in the text" has "${jobs#*=}" ' end$' a.txt
"$weft" trace --format text a.weft >b.txt
passes "the same on standard output" cmp a.txt b.txt

cat >chrome.py <<'EOF'
"""Each slice of Chrome's JSON ends, and there is what the program has counted."""
import json, sys
from collections import Counter

def check(holds, what):
    if not holds:
        sys.exit(f'wrong: {what}')

wanted = {name: int(n) for name, n in (a.split('=') for a in sys.argv[2:])}
events = json.load(open(sys.argv[1]))['traceEvents']
depth, points, begun = Counter(), Counter(), Counter()
for e in events:
    track = e['pid'], e['tid']
    if e['ph'] == 'B':
        depth[track] += 1
        begun[e['name']] += 1
    elif e['ph'] == 'E':
        depth[track] -= 1
        check(depth[track] >= 0, 'an end without a begin')
    elif e['ph'] == 'i':
        points[e['name']] += 1
check(not any(depth.values()), 'a slice never ends')
check(points['spawns'] == wanted['spawns'], 'spawns')
check(sum(n for name, n in points.items() if 'round' in name) == wanted['marks'], 'marks')
check(begun['job'] == wanted['jobs'], 'jobs')
starts = Counter(e['id'] for e in events if e['ph'] == 's')
ends = Counter(e['id'] for e in events if e['ph'] == 'f')
check(set(ends) <= set(starts) and max(ends.values()) == 1, 'arrows')
EOF
as_json()
{
	rm -f b.json
	"$weft" trace -o b.json "$1" && python3 chrome.py b.json "$spawns" "$marks" "$jobs"
}
passes "JSON as Python reads it" as_json a.weft

as_perfetto()
{
	rm -f b.pftrace
	"$weft" trace -o b.pftrace "$1" &&
		python3 "$reader" b.pftrace "$spawns" "$marks" "$jobs" lost=0
}
as_perfetto a.weft >said 2>&1
status=$?
perfetto=
if [ $status -eq 0 ]; then
	perfetto=yes
elif [ $status -eq 77 ] || grep -q 'perfetto: this weft was built without' said; then
	echo "test_trace.sh: without Perfetto's format: $(cat said)"
else
	echo "refused: what Perfetto's messages say"
	cat said
	faults=$((faults + 1))
fi

# A signal to weft trace ends the program, as under weft run.
"$weft" trace -o term.weft ./program for ever >/dev/null 2>&1 &
tracer=$!
until program=$(cat /proc/$tracer/task/$tracer/children 2>/dev/null) && [ -n "$program" ] &&
    grep -q -s -x weft-monitor "/proc/${program% }"/task/*/comm; do
	kill -0 $tracer || break
	sleep 0.05
done
kill -TERM $tracer
wait $tracer
passes "the program's status after SIGTERM" [ $? -eq 143 ]
passes "which has ended" ends_with 1 kill -0 "${program% }"
passes "and was recorded" "$weft" trace -o term.txt term.weft

# --- controls: a reader notices what is missing, or is not there

# The last event of a kind is a signal now.
cat >spoil.py <<'EOF'
import re, struct, sys

enum = open(sys.argv[2]).read().split('enum wefti_event_kind {')[1].split('};')[0]
kinds = re.findall(r'^\tWEFTI_EVENT_(\w+),', enum, re.M)
kind, signal = kinds.index(sys.argv[1]), kinds.index('SIGNAL')
data = bytearray(open('a.weft', 'rb').read())
at, rings = (struct.unpack_from('<I', data, i)[0] for i in (12, 24))
found = 0
while at < len(data):
    ring, count, first = struct.unpack_from('<IIQ', data, at)
    at += 16
    for i in range(count if ring < rings else 0):
        if data[at + 32 * i] == kind:
            found = at + 32 * i
    at += count * (32 if ring < rings else 64)
data[found] = signal
open('b.weft', 'wb').write(data)
EOF
without()
{
	python3 spoil.py "$1" "$top/runtime/record/format.h" && "$2" b.weft
}
fails "without a spawn" 'wrong: spawns' without SPAWN as_json
fails "without a mark" 'wrong: marks' without MARK as_json
passes "without an end, which is there at the end" without END as_json
[ -z "$perfetto" ] || {
	fails "without a wake-up" 'wrong: .*, then "running"' without READY as_perfetto
	fails "without a mark, by Perfetto" 'marks is 399' without MARK as_perfetto
}

# --- files that are no recording, or not all of one

head -c 100000 a.weft >b.weft
passes "a recording that was cut off" "$weft" trace -o cut.json b.weft
head -c 100 a.weft >b.weft
fails "a part of the head" "it holds no whole block: its writer was killed at the start" "$weft" trace -o no.json b.weft
printf 'weftlog\0%0400d' 0 >b.weft
fails "another version" 'another version' "$weft" trace -o no.json b.weft
printf 'neither' >b.weft
fails "a file of something else" 'neither a recording nor a program' \
	"$weft" trace -o no.json b.weft
fails "a folder" 'neither a recording nor a program' "$weft" trace -o no.json .
passes "and no file is left" ends_with 1 test -e no.json

# A forged file: a slot in the millions, times before 0, numbers that go back, and a name
# that would turn a terminal red.
cat >forge.py <<'EOF'
import json, re, struct, subprocess, sys

enum = open(sys.argv[2]).read().split('enum wefti_event_kind {')[1].split('};')[0]
kinds = re.findall(r'^\tWEFTI_EVENT_(\w+),', enum, re.M)
head = open('a.weft', 'rb').read()
head = head[:struct.unpack_from('<I', head, 12)[0]]
who = 1 << 32 | (1 << 28) - 1

def event(number, kind, detail, *rest):
    return struct.pack('<4Q', number << 32 | detail << 8 | kinds.index(kind), *rest)

text = struct.unpack('<3Q', b'\x1b[31mred'.ljust(24, b'\0'))
events = [event(1, 'SPAWN', 0, 0, who, 0), event(2, 'NAME', 0, 0, who, 0),
          event(3, 'TEXT', 8, *text)]
with open('forged.weft', 'wb') as out:
    out.write(head + 2 * (struct.pack('<IIQ', 0, len(events), 0) + b''.join(events)))

def said(form):
    """With 200 MB of memory."""
    return subprocess.run(['sh', '-c', 'ulimit -v 200000; exec "$@"', 'sh', sys.argv[1],
                           'trace', '-o', '-', '--format', form, 'forged.weft'],
                          stdout=subprocess.PIPE, check=True).stdout

lines = said('text')
assert rb'is named "\x1b[31mred"' in lines, lines
assert b'lost' not in lines, lines
assert all(e['ts'] >= 0 for e in json.loads(said('chrome'))['traceEvents'])
EOF
passes "a forged file" python3 forge.py "$weft" "$top/runtime/record/format.h"
fails "a file that is there" 'is not overwritten' "$weft" trace -o a.txt a.weft
ln -s "$work/elsewhere" link.json
fails "a link" 'is not overwritten' "$weft" trace -o link.json a.weft
passes "which was not followed" ends_with 1 test -e elsewhere
passes "a file of the user's alone" [ "$(stat -c %a a.weft a.txt | sort -u)" = 600 ]
fails "no format" 'there are perfetto, chrome, text and raw' "$weft" trace --format x 1
fails "no time" 'is not a time' "$weft" trace --for x 1
fails "no size" 'is not a size' "$weft" trace -b 1T 1
fails "no process" 'there is no such process' "$weft" trace -o no.json 4194305
fails "a process without weft" 'has no threads of weft' "$weft" trace -o no.json $$
fails "no program" 'No such file' "$weft" trace -o no.json ./nothing

# --- what happened before a crash, if the kernel writes core files here

# shellcheck disable=SC3045 # where there is none, there is no core file
(ulimit -c unlimited && WEFT_TRACE=flight exec "$work/program") >/dev/null 2>&1
for core in core*; do
	[ -f "$core" ] || continue
	passes "a core file" "$weft" trace -o core.txt "$core"
	passes "the last mark" grep -q ' mark "a round' core.txt
done

# --- a process that runs

# is_on PID: does its recorder's memory say so?
cat >is_on.py <<'EOF'
import glob, os, struct, sys

for name in glob.glob(f'/proc/{sys.argv[1]}/fd/*'):
    if os.readlink(name).startswith('/memfd:weft-record'):
        with open(name, 'rb') as file:
            head = file.read(struct.unpack('<I', file.read(16)[12:])[0] - 16)
        sys.exit(struct.unpack_from('<I', head, len(head) - 12)[0] != 1)
sys.exit(2)
EOF
is_on()
{
	python3 is_on.py "$pid"
}

# becomes STATUS: is_on returns it, sooner or later; the runner has a time limit
becomes()
{
	until is_on; [ $? -eq "$1" ]; do
		kill -0 "$pid" || return
		sleep 0.1
	done
}

./program for ever &
pid=$!
until grep -q -s -x weft-monitor /proc/$pid/task/*/comm; do
	kill -0 $pid || break
	sleep 0.05
done
# How much a process does in a time, nobody knows: again until there is a mark.
for_a_time()
{
	until rm -f c.txt && "$weft" trace --for 300ms -o c.txt "$pid" &&
	    grep -q ' mark ' c.txt; do
		kill -0 "$pid" || return
	done
}
passes "a process for a time" for_a_time
passes "the recorder is off again" becomes 1
stacks_in_time()
{
	until rm -f c.txt && "$weft" trace --stacks=1 --for 300ms -o c.txt "$pid" &&
	    grep -q ' is spawned, .* in ' c.txt && grep -q '; it waited in ' c.txt; do
		kill -0 "$pid" || return
	done
}
passes "stacks of waits and spawns" stacks_in_time
passes "the recorder is off then, too" becomes 1
passes "what it holds" "$weft" trace --for 0 -o d.txt $pid
passes "which are its last events" grep -q ' mark ' d.txt

# A reader that is killed leaves it as it was, a few seconds later.
"$weft" trace -o e.weft $pid 2>/dev/null &
killed=$!
passes "the recorder is on" becomes 0
kill -KILL $killed
wait $killed 2>/dev/null
passes "the recorder is off, though the reader was killed" becomes 1
passes "the process goes on" kill -0 $pid
passes "the part that was written" "$weft" trace -o e.txt e.weft

# Two readers: the first to end does not end the other's.
"$weft" trace -o f.weft $pid 2>/dev/null &
other=$!
passes "the recorder is on for one" becomes 0
passes "and for another" "$weft" trace --for 100ms -o g.weft $pid
passes "and still on" is_on
kill -INT $other 2>/dev/null
kill -TERM $other
passes "the reader ends by a signal" wait $other
passes "and has written" "$weft" trace -o f.txt f.weft
passes "the recorder is off once more" becomes 1
kill -KILL $pid
wait $pid 2>/dev/null
# --- an end by a fault, without a core file

cat >aborts.c <<'EOF'
#include <pthread.h>
#include <stdlib.h>
static void *run(void *arg)
{
	abort();
	return arg;
}
int main(void)
{
	pthread_t t;

	return pthread_create(&t, NULL, run, NULL) != 0 || pthread_join(t, NULL) != 0;
}
EOF
# The first thread waits for a mutex that ann has, and for a lock that bob writes.
cat >locks.c <<'EOF'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static atomic_int taken;
static void *run(void *name)
{
	const int is_ann = *(char *)name == 'a';

	if (pthread_setname_np(pthread_self(), name) != 0 ||
	    (is_ann ? pthread_mutex_lock(&mutex) : pthread_rwlock_wrlock(&lock)) != 0)
		return NULL;
	taken++;
	/* Until the first thread waits: weft has a bit for that where libc has another. */
	while (!(*(volatile int *)(is_ann ? (void *)&mutex : (void *)&lock) & 2))
		usleep(1000);
	usleep(100000);
	if (is_ann)
		pthread_mutex_unlock(&mutex);
	else
		pthread_rwlock_unlock(&lock);
	return name;
}
int main(void)
{
	pthread_t t[2];

	if (pthread_create(&t[0], NULL, run, "ann") != 0 ||
	    pthread_create(&t[1], NULL, run, "bob") != 0)
		return 1;
	while (taken < 2)
		usleep(1000);
	return pthread_mutex_lock(&mutex) || pthread_mutex_unlock(&mutex) ||
	       pthread_rwlock_rdlock(&lock) || pthread_rwlock_unlock(&lock) ||
	       pthread_join(t[0], NULL) || pthread_join(t[1], NULL);
}
EOF
WEFT_TEST_CLI=$weft
if [ -f "$build/.libs/libweft-pthread.so" ] &&
    "${CC-cc}" -o aborts aborts.c -pthread && has_green ./aborts; then
	mkdir last
	# shellcheck disable=SC3045 # where there is none, there are core files
	(cd last && ulimit -c 0 && exec "$weft" run ../aborts) 2>/dev/null
	passes "nothing of a program that records nothing" test -z "$(ls last)"
	# shellcheck disable=SC3045
	(cd last && ulimit -c 0 && WEFT_TRACE=flight exec "$weft" run ../aborts) 2>/dev/null
	passes "the last events of one that does" "$weft" trace --format=text -o last.txt \
		last/weft.*.weft
	passes "the thread's spawn in them" grep -q ' is spawned, ' last.txt

	passes "a program of POSIX's with a lock" "${CC-cc}" -o locks locks.c -pthread
	passes "its recording" "$weft" trace -o locks.weft.txt ./locks
	passes "the owner of its mutex" grep -q ' ann  *owns the lock$' locks.weft.txt
	passes "the writer of its lock" grep -q ' bob  *owns the lock$' locks.weft.txt
	passes "no other" ends_with 1 grep -q ' main  *owns the lock$' locks.weft.txt
fi
finish

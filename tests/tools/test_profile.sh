#!/bin/sh
# SPDX-License-Identifier: MIT
# test_profile.sh - weft profile says where the time of a program goes
#
# The program has a function that computes, a lock for which threads wait, and a thread that
# sleeps, each with its own name. It is profiled as a native program, under weft run, and
# while it runs. The readers are Go's pprof, where it is installed, and a reader of the
# protobuf in Python. No time is compared with the clock: times are compared with each other.
# Controls: without samples and without stacks the same readers must notice.
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
build=$PWD
. "$(dirname "$0")/common.sh"

library=$build/.libs/libweft.so
weft=$(cd "$(dirname "${WEFT_TEST_CLI-cli/weft}")" && pwd)/weft
export WEFT_TEST_CLI="$weft"
if [ ! -f "$library" ] || ! command -v python3 >/dev/null ||
    ! command -v "${CC-cc}" >/dev/null; then
	echo "test_profile.sh: skipped, there is no python3, or no library here"
	exit 0
fi
if "$weft" profile 2>&1 | grep -q 'was built without'; then
	echo "test_profile.sh: skipped, $("$weft" profile 2>&1)"
	exit 0
fi
export WEFT_VCPUS="${WEFT_VCPUS-2}"

# The same program for weft and for POSIX. One thread has a fixed amount of work, and the
# others go on meanwhile.
cat >"$work/program.c" <<'END'
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#ifdef NATIVE
#include <weft.h>
typedef uint64_t thread;
static struct weft_mutex book;
#define LOCK()		weft_mutex_lock(&book)
#define UNLOCK()	weft_mutex_unlock(&book)
#define NAP(ns)		(void)weft_sleep(ns)
#define BEGIN(t, f)	weft_spawn(t, NULL, f, NULL)
#define JOIN(t)		weft_join(t, NULL)
#define START()		weft_start(NULL)
#else
#include <pthread.h>
typedef pthread_t thread;
static pthread_mutex_t book = PTHREAD_MUTEX_INITIALIZER;
#define LOCK()		pthread_mutex_lock(&book)
#define UNLOCK()	pthread_mutex_unlock(&book)
#define NAP(ns)		nanosleep(&(struct timespec){ .tv_nsec = ns }, NULL)
#define BEGIN(t, f)	pthread_create(t, NULL, f, NULL)
#define JOIN(t)		pthread_join(t, NULL)
#define START()		0
#endif

static atomic_int ends;
static volatile unsigned long sink;

__attribute__((noinline)) void hot_function(void)
{
	for (int i = 0; i < 1000000; i++)
		sink += (unsigned long)i;
}

__attribute__((noinline)) void *computing_thread(void *arg)
{
	for (int i = 0; i < 1500; i++)
		hot_function();
	atomic_store(&ends, 1);
	return arg;
}

__attribute__((noinline)) void waits_for_book(void)
{
	LOCK();
	NAP(3000000);
	UNLOCK();
	sink++;
}

__attribute__((noinline)) void *contending_thread(void *arg)
{
	while (!atomic_load(&ends))
		waits_for_book();
	return arg;
}

__attribute__((noinline)) void *sleeping_thread(void *arg)
{
	while (!atomic_load(&ends))
		NAP(10000000);
	sink++;
	return arg;
}

int main(void)
{
	void *(*const all[])(void *) = { contending_thread, contending_thread,
		contending_thread, sleeping_thread, computing_thread };
	thread id[5];

	if (START() != 0)
		return 1;
	for (int i = 0; i < 5; i++)
		if (BEGIN(&id[i], all[i]) != 0)
			abort();
	for (int i = 0; i < 5; i++)
		if (JOIN(id[i]) != 0)
			abort();
	return 7;
}
END
passes "a native program" "${CC-cc}" -O2 -g -DNATIVE -Wno-unused-result -I"$top/include" \
	-o "$work/native" "$work/program.c" "$library" -Wl,-rpath,"$build/.libs" -pthread
passes "a program for POSIX" "${CC-cc}" -O2 -g -Wno-unused-result -o "$work/posix" \
	"$work/program.c" -pthread
[ $faults -eq 0 ] || finish
cd "$work" || exit 1

cat >read.py <<'END'
"""read.py FILE [FOLDED-TYPE FOLDED-FILE]...: what the profile must say, and that it agrees
with the folded stacks"""
import gzip, sys
from collections import Counter

def check(holds, what):
    if not holds:
        sys.exit(f'wrong: {what}')

def varint(data, at):
    n = shift = 0
    while True:
        byte = data[at]
        at += 1
        n |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return n, at

def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            check(key & 7 == 2, 'a wire type')
            size, at = varint(data, at)
            value = data[at:at + size]
            check(len(value) == size, 'a length')
            at += size
        yield key >> 3, value

def packed(data):
    at, all = 0, []
    while at < len(data):
        n, at = varint(data, at)
        all.append(n)
    return all

def one(data):
    return dict(fields(data))

top = list(fields(gzip.open(sys.argv[1]).read()))
text = [v.decode() for k, v in top if k == 6]
types = [text[one(v)[1]] for k, v in top if k == 1]
function = {one(v)[1]: text[one(v)[2]] for k, v in top if k == 5}
calls = {}
for k, v in top:
    if k == 4:
        calls[one(v)[1]] = [function[one(line)[1]] for f, line in fields(v) if f == 4] or ['?']
samples = []
for k, v in top:
    if k == 2:
        all = list(fields(v))
        stack = [name for f, ids in all if f == 1 for i in packed(ids) for name in calls[i]]
        value = dict(zip(types, next(packed(x) for f, x in all if f == 2)))
        label = {text[one(x)[1]]: text[one(x)[2]] for f, x in all if f == 3}
        samples.append((stack, value, label))

def total(kind, holds=lambda stack, label: True):
    return sum(value[kind] for stack, value, label in samples if holds(stack, label))

def through(name):
    return lambda stack, label: name in stack

cpu, wait, lock = total('cpu'), total('wait'), total('lock')
check(total('samples') > 0 and cpu > 0, 'no samples')
check(2 * total('cpu', through('hot_function')) > cpu, 'the hot function does not lead')
check(total('wait', lambda stack, label: stack[0] == '[sleeps]' and
            'sleeping_thread' in stack) > 0, 'the sleeper does not sleep')
check(total('lock', lambda stack, label: stack[0] == '[waits for mutex book]' and
            'contending_thread' in stack) * 10 > 9 * lock > 0, 'the lock has no waits')
check(total('lock', through('sleeping_thread')) == 0, 'the sleeper waits for a lock')
check(total('wait', through('hot_function')) == 0, 'the hot function waits')
check(total('wait', lambda stack, label: label['thread'] == 'contending_thread') > 0,
      'threads have no names')
owners = {label['owner'] for stack, value, label in samples if 'owner' in label}
check(sys.argv[1] != 'native.pb.gz' or owners == {'contending_thread'}, f'owners {owners}')
check(sys.argv[1] != 'posix.pb.gz' or 'contending_thread' in owners, f'owners {owners}')

for kind, name in zip(sys.argv[2::2], sys.argv[3::2]):
    folded = Counter()
    for line in open(name):
        stack, number = line.rsplit(' ', 1)
        folded[stack] += int(number)
    check(sum(folded.values()) == total(kind), f'{name}: another sum than of {kind}')
    check(any('hot_function' in stack for stack in folded) == (kind == 'cpu'), name)
END

# ends_with STATUS COMMAND...
ends_with()
{
	wanted=$1
	shift
	"$@"
	[ $? -eq "$wanted" ]
}

is_right()
{
	python3 read.py "$1.pb.gz" cpu "$1.cpu" wait "$1.wait"
}

# by_pprof FILE: the hot function leads, and the waits are there
by_pprof()
{
	go tool pprof -top "$1" >top 2>errors || return
	awk 'table { exit $NF !~ /^hot_function/ } $1 == "flat" { table = 1 }' top || {
		cat top
		return 1
	}
	go tool pprof -sample_index=lock -top "$1" 2>errors | grep -q '\[waits for mutex book\]' &&
		go tool pprof -sample_index=wait -top "$1" 2>errors | grep -q '\[sleeps\]'
}

has_pprof=
if command -v go >/dev/null && go tool pprof -h 2>&1 | grep -q Produce; then
	has_pprof=yes
else
	echo "test_profile.sh: without Go's pprof"
fi

# look_at PROGRAM: one recording in each form
look_at()
{
	passes "$1: a profile, with the program's status" ends_with 7 \
		"$weft" profile --raw -o "$1.weft" "./$1"
	cp out said
	passes "$1: all its events" ends_with 1 grep 'were lost' said
	passes "$1: pprof's form" "$weft" profile -o "$1.pb.gz" "$1.weft"
	passes "$1: folded stacks" "$weft" profile --folded -o "$1.cpu" "$1.weft"
	passes "$1: folded waits" "$weft" profile --folded=wait -o "$1.wait" "$1.weft"
	passes "$1: what it says" is_right "$1"
	[ -z "$has_pprof" ] || passes "$1: as Go's pprof reads it" by_pprof "$1.pb.gz"
}

# --- a native program, and the same one under weft run

look_at native
passes "weft trace reads it" "$weft" trace -o native.txt native.weft
passes "stacks in its text" grep -q ' runs; .*it waited in .* < waits_for_book < ' native.txt
passes "samples in its text" grep -q ' has used the CPU .* in hot_function < ' native.txt
passes "as JSON" "$weft" trace -o native.json native.weft
passes "stacks in it" grep -q '"waited in":".* < waits_for_book < ' native.json

# The first spawns are there before the stacks are asked for.
cat >spawner.c <<'END'
#include <weft.h>
static void *nothing(void *arg)
{
	return arg;
}
__attribute__((noinline)) int spawns_one(void)
{
	uint64_t id;

	return weft_spawn(&id, NULL, nothing, NULL) || weft_join(id, NULL);
}
int main(void)
{
	int error = weft_start(NULL);

	for (int i = 0; i < 2000 && !error; i++)
		error = spawns_one() || weft_sleep(1000000);
	return error ? 1 : 7;
}
END
passes "a program that spawns" "${CC-cc}" -O1 -g -I"$top/include" -o spawner spawner.c \
	"$library" -Wl,-rpath,"$build/.libs" -pthread
passes "stacks of spawns" ends_with 7 "$weft" profile --every=10 --folded=spawns \
	-o spawns.folded ./spawner
passes "which are main's" grep -q '^main;.*;main;spawns_one;.*;\[spawns a thread\] [0-9]*0$' \
	spawns.folded
! has_green ./posix || look_at posix

# --- a process that runs, and ends under the profile

./native &
pid=$!
until grep -q -s -x weft-monitor /proc/$pid/task/*/comm; do
	kill -0 $pid || break
	sleep 0.05
done
passes "a process" "$weft" profile --raw -o process.weft $pid
wait $pid
passes "the process was not disturbed" [ $? -eq 7 ]
passes "pprof's form of it" "$weft" profile -o process.pb.gz process.weft
"$weft" profile --folded -o process.cpu process.weft 2>/dev/null
"$weft" profile --folded=wait -o process.wait process.weft 2>/dev/null
passes "what it says of the process" is_right process

# --- controls: the readers notice what is not there

without()
{
	rm -f no.pb.gz no.cpu no.wait
	"$weft" profile "$@" -o no.pb.gz ./native >/dev/null 2>&1
	python3 read.py no.pb.gz
}
fails "no samples" 'wrong: no samples' without --rate 0
fails "no stacks of waits" 'wrong: the sleeper does not sleep' without --every 0
sed 's/"book"/"desk"/; s/\bbook\b/desk/g; s/hot_function/other/g' program.c >other.c
passes "another program" "${CC-cc}" -O2 -g -DNATIVE -Wno-unused-result -I"$top/include" \
	-o other other.c "$library" -Wl,-rpath,"$build/.libs" -pthread
"$weft" profile -o other.pb.gz ./other >/dev/null 2>&1
fails "another program's profile" 'wrong: the hot function does not lead' \
	python3 read.py other.pb.gz
[ -z "$has_pprof" ] || fails "the same for Go's pprof" 'flat' by_pprof other.pb.gz
more=$(tail -n 1 native.cpu | sed 's/[0-9]*$/1/')
echo "$more" >>native.cpu
fails "a line that is too much" 'another sum than of cpu' is_right native
"$weft" trace -o plain.weft ./native >/dev/null 2>&1
"$weft" profile -o plain.pb.gz plain.weft >said 2>&1
passes "which is said" grep -q 'there is no stack in the recording' said

# --- words about what cannot be

fails "a file that is there" 'is not overwritten' "$weft" profile -o native.pb.gz native.weft
fails "a text" 'it is neither a recording nor a program' "$weft" profile program.c
fails "folded and raw" 'it needs a file' "$weft" profile --raw --folded ./native
fails "no type" 'is not a type' "$weft" profile --folded=x 1
fails "no process" 'there is no such process' "$weft" profile -o none.pb.gz 4194305
fails "a process without weft" 'has no threads of weft' "$weft" profile -o none.pb.gz $$
passes "and no file is left" ends_with 1 test -e none.pb.gz
head -c 3000 native.weft >cut.weft
passes "a recording that was cut off" "$weft" profile -o cut.pb.gz cut.weft

# Nothing in a recording is trusted. Each has some bytes changed, or is cut off.
cat >spoil.py <<'END'
import os, random, subprocess, sys

seed = int(os.environ.get('WEFT_TEST_SEED') or random.randrange(1 << 30))
print(f'WEFT_TEST_SEED={seed}')
random.seed(seed)
data = open('native.weft', 'rb').read()
head = int.from_bytes(data[12:16], 'little')
for i in range(30):
    spoiled = bytearray(data)
    for _ in range(random.choice([1, 30, 1000])):
        spoiled[random.randrange(head if i % 3 else 0, len(data))] = random.choice([0, 1, 255])
    if i % 5 == 0:
        del spoiled[random.randrange(len(data)):]
    open('spoiled.weft', 'wb').write(spoiled)
    for form in [], ['--folded=wait']:
        said = subprocess.run([sys.argv[1], 'profile', *form, '-o', '-', 'spoiled.weft'],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        if said.returncode not in (0, 1) or b'runtime error' in said.stderr:
            sys.exit(f'{i}: {said}')
END
passes "spoiled recordings" python3 spoil.py "$weft"
passes "a file of the user's alone" [ "$(stat -c %a native.pb.gz native.weft | sort -u)" = 600 ]
finish

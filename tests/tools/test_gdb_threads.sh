#!/bin/sh
# SPDX-License-Identifier: MIT
# test_gdb_threads.sh - gdb shows weft's threads, by weft-gdb.py and by weft core -o
#
# A program with known waits, native and under the preload library, is looked at while it
# runs, in a core file of gdb's and in one of the kernel's. The library is stripped.
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
build=$PWD
. "$(dirname "$0")/common.sh"

if [ ! -f "$build/.libs/libweft-pthread.so" ] || ! command -v gdb >/dev/null ||
    ! command -v "${CC-cc}" >/dev/null; then
	echo "test_gdb_threads.sh: skipped, there is no gdb, or no library here"
	exit 0
fi
if ! gdb -nx -batch -ex 'python print("here")' 2>/dev/null | grep -q here; then
	echo "test_gdb_threads.sh: skipped, gdb has no Python"
	exit 0
fi
weft=$(cd "$(dirname "${WEFT_TEST_CLI-cli/weft}")" && pwd)/weft
script=$top/cli/gdb/weft-gdb.py

# --- programs: "joiner" joins "waiter", which waits for the mutex of "owner"

cat >"$work/body.h" <<'END'
static NOINLINE void *hold_lock(void *arg)
{
	lock(&mutex);
	post(&there);
	wait_for(&never);
	return arg;
}

static NOINLINE void *wait_for_lock(void *arg)
{
	volatile unsigned long mark = 0x5eed0000 + (unsigned long)arg;

	post(&there);
	lock(&mutex);
	return (void *)mark;
}

static NOINLINE void *join_it(void *arg)
{
	post(&there);
	join((unsigned long)arg);
	return arg;
}

/* Each waits for the other's. */
static NOINLINE void *lock_both(void *arg)
{
	const unsigned long i = (unsigned long)arg;

	lock(&both[i]);
	post(&there);
	wait_for(&turn[i]);
	lock(&both[!i]);
	return arg;
}

static NOINLINE void *spin_here(void *arg)
{
	post(&there);
	for (;;)
		turns++;
	return arg;
}

static void make_all(void)
{
	(void)make("owner", hold_lock, 0);
	wait_for(&there);
	const unsigned long waiter = make("waiter", wait_for_lock, 7);

	wait_for(&there);
	(void)make("joiner", join_it, waiter);
	wait_for(&there);
	for (unsigned long i = 0; i < 2; i++) {
		(void)make(i ? "second" : "first", lock_both, i);
		wait_for(&there);
	}
	post(&turn[0]);
	post(&turn[1]);
	(void)make("spinner", spin_here, 0);
	wait_for(&there);
	for (int i = 0; i < 50; i++)
		nap();
}
END
cat >"$work/main.h" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static int with_core(void)
{
	struct rlimit core;

	if (getrlimit(RLIMIT_CORE, &core) != 0)
		return -1;
	core.rlim_cur = core.rlim_max;
	return setrlimit(RLIMIT_CORE, &core);
}
static volatile unsigned long turns;
#define NOINLINE __attribute__((noinline))
END
cat >"$work/native.c" <<'END'
#include "main.h"
#include <weft.h>

static struct weft_mutex mutex, both[2];
static struct weft_sem there, never, turn[2];

static NOINLINE void lock(struct weft_mutex *m) { (void)weft_mutex_lock(m); }
static void post(struct weft_sem *s) { (void)weft_sem_post(s); }
static void wait_for(struct weft_sem *s) { (void)weft_sem_wait(s); }
static void join(unsigned long id) { (void)weft_join(id, NULL); }
static void nap(void) { (void)weft_sleep(1000000); }
static unsigned long make(const char *name, void *(*fn)(void *), unsigned long arg)
{
	const struct weft_attr attr = { .name = name };
	uint64_t id;

	if (weft_spawn(&id, &attr, fn, (void *)arg) != 0)
		exit(1);
	return id;
}
#include "body.h"

int main(int argc, char **argv)
{
	(void)argv;
	if (with_core() != 0 || weft_start(NULL) != 0)
		return 1;
	make_all();
	puts("ready");
	fflush(stdout);
	if (argc > 1)
		abort();
	for (;;)
		(void)weft_sleep(1000000000);
}
END
cat >"$work/pthreads.c" <<'END'
#define _GNU_SOURCE
#include "main.h"
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER,
	both[2] = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };
static sem_t there, never, turn[2];

static NOINLINE void lock(pthread_mutex_t *m) { pthread_mutex_lock(m); }
static void post(sem_t *s) { sem_post(s); }
static void wait_for(sem_t *s) { sem_wait(s); }
static void join(unsigned long id) { pthread_join(id, NULL); }
static void nap(void) { usleep(1000); }
static unsigned long make(const char *name, void *(*fn)(void *), unsigned long arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, fn, (void *)arg) != 0)
		exit(1);
	pthread_setname_np(t, name);
	return t;
}
#include "body.h"

int main(int argc, char **argv)
{
	(void)argv;
	if (with_core() != 0)
		return 1;
	make_all();
	puts("ready");
	fflush(stdout);
	if (argc > 1)
		abort();
	for (;;)
		sleep(1);
}
END
mkdir "$work/lib"
for library in libweft.so.0 libweft-pthread.so; do
	passes "a stripped $library" strip --strip-unneeded -o "$work/lib/$library" \
		"$build/.libs/$library"
done
passes "a native program" "${CC-cc}" -g -O1 -I"$top/include" -o "$work/native" \
	"$work/native.c" "$build/.libs/libweft.so" -Wl,-rpath,"$work/lib" -pthread
passes "one of pthreads" "${CC-cc}" -g -O1 -o "$work/pthreads" "$work/pthreads.c" -pthread
[ $faults -eq 0 ] || finish

# --- what is asked of gdb

# gdb_of ARGUMENT...: what gdb says is in $work/said
gdb_of()
{
	timeout 120 gdb -nx -batch -iex 'set debuginfod enabled off' "$@" \
		</dev/null >"$work/said" 2>&1
}
said()
{
	grep -q -e "$1" "$work/said" && return
	echo "without \"$1\":"
	cat "$work/said"
	return 1
}
not_said()
{
	! grep -q -e "$1" "$work/said" && return
	echo "with \"$1\":"
	cat "$work/said"
	return 1
}
number_of()
{
	awk -v name="$1" '$3 == name { print $1; exit }' "$work/list"
}

# part N: what gdb has said behind the mark N
part()
{
	sed "1,/^part $1\$/d; /^part/,\$d" "$work/all" >"$work/said"
}

# looked_at WHERE PROGRAM ARGUMENT...: the threads, with these arguments for gdb
looked_at()
{
	where=$1 program=$2
	shift 2
	gdb_of "$program" "$@" -ex "source $script" -ex 'info weft threads'
	cp "$work/said" "$work/list"
	passes "$where: the owner" said '  owner  *parked, waits for semaphore 0x'
	passes "$where: a mutex and its owner" said \
		'  waiter  *parked, waits for mutex 0x[0-9a-f]*, owned by thread [0-9]* "owner"'
	passes "$where: a join" said '  joiner  *parked, joins thread [0-9]* "waiter"'
	passes "$where: a running thread" said '  spinner  *\(running\|ready\)'
	waiter=$(number_of waiter) joiner=$(number_of joiner) first=$(number_of first)
	passes "$where: numbers" test -n "$waiter" -a -n "$joiner" -a -n "$first"

	gdb_of "$program" "$@" -ex "source $script" \
		-ex 'echo \npart 1\n' -ex "weft why $joiner" -ex "weft why $first" \
		-ex 'echo \npart 2\n' -ex "weft thread $waiter" -ex bt \
		-ex 'frame function wait_for_lock' -ex 'output/x mark' \
		-ex 'echo \npart 3\n' -ex 'weft thread none' -ex bt \
		-ex 'echo \npart 4\n' -ex 'weft apply all bt' \
		-ex 'echo \npart 5\n' -ex 'weft locks' -ex 'weft thread 1000' \
		-ex 'echo \npart 6\n' -ex bt
	cp "$work/said" "$work/all"
	part 1
	passes "$where: a chain" said '^    thread [0-9]* "owner": parked, waits for semaphore'
	passes "$where: a circle" said '^    thread [0-9]* "first": see above; the circle'
	part 2
	passes "$where: its frames" said '^#[1-9].* wait_for_lock (arg='
	passes "$where: its variables" said '^0x5eed0007$'
	passes "$where: and no others" not_said 'hold_lock\|join_it\|lock_both'
	part 3
	passes "$where: the kernel thread again" said '^#0 '
	passes "$where: as it was" not_said 'wait_for_lock'
	part 4
	for frame in hold_lock wait_for_lock join_it spin_here main; do
		passes "$where: bt of $frame" said \
			"^#[0-9]*  *\(0x[0-9a-f]* in \)\{0,1\}$frame ("
	done
	passes "$where: each of them" test "$(grep -c ' lock_both (' "$work/said")" = 2
	part 5
	passes "$where: locks" said '^mutex 0x[0-9a-f]*: owned by thread [0-9]* "owner": 1 wait$'
	passes "$where: no such thread" said 'there is no thread 1000'
	part 6
	passes "$where: nothing is chosen after that" said '^#0 '
	cp "$work/all" "$work/said"
	passes "$where: no fault of the script's" not_said 'Python\|Traceback\|corrupt'
}

# made_threads WHAT PROGRAM CORE: readers of core files that do not know weft
made_threads()
{
	rm -f "$work/more"
	passes "$1: weft core -o" "$weft" core "$3" -o "$work/more"
	grep -q 'threads beside the' "$work/out" || faults=$((faults + 1))
	fails "$1: a file that is there is left alone" 'File exists' \
		"$weft" core "$3" -o "$work/more"
	gdb_of "$2" "$work/more" -ex 'info threads' -ex 'thread apply all bt'
	for frame in hold_lock wait_for_lock join_it; do
		passes "$1: its thread with $frame" test \
			"$(grep -c " $frame (" "$work/said")" -ge 1
	done
	passes "$1: both of two" test "$(grep -c '^#.* lock_both (' "$work/said")" = 2
	passes "$1: numbers of their own" said 'LWP [1-9][0-9]\{8\}'
	gdb_of "$2" "$3" -ex 'thread apply all bt'
	passes "$1: without that, none of them" not_said 'wait_for_lock ('
	command -v eu-stack >/dev/null || return
	eu-stack -e "$2" --core "$work/more" >"$work/said" 2>&1
	for frame in hold_lock wait_for_lock join_it; do
		passes "$1: eu-stack's $frame" said "^#[0-9]* .* $frame\$"
	done
}

# --- each program, alive and dead

of_program()
{
	program=$work/$1 preload=$2
	rm -f "$work"/core*
	LD_PRELOAD=$preload WEFT_VCPUS=2 "$program" >"$work/ready" &
	pid=$!
	until grep -q ready "$work/ready"; do
		kill -0 $pid || return
		sleep 0.05
	done
	if (cd "$work" && "$weft" core $pid) >"$work/written" 2>&1 ||
	    ! grep -q -i 'not permitted' "$work/written"; then
		looked_at "$1, alive" "$program" -p $pid
		passes "$1 goes on" kill -0 $pid
		looked_at "$1, gcore" "$program" "$work/core.$pid"
		made_threads "$1, gcore" "$program" "$work/core.$pid"
	else
		echo "test_gdb_threads.sh: gdb cannot attach here"
	fi
	kill -KILL $pid
	wait $pid 2>/dev/null
	rm -f "$work"/core*
	(cd "$work" && LD_PRELOAD=$preload WEFT_VCPUS=2 exec "$program" abort) \
		>"$work/ready" 2>/dev/null
	for core in "$work"/core*; do
		[ -f "$core" ] || continue
		looked_at "$1, the kernel's core" "$program" "$core"
		made_threads "$1, the kernel's core" "$program" "$core"
	done
}
of_program native ""
! has_green "$work/pthreads" || of_program pthreads "$work/lib/libweft-pthread.so"

# --- linked with the archive, and without any symbol

passes "a stripped static program" "${CC-cc}" -O1 -s -I"$top/include" -o "$work/bare" \
	"$work/native.c" "$build/.libs/libweft.a" -lurcu-qsbr -ldl -pthread
# A forged table: each word of it in turn is one that leads out of all bounds.
cat >"$work/forge.py" <<'END'
import os, struct, subprocess, sys

weft, path, to = sys.argv[1:]
data = open(path, 'rb').read()
at = data.find(b'weft layout\0') + 32
assert at >= 32
table = {}

def place(address):
    first, count = struct.unpack_from('<Q', data, 32)[0], struct.unpack_from('<H', data, 56)[0]
    for i in range(count):
        kind, _, offset, start, _, size = struct.unpack_from('<IIQQQQ', data, first + 56 * i)
        if kind == 1 and start <= address < start + size:
            return offset + address - start

with open(path, 'r+b', buffering=0) as core:
    while data[at]:
        name = data[at:at + 24].split(b'\0')[0]
        table[name] = struct.unpack_from('<Q', data, at + 24)[0]
        for value in 1 << 40, (1 << 61) - 15, None:
            core.seek(at + 24)
            core.write(struct.pack('<Q', value) if value else data[at + 24:at + 32])
            if not value or name.split(b'.')[0] not in (b'core', b'reg', b'thread'):
                continue
            status = subprocess.run([weft, 'core', path, '-o', to], timeout=120,
                                    stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL).returncode
            assert status in (0, 1), (name, value, status)
            if os.path.exists(to):
                os.unlink(to)
        at += 32
    # More threads than a runtime can have: none is looked for.
    core.seek(place(table[b'at.slots'] + table[b'dense.next']))
    core.write(b'\xff\xff\xff\xff')
    assert subprocess.run([weft, 'core', path, '-o', to], timeout=120,
                          stderr=subprocess.DEVNULL).returncode == 1
END

bare()
{
	rm -f "$work"/core*
	(cd "$work" && WEFT_VCPUS=2 exec ./bare abort) >"$work/ready" 2>/dev/null
	for core in "$work"/core*; do
		[ -f "$core" ] || continue
		gdb_of "$work/bare" "$core" -ex "source $script" -ex 'info weft threads'
		passes "bare: found by the note" said \
			'  waiter  *parked, waits for mutex 0x[0-9a-f]*, owned by thread [0-9]* "owner"'
		passes "bare: weft core -o" "$weft" core "$core" -o "$work/bare.more"
		passes "bare: a forged table" python3 "$work/forge.py" "$weft" "$core" \
			"$work/forged"
	done
}
bare

# --- found by gdb itself, in the folder of its scripts

library=$(realpath "$work/lib/libweft.so.0")
mkdir -p "$work/auto$(dirname "$library")"
cp "$script" "$work/auto$library-gdb.py"
finds_itself()
{
	gdb_of -iex "set auto-load safe-path $1" -iex "set auto-load scripts-directory $work/auto" \
		"$work/native" -ex 'break make_all' -ex run -ex 'help weft thread'
	grep -q -i 'undefined.*command' "$work/said" || return 0
	echo "not loaded"
	return 1
}
passes "gdb loads the script with the library" finds_itself "$work"
fails "not from a folder that it does not trust" 'not loaded' finds_itself /nothing

# --- what is refused
head -c 100000 /dev/zero >"$work/zeros"
fails "no core file" 'this is no core file' "$weft" core "$work/zeros" -o "$work/x"
fails "no file" 'No such file' "$weft" core "$work/nothing" -o "$work/x"
passes "no file is left" test ! -e "$work/x"
gdb_of /bin/true -ex "source $script" -ex 'info weft threads'
passes "without a process" said 'there is no process'
gdb_of /bin/true -ex 'break exit' -ex run -ex "source $script" -ex 'info weft threads'
passes "without weft" said "weft's runtime does not run here\|there is no process"
finish

#!/bin/sh
# SPDX-License-Identifier: MIT
# test_shown.sh - what a process says reaches the terminal as harmless text, or not at all
#
# A program names its threads, its marks and itself by what a terminal would obey. Each
# command that prints such a text is run. Another program begins an answer and never goes
# on: each command that asks it ends, with a line.
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
build=$PWD
. "$(dirname "$0")/common.sh"

library=$build/.libs/libweft.so
if [ ! -f "$library" ] || ! command -v "${CC-cc}" >/dev/null; then
	echo "test_shown.sh: skipped, there is no compiler, or no library here"
	exit 0
fi
weft=$(cd "$(dirname "${WEFT_TEST_CLI-cli/weft}")" && pwd)/weft
escape=$(printf '\033')
export WEFT_VCPUS=2

cat >"$work/named.c" <<'END'
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <weft.h>

#define NAME "\033[2J\nx\x9b\xc2\x9b"

static struct weft_mutex lock;

static void *waits(void *arg)
{
	if (weft_mutex_lock(&lock) != 0)
		abort();
	return arg;
}

/* "crash": it ends. */
int main(int argc, char **argv)
{
	const struct weft_attr attr = { .name = NAME };
	uint64_t id;

	(void)argv;
	prctl(PR_SET_NAME, NAME);
	if (weft_start(NULL) != 0 || weft_set_name(weft_self(), NAME) != 0 ||
	    weft_mutex_lock(&lock) != 0 || weft_spawn(&id, &attr, waits, NULL) != 0)
		return 1;
	(void)weft_sleep(100000000);
	if (argc > 1)
		abort();
	while (getppid() != 1) {
		weft_trace_mark(NAME);
		(void)weft_sleep(1000000);
	}
	return 0;
}
END
cat >"$work/half.c" <<'END'
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* As weft does (observe/asked.h), but it never ends an answer. */
static void asked(int signal, siginfo_t *info, void *unused)
{
	static const char text[] = "weft-figures 1\nthreads 3\n";
	uint64_t value = (uint64_t)(uintptr_t)info->si_value.sival_ptr;
	char path[64];
	int fd;

	(void)signal, (void)unused;
	if (info->si_code != SI_QUEUE || value >> 32 != 0x77656674u)
		return;
	snprintf(path, sizeof(path), "/proc/%d/fd/%u", info->si_pid,
		 (unsigned)(value & 0xffff));
	fd = open(path, O_RDWR | O_NONBLOCK);
	if (fd >= 0)
		(void)!write(fd, text, sizeof(text) - 1);
}

int main(void)
{
	struct sigaction act;

	memset(&act, 0, sizeof(act));
	act.sa_sigaction = asked;
	act.sa_flags = SA_SIGINFO;
	sigaction(SIGURG, &act, NULL);
	prctl(PR_SET_NAME, "weft-monitor");
	(void)!write(1, "x", 1);
	while (getppid() != 1)
		usleep(100000);
	return 0;
}
END
passes "a program" "${CC-cc}" -I"$top/include" -o "$work/named" "$work/named.c" "$library" \
	-Wl,-rpath,"$build/.libs" -pthread
passes "another" "${CC-cc}" -o "$work/half" "$work/half.c"
[ $faults -eq 0 ] || finish
cd "$work" || exit 1

# --- answers without an end: all at the same time, each takes ten seconds

./half >half_there &
half=$!
until [ -s half_there ]; do
	sleep 0.02
done
for command in dump stat "top --batch --count=1"; do
	# shellcheck disable=SC2086 # the words of a command
	(timeout 60 "$weft" $command $half >"half_$command.out" 2>&1
	echo $? >"half_$command.status") &
	asking="${asking-} $!"
done

# --- text

# harmless FILE: nothing that a terminal obeys, and no line of the name's own
harmless()
{
	if grep -q "$escape" "$1" || LC_ALL=C grep -q -e "$(printf '\233')" "$1" ||
	    grep -q '^x' "$1"; then
		od -c "$1"
		return 1
	fi
}

./named 2>said &
named=$!
until "$weft" dump $named >dump.txt 2>said && grep -q 'waits for mutex' dump.txt; do
	kill -0 $named || break
	sleep 0.02
done
passes "a dump" harmless dump.txt
passes "with the name, escaped" grep -q \
	'^thread "\\x1b\[2J\\x0ax\\x9b\\xc2\\x9b" (id [0-9]*): parked' dump.txt
passes "and its kernel thread's" grep -q '^kernel thread [0-9]* "\\x1b\[2J' dump.txt
"$weft" stat $named >stat.txt
passes "figures" harmless stat.txt
"$weft" top --batch --count=1 --every=0.2 $named >top.txt
passes "a picture" harmless top.txt
passes "with names" grep -q '"\\x1b\[2J\\x0ax\\x9b\\xc2\\x9b" (id [0-9]*)$' top.txt
passes "and the process's" grep -q "^$named "'\\x1b\[2J\\x0ax\\x9b\\xc2\\x9b: ' top.txt
"$weft" trace --format=text --for=100ms $named >trace.txt 2>said
passes "a trace" harmless trace.txt
passes "with names and marks" grep -q \
	'^.* \\x1b\[2J\\x0ax\\x9b\\xc2\\x9b  *mark "\\x1b\[2J\\x0ax\\x9b\\xc2\\x9b"' trace.txt
kill -KILL $named
wait $named 2>/dev/null
# shellcheck disable=SC3045 # where there is none, there is a core file
(ulimit -c 0; WEFT_LOG=error exec ./named crash) 2>said
passes "a crash" harmless said
passes "with its name" grep -q '^weft: SIGABRT in .* "\\x1b\[2J\\x0ax' said

if [ -f "$build/.libs/libweft-pthread.so" ]; then
	cp /bin/true "in${escape}terp"
	printf '#!%s/in%sterp\n' "$work" "$escape" >script
	printf '#!/no%sne\n' "$escape" >without
	chmod +x script without
	"$weft" run --check ./script >check.txt 2>&1
	passes "an interpreter" harmless check.txt
	passes "with its name" grep -q '^It is a script. .*/in\\x1bterp' check.txt
	"$weft" run ./without >check.txt 2>&1
	passes "one that is not there" harmless check.txt
	passes "with its name" grep -q '^weft: .*/no\\x1bne' check.txt
fi
printf 'a\nx%s' "$escape" >control
fails "what a terminal obeys" ' 033' harmless control

# shellcheck disable=SC2086 # a list
wait $asking
kill -KILL $half
wait $half 2>/dev/null
for command in dump stat "top --batch --count=1"; do
	passes "$command ends" grep -qx 1 "half_$command.status"
	passes "$command says why" grep -q \
		'^weft: [0-9]*: nothing came for 10 seconds in the middle' "half_$command.out"
done
finish

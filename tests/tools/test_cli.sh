#!/bin/sh
# SPDX-License-Identifier: MIT
# test_cli.sh - weft run: statuses, refusals, what the program gets
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

weft=${WEFT_TEST_CLI-cli/weft}
if [ ! -x "$weft" ] || [ ! -f .libs/libweft-pthread.so ]; then
	echo "test_cli.sh: skipped, there is no $weft with its library here"
	exit 0
fi

# A program that it runs waits until its libraries are loaded.
loads_other_libraries()
{
	LD_TRACE_LOADED_OBJECTS=1 "$weft" | grep -E 'lib(ncursesw?|tinfo|protobuf-c|dw|elf|z)\.so'
}
passes "weft run loads no library of other commands" refuses loads_other_libraries

passes "the program's status" status_is 7 "$weft" run sh -c 'exit 7'
passes "its arguments" status_is 0 "$weft" run echo -n --help one
passes "they are its own" says '^-*n* *--help one'
# shellcheck disable=SC2016 # for the shell that weft runs
passes "an option" status_is 0 "$weft" run -n 3 sh -c 'echo $WEFT_VCPUS'
passes "is a variable" says '^3$'
passes "the library is there" status_is 0 "$weft" run \
	grep -c libweft-pthread /proc/self/maps
passes "nothing of that name" status_is 127 "$weft" run no-such-program
passes "and it says so" says '^weft: no-such-program: not found$'
passes "no path" status_is 127 "$weft" run /no/such/program
echo text >"$work/text"
passes "not executable" status_is 126 "$weft" run "$work/text"
chmod +x "$work/text"
passes "no program" status_is 126 "$weft" run "$work/text"
passes "a directory" status_is 126 "$weft" run "$work"
printf '#!/bin/sh\nexit 5\n' >"$work/script"
chmod +x "$work/script"
passes "a script" status_is 5 "$weft" run "$work/script"
cp /bin/true "$work/suid"
if chown 65534 "$work/suid" 2>/dev/null && chmod 4755 "$work/suid"; then
	passes "set-user-ID" status_is 126 "$weft" run "$work/suid"
	passes "and why" says 'set-user-ID'
	passes "in one line" test "$(wc -l <"$work/said")" = 1
fi

# --- what cannot be run: a line, and a status
# script_of NAME LINE; patched NAME OFFSET BYTE; cut NAME BYTES
script_of()
{
	printf '%s\nexit 0\n' "$2" >"$work/$1"
	chmod +x "$work/$1"
}

patched()
{
	cp /bin/true "$work/$1"
	# shellcheck disable=SC2059 # the byte is written as for printf
	printf "$3" | dd of="$work/$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

cut()
{
	head -c "$2" /bin/true >"$work/$1"
	chmod +x "$work/$1"
}

: >"$work/empty"
chmod +x "$work/empty"
mkdir "$work/folder"
mkfifo -m 755 "$work/fifo"
ln -s loop "$work/loop"
ln -s nothing "$work/dangling"
script_of unmarked 'exit 3'
script_of blank '#!'
script_of lost "#!$work/nothing"
script_of itself "#!$work/itself"
script_of of_32 "#!$work/bits32"
patched bits32 4 '\001'
patched machine 18 '\267'
[ "$(uname -m)" != aarch64 ] || patched machine 18 '\076'
for bytes in 4 20 63 64 200 500 1000 5000; do
	cut cut$bytes $bytes
done
echo 'int main(void) { return 0; }' >"$work/static.c"
${CC-cc} -static -o "$work/static" "$work/static.c" 2>/dev/null ||
	rm -f "$work/static"

while read -r want name why; do
	[ -e "$work/$name" ] || [ -L "$work/$name" ] || [ "$want" = 127 ] ||
		continue
	for check in "" --check; do
		# shellcheck disable=SC2086 # an option, or none
		passes "$name $check" status_is "$want" \
			"$weft" run $check "$work/$name"
		passes "and why" says "^weft: .*$name.*$why"
		passes "in one line" test "$(grep -vc '^Verdict: weft cannot run it[.]$' \
			"$work/said")" = 1
	done
done <<'END'
127 nothing No such file
127 empty/nothing Not a directory
127 dangling No such file
127 lost nothing: No such file
126 loop symbolic links
126 empty is not a program
126 folder is a directory
126 fifo is not a regular file
126 unmarked is not a program
126 blank without a usable first line
126 itself without a usable first line
126 of_32 bits32: .*word size
126 bits32 word size
126 machine another kind of machine
126 static statically linked
126 cut4 cut off
126 cut20 cut off
126 cut63 cut off
126 cut64 cut off
126 cut200 cut off
126 cut500 cut off
126 cut1000 cut off
126 cut5000 cut off
END
passes "an empty name" status_is 127 "$weft" run ''
mkdir "$work/folder/true"
passes "a directory in PATH" status_is 0 \
	env PATH="$work/folder:$PATH" "$weft" run true

# --- options and variables that mean nothing
while read -r variable option value; do
	passes "$option $value" status_is 125 "$weft" run "$option" "$value" \
		sh -c 'echo it ran'
	passes "says what would do" says "^weft: $variable=.*: not accepted; give "
	passes "in one line" test "$(wc -l <"$work/said")" = 1
done <<'END'
WEFT_VCPUS -n -1
WEFT_VCPUS -n abc
WEFT_VCPUS -n 2x
WEFT_VCPUS --vcpus 257
WEFT_VCPUS -n 99999999999999999999
WEFT_SLICE -s 5
WEFT_SLICE -s -1ms
WEFT_SLICE --slice 11s
WEFT_STACK -S 1
WEFT_STACK -S 2G
WEFT_STACK --stack big
WEFT_SPARE_MAX -m -1
WEFT_SPARE_MAX --spare-max 32769
WEFT_LOG -l 1
WEFT_LOG --log loud
END
passes "0 VCPUs are a choice" status_is 0 "$weft" run -n 0 true
passes "an empty one" status_is 125 "$weft" run -n '' true
passes "no value" status_is 125 "$weft" run -n
passes "no such option" status_is 125 "$weft" run --wrong true
passes "no such library" status_is 125 "$weft" run --library /nothing true
passes "no program at all" status_is 125 "$weft" run
passes "no such command" status_is 125 "$weft" walk
passes "help" status_is 0 "$weft" run --help
passes "names the variables" says WEFT_VCPUS
for help in "-h" "help" "help run" "run -h" "dump -h" "help help"; do
	# shellcheck disable=SC2086 # words
	passes "$help" status_is 0 "$weft" $help
	passes "$help tells how weft is used" says '^Usage: weft'
done
passes "help on nothing" status_is 125 "$weft" help walk
for version in -V --version; do
	passes "$version" status_is 0 "$weft" $version
	passes "tells the version" says '^weft [0-9]'
done

# --- what a program would meet
cat >"$work/threads.c" <<'END'
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/personality.h>
static void *f(void *arg) { return arg; }
int main(void)
{
	pthread_t t;

	personality(0xffffffff);
	return pthread_create(&t, 0, f, 0) || pthread_join(t, 0);
}
END
cat >"$work/end.c" <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
static const char *how;
static void *end(void *arg)
{
	if (*how == 's')
		*(volatile int *)arg = 1;
	if (*how == 'a')
		abort();
	if (*how == 't')
		kill(getpid(), SIGTERM);
	if (*how == 'k')
		kill(getpid(), SIGKILL);
	if (*how == 'e')
		exit(200);
	for (;;)
		pause();
}
int main(int argc, char **argv)
{
	pthread_t t;

	how = argv[argc - 1];
	return pthread_create(&t, 0, end, (void *)64) || pthread_join(t, 0);
}
END
cat >"$work/reads.c" <<'END'
#include <pthread.h>
#include <stdio.h>
static void *f(void *arg) { return getchar() == 'x' ? arg : 0; }
int main(void)
{
	pthread_t t;
	void *result = 0;

	return pthread_create(&t, 0, f, &t) || pthread_join(t, &result) || !result;
}
END
cat >"$work/status.c" <<'END'
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct rlimit core;
	int status;
	pid_t child;

	getrlimit(RLIMIT_CORE, &core);
	core.rlim_cur = core.rlim_max;
	setrlimit(RLIMIT_CORE, &core);
	child = fork();
	if (child == 0 && argc > 1)
		execvp(argv[1], argv + 1);
	if (child <= 0 || waitpid(child, &status, 0) != child)
		_exit(99);
	printf("%#x\n", status);
	return 0;
}
END
cat >"$work/part.c" <<'END'
#include <semaphore.h>
int part(sem_t *sem) { return sem_wait(sem); }
END
cat >"$work/user.c" <<'END'
int part(void *sem);
int main(void) { return part(0); }
END
# Without green threads there is no runtime that tells of itself.
green=
if ${CC-cc} -o "$work/threads" "$work/threads.c" -pthread 2>/dev/null; then
	! has_green "$work/threads" || green=yes
	passes "a check" status_is 0 "$weft" run --check "$work/threads"
	passes "of a difference" says '^  pthread_create() in threads: makes a green thread$'
	passes "a verdict" says "^Verdict: it runs${green:+ on green threads, with the differences above}"
	passes "and what is refused" says '^  personality() in threads: '
	passes "not what is the same" status_is 1 says pthread_join
	ln -s "$work/threads" "$work/by-env"
	for line in env "env -S" "env A=b"; do
		script_of wrapper "#!/usr/bin/${line} by-env -x"
		passes "a script of $line" status_is 0 \
			env PATH="$work:$PATH" "$weft" run --check "$work/wrapper"
		passes "is followed" says '^It is a script. This is about .*/by-env, which'
		passes "to what it runs" says '^  pthread_create() in by-env: '
		passes "with its verdict" says "^Verdict: it runs${green:+ on green}"
	done
	passes "a script without threads" status_is 0 "$weft" run --check "$work/script"
	passes "says what it is about" says '^It is a script. This is about /bin/sh,'
	passes "and what else to check" says \
		'^Verdict: its interpreter makes no threads .* that the script starts[.]$'
	passes "by the variable" status_is 0 env WEFT_LOG=info WEFT_TLS=shared \
		"$weft" run "$work/threads"
	passes "with a warning" says '^weft: threads stay kernel threads: WEFT_TLS=shared$'
	passes "a check of that" status_is 0 env WEFT_TLS=shared \
		"$weft" run --check "$work/threads"
	passes "says why" says '^Its threads stay kernel threads: WEFT_TLS=shared[.]$'
	passes "its verdict" says '^Verdict: it runs, and its threads stay kernel threads[.]$'
	passes "by this libc" status_is 0 "$weft" run "$work/threads"
	stay=$(sed -n 's/^weft: threads stay kernel threads: //p' "$work/said")
	passes "is foretold" status_is 0 "$weft" run --check "$work/threads"
	passes "as it comes" test "$stay" = \
		"$(sed -n 's/^Its threads stay kernel threads: \(.*\) (glibc .*/\1/p' "$work/said")"
	passes "errors alone" status_is 0 env WEFT_TLS=shared \
		"$weft" run --log error "$work/threads"
	passes "have no warning" test ! -s "$work/said"
	passes "it is not run" status_is 0 "$weft" run --check false
	passes "who makes none" says '^It makes no threads'
	passes "verdict on that" says '^Verdict: it makes no threads that can be seen'
fi
if [ -n "$green" ]; then
	for setting in WEFT_VCPUS=-1 WEFT_SLICE=abc WEFT_STACK=1 \
		WEFT_SPARE_MAX=x WEFT_LOG=2 WEFT_DEADLOCK=maybe WEFT_CRASH=core \
		WEFT_DUMP=2 WEFT_STATS=maybe WEFT_TLS=none WEFT_SCHED=none \
		WEFT_MALLOC=none WEFT_IO_URING=maybe WEFT_TRACE=on \
		WEFT_TRACE_PID=x WEFT_PERF_NAMES=2; do
		passes "$setting" status_is 0 \
			env "$setting" "$weft" run "$work/threads"
		passes "says what is used" \
			says "^weft: $setting: not accepted, using .*; give "
		passes "in one line" test "$(wc -l <"$work/said")" = 1
	done
	passes "nothing is told" status_is 0 "$weft" run -n 2 "$work/threads"
	passes "without being asked for" test ! -s "$work/said"
	passes "what is chosen" status_is 0 "$weft" run -v -n 2 "$work/threads"
	passes "and why" says '^weft: VCPUs: 2 (WEFT_VCPUS); CPUs allowed: '
	passes "when threads are green" says '^weft: process [0-9]*: threads are green '
	passes "as a level" status_is 0 "$weft" run -l info -s 0 "$work/threads"
	passes "without slices" says '^weft: slices: none: '
	passes "counts" status_is 0 "$weft" run -n 2 --stats "$work/threads"
	passes "of threads" says '^weft: threads made 1, at once 1; kernel threads [2-9]'
	passes "in one line" test "$(wc -l <"$work/said")" = 1
fi
# What a thread reads is written when it has been seen to block.
reads()
{
	"$weft" run -n 1 --log debug --stats "$work/reads" <"$work/line" 2>"$work/said" &
	exec 9>"$work/line"
	tries=0
	while ! grep -q 'is taken from' "$work/said" && kill -0 $! 2>/dev/null &&
	    [ $((tries += 1)) -le 500 ]; do
		sleep 0.02
	done
	echo x >&9
	exec 9>&-
	wait $!
}
if [ -n "$green" ] && ${CC-cc} -o "$work/reads" "$work/reads.c" -pthread 2>/dev/null; then
	mkfifo "$work/line"
	passes "a thread that blocks" reads
	passes "costs a kernel thread" says '^weft: spare kernel thread weft-1 made: '
	passes "for its VCPU" says '^weft: VCPU 0 is taken from kernel thread [0-9]*, '
	passes "is counted" says 'compensations [1-9][0-9]*; blocked [0-9]* ms$'
fi
# dumped RUN...: what weft dump says of that program, which ignores SIGQUIT
dumped()
{
	tries=0
	(trap '' QUIT; exec "$@" "$work/reads") <"$work/pipe" 2>"$work/stderr" &
	exec 9>"$work/pipe"
	until "$weft" dump $! >"$work/said" 2>&1 || ! kill -0 $! 2>/dev/null ||
	    [ $((tries += 1)) -gt 500 ]; do
		sleep 0.02
	done
	[ -n "$refused" ] && $refused "$weft" dump $! >"$work/refused" 2>&1
	echo x >&9
	exec 9>&-
	wait $!
}
if [ -x "$work/reads" ]; then
	mkfifo "$work/pipe"
	refused=
	passes "a dump" dumped "$weft" run -n 2
	passes "of both threads" says '^weft: 2 threads, 2 VCPUs, '
	passes "with their stacks" says ' f+0x[0-9a-f]* (reads)$'
	passes "to its end" test "$(tail -n 1 "$work/said")" = "weft: end of dump"
	passes "and nothing elsewhere" test ! -s "$work/stderr"
	as_nobody="setpriv --reuid 65534 --regid 65534 --clear-groups"
	cp .libs/libweft-pthread.so "$work"
	chmod 755 "$work" "$work/libweft-pthread.so"
	chmod 666 "$work/pipe"
	if [ "$(id -u)" = 0 ] && $as_nobody test -r "$work/pipe" 2>/dev/null; then
		# shellcheck disable=SC2086 # words
		passes "root's of another user's" dumped $as_nobody \
			env LD_PRELOAD="$work/libweft-pthread.so"
		passes "is a dump" says '^weft: end of dump$'
		refused=$as_nobody
		passes "a user's of root's" dumped "$weft" run
		passes "is not" grep -q ': Operation not permitted$' "$work/refused"
	fi
fi
# Cores, if there are any, go away with the folder.
weft_path=$(cd "$(dirname "$weft")" && pwd)/${weft##*/}
ends()
{
	(cd "$work" && ./status "$@" 2>/dev/null)
}
if ${CC-cc} -o "$work/end" "$work/end.c" -pthread 2>/dev/null &&
    ${CC-cc} -o "$work/status" "$work/status.c" 2>/dev/null; then
	for how in segv abort term kill exit; do
		passes "ends as it does: $how" test \
			"$(ends ./end $how)" = "$(ends "$weft_path" run ./end $how)"
	done
	for how in segv abort; do
		(cd "$work" && ./status "$weft_path" run -l warning ./end $how) \
			>"$work/said" 2>&1
		grep -v '^weft: threads stay kernel threads' "$work/said" >"$work/more"
		passes "a crash by $how says nothing" test "$(grep -c weft: "$work/more")" = 0
		(cd "$work" && ./status "$weft_path" run -l info ./end $how) \
			>"$work/said" 2>&1
		[ -z "$green" ] || passes "unless it is asked for" says \
			'^weft: SIG.* in thread (id [0-9]*)'
	done
	passes "by its signal" test "$(ends "$weft_path" run ./end term)" = 0xf
	passes "by its status" \
		test "$(ends "$weft_path" run ./end exit)" = 0xc800
fi
if ${CC-cc} -shared -fPIC -o "$work/libpart.so" "$work/part.c" 2>/dev/null &&
    ${CC-cc} -o "$work/user" "$work/user.c" -L"$work" -lpart 2>/dev/null; then
	passes "a library that is missing" status_is 126 \
		"$weft" run --check "$work/user"
	passes "and which" says 'user: needs libpart.so, which is not found$'
	LD_LIBRARY_PATH=$work
	export LD_LIBRARY_PATH
	passes "with its library" status_is 0 "$weft" run --check "$work/user"
	passes "which is looked at" says '^  sem_wait() in libpart.so: '
	unset LD_LIBRARY_PATH
	mkdir "$work/home" "$work/home/lib" "$work/links"
	cp "$work/libpart.so" "$work/home/lib"
	# shellcheck disable=SC2016 # for the loader
	${CC-cc} -o "$work/home/user" "$work/user.c" -L"$work" -lpart \
		-Wl,-rpath,'$ORIGIN/lib'
	ln -s ../home/user "$work/links/first"
	ln -s first "$work/links/user"
	passes "a link, with a library beside the file" status_is 0 \
		"$weft" run --check "$work/links/user"
	passes "which is found" says '^  sem_wait() in .*libpart.so: '
	cp "$work/user" "$work/cut"
	# Over the last section headers: no dynamic symbols can be found.
	truncate -s -512 "$work/cut"
	passes "what is cut off" status_is 126 "$weft" run --check "$work/cut"
	for at in 40 58 60 62; do
		cp "$work/user" "$work/bent"
		printf '\377\377' |
			dd of="$work/bent" bs=1 seek=$at conv=notrunc 2>/dev/null
		status_is 126 "$weft" run --check "$work/bent"
		passes "what is bent at $at" test "$status" -le 126
		passes "a line says so" says '^weft: '
	done
fi
passes "a check of nothing" status_is 127 "$weft" run --check no-such-program
passes "of a directory" status_is 126 "$weft" run --check "$work"
passes "is a verdict" says '^Verdict: weft cannot run it[.]$'
passes "of a text" status_is 126 "$weft" run --check "$work/text"

passes "a dump of who is not weft's" status_is 1 "$weft" dump $$
passes "a dump of no process" status_is 1 "$weft" dump 4194305
passes "says so" says '4194305: there is no such process$'
finish

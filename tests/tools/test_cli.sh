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

# status_is N COMMAND...: it exits so; what it said is in $work/said
status_is()
{
	want=$1
	shift
	"$@" >"$work/said" 2>&1
	status=$?
	[ "$status" = "$want" ]
}

says()
{
	grep -q "$1" "$work/said"
}

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
echo 'int main(void) { return 0; }' >"$work/static.c"
if ${CC-cc} -static -o "$work/static" "$work/static.c" 2>/dev/null; then
	passes "a static program" status_is 126 "$weft" run "$work/static"
	passes "and why" says 'statically linked'
fi
cp /bin/true "$work/other"
printf '\001' | dd of="$work/other" bs=1 seek=4 conv=notrunc 2>/dev/null
passes "32 bits" status_is 126 "$weft" run "$work/other"
passes "and why" says 'word size'
passes "checked" status_is 126 "$weft" run --check "$work/other"
cp /bin/true "$work/suid"
if chown 65534 "$work/suid" 2>/dev/null && chmod 4755 "$work/suid"; then
	passes "set-user-ID" status_is 126 "$weft" run "$work/suid"
	passes "and why" says 'set-user-ID'
	passes "in one line" test "$(wc -l <"$work/said")" = 1
fi
passes "no program at all" status_is 125 "$weft" run
passes "no such command" status_is 125 "$weft" walk
passes "help" status_is 0 "$weft" run --help
passes "names the variables" says WEFT_VCPUS

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
cat >"$work/part.c" <<'END'
#include <semaphore.h>
int part(sem_t *sem) { return sem_wait(sem); }
END
cat >"$work/user.c" <<'END'
int part(void *sem);
int main(void) { return part(0); }
END
if ${CC-cc} -o "$work/threads" "$work/threads.c" -pthread 2>/dev/null; then
	passes "a check" status_is 0 "$weft" run --check "$work/threads"
	passes "of a difference" says '^  pthread_create: a green thread$'
	passes "and what is wrong" says '^  personality: '
	passes "by which file" says '^      in threads$'
	passes "not what is the same" status_is 1 says pthread_join
	passes "it is not run" status_is 0 "$weft" run --check false
	passes "who makes none" says '^It makes no threads'
fi
if ${CC-cc} -shared -fPIC -o "$work/libpart.so" "$work/part.c" 2>/dev/null &&
    ${CC-cc} -o "$work/user" "$work/user.c" -L"$work" -lpart 2>/dev/null; then
	passes "a library that is missing" status_is 126 \
		"$weft" run --check "$work/user"
	passes "and which" says 'user: needs libpart.so, which is not found$'
	LD_LIBRARY_PATH=$work
	export LD_LIBRARY_PATH
	passes "with its library" status_is 0 "$weft" run --check "$work/user"
	passes "which is looked at" says '^      in libpart.so$'
	unset LD_LIBRARY_PATH
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
passes "of a text" status_is 126 "$weft" run --check "$work/text"

passes "a dump of who is not weft's" status_is 1 "$weft" dump $$
finish

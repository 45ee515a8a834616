#!/bin/sh
# SPDX-License-Identifier: MIT
# test_dump.sh - weft dump adds lines of the source and what descriptors are
#
# A program waits in functions of its own, for a pipe and for sockets. It is built with debug
# information and without, with the shared library and with libweft.a, and for weft run.
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
build=$PWD
. "$(dirname "$0")/common.sh"

library=$build/.libs/libweft.so
if [ ! -f "$library" ] || ! command -v "${CC-cc}" >/dev/null; then
	echo "test_dump.sh: skipped, there is no compiler, or no library here"
	exit 0
fi
weft=$(cd "$(dirname "${WEFT_TEST_CLI-cli/weft}")" && pwd)/weft
export WEFT_VCPUS=2

cat >"$work/common.h" <<'END'
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int fds[4];	/* a pipe, a listener, a connection, a socket without an address */

static void make(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t bytes = sizeof(at);
	int pipes[2], pair[2];

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (pipe(pipes) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
		abort();
	fds[0] = pipes[0];
	fds[1] = socket(AF_INET, SOCK_STREAM, 0);
	fds[2] = socket(AF_INET, SOCK_STREAM, 0);
	fds[3] = pair[0];
	if (bind(fds[1], (void *)&at, sizeof(at)) != 0 || listen(fds[1], 4) != 0 ||
	    getsockname(fds[1], (void *)&at, &bytes) != 0 ||
	    connect(fds[2], (void *)&at, sizeof(at)) != 0 || accept(fds[1], NULL, NULL) < 0)
		abort();
}
END
cat >"$work/native.c" <<'END'
#include <weft.h>
#include "common.h"

__attribute__((noinline)) static ssize_t reads_here(int fd)
{
	char c;

	return weft_read(fd, &c, 1) + 1;	/* line 8 */
}

static void *waits(void *i)
{
	if ((long)i == 1)
		return (void *)(long)weft_accept(fds[1], NULL, NULL);
	return (void *)reads_here(fds[(long)i]);
}

int main(void)
{
	uint64_t id = 0;

	make();
	if (weft_start(NULL) != 0)
		return 1;
	for (long i = 0; i < 4; i++)
		if (weft_spawn(&id, NULL, waits, (void *)i) != 0)
			return 1;
	while (getppid() != 1)
		(void)weft_sleep(10000000);
	return 0;
}
END
cat >"$work/pthreads.c" <<'END'
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include "common.h"

__attribute__((noinline)) static ssize_t reads_here(int fd)
{
	char c;

	return read(fd, &c, 1) + 1;	/* line 10 */
}

static void *waits(void *i)
{
	printf("gettid is %ld there\n", syscall(SYS_gettid));
	fflush(stdout);
	if ((long)i == 1)
		return (void *)(long)accept(fds[1], NULL, NULL);
	return (void *)reads_here(fds[(long)i]);
}

int main(void)
{
	pthread_t t;

	make();
	for (long i = 0; i < 4; i++)
		if (pthread_create(&t, NULL, waits, (void *)i) != 0)
			return 1;
	while (getppid() != 1)
		usleep(10000);
	return 0;
}
END
compile()
{
	out=$1 from=$2
	shift 2
	passes "$out" "${CC-cc}" -I"$top/include" -o "$work/$out" "$work/$from" "$@" -pthread
}
compile shared native.c -g "$library" -Wl,-rpath,"$build/.libs"
compile bare native.c "$library" -Wl,-rpath,"$build/.libs"
compile pthreads pthreads.c -g
[ $faults -eq 0 ] || finish

# says PATTERN...
says()
{
	for pattern in "$@"; do
		grep -q -e "$pattern" "$work/said" && continue
		echo "not there: $pattern"
		cat "$work/said"
		return 1
	done
}

# main's caller stands above calls of libc's, which are shown
says_not()
{
	! grep -e "$1" "$work/said" | grep -v ' main_frame+'
}

# starts COMMAND...: until four threads wait for descriptors
starts()
{
	"$@" >"$work/stdout" 2>"$work/stderr" &
	pid=$!
	until "$weft" dump $pid >"$work/said" 2>/dev/null &&
	    [ "$(grep -c 'waits for descriptor' "$work/said")" = 4 ]; do
		kill -0 $pid || break
		sleep 0.05
	done
}

ends()
{
	kill -KILL $pid
	wait $pid 2>/dev/null
}

descriptors()
{
	says 'waits for descriptor [0-9]* (pipe)$' \
		'waits for descriptor [0-9]* (TCP 127.0.0.1:[0-9]*)$' \
		'waits for descriptor [0-9]* (TCP 127.0.0.1:[0-9]* -> 127.0.0.1:[0-9]*)$' \
		'waits for descriptor [0-9]* (UNIX socket)$'
}

has_lines=
"$weft" help 2>&1 | grep -q '^  profile ' && has_lines=1
for program in shared bare pthreads; do
	if [ $program = pthreads ]; then
		[ -f "$build/.libs/libweft-pthread.so" ] || continue
		has_green "$work/pthreads" || continue
		starts "$weft" run "$work/pthreads"
	else
		starts "$work/$program"
	fi
	passes "$program: descriptors" descriptors
	passes "$program: its own calls" says ' reads_here+0x[0-9a-f]* '
	passes "$program: weft's are left out" says_not '^    #.*(libweft[a-z-]*\.so[.0-9]*)'
	if [ "$has_lines" ] && [ $program != bare ]; then
		passes "$program: lines" says " reads_here+0x[0-9a-f]* ($program) at .*\\.c:\\(8\\|10\\)\$"
	else
		passes "$program: no lines" says_not ' at .*\.c:8$'
	fi
	while read -r line; do
		passes "$program: $line" says "^    $line\$"
	done <"$work/stdout"
	"$weft" dump --all-frames $pid >"$work/said"
	passes "$program: all calls" says '^    #0 .*(libweft' ' wefti_arch_start+'
	ends
done
finish

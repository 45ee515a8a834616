#!/bin/sh
# SPDX-License-Identifier: MIT
# test_explore_moves.sh - weft explore: splice(), sendfile(), several messages, asynchronous reads and
# stdio's reads give the turn away while they wait
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

weft=${WEFT_TEST_CLI-cli/weft}
if [ ! -x "$weft" ] || [ ! -f .libs/libweft-explore.so ] ||
    ! command -v "${CC-cc}" >/dev/null; then
	echo "test_explore_moves.sh: left out, there is no $weft with its library, or no compiler"
	exit 0
fi

# One thread waits in the call, and the other one ends the wait.
cat >"$work/move.c" <<'END'
#define _GNU_SOURCE
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#define BIG 400000
static int a[2], b[2], s[2];
static const char *name;
static char text[BIG];
static FILE *stream;
static void check(int is_right, int line)
{
	if (!is_right) {
		fprintf(stderr, "line %d: %s\n", line, strerror(errno));
		_exit(line % 200 + 1);
	}
}
#define CHECK(x) check(x, __LINE__)
/* What the other thread does, behind the first one's call or before it. */
static void *other(void *way)
{
	struct mmsghdr m[3];
	struct iovec v[3] = { { "a", 1 }, { "bc", 2 }, { "def", 3 } };
	size_t n = 0;
	ssize_t got;
	FILE *to;
	switch (*(char *)way) {
	case 's': case 't': case 'p': case 'g': case 'f': case 'c': case 'l':
		CHECK(write(a[1], "hel", 3) == 3);
		CHECK(write(a[1], "lo\nmore\n", 8) == 8);
		break;
	case 'S': case 'V': case 'P': case 'T':
		while (n < BIG && (got = read(*(char *)way == 'T' ? s[0] : b[0], text, 60000)) > 0)
			n += (size_t)got;
		CHECK(n == BIG);
		break;
	case 'r':
		memset(m, 0, sizeof(m));
		for (int i = 0; i < 3; i++) {
			m[i].msg_hdr.msg_iov = &v[i];
			m[i].msg_hdr.msg_iovlen = 1;
		}
		CHECK(sendmmsg(s[1], m, 3, 0) == 3);
		CHECK(m[2].msg_len == 3);
		break;
	case 'o':
		to = fopen(name, "w");
		CHECK(to != NULL);
		CHECK(fputs("named\n", to) >= 0 && fclose(to) == 0);
		break;
	case 'a':
		CHECK(write(a[1], "x", 1) == 1);
		break;
	}
	return way;
}
int main(int argc, char **argv)
{
	static char room[3][8];
	struct mmsghdr m[3];
	struct iovec v[3], one = { room[0], 8 }, all = { text, BIG };
	struct aiocb io = { 0 };
	const struct aiocb *list[1] = { &io };
	struct timespec hour = { 3600, 0 };
	char *line = NULL;
	size_t n = 0;
	pthread_t t;
	char way = argv[1][0];
	int fd;
	name = argc > 2 ? argv[2] : "";
	CHECK(pipe(a) == 0 && pipe(b) == 0);
	CHECK(socketpair(AF_UNIX, way == 'r' ? SOCK_DGRAM : SOCK_STREAM, 0, s) == 0);
	CHECK(pthread_create(&t, 0, other, &way) == 0);
	switch (way) {
	case 's':
		CHECK(splice(a[0], 0, b[1], 0, 100, 0) > 0);
		CHECK(read(b[0], room[0], 3) == 3 && memcmp(room[0], "hel", 3) == 0);
		break;
	case 't':
		CHECK(tee(a[0], b[1], 100, 0) > 0 && read(b[0], room[0], 3) == 3);
		break;
	case 'S':
		for (n = 0; n < BIG; n += (size_t)fd) {
			CHECK(write(a[1], text, 4000) == 4000);
			CHECK((fd = (int)splice(a[0], 0, b[1], 0, 4000, 0)) == 4000);
		}
		break;
	case 'V':
		for (n = 0; n < BIG; n += (size_t)fd) {
			one = (struct iovec){ text + n, BIG - n };
			CHECK((fd = (int)vmsplice(b[1], &one, 1, 0)) > 0);
		}
		break;
	case 'T':
		fd = memfd_create("x", 0);
		CHECK(write(fd, text, BIG) == BIG && lseek(fd, 0, SEEK_SET) == 0);
		CHECK(sendfile(s[1], fd, NULL, BIG) == BIG);
		break;
	case 'p':
		CHECK(preadv2(a[0], &one, 1, -1, 0) > 0);
		break;
	case 'P':
		CHECK(pwritev2(b[1], &all, 1, -1, 0) == BIG);
		break;
	case 'r':
		memset(m, 0, sizeof(m));
		for (int i = 0; i < 3; i++) {
			v[i] = (struct iovec){ room[i], 8 };
			m[i].msg_hdr.msg_iov = &v[i];
			m[i].msg_hdr.msg_iovlen = 1;
		}
		CHECK(recvmmsg(s[0], m, 3, 0, &hour) == 3);
		CHECK(m[0].msg_len == 1 && m[1].msg_len == 2 && m[2].msg_len == 3);
		break;
	case 'a':
		io.aio_fildes = a[0];
		io.aio_buf = room[0];
		io.aio_nbytes = 1;
		CHECK(aio_read(&io) == 0);
		CHECK(aio_suspend(list, 1, NULL) == 0 && aio_return(&io) == 1);
		break;
	case 'g':
		stream = fdopen(a[0], "r");
		CHECK(fgets(room[0], 8, stream) && !strcmp(room[0], "hello\n"));
		CHECK(fgets(room[0], 4, stream) && !strcmp(room[0], "mor"));
		break;
	case 'f':
		stream = fdopen(a[0], "r");
		CHECK(fread(text, 2, 4, stream) == 4 && !memcmp(text, "hello\nmo", 8));
		break;
	case 'c':
		stream = fdopen(a[0], "r");
		CHECK(getc(stream) == 'h' && fgetc(stream) == 'e');
		break;
	case 'l':
		stream = fdopen(a[0], "r");
		CHECK(getline(&line, &n, stream) == 6 && !strcmp(line, "hello\n"));
		CHECK(getline(&line, &n, stream) == 5 && !strcmp(line, "more\n"));
		break;
	case 'o':
		stream = fopen(name, "r");
		CHECK(stream != NULL);
		CHECK(fgets(room[0], 8, stream) && !strcmp(room[0], "named\n"));
		CHECK(fgets(room[0], 8, stream) == NULL && feof(stream));
		break;
	}
	CHECK(pthread_join(t, 0) == 0);
	return 0;
}
END
# shellcheck disable=SC2086 # CC may have options
${CC-cc} -g -O1 -pthread -o "$work/move" "$work/move.c" || exit 1
mkfifo "$work/fifo"
for way in s t S V T p P r a g f c l o; do
	passes "$way, normally" status_is 0 "$work/move" $way "$work/fifo"
	passes "$way" status_is 0 "$weft" explore --timeout 10m -j 1 --runs 12 "$work/move" $way "$work/fifo"
	# libc's own threads make an asynchronous read.
	[ $way = a ] || passes "$way in one course" refuses says 'another course'
done
finish

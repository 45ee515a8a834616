#!/bin/sh
# SPDX-License-Identifier: MIT
# test_latomic.sh - libweft-atomic in place of libatomic: by LD_PRELOAD and by link
# order, under programs that were built with -latomic
#
# WEFT_LIBATOMIC_TESTS names libatomic/testsuite/libatomic.c in GCC's sources
# (Debian: gcc-12-source); those tests are run too then.
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

libs=$PWD/.libs
ours=$libs/libweft-atomic.so.0
cc=${CC-cc}
theirs=$($cc -print-file-name=libatomic.so.1)
if [ ! -f "$ours" ] || [ ! -f "$theirs" ]; then
	echo "test_latomic.sh: skipped, there are not both shared libraries here"
	exit 0
fi

# Threads add to what fits no instruction: 24 bytes, and 16 by calls.
cat >"$work/count.c" <<'END'
#include <pthread.h>
#include <stdatomic.h>

#define ROUNDS 2000

struct three {
	long a, b, c;
};

static _Atomic struct three three;
static _Atomic __int128 wide;
static _Atomic char byte[3];

static void *count(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		struct three old = atomic_load(&three), new;

		do {
			new = (struct three){ old.a + 1, old.b + 2, old.c + 3 };
		} while (!atomic_compare_exchange_weak(&three, &old, new));
		atomic_fetch_add(&wide, ((__int128)1 << 64) + 1);
		atomic_fetch_xor(&byte[1], 1);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[4];
	struct three end;

	for (int i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, count, NULL) != 0)
			return 1;
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	end = atomic_load(&three);
	if (end.a != 4 * ROUNDS || end.b != 8 * ROUNDS || end.c != 12 * ROUNDS)
		return 2;
	if (atomic_load(&wide) != (__int128)4 * ROUNDS * (((__int128)1 << 64) + 1))
		return 3;
	return byte[0] || byte[1] || byte[2] ? 4 : 0;
}
END

names()
{
	nm -D --defined-only "$1" | sed -n 's/.* [TWi] \([^@]*\).*/\1/p' | sort -u
}

exports_all()
{
	names "$theirs" >"$work/theirs"
	names "$ours" >"$work/ours"
	[ -s "$work/theirs" ] && [ -z "$(comm -23 "$work/theirs" "$work/ours")" ]
}

# binds_here PROGRAM: it runs, and each call went to our library
binds_here()
{
	rm -f "$work"/bound*
	LD_DEBUG=bindings LD_DEBUG_OUTPUT=$work/bound "$@" || return
	grep -h ": normal symbol .__atomic_" "$work"/bound* >"$work/calls"
	grep -q "to [^ ]*libweft-atomic.so.0 .*__atomic_compare_exchange'" \
		"$work/calls" &&
	! grep -q "file $work/[a-z]* .*to [^ ]*libatomic" "$work/calls"
}

if command -v nm >/dev/null; then
	passes "all that libatomic exports" exports_all
fi
passes "building with -latomic" \
	"$cc" -O1 -o "$work/count" "$work/count.c" -pthread -latomic
passes "libatomic itself" "$work/count"
passes "LD_PRELOAD" binds_here env LD_PRELOAD="$ours" "$work/count"
passes "building with ours in front" "$cc" -O1 -o "$work/front" \
	"$work/count.c" -pthread -L"$libs" -lweft-atomic -latomic
passes "link order" binds_here env LD_LIBRARY_PATH="$libs" "$work/front"

for t in ${WEFT_LIBATOMIC_TESTS:+"$WEFT_LIBATOMIC_TESTS"/*.c}; do
	[ -f "$t" ] || continue
	name=$(basename "$t" .c)
	passes "GCC's $name, building" \
		"$cc" -w -O1 -o "$work/$name" "$t" -pthread -latomic
	passes "GCC's $name" timeout 60 env LD_PRELOAD="$ours" "$work/$name"
	ran=$((${ran-0} + 1))
done
[ -z "${ran-}" ] || echo "$ran tests of GCC's"
finish

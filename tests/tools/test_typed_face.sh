#!/bin/sh
# SPDX-License-Identifier: MIT
# test_typed_face.sh - WEFT_CHAN_OF in strict C11 and in C++17, with each compiler
# that is there: what it makes compiles, and what has another type is refused
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"
export LC_ALL=C

# How gcc and clang say it, in C and in C++.
refusal='incompatible\|not convert\|invalid conversion\|no matching'
refusal="$refusal\|cannot initialize\|integer from pointer\|to integer conv"

# compile CODE COMPILER FLAG...: CODE is the body of a function
compile()
{
	code=$1
	shift
	cat >"$work/face" <<-END
		#include <weft/chan.h>
		struct point { int x; char *name; };
		WEFT_CHAN_OF(longs, long);
		WEFT_CHAN_OF(points, struct point *);
		WEFT_CHAN_OF(values, struct point);
		int f(struct longs l, struct points p, struct values v,
		      struct point *at, int *n, long *m, struct weft_alt *a);
		int f(struct longs l, struct points p, struct values v,
		      struct point *at, int *n, long *m, struct weft_alt *a)
		{
			(void)l, (void)p, (void)v, (void)at, (void)n, (void)m;
			(void)a;
			$code
		}
	END
	"$@" -I"$top/include" -Wall -Wextra -Werror -pedantic -fsyntax-only \
		"$work/face"
}

# shellcheck disable=SC2016 # no variables in there
all='int e = longs_create(&l, 2, 0) + points_of(&p, l.chan);
	e += longs_send(l, 5) + longs_try_send(l, *m) +
	     longs_send_until(l, m, WEFT_NO_WAIT);
	e += points_recv(p, &at) + points_try_recv(p, &at) +
	     points_recv_until(p, &at, WEFT_NO_WAIT);
	e += values_send(v, *at) + values_recv(v, at);
	longs_alt_send(a, l, m);
	values_alt_recv(a, v, at);
	return e + longs_close(l) + longs_destroy(l);'

# face COMPILER FLAG...
face()
{
	passes "the whole face, $1" compile "$all" "$@"
	for wrong in 'return longs_recv(l, n);' 'return longs_send(l, at);' \
	    'return longs_send(p, 5);' 'return points_send(p, *at);' \
	    'return values_recv(v, m);' 'longs_alt_recv(a, l, n); return 0;' \
	    'longs_alt_send(a, v, m); return 0;'; do
		fails "$1: $wrong" "$refusal" compile "$wrong" "$@"
	done
}

for cc in gcc clang; do
	command -v $cc >/dev/null && face $cc -std=c11 -x c
done
for cxx in g++ clang++; do
	command -v $cxx >/dev/null && face $cxx -std=c++17 -x c++
done

finish

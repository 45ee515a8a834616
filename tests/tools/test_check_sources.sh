#!/bin/sh
# SPDX-License-Identifier: MIT
# test_check_sources.sh - a file that no makefile names is found
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

spdx='/* SPDX-License-Identifier: MIT */'
cd "$work" || exit 1
mkdir -p runtime/os arch include tests/unit/os tests/support bench examples cli
for f in tests/tests.mk bench/bench.mk examples/examples.mk cli/cli.mk; do
	: >$f
done
echo 'os_sources = runtime/os/futex.c' >runtime/runtime.mk
echo "$spdx" >runtime/os/futex.c
fails "a file without a test" "futex.c: has no tests/unit/os/test_futex.c" \
	"$tools/check-sources" .
echo "$spdx" >tests/unit/os/test_futex.c
echo 'plain_tests = tests/unit/os/test_futex' >tests/tests.mk
passes "a file that is named" "$tools/check-sources" .

echo "$spdx" >runtime/os/clock.c
fails "a file that is not named" "clock.c: is not in runtime/runtime.mk" \
	"$tools/check-sources" .
rm runtime/os/clock.c

: >tests/tests.mk
fails "a test that is not named" "test_futex.c: is not in tests/tests.mk" \
	"$tools/check-sources" .
echo 'plain_tests = tests/unit/os/test_futex' >tests/tests.mk
passes "a test named by its program" "$tools/check-sources" .

echo 'bench_sources = bench/gone.c' >bench/bench.mk
fails "a name without a file" "names bench/gone.c" "$tools/check-sources" .
: >bench/bench.mk

echo 'int x;' >runtime/os/futex.c
fails "no licence" "has no SPDX line" "$tools/check-sources" .
{ echo "$spdx"; printf '#define F(x) \\\n\tif (x) \\\n\t\treturn\n'; } \
	>runtime/os/futex.c
fails "a return in a macro" "futex.c: the macro F has a return" \
	"$tools/check-sources" .
{ echo "$spdx"; printf '#define F(x) g(x) /* may return */ \\\n\th()\n'; } \
	>runtime/os/futex.c
passes "a macro's comment" "$tools/check-sources" .
{ echo "$spdx"; yes 'int x;' | head -n 400; } >runtime/os/futex.c
fails "401 lines" "are two files" "$tools/check-sources" .
{ echo "$spdx"; echo '/* futex.c - waits */'; } >runtime/os/futex.c
fails "a name without its path" "futex.c: its opening line does not name" \
	"$tools/check-sources" .
{ echo "$spdx"; echo '/* os/futex.c - waits */'; } >runtime/os/futex.c
passes "a name with its path" "$tools/check-sources" .
{ echo "$spdx"; echo 'void f(void)'; echo '{'; yes '	g();' | head -n 59; echo '}'; } \
	>runtime/os/futex.c
fails "a function of 61 lines" "futex.c:3: a function of more than 60" \
	"$tools/check-sources" .
sed -i '4d' runtime/os/futex.c
passes "a function of 60 lines" "$tools/check-sources" .
echo "$spdx" >runtime/os/futex.c

for d in plan9 mpi cli; do
	mkdir -p $d
	echo "nodist_x_SOURCES = $d/made.c" >$d/$d.mk
	echo "$spdx" >$d/one.c
	fails "a file of $d that is not named" "one.c: is not in $d/$d.mk" \
		"$tools/check-sources" .
	echo "x_SOURCES = $d/one.c" >>$d/$d.mk
	passes "a file of $d, and one that the build makes" "$tools/check-sources" .
	{ echo "$spdx"; yes 'int x;' | head -n 400; } >$d/one.c
	fails "401 lines in $d" "$d/one.c: has 401 lines" "$tools/check-sources" .
	{ echo "$spdx"; echo '#define F(x) return x'; } >$d/one.c
	fails "a return in a macro of $d" "one.c: the macro F has a return" \
		"$tools/check-sources" .
	echo 'int x;' >$d/one.c
	fails "no licence in $d" "one.c: has no SPDX line" "$tools/check-sources" .
	echo "$spdx" >$d/one.c
done
finish

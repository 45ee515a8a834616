#!/bin/sh
# SPDX-License-Identifier: MIT
# test_check_pthread.sh - a function that is not in the preload library's table is found
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

library=$PWD/.libs/libweft-pthread.so
if ! command -v python3 >/dev/null || ! command -v objdump >/dev/null ||
    [ ! -f "$library" ]; then
	echo "test_check_pthread.sh: skipped: there is no python3, objdump or library"
	exit 0
fi

# tables [SED-SCRIPT]: a root with the tables, changed
tables()
{
	rm -rf "$work/root"
	mkdir -p "$work/root"
	ln -s "$top/doc" "$top/tests" "$work/root"
	mkdir -p "$work/root/runtime/os/libc"
	cp -R "$top/pthread" "$work/root"
	cp "$top/runtime/os/libc/libc_names.h" "$work/root/runtime/os/libc"
	chmod -R u+w "$work/root/pthread" "$work/root/runtime"	# of a read-only tree
	[ $# -eq 0 ] || sed -i "$1" "$work"/root/pthread/core/table*.h
}

check=$tools/check-pthread
tables
passes "the tables as they are" "$check" "$work/root" "$library"
tables '/OURS(open_by_handle_at,/d'
fails "a cancellation point without a row" \
	"open_by_handle_at: a cancellation point of libc's" "$check" "$work/root" "$library"
tables '/LIBC(pthread_equal,/d'
fails "a function with a thread and without a row" \
	"pthread_equal: libc exports it" "$check" "$work/root" "$library"
tables
cp "$work/root/pthread/wait/lot.c" "$work/root/pthread/wait/plot.c"
fails "a source that no sanitizer is said to see" "pthread/wait/plot.c" \
	"$check" "$work/root" "$library"
tables 's/OURS(openat2,/OURS(openat2_,/'
fails "a row without a function" "openat2_: OURS in the table, not exported" \
	"$check" "$work/root" "$library"
tables
sed -i 's/^\tX(dladdr)/\tX(dlvsym) \\\n&/' "$work/root/runtime/os/libc/libc_names.h"
fails "a name of libc's that is not called" "dlvsym: in libc_names.h, and no object" \
	"$check" "$work/root" "$library"
tables
sed -i -e '/^\tX(read) /d' -e 's/^\tX(dladdr)/\tX(read) \\\n&/' \
	"$work/root/runtime/os/libc/libc_names.h"
fails "a name in the wrong list" "read: OURS in the table, in the first list" \
	"$check" "$work/root" "$library"

# A libc with a function that nobody has looked at.
cat >"$work/new.c" <<'END'
void pthread_self(void);
void pthread_self(void)
{
}
void brand_new(void);
void brand_new(void)
{
}
void stdc_new(void);
void stdc_new(void)
{
}
END
echo 'GLIBC_2.99 { brand_new; stdc_new; pthread_self; };' >"$work/new.map"
"${CC:-cc}" -shared -fPIC -o "$work/new.so" "$work/new.c" \
	-Wl,--version-script="$work/new.map" || exit 1
tables
fails "a function of a new libc" "brand_new: new in glibc 2.99" \
	"$check" "$work/root" "$library" "$work/new.so"
fails "a libc without cancellation points" "cancellation points were not found" \
	"$check" "$work/root" "$library" "$work/new.so"
! "$check" "$work/root" "$library" "$work/new.so" | grep stdc_new ||
	faults=$((faults + 1))
finish

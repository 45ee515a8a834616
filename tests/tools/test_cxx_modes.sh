#!/bin/sh
# SPDX-License-Identifier: MIT
# test_cxx_modes.sh - weft.hpp in each dialect, with and without exceptions
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
build=$PWD
. "$(dirname "$0")/common.sh"

if [ ! -e "$build/.libs/libweft.so" ]; then
	echo "test_cxx_modes.sh: left out, there is no shared library"
	exit 0
fi
printf '#include <optional>\nint main() { std::optional<int> o; return o ? 1 : 0; }\n' \
	> "$work/try.cc"

# Emulated builds are of another machine; $CXX is this one's.
linked()
{
	"$@" -I"$top/include" -o "$work/modes" "$top/tests/unit/cxx/modes.cc" \
		-L"$build/.libs" -lweft -Wl,-rpath,"$build/.libs" &&
		[ "$("$work/modes")" = "all right" ]
}

runs=0
for cxx in g++ clang++; do
	command -v $cxx >/dev/null || continue
	for std in c++17 c++20 c++23; do
		"$cxx" -std=$std -o "$work/try" "$work/try.cc" 2>/dev/null || std=c++2b
		"$cxx" -std=$std -o "$work/try" "$work/try.cc" 2>/dev/null || continue
		set -- $cxx -std=$std -pedantic -Wall -Wextra -Wshadow -Werror
		passes "$*" linked "$@"
		runs=$((runs + 1))
	done
	passes "$cxx -fno-exceptions" linked "$@" -fno-exceptions -fno-rtti
done
[ $runs -gt 0 ] || { echo "test_cxx_modes.sh: left out, no C++17"; exit 0; }

# An error that nobody can catch ends the program, and says which it was.
cat > "$work/fails.cc" <<'END'
#include <weft.hpp>
int main()
{
	weft::thread t([] {});
}
END
ends()
{
	"$@" -I"$top/include" -fno-exceptions -o "$work/fails" "$work/fails.cc" \
		-L"$build/.libs" -lweft -Wl,-rpath,"$build/.libs" && "$work/fails"
}
fails "a thread without the runtime" \
	"weft::thread: No such thread, or weft is not running" ends "$@"
finish

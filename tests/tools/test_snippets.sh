#!/bin/sh
# SPDX-License-Identifier: MIT
# test_snippets.sh - the C and C++ in README.md and doc/*.md is the files' text, and
# compiles; README's programs run
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
build=$PWD
. "$(dirname "$0")/common.sh"
export LC_ALL=C

check=$tools/check-snippets
command -v python3 >/dev/null || { echo "test_snippets.sh: left out, no python3"; exit 0; }

passes "the tree's documents" "$check"
mkdir "$work/code" "$work/wrong"
passes "all code is taken out" "$check" --extract "$work/code"

# compile COMPILER FILE [FLAG...]; a table's cells are fragments, which drop results
compile()
{
	file=$2
	set -- "$@" -I"$top/include" -Wall -Wextra -Werror -fsyntax-only
	case $file in
	*-cells.c) set -- "$@" -Wno-unused ;;
	esac
	"$@"
}

for f in "$work"/code/*.c; do
	for cc in gcc clang; do
		command -v $cc >/dev/null || continue
		passes "$cc ${f##*/}" compile $cc "$f" -std=gnu11
	done
done
for f in "$work"/code/*.cc; do
	[ -e "$f" ] || continue
	for cxx in g++ clang++; do
		command -v $cxx >/dev/null || continue
		printf '#include <optional>\n' > "$work/try.cc"
		$cxx -std=c++17 -fsyntax-only "$work/try.cc" 2>/dev/null || continue
		passes "$cxx ${f##*/}" compile $cxx "$f" -std=c++17
	done
done

# Emulated builds are of another machine; $CC is this one's.
prints()
{
	wanted=$1
	shift
	"$@" -I"$top/include" -o "$work/program" -L"$build/.libs" -lweft \
		-Wl,-rpath,"$build/.libs" &&
		[ "$(timeout 60 "$work/program")" = "$wanted" ]
}
if [ -e "$build/.libs/libweft.so" ]; then
	passes "README in C" prints "hello from a thread" "${CC-cc}" \
		"$work"/code/README-*.c
	for cxx in g++ clang++; do
		"$cxx" -std=c++17 -fsyntax-only "$work/try.cc" 2>/dev/null || continue
		passes "README in C++, $cxx" prints "hello from a thread of C++" \
			"$cxx" -std=c++17 "$work"/code/README-*.cc
		break
	done
fi

# It must be seen to fail.
cat > "$work/wrong/a.md" <<'END'
<!-- part of examples/guide/01_hello.c -->
```c
	if (weft_start(NULL) != 0)
		return 1;
...
	return weft_stop() != 1;
```
END
fails "another text" "a.md:2: is not the text of examples/guide/01_hello.c" \
	"$check" "$work/wrong/a.md"
sed 's/stop() != 1/stop() != 0/' "$work/wrong/a.md" > "$work/wrong/b.md"
passes "the same text" "$check" "$work/wrong/b.md"
sed 's/part of/file/' "$work/wrong/b.md" > "$work/wrong/c.md"
fails "a part as the whole" "c.md:2: is not the text" "$check" "$work/wrong/c.md"
sed 's/01_hello/00_hello/' "$work/wrong/b.md" > "$work/wrong/d.md"
fails "a file that is not there" "d.md:2: there is no" "$check" "$work/wrong/d.md"
cat > "$work/wrong/e.md" <<'END'
<!-- declarations
#include <weft.h>
-->
| pthreads | weft |
|---|---|
| `pthread_yield()` | `weft_yield()` |

```c body
	weft_yield(1);
```
END
"$check" --extract "$work/wrong" "$work/wrong/e.md" > "$work/names"
passes "a cell of a table" compile "${CC-cc}" "$(sed -n 2p "$work/names")"
fails "a body that is wrong" "e.md:9:.*too many arguments" compile "${CC-cc}" \
	"$(sed -n 1p "$work/names")"
sed 's/weft_yield()/weft_yeld()/' "$work/wrong/e.md" > "$work/wrong/f.md"
"$check" --extract "$work/wrong" "$work/wrong/f.md" > "$work/names"
fails "a cell that is wrong" "f.md:6:.*weft_yeld" compile "${CC-cc}" \
	"$(sed -n 2p "$work/names")"
finish

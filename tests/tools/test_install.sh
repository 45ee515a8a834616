#!/bin/sh
# SPDX-License-Identifier: MIT
# test_install.sh - what make install gives is whole, wherever it is put
#
# The build is installed below DESTDIR, with another prefix than configure's, and used
# from there: by pkg-config, by the examples, by weft run. Then all of it is removed.
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
build=$PWD
. "$(dirname "$0")/common.sh"
cc=${CC-cc}
unset MAKEFLAGS MFLAGS MAKELEVEL PKG_CONFIG_PATH

if [ ! -e "$build/.libs/libweft.so" ] || ! command -v pkg-config >/dev/null; then
	echo "test_install.sh: left out, there is no shared library, or no pkg-config"
	exit 0
fi
machine()
{
	od -An -j18 -N2 -tx1 "$1"
}
if [ "$(machine "$build/cli/weft")" != "$(machine /bin/sh)" ]; then
	echo "test_install.sh: left out, of another machine"
	exit 0
fi

# A part that does not exist yet: nothing of the name can be in use.
prefix=/opt/weft-of-a-test
dest=$work/dest
here=$dest$prefix

make_there()
{
	make -s -C "$build" "$1" DESTDIR="$dest" prefix="$prefix"
}
passes "make install with another prefix" make_there install

# flags PACKAGE ARGUMENT...: as if the prefix were the folder below DESTDIR
flags()
{
	package=$1
	shift
	PKG_CONFIG_PATH=$here/lib/pkgconfig pkg-config --define-variable=prefix="$here" "$@" "$package"
}
for package in weft weft-plan9 weft-atomic; do
	passes "$package.pc names the prefix of the install" test \
		"$(PKG_CONFIG_PATH=$here/lib/pkgconfig pkg-config --variable=libdir $package)" \
		= "$prefix/lib"
done

# --- the examples, from a folder of their own
cp -r "$top/examples" "$work/examples" && chmod -R u+w "$work/examples"
sed -e :a -e '/\\$/{N;s/\\\n//;ba' -e '}' "$top/examples/examples.mk" >"$work/list"
of_list()
{
	sed -n "s/^examples_$1 *= *//p" "$work/list"
}
compiled=0
# shellcheck disable=SC2013,SC2016 # words; no expansion is meant
for program in $(sed -n 's/^EXAMPLES +*= *//p; s/^GUIDE *= *//p' "$work/list"); do
	case $program in '$('*) continue ;; esac
	name=${program#examples/}
	var=$(echo "$name" | tr -- -/ __)
	sources=$(of_list "${var}_SOURCES")
	case $sources in
	'$('*) sources=$(of_list "$(expr "$sources" : '..examples_\(.*\))')") ;;
	esac
	files='' compiler=$cc package=weft
	for f in $sources; do
		case $f in
		*.c) files="$files $f" ;;
		*.cc) files="$files $f" compiler=c++ ;;
		esac
	done
	if grep -qs '^#include <u.h>' "$top/${files# }"; then package=weft-plan9; fi
	more=
	case $name in *-pthreads) more="-DWITH_PTHREADS -pthread" ;; esac
	if [ "$compiler" = c++ ] && ! command -v c++ >/dev/null; then
		continue
	fi
	# shellcheck disable=SC2046,SC2086 # flags are words
	passes "$name, compiled outside" sh -c 'cd "$0" && exec "$@"' "$work" \
		$compiler -Wall -Wextra -Werror $more -o "$work/program_$var" \
		$files $(flags $package --cflags --libs)
	compiled=$((compiled + 1))
done
passes "there are examples" test $compiled -ge 30

# Those of the manual, which are installed. That of MPI needs a compiler of MPI's:
# tests/mpi/run compiles it.
for file in "$here"/share/doc/weft/examples/manual/*.c; do
	[ "${file##*/}" != mpi.c ] || continue
	package=weft
	if grep -qs '^#include <u.h>' "$file"; then package=weft-plan9; fi
	# shellcheck disable=SC2046,SC2086 # flags are words
	passes "$file, compiled outside" $cc -Wall -Wextra -Werror -pthread -fsyntax-only \
		"$file" $(flags $package --cflags)
	compiled=$((compiled + 1))
done
passes "there are examples of the manual" test $compiled -ge 60

LD_LIBRARY_PATH=$here/lib
export LD_LIBRARY_PATH
passes "the pipeline of processes" test "$("$work/program_sieve" 10 | tail -n 1)" = 29
passes "hello" "$work/program_hello"
unset LD_LIBRARY_PATH

# --- linked with the archive, and with a libc that weft cannot find
cat >"$work/said.c" <<'END'
#include <stdio.h>
#include <weft.h>
static void *say(void *text)
{
	puts(text);
	return NULL;
}
int main(void)
{
	uint64_t id;

	return weft_start(NULL) || weft_spawn(&id, NULL, say, "a thread") ||
	       weft_join(id, NULL) || weft_stop();
}
END
says()
{
	[ "$("$@")" = "a thread" ]
}
# shellcheck disable=SC2046 # flags are words
{
	passes "a program with the archive" "$cc" -o "$work/archive" "$work/said.c" \
		$(flags weft --static --cflags --libs | sed 's/-lweft/-l:libweft.a/')
	passes "a static program" "$cc" -static -o "$work/static" "$work/said.c" \
		$(flags weft --static --cflags --libs)
}
passes "the archive is all that it needs" says "$work/archive"
fails "a program without a shared libc" "there is no shared libc" "$work/static"

# --- a linker that leaves libweft to the library which needs it
cat >"$work/plan9.c" <<'END'
#include <stdio.h>
#include <weft/plan9.h>
void threadmain(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	puts("a thread");
}
END
# shellcheck disable=SC2046 # flags are words
passes "a program of Plan 9" "$cc" -Wl,--as-needed -o "$work/plan9" "$work/plan9.c" \
	$(flags weft-plan9 --cflags --libs) -Wl,-rpath,"$here/lib"
passes "finds both libraries" says "$work/plan9"

# --- weft run
library_of()
{
	# shellcheck disable=SC2016 # of the program's shell
	[ "$("$1" run sh -c 'echo "$LD_PRELOAD"')" = "$2" ]
}
if [ -e "$build/.libs/libweft-pthread.so" ]; then
	passes "weft run takes the library beside it" library_of "$here/bin/weft" \
		"$(cd "$here" && pwd -P)/lib/libweft-pthread.so"
	says_of_dump()
	{
		"$here/bin/weft" dump --help | grep -q '^Usage: weft dump '
	}
	passes "weft dump runs the program that is installed for it" says_of_dump
	mv "$here/libexec/weft/weft-tools" "$work/weft-tools"
	fails "weft dump without that program" 'weft-tools: No such file' \
		"$here/bin/weft" dump 1
	passes "weft run without it" "$here/bin/weft" run true
	mv "$work/weft-tools" "$here/libexec/weft/weft-tools"
	mkdir "$work/with space" && cp -r "$here/bin" "$here/lib" "$work/with space"
	fails "a folder that LD_PRELOAD has no place for" "no place for a path with a space" \
		"$work/with space/bin/weft" run true
fi

# --- CMake, in which the folder is known by the file that it reads
mkdir "$work/cmake"
cat >"$work/cmake/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.13)
project(use C)
find_package(weft 0.2 REQUIRED)
find_package(weft 0.2 REQUIRED) # as two parts of a project do
set(CMAKE_C_FLAGS "-Wall -Wextra -Werror")
foreach(kind "" _static)
  add_executable(said${kind} ../said.c)
  target_link_libraries(said${kind} weft::weft${kind})
  add_executable(plan9${kind} ../plan9.c)
  target_link_libraries(plan9${kind} weft::plan9${kind})
  add_executable(short${kind} ../short.c)
  target_link_libraries(short${kind} weft::plan9${kind})
  add_executable(atomic${kind} ../atomic.c)
  target_link_libraries(atomic${kind} weft::atomic${kind})
endforeach()
END
cat >"$work/short.c" <<'END'
#include <u.h>
#include <libc.h>
#include <thread.h>
void threadmain(int argc, char **argv)
{
	USED(argc);
	USED(argv);
	print("a thread\n");
	threadexitsall(nil);
}
END
cat >"$work/atomic.c" <<'END'
#include <stdatomic.h>
#include <stdio.h>
struct three {
	long a, b, c;
};
int main(void)
{
	static _Atomic struct three three;
	struct three one = { 1, 2, 3 };

	atomic_store(&three, one);
	puts(atomic_load(&three).c == 3 ? "a thread" : "wrong");
	return 0;
}
END
cmake_there()
{
	CC="$cc" cmake -S "$work/cmake" -B "$work/cmake/build" -DCMAKE_PREFIX_PATH="$here" &&
	make -C "$work/cmake/build" -j2
}
if command -v cmake >/dev/null; then
	passes "a project of CMake" cmake_there
	for program in said plan9 short atomic; do
		for kind in "" _static; do
			passes "CMake's $program$kind" says "$work/cmake/build/$program$kind"
		done
	done
	sed -i 's/weft 0.2 REQUIRED/weft 1.0 REQUIRED/' "$work/cmake/CMakeLists.txt"
	rm -r "$work/cmake/build"
	fails "a version that there is not yet" 'with requested version "1.0"' \
		cmake_there
else
	echo "test_install.sh: left out, there is no cmake"
fi

# --- without an installation
# shellcheck disable=SC2046 # flags are words
passes "a program with what is not installed" "$cc" -o "$work/uninstalled" "$work/said.c" \
	$(PKG_CONFIG_PATH=$build pkg-config --cflags --libs weft)
passes "runs there" says env LD_LIBRARY_PATH="$build/.libs" "$work/uninstalled"

# shellcheck disable=SC2046 # flags are words
passes "one of Plan 9, too" "$cc" -o "$work/uninstalled9" "$work/plan9.c" \
	$(PKG_CONFIG_PATH=$build pkg-config --cflags --libs weft-plan9)
passes "and that runs there" says env LD_LIBRARY_PATH="$build/.libs" "$work/uninstalled9"
if command -v "${CXX:-c++}" >/dev/null; then
	cat >"$work/said.cc" <<'END'
#include <cstdio>
#include <weft.hpp>

int main()
{
	weft::runtime runtime;
	weft::thread thread([] { std::puts("a thread"); });
}
END
	# shellcheck disable=SC2046 # flags are words
	passes "one in C++, too" "${CXX:-c++}" -std=c++17 -o "$work/uninstalled-cxx" \
		"$work/said.cc" $(PKG_CONFIG_PATH=$build pkg-config --cflags --libs weft)
	passes "and that runs there" says env LD_LIBRARY_PATH="$build/.libs" \
		"$work/uninstalled-cxx"
fi

passes "make uninstall" make_there uninstall
passes "leaves no file" test -z "$(find "$dest" ! -type d)"
finish

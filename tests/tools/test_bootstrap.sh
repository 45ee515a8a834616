#!/bin/sh
# SPDX-License-Identifier: MIT
# test_bootstrap.sh - bootstrap installs and removes, shows what it waits for, and says
# at once what it and configure cannot do
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
build=$PWD
. "$(dirname "$0")/common.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR PKG_CONFIG_PATH

says()
{
	"$@" >"$work/out" 2>&1 && grep -q -e "$wanted" "$work/out"
}
for wanted in '  demo-mpi  ' '  install  ' '  uninstall  ' '  --prefix DIR' DESTDIR; do
	passes "--help tells of $wanted" says "$top/bootstrap" --help
done
fails "a prefix with a space" "no folder with a space" \
	"$top/bootstrap" --build "$work" --prefix "$work/a b" install
mkdir -p "$work/a b" && cp "$top/bootstrap" "$work/a b"
fails "sources with a space" "the sources are in .*/a b" "$work/a b/bootstrap"

# --- configure, which says it before it looks for anything
cp -r "$top/configure" "$top/build-aux" "$work/a b" && chmod -R u+w "$work/a b"
mkdir "$work/conf" && mkdir -p "$work/a b/runtime/lockfree" &&
	: >"$work/a b/runtime/lockfree/atomic.h"
refused()
{
	cd "$work/conf" && "$@"
}
fails "configure with a prefix that has a space" "a space or a" \
	refused "$top/configure" --prefix="$work/a b"
fails "configure with a compiler for 32 bits" "weft is for 64 bits, and gcc -m32 " \
	refused "$top/configure" CC="gcc -m32"
fails "configure in sources with a space" "unsafe srcdir" refused "$work/a b/configure"

# --- configure, where weft does not run. It names all that a port needs, and its guide does.
fails "configure for a CPU without a port" "weft has no context switch for s390x" \
	refused "$top/configure" --host=s390x-linux-gnu
cp "$work/out" "$work/told"
for file in $(cd "$top/arch/x86_64" && echo *); do
	passes "configure names $file" grep -qw -e "$file" "$work/told"
	passes "doc/porting.md names $file" grep -qw -e "${file%.S}" "$top/doc/porting.md"
done
fails "configure for musl" "glibc, not with musl" \
	refused "$top/configure" --host=x86_64-linux-musl
fails "configure for another system" "glibc, not on freebsd" \
	refused "$top/configure" --host=x86_64-unknown-freebsd
! command -v musl-gcc >/dev/null ||
	fails "configure with musl's compiler" "glibc, not with musl" \
		refused "$top/configure" CC=musl-gcc

# --- a tree that another user has built
mkdir -p "$work/theirs/runtime" && cp "$top/bootstrap" "$work/theirs" && chmod 755 "$work"
: >"$work/theirs/configure"
chmod 555 "$work/theirs"
as_another()
{
	if [ "$(id -u)" -ne 0 ]; then
		"$@"
	else
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
	fi
}
mkdir "$work/roots" && chmod 555 "$work/roots"
fails "a build that another user has made" "roots belongs to another user" \
	as_another "$work/theirs/bootstrap" --build "$work/roots"
chmod 755 "$work/theirs" && rm "$work/theirs/configure" && chmod 555 "$work/theirs"
mkdir "$work/mine" && chmod 777 "$work/mine"
fails "sources that another user has" "theirs is not yours to write" \
	as_another "$work/theirs/bootstrap" --build "$work/mine"
chmod 755 "$work/theirs"

# --- apt-get: a stand-in, which waits until its line was seen on the terminal
mkdir "$work/bin" "$work/fresh"
cat >"$work/bin/dpkg-query" <<'END'
#!/bin/sh
exit 1
END
cat >"$work/bin/dpkg" <<'END'
#!/bin/sh
echo amd64
END
cat >"$work/bin/apt-get" <<'END'
#!/bin/sh
echo "$*" >>"$FRESH/asked"
echo "Unpacking a package"
while [ -e "$FRESH/hold" ]; do sleep 0.1; done
echo "E: this one fails"
exit 100
END
cat >"$work/bin/sudo" <<'END'
#!/bin/sh
[ "$1" = -v ] || exec "$@"
END
chmod +x "$work"/bin/*
export FRESH="$work/fresh"
with_stand_ins()
{
	PATH="$work/bin:$PATH" "$@"
}
fails "apt-get's own words" "E: this one fails" \
	with_stand_ins "$top/bootstrap" --build "$FRESH"
passes "apt waits for its lock" grep -q 'DPkg::Lock::Timeout=[0-9]' "$FRESH/asked"
passes "the lists are read again" grep -q 'update$' "$FRESH/asked"

if command -v script >/dev/null; then
	: >"$FRESH/hold"
	PATH="$work/bin:$PATH" script -qefc "$top/bootstrap --build $FRESH" \
		"$work/terminal" </dev/null >/dev/null 2>&1 &
	terminal=$!
	for _ in $(seq 600); do
		! grep -aq 'Unpacking a package' "$work/terminal" 2>/dev/null || break
		sleep 0.1
	done
	passes "what apt does is seen while it does it" \
		grep -aq 'Unpacking a package' "$work/terminal"
	rm "$FRESH/hold"
	wait $terminal
fi

# --- install and uninstall, with the build that is there
if [ ! -e "$build/.libs/libweft.so" ] || [ ! -f "$build/Makefile" ]; then
	echo "test_bootstrap.sh: the rest is left out, there is no shared library"
	finish
fi
prefix=$work/prefix
passes "install" "$top/bootstrap" --no-install --build "$build" --prefix "$prefix" install
cp "$work/out" "$work/told"
passes "it tells of an rpath" grep -q -e "-Wl,-rpath,$prefix/lib\$" "$work/told"
printf '#include <weft.h>\nint main(void) { return weft_start(0) || weft_stop(); }\n' \
	>"$work/x.c"
passes "with which a program is linked" "${CC-cc}" -o "$work/x" "$work/x.c" \
	-I"$prefix/include" -L"$prefix/lib" -lweft -Wl,-rpath,"$prefix/lib"
passes "and runs" "$work/x"
passes "uninstall" "$top/bootstrap" --no-install --build "$build" --prefix "$prefix" \
	uninstall
passes "leaves no file" test -z "$(find "$prefix" ! -type d)"
finish

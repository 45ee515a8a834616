#!/bin/sh
# SPDX-License-Identifier: MIT
# test_rpm.sh - packages of rpm are made from a tarball, and what they install works
#
# Run in a build directory. The packages are installed into a root directory of their own,
# by rpm as root, else unpacked. Programs are then compiled and run with what lies there.
# The flags are those of a quick compilation. Status 77: there is no rpmbuild.
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
build=$PWD
. "$(dirname "$0")/common.sh"
cc=${CC-cc}
unset MAKEFLAGS MFLAGS MAKELEVEL PKG_CONFIG_PATH LD_LIBRARY_PATH

for tool in rpmbuild rpm2cpio cpio pkg-config; do
	command -v $tool >/dev/null || {
		echo "skipped: there is no $tool"
		exit 77
	}
done

# --- from the tarball

version=$(sed -n 's/^Version: *//p' "$top/packaging/weft.spec")
tarball=weft-$version
passes "make dist of the version that the spec names" \
	make -s -C "$build" dist-xz XZ_OPT=-0
passes "the tarball" mv "$build/$tarball.tar.xz" "$work"

# Debian's rpm knows nothing of what Debian has installed, so --nodeps.
pack_rpms()
{
	CFLAGS=-O0 CONFIG_SHELL=/bin/sh rpmbuild -ta --nodeps --define "_topdir $work/rpm" \
		--define "_smp_mflags -j2" --define "debug_package %{nil}" \
		--define "_build_id_links none" "$work/$tarball.tar.xz"
}
passes "rpmbuild -ta" pack_rpms
[ $faults -eq 0 ] || finish
rpms=$(find "$work/rpm/RPMS" -name '*.rpm')
for name in weft weft-libs weft-devel; do
	passes "there is a package $name" test -n \
		"$(find "$work/rpm/RPMS" -name "$name-$version-*.rpm")"
done
passes "there is a package of the sources" test -n \
	"$(find "$work/rpm/SRPMS" -name "weft-$version-*.src.rpm")"

# --- installed

install_rpms()
{
	if [ "$(id -u)" -eq 0 ]; then
		# shellcheck disable=SC2086 # names without spaces
		rpm --root "$work/root" --dbpath /var/lib/rpm --install --nodeps --noscripts \
			--ignorearch $rpms &&
		rpm --root "$work/root" --dbpath /var/lib/rpm --verify --nodeps --noscripts weft weft-libs weft-devel
	else
		for rpm in $rpms; do
			rpm2cpio "$rpm" | (cd "$work/root" && cpio -id --quiet) || return
		done
	fi
}
mkdir "$work/root"
passes "the packages are installed" install_rpms
here=$work/root/usr
lib=$(dirname "$(find "$here" -name libweft.so)")

# flags PACKAGE: as if the prefix were the folder in the root directory
flags()
{
	PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --define-variable=prefix="$here" \
		--cflags --libs "$1"
}
says()
{
	wanted=$1
	shift
	said=$(LD_LIBRARY_PATH=$lib timeout 60 "$@") && [ "$said" = "$wanted" ]
}
# shellcheck disable=SC2016 # no expansion is meant
sed -n '/^```c$/,/^```$/p' "$top/README.md" | sed '1d;$d' >"$work/hello.c"
# shellcheck disable=SC2046,SC2086 # flags are words
passes "the program of README.md is compiled" \
	$cc -Wall -Werror -o "$work/hello" "$work/hello.c" $(flags weft)
passes "it runs" says "hello from a thread" "$work/hello"
cat >"$work/threads.c" <<'END'
#include <pthread.h>
#include <stdio.h>
static void *give(void *arg)
{
	return arg;
}
int main(void)
{
	void *result = NULL;
	pthread_t t;

	if (pthread_create(&t, NULL, give, "a thread") || pthread_join(t, &result))
		return 1;
	puts(result);
	return 0;
}
END
# shellcheck disable=SC2086 # as above
passes "a program with pthreads is compiled" \
	$cc -o "$work/threads" "$work/threads.c" -pthread
passes "weft run" says "a thread" "$here/bin/weft" run "$work/threads"
# shellcheck disable=SC2016 # of the program's shell
passes "weft run takes the package's library" says "$lib/libweft-pthread.so" \
	"$here/bin/weft" run sh -c 'echo "$LD_PRELOAD"'
passes "weft dump" "$here/bin/weft" dump --help
passes "the manual is there" test -f "$here/share/man/man7/weft.7.gz" -o \
	-f "$here/share/man/man7/weft.7"
finish

#!/bin/sh
# SPDX-License-Identifier: MIT
# test_check_abi.sh - an export that is lost or not listed, and versions that differ
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

cd "$work" || exit 1
mkdir -p debian include/weft packaging libs

# library NAME FUNCTION...: exports them, as version 0.1
library()
{
	name=$1
	shift
	for f; do
		echo "int $f(void); int $f(void) { return 0; }"
	done | ${CC-cc} -x c -shared -fPIC -nostdlib -Wl,-soname,"lib$name.so.0" \
		-Wl,--version-script="$work/map" -o "libs/lib$name.so" -
}
echo 'WEFT_0.1 { global: *; };' >map
versions()
{
	echo "AC_INIT([weft], [$1], [], [weft])" >configure.ac
	echo "weft $2, not yet released" >CHANGES
	echo "weft ($3-1) UNRELEASED; urgency=medium" >debian/changelog
	echo "Version: $4" >packaging/weft.spec
	printf '#define WEFT_VERSION\t"%s"\n' "$5" >include/weft/base.h
}
versions 0.2 0.2 0.2 0.2 0.2
for l in weft weft-plan9 weft-atomic; do
	library $l one two
	echo "lib$l.so.0 lib$l-0 #MINVER#" >"debian/lib$l-0.symbols"
done

abi()
{
	"$tools/check-abi" "$@" . libs
}
fails "a list without the exports" "one@WEFT_0.1: libweft.so.0 exports it" abi
passes "--fix" abi --fix
passes "adds them" abi
passes "with the node's version" grep -qx ' two@WEFT_0.1 0.1' debian/libweft-0.symbols
library weft one
fails "a lost function" "two@WEFT_0.1: in ./debian/libweft-0.symbols, but" abi
fails "--fix loses none" "two@WEFT_0.1: in ./debian/libweft-0.symbols, but" abi --fix
library weft one two three
fails "a function that is not listed" "three@WEFT_0.1: libweft.so.0 exports it" abi
passes "--fix again" abi --fix
passes "a list in order" abi
sed -i 's/WEFT_0.1/WEFT_0.3/' map
library weft one two three
fails "another node" "one@WEFT_0.1: in " abi
sed -i 's/WEFT_0.3/WEFT_0.1/' map
library weft one two three
${CC-cc} -x c -shared -fPIC -nostdlib -Wl,-soname,libweft.so.1 -o libs/libweft.so /dev/null
fails "another soname" "libweft.so.1, and no list is for that" abi
rm libs/libweft.so
fails "no library" "there is no libs/libweft.so" abi
library weft one two three

versions 0.2 0.3 0.2 0.2 0.2
fails "another version in CHANGES" "CHANGES has version 0.3, configure.ac 0.2" abi
versions 0.2 0.2 0.1 0.2 0.2
fails "another version in debian/changelog" "debian/changelog has version 0.1" abi
versions 0.2 0.2 0.2 0.2.1 0.2
fails "another version in weft.spec" "packaging/weft.spec has version 0.2.1" abi
versions 0.2 0.2 0.2 0.2 0.1
fails "another version in the header" "weft/base.h has version 0.1" abi
versions 0.0 0.0 0.0 0.0 0.0
fails "a list from later on" "has version 0.1, which is later than 0.0" abi
versions 0.2 0.2 0.2 0.2 0.2
if command -v git >/dev/null; then
	git init -q . && git -c user.name=x -c user.email=x@localhost commit -q \
		--allow-empty -m "x: y" && git tag v0.1
	fails "another tag" "the tag v0.1 has version 0.1" abi
	git tag -d v0.1 >/dev/null && git tag v0.2
	passes "the right tag" abi
fi
finish

#!/bin/sh
# SPDX-License-Identifier: MIT
# test_no_shared.sh - a build without shared libraries says what its weft lacks
# shellcheck source-path=SCRIPTDIR source=common.sh
build=$PWD
. "$(dirname "$0")/common.sh"

if [ -e "$build/.libs/libweft-pthread.so" ]; then
	echo "test_no_shared.sh: left out, there is a preload library"
	exit 0
fi
fails "weft run" "libweft-pthread.so: this weft was built without it" \
	"$build/cli/weft" run true
passes "the rest of weft" "$build/cli/weft" --version
finish

#!/bin/sh
# SPDX-License-Identifier: MIT
# test_check_api.sh - an interface that is not the same everywhere is found
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"
command -v python3 >/dev/null || { echo "needs python3"; exit 1; }

cd "$work" || exit 1
mkdir -p include/weft runtime man examples/manual

header()
{
	cat >include/weft/x.h <<'END'
/* SPDX-License-Identifier: MIT */
/*
 * weft/x.h - an example
 */
#define WEFT_API

/*
 * weft_one, weft_two - do something
 *
 *   arg  a number
 *
 * Returns 0, or -EINVAL: arg is odd.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API int weft_one(int arg);
WEFT_API int weft_two(int arg, void (*fn)(int a, int b));
END
}

# example FUNCTION: a program of the manual, which calls it
example()
{
	printf '/* SPDX-License-Identifier: MIT */\nint main(void) { return %s(1); }\n' \
		"$1" >examples/manual/x.c
}

# library SYMBOL...: exports them, as version 0.1
library()
{
	for name; do
		echo "int $name(void); int $name(void) { return 0; }"
	done | ${CC-cc} -x c -shared -fPIC -nostdlib \
		-Wl,--version-script="$top/runtime/libweft.map" -o libx.so -
}

changes()
{
	printf 'weft 0.1, 2026-01-31\n\nInterface\n\t%s\n' "$1" >CHANGES
}

pages()
{
	rm -rf man && "$tools/make-man" . man
}

api()
{
	"$tools/check-api" . libx.so man
}

cp "$top/runtime/libweft.map" runtime
header
example weft_two
changes "weft_one, weft_two"
library weft_one weft_two
passes "the pages" pages
passes "what is the same everywhere" api
if command -v mandoc >/dev/null; then
	passes "mandoc of the page" mandoc -T lint -W error man/weft_one.3
fi

example "int weft_three; weft_four"
fails "no example" "no examples/manual/x\*.c calls weft_one or weft_two" pages
example weft_one
passes "an example" pages
passes "it is shown" grep -q '^int main(void) { return weft_one(1); }' man/weft_one.3

# What a page shows of the structs and macros: those that its functions and its text
# use, and those that these use in turn.
shown()
{
	header
	sed -i 's/(int arg);/(const struct weft_x_attr *arg);/' include/weft/x.h
	cat >>include/weft/x.h <<'END'

/*
 * Zero is the default.
 */
struct weft_x_attr {
	unsigned flags;		/* WEFT_X_ODD */
};

#define WEFT_X_ODD	1u	/* odd numbers too */
#define WEFT_X_EVEN	2u

#define WEFT_X_ATTR_INIT	{ 0 }
#define WEFT_X_LONG_(n)	n

struct weft_other;
END
	pages && sed -n '/^.Sh SYNOPSIS/,/^.Ft/p' man/weft_one.3 >synopsis &&
		grep -q '^struct weft_x_attr {' synopsis &&
		grep -q '^#define WEFT_X_ODD	1u	/\* odd' synopsis &&
		grep -q '^#define WEFT_X_EVEN' synopsis &&
		grep -q '^#define WEFT_X_ATTR_INIT' synopsis &&
		! grep -q 'weft_other\|WEFT_X_LONG_' synopsis &&
		grep -q '^Zero is the default' man/weft_one.3
}
passes "the structs and macros of a page" shown
header
pages

library weft_one
fails "not exported" "weft_two: declared, but not in the library" api
library weft_one weft_two weft_three
fails "exported only" "weft_three: in the library, but not declared" api
library weft_one weft_two
rm man/weft_two.3
fails "no page" "weft_two: declared, but not in the manual" api
pages
changes "weft_one"
fails "not in CHANGES" "weft_two: declared, but not in CHANGES" api
changes "weft_one, weft_two"
sed -i 's/^ \* Since      0.1/ * Since      0.9/' include/weft/x.h
fails "another version" "weft_one: since 0.9 by its header" api
fails "a version without a node" "WEFT_0.9: is not in libweft.map" api

header
mkdir -p runtime/base doc/man
printf '\t{ "WEFT_X", 1 },\n' >runtime/base/settings.c
echo '.It Ev WEFT_Y' >doc/man/weft.7
fails "a setting without words" "WEFT_X: declared, but not in weft.7" api
fails "words without a setting" "WEFT_Y: in weft.7, but not declared" api
fails "a setting without a test" "WEFT_X: declared, but not in test_settings.c" api
rm runtime/base/settings.c doc/man/weft.7

sed -i 's/weft_one, weft_two - /weft_one - /' include/weft/x.h
fails "an entry that leaves one out" "declared are" api
header
echo '/* plain */ WEFT_API int weft_three(void);' |
	sed 's,/\* plain \*/ ,,' >>include/weft/x.h
sed -i 's,^ \* weft_one, * weft-one,' include/weft/x.h
fails "a function without an entry" "have no entry" api
finish

#!/bin/sh
# SPDX-License-Identifier: MIT
# test_check_manual.sh - a page that lacks something, or refers to nothing, is found
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"
command -v python3 >/dev/null || { echo "needs python3"; exit 1; }

cd "$work" || exit 1
mkdir -p include/weft examples/manual doc/man made

cat >include/weft/x.h <<'END'
/* SPDX-License-Identifier: MIT */
/*
 * weft/x.h - an example
 */
#define WEFT_API

struct weft_x {
	unsigned flags;		/* WEFT_X_ODD */
};

#define WEFT_X_ODD	1u

#define WEFT_X_INIT	{ 0 }

/*
 * weft_one, weft_two - do something
 *
 * Returns 0.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API int weft_one(struct weft_x *x);
WEFT_API int weft_two(struct weft_x *x);
END
printf 'weft 0.1, 2026-01-31\n' >CHANGES
printf '/* SPDX-License-Identifier: MIT */\nint main(void) { return weft_one(0); }\n' \
	>examples/manual/x.c

# overview TEXT: weft(7), with it at the end of its description
overview()
{
	printf '.Dd today\n.Sh NAME\n.Nm weft\n.Nd threads\n.Sh DESCRIPTION\n%s\n%s\n%s\n' \
		"$1" '.\" pages: begin' '.\" pages: end' >doc/man/weft.7
	"$tools/check-manual" --fix . made examples/manual/x.c >/dev/null
}

# command TEXT: weft(1), with it in its first paragraph
command_page()
{
	printf '.Sh NAME\n.Nm weft\n.Nd a command\n.Sh DESCRIPTION\n%s\n.Pp\nMore.\n' \
		"$1" >doc/man/weft.1
}

manual()
{
	"$tools/check-manual" . made examples/manual/x.c
}

# pages [SED]: made anew, the first one changed
pages()
{
	rm -rf made/man3
	"$tools/make-man" . made/man3
	[ $# -eq 0 ] || sed -i "$1" made/man3/weft_one.3
}

# without WHAT MESSAGE SED
without()
{
	pages "$3"
	fails "$1" "$2" manual
}

pages
command_page ".Xr weft 7"
overview "Text."
passes "the whole manual" manual
passes "the list of pages" grep -q '^\.Xr weft_two 3 \.$' doc/man/weft.7

without "no example" "weft_one(3): no example calls weft_one or weft_two" \
	's/weft_one(0)/other(0)/'
without "a struct that is not shown" "does not show struct weft_x" '/^struct weft_x {/d'
without "a flag that is not shown" "does not show WEFT_X_ODD" '/^#define WEFT_X_ODD/d'
without "an initialiser that is not shown" "does not show WEFT_X_INIT" \
	'/^#define WEFT_X_INIT/d'
without "no include line" "how a program is compiled" '/^\.In/d'
without "a page that is not there" "refers to weft_three(3)" 's/weft 7$/weft_three 3/'
without "a function that is not there" "names weft_four()" 's/^Returns 0/As weft_four()/'
without "a header that is not there" "includes weft/y.h" 's,^\.In weft/x.h,&\n.In weft/y.h,'
pages
echo "#define WEFT_Y	1" | sed 's/^/\n/' >>include/weft/x.h
fails "a macro that no page shows" "WEFT_Y: no page shows it" manual
sed -i '/WEFT_Y/d' include/weft/x.h

overview "See doc/design/x.md."
fails "a file that is not installed" "weft(7): refers to doc/design/x.md" manual
overview ".Pa examples/manual/x.c"
passes "a file that is" manual
overview ".Pa examples/manual/x.c
.Sh EXAMPLES
.EX
int main(void) { return weft_one(1); }
.EE"
fails "another program" "weft(7): the program is not that of examples/manual/x.c" manual
overview ".Pa examples/manual/x.c
.Sh EXAMPLES
.EX
int main(void) { return weft_one(0); }
.EE"
passes "the file's program" manual
sed -i '/^\.Xr weft_two 3/d' doc/man/weft.7
fails "a list without a page" "does not name all pages" manual
overview "Text."
rm made/man3/weft_one.3
fails "an alias of nothing" "weft_two(3): is weft_one.3" manual
pages
command_page "Text."
fails "no way to the overview" "first paragraph does not refer to weft(7)" manual
finish

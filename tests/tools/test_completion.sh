#!/bin/sh
# SPDX-License-Identifier: MIT
# test_completion.sh - what bash completes after weft, and that no option is forgotten
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"
export LC_ALL=C

weft=${WEFT_TEST_CLI-cli/weft}
if ! command -v bash >/dev/null || [ ! -x "$weft" ]; then
	echo "test_completion.sh: left out, there is no bash, or no $weft"
	exit 0
fi
bash_file=$top/cli/completion/weft zsh_file=$top/cli/completion/_weft

# completes WORD...: the last one may be empty
completes()
{
	# shellcheck disable=SC2016 # for that shell
	bash --norc -c '. "$0"; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _weft
		printf "%s\n" "${COMPREPLY[@]}"' "$bash_file" weft "$@"
}

# gives WANTED WORD...: among others
gives()
{
	wanted=$1
	shift
	completes "$@" | grep -q -x -e "$wanted"
}

lacks()
{
	! gives "$@"
}

# just WANTED WORD...: these words, in any order
just()
{
	wanted=$1
	shift
	[ "$(completes "$@" | sort | tr '\n' ' ')" = "$wanted" ]
}

passes "the commands" just "--help --usage --version 9c c++ cc core dump explore help profile run stat top trace " ""
for command in $("$weft" --help | sed -n 's/^  \([a-z0-9]*\) .*/\1/p'); do
	passes "$command in bash" gives "$command" ""
	passes "$command in zsh" grep -q "compadd -- .*\\<$command\\>" "$zsh_file"
done
passes "one of them" just "dump " d
passes "an option" just "--check " run --ch
passes "two" just "--log " run -n 2 --lo
passes "a level" just "debug error info warning " run --log ""
passes "a level behind =" just "info " run --log = i
passes "nothing of it yet" just "auto no yes " run --io-uring =
passes "a value behind an option" just "known " run -v --malloc k
passes "no number" just " " run -n ""
passes "a program" gives sh run sh
passes "a program behind options" gives sh run --log = info -n 2 sh
passes "a file of a program" gives "$work" run true "$work"
passes "commands to explain" just "9c c++ cc core dump explore profile run stat top trace " help ""
passes "a file to compile" gives "$work" 9c "$work"
touch "$work/library.so"
passes "a file" gives "$work/library.so" run --library "$work/lib"

passes "a format" just "chrome perfetto raw text " trace --format ""
passes "a program to trace" gives sh trace -o "$work/x" sh
passes "a recording" gives "$work/library.so" trace "$work/lib"
"$weft" trace --help | sed -n 's/^  *\(-[a-zA-Z?], \)*\(--[a-z-]*\).*/\2/p' | sort >"$work/told"
completes trace -- | sort >"$work/completed"
passes "the options of trace" diff "$work/told" "$work/completed"
"$weft" profile --help | sed -n 's/^  *\(-[a-zA-Z?], \)*\(--[a-z-]*\).*/\2/p' | sort >"$work/told"
completes profile -- | sort >"$work/completed"
passes "the options of profile" diff "$work/told" "$work/completed"
passes "a type" just "cpu lock lock_waits ready samples spawns wait waits " profile --folded ""

# each option that weft itself tells is completed, and no other
"$weft" run --help >"$work/help"
sed -n 's/^  *\(-[a-zA-Z?], \)*\(--[a-z-]*\).*/\2/p' "$work/help" | sort >"$work/told"
for command in dump stat top; do
	"$weft" $command --help | sed -n 's/^  *\(-[a-zA-Z?], \)*\(--[a-z-]*\).*/\2/p' |
		sort >"$work/told_too"
	completes $command -- | sort >"$work/completed"
	passes "the options of $command" diff "$work/told_too" "$work/completed"
done
completes run -- | sort >"$work/completed"
passes "the long options" diff "$work/told" "$work/completed"
{
	sed -n 's/^  *\(-[a-zA-Z]\), .*/\1/p' "$work/help" | grep -v -x -e -V
	cat "$work/told"
} | sort >"$work/all"
completes run - | sort >"$work/completed"
passes "all options" diff "$work/all" "$work/completed"
while read -r option; do
	passes "zsh knows $option" grep -q -e "[{,']${option}[]+=},[]" "$zsh_file"
done <"$work/all"
command -v zsh >/dev/null && passes "zsh reads its file" zsh -n "$zsh_file"

# a process that has a monitor, and no other
cat >"$work/monitor.c" <<'EOF'
#include <sys/prctl.h>
#include <unistd.h>
int main(void)
{
	prctl(PR_SET_NAME, "weft-monitor");
	(void)!write(1, "x", 1);
	return read(0, &(char){ 0 }, 1) != 0;
}
EOF
mkfifo "$work/in"
if "${CC-cc}" -o "$work/monitor" "$work/monitor.c" 2>/dev/null; then
	"$work/monitor" <"$work/in" >"$work/there" &
	exec 3>"$work/in"
	until [ -s "$work/there" ]; do
		sleep 0.02
	done
	for command in dump stat top core trace profile; do
		passes "a process for $command" gives $! $command ""
		passes "and no other" lacks $$ $command ""
	done
	exec 3>&-
	wait $!
fi
finish

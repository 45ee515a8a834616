#!/bin/sh
# SPDX-License-Identifier: MIT
# test_examples.sh - the examples give what they should
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
build=$PWD
. "$(dirname "$0")/common.sh"

for e in sieve philosophers hashtree depbuild chat buffers bank notes \
	samples crew atonce; do
	if [ ! -x "$build/examples/$e" ]; then
		echo "there is no $build/examples/$e: make tests"
		exit 1
	fi
done

# An emulated build's programs are of another machine.
machine()
{
	od -An -j18 -N2 -tx1 "$1"
}
if [ "$(machine "$build/examples/sieve")" != "$(machine /bin/sh)" ]; then
	echo "test_examples.sh: left out, of another machine"
	exit 0
fi

last_prime()
{
	[ "$("$build/examples/sieve" 300 | tail -n 1)" = 1987 ]
}
passes "the 300th prime" last_prime
passes "philosophers eat" "$build/examples/philosophers" 100

# Where there is a C++ compiler.
printf 'one\ntwo\n' > "$work/two"
pipeline()
{
	"$build/examples/pipeline" "$work/two" "$work/two" > "$work/lines" &&
		[ "$(tail -n 1 "$work/lines")" = "       4 lines" ]
}
if [ -x "$build/examples/pipeline" ]; then
	passes "lines of two files" pipeline
	fails "a file that is not there" "cannot read $work/none" \
		"$build/examples/pipeline" "$work/none"
fi

chat_help()
{
	"$build/examples/chat" --help | grep -q '^usage: chat'
}
passes "the chat server tells how it is used" chat_help
fails "a port that is none" "usage: chat" "$build/examples/chat" 99999

mkdir -p "$work/tree/b" || exit 1
printf a > "$work/tree/x"
printf 'foobar' > "$work/tree/b/y"
hashes()
{
	"$build/examples/hashtree" "$work/tree" > "$work/hashes" &&
		sed -n 1p "$work/hashes" | grep -q '^85944171f73967e8 .*b/y' &&
		sed -n 2p "$work/hashes" | grep -q '^af63dc4c8601ec8c .*x'
}
passes "FNV-1a of two files, in order" hashes

cat > "$work/graph" <<'END'
# c is after a and b, whichever is first
c: a b ; cat "$DIR/a" "$DIR/b" > "$DIR/c"
a: ; echo a > "$DIR/a"
b: a ; echo b > "$DIR/b"
END
DIR=$work
export DIR
ordered()
{
	"$build/examples/depbuild" -j 3 "$work/graph" &&
		[ "$(tr -d '\n' < "$work/c")" = ab ]
}
passes "a graph is built in order" ordered
echo 'd: c ; false
e: d ; true' >> "$work/graph"
fails "a target that fails" "5 targets, 2 failed" \
	"$build/examples/depbuild" "$work/graph"
echo 'f: g ; true
g: f ; true' > "$work/circle"
fails "a circle" "depbuild: [fg]" "$build/examples/depbuild" "$work/circle"

passes "more threads than buffers" "$build/examples/buffers"
passes "money is neither made nor lost" "$build/examples/bank"

samples()
{
	"$build/examples/samples" | grep -q '^100000 samples, '
}
passes "each sample is read or counted as lost" samples
squares()
{
	"$build/examples/crew" | grep -q ' 333338333350000$'
}
at_once()
{
	"$build/examples/atonce" -n 3 'exit 2' true "echo 1 >$work/one" 2>"$work/ends"
	[ $? -eq 1 ] && [ "$(cat "$work/one")" = 1 ] &&
		grep -q 'ended: 2$' "$work/ends" &&
		[ "$(wc -l <"$work/ends")" -eq 1 ]
}
passes "three commands at once" at_once
passes "each square is added once" squares

notes=$build/examples/notes
noted()
{
	for n in 1 2 3 4 5 6; do
		"$notes" "$work/notes" "note $n" &
	done
	wait
	"$notes" "$work/notes" > "$work/noted" &&
		[ "$(wc -l < "$work/noted")" -eq 6 ] &&
		grep -q '^[1-6] note 5$' "$work/noted" &&
		"$notes" "$work/notes" -d 4 &&
		"$notes" "$work/notes" > "$work/noted" &&
		[ "$(wc -l < "$work/noted")" -eq 5 ] &&
		! grep -q '^4 ' "$work/noted"
}
passes "six processes each add a note" noted
fails "a note that was dropped" "No such file" "$notes" "$work/notes" -d 4
fails "a file that is no set" "No data" "$notes" "$work/graph"
finish

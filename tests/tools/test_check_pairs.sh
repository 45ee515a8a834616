#!/bin/sh
# SPDX-License-Identifier: MIT
# test_check_pairs.sh - a label that is removed from lock-free code is found
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

cat >"$work/good.c" <<'END'
/*
 * good.c
 *
 * Pairs
 *   P1  put's store   -> get's load: the item
 *   P2  sleep: flag; fence; look  |  wake: put; fence; look
 *
 * Source
 *   P9 is a word here.
 */
void put(struct q *q)
{
	q->item = 1;
	store_release(&q->full, 1);	/* P1: get */
	fence_seq_cst();	/* P2 */
}

int get(struct q *q)
{
	/* P1: put's release */
	if (load_acquire(&q->full))
		return q->item;
	store_relaxed(&q->flag, 1);
	fence_seq_cst();	/* P2 */
	return 0;
}
END

# without SED-SCRIPT: good.c, changed
without()
{
	sed "$1" "$work/good.c" >"$work/bad.c"
	if cmp -s "$work/good.c" "$work/bad.c"; then
		echo "the change changed nothing: $1"
		return 0
	fi
	"$tools/check-pairs" "$work/bad.c"
}

passes "a good file" "$tools/check-pairs" "$work/good.c"
fails "a release without its label" "store_release without a pair" \
	without 's,/\* P1: get \*/,,'
fails "an acquire without its label" "load_acquire without a pair" \
	without '/P1: put.s release/d'
fails "a fence without its label" "fence_seq_cst without a pair" \
	without '0,/; *	\/\* P2 \*\//s,/\* P2 \*/,,'
fails "a label of no pair" "P3 is not in the Pairs" \
	without 's,/\* P1: get \*/,/* P3: get */,'
fails "a pair without its acquire" "P1 has not both of its sides" \
	without 's,load_acquire,load_relaxed,'
fails "a pair without its release" "P1 has not both of its sides" \
	without 's,store_release,store_relaxed,'
fails "a pair without one of its fences" "P2 has not both of its sides" \
	without '$!N;s/.*fence_seq_cst();	\/\* P2 \*\/\n	return 0;/	return 0;/;P;D'
fails "a file without a list" "is not in the Pairs" without '/^ \*   P[12]/d'

# The tree's own lock-free files: remove each label that stands at an
# operation, one at a time.
removed=0
for file in "$top"/runtime/lockfree/fifo.c "$top"/runtime/lockfree/depot.h; do
	# shellcheck disable=SC2013 # numbers
	for line in $(grep -nE \
		'(acquire|release|acq_rel)\(.*/\* P[0-9]' "$file" |
		cut -d: -f1); do
		name=$(basename "$file")
		sed "${line}s/P[0-9][0-9]*//g" "$file" >"$work/$name"
		fails "$name:$line without its label" "without a pair" \
			"$tools/check-pairs" "$work/$name"
		removed=$((removed + 1))
	done
done
if [ $removed -lt 5 ]; then
	echo "only $removed labels were found to remove"
	faults=$((faults + 1))
fi
finish

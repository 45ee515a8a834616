#!/bin/sh
# SPDX-License-Identifier: MIT
# test_mutate.sh - what tools/mutate changes, and that it says what it must
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

cd "$work" || exit 1
cat >q.c <<'END'
/*
 * q.c
 *
 * Pairs
 *   P1  put's store -> get's load
 *   P2  two fences
 */
#define never(q)	store_release(&(q)->full, 1)	/* P1 */

void put(struct q *q)
{
	store_release(&q->full, 1);	/* P1: get */
	fence_seq_cst();	/* P2 */
	store_seq_cst(&q->waits, load_relaxed(&q->other));
	wefti_membarrier_light();	/* P2 */
}

int get(struct q *q, uint64_t w)
{
	while (load_acquire(&q->full) &&	/* P1: put */
	       !cas_weak_acq_rel(&q->word, &w,
				 next(w, 1)) &&	/* P1: a get */
	       !cas_weak_acq_rel(&q->word, &w, 2))	/* P1: a get */
		pause("store_release(&q->full, 1)");
	/* store_release(&q->full, 1), P1 */
	if (w)
		cas_relaxed(&q->word, &w, 3);
	return cas_relaxed(&q->word, &w, 4);
}
END
cat >wanted <<'END'
q.c put: store_release(&q->full) -> relaxed
	store_relaxed(&q->full, 1);	/* P1: get */
q.c put: fence_seq_cst() dropped
	(void)0;	/* P2 */
q.c put: wefti_membarrier_light() dropped
	(void)0;	/* P2 */
q.c get: load_acquire(&q->full) -> relaxed
	while (load_relaxed(&q->full) &&	/* P1: put */
q.c get: cas_weak_acq_rel(&q->word) -> acquire
	!cas_weak_acquire(&q->word, &w,
q.c get: cas_weak_acq_rel(&q->word) -> release
	!cas_weak_release(&q->word, &w,
q.c get: cas_weak_acq_rel(&q->word) never fails
	!(cas_weak_acq_rel(&q->word, &w,
q.c get: cas_weak_acq_rel(&q->word) #2 -> acquire
	!cas_weak_acquire(&q->word, &w, 2))	/* P1: a get */
q.c get: cas_weak_acq_rel(&q->word) #2 -> release
	!cas_weak_release(&q->word, &w, 2))	/* P1: a get */
q.c get: cas_weak_acq_rel(&q->word) #2 never fails
	!(cas_weak_acq_rel(&q->word, &w, 2), 1))	/* P1: a get */
q.c get: cas_relaxed(&q->word) #2 never fails
	return (cas_relaxed(&q->word, &w, 4), 1);
END
passes "the mutants of a file" python3 "$tools/mutants.py" q.c
diff -u wanted out || faults=$((faults + 1))

# Names of survivors without a reason, and reasons of nothing.
survivors()
{
	printf '%s\n' "$@" >survivors
	python3 - "$tools" <<'END'
import importlib.machinery
import importlib.util
import sys

loader = importlib.machinery.SourceFileLoader("mutate", sys.argv[1] + "/mutate")
module = importlib.util.module_from_spec(
    importlib.util.spec_from_loader("mutate", loader))
loader.exec_module(module)
module.Survivors("survivors")
END
}

passes "the tree's own survivors" survivors "$(cat "$tools/mutate-survivors")"
fails "a survivor without a reason" "no reason is given" \
	survivors "q.c put: fence_seq_cst() dropped" "" "# end"
fails "a reason of nothing" "a reason of nothing" \
	survivors "# text" "	because"

# A scenario is a line of nine fields. The last one, a control's edit, may have tabs.
listed()
{
	"$top/tests/model/run" --list 'loom/*' |
		awk -F '\t' 'NF < 9 { print; bad = 1 } END { exit bad || !NR }'
}

passes "the list of scenarios" listed

# With the model checker, if it has been built and somebody has minutes for it: one file.
checker=${WEFT_MODEL_CARGO:-${XDG_CACHE_HOME:-$HOME/.cache}/weft-loom}
if [ -n "${WEFT_TEST_MUTANTS-}" ] && [ -x "$checker/release/weft-loom" ] && cargo --version >/dev/null 2>&1; then
	passes "lockfree/depot.h" "$tools/mutate" --work "$work/mutate" \
		--limit 60 lockfree/depot.h
	grep -q '^100.0 % of the mutants' "$work/out" || {
		echo "not all mutants of lockfree/depot.h are killed"
		cat "$work/out"
		faults=$((faults + 1))
	}
fi
finish

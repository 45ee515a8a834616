#!/bin/sh
# SPDX-License-Identifier: MIT
# test_check_writers.sh - a writer that is not listed is found, and one that is
# listed and does not write
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2016,SC2317
. "$(dirname "$0")/common.sh"

cd "$work" || exit 1
mkdir good
cat >good/q.h <<'END'
/* q.h - a queue of one */
struct wefti_item {
	_Atomic uint64_t next;
};

struct wefti_q {
	struct wefti_item first;
	alignas(64) _Atomic(struct wefti_item *) head, tail;
	union {
		_Atomic uint32_t *link;
		int mark;
	};
};

extern _Atomic uint32_t wefti_turn;

struct wefti_q *wefti_q_get(unsigned i);

static inline void wefti_turn_to(_Atomic uint32_t *turn, uint32_t to)
{
	store_relaxed(turn, to);
}
END
cat >good/q.c <<'END'
/*
 * q.c - a queue of one
 *
 * States
 *   FULL, EMPTY
 *
 * Writers
 *   item.next  put, pop (the owner), wefti_q_clear
 *   q.head  put; other.c: look, reset (before others see it)
 *   q.tail  pop
 *   *q.link  link_to
 *   wefti_turn  wefti_turn_to, wefti_q_clear; other.c: look, reset
 *   *word_of()  wefti_q_clear
 *   state  wefti_q_clear, grow
 *
 * Pairs
 *   P1  nothing
 */
static _Atomic uint32_t state;

/* store_relaxed(&q->tail, 0) in a comment is nothing. */
static void put(struct wefti_q *q, struct wefti_item *i)
{
	struct wefti_item *last = load_acquire(&q->tail);

	store_release(&last->next, 1);
	if (cas_weak_seq_cst(&q->head, &i, NULL))
		store_relaxed(&((struct wefti_item *)(void *)q)->next, 2);
}

static int pop(unsigned i)
{
	_Atomic(struct wefti_item *) *end = i ? &wefti_q_get(i)->tail :
						&wefti_q_get(0)->tail;

	xchg_seq_cst(end, NULL);
	return (int)fetch_add_relaxed(&wefti_q_get(i)->first.next, 1);
}

static void link_to(struct wefti_q *q)
{
	store_relaxed(q->link + 1, 7);
}

static _Atomic uint32_t *word_of(struct public *p)
{
	return (_Atomic uint32_t *)(void *)&p->word;
}

static _Atomic uint32_t *state_at(int where)
{
	return &state + where;
}

static void grow(void)
{
	fetch_or_relaxed(state_at(0), 1);
}

void wefti_q_clear(struct wefti_q *q, struct public *p)
{
	static const char *text = "store_relaxed(&q->head, 0)";
	_Atomic uint32_t *word = word_of(p);

	wefti_turn_to(&wefti_turn, 0);
	store_relaxed(word, 0);
	store_relaxed(&state, 0);
	store_relaxed(&q[1].first.next, text != NULL);
	wefti_lock_lock(&q->lock);
}
END
cat >good/other.c <<'END'
/* other.c - another file */
#define turn wefti_turn

static void reset(struct wefti_q *q)
{
	store_relaxed(&q->head, NULL);
	wefti_turn_to(&turn, 1);
}

static void look(void)
{
	for (unsigned i = 0; i < 2; i++) {
		struct wefti_q *q = wefti_q_get(i);

		store_relaxed(&q->head, NULL);
		store_seq_cst(&turn, i);
	}
}
END

# changed FILE SED-SCRIPT: the good files, with a change in one
changed()
{
	rm -rf bad
	cp -R good bad
	sed "$2" "good/$1" >"bad/$1"
	if cmp -s "good/$1" "bad/$1"; then
		echo "the change changed nothing: $2"
		return 0
	fi
	"$tools/check-writers" bad/q.c bad/q.h bad/other.c
}

# two_homes: two files have constants of their own for q.head
two_homes()
{
	rm -rf bad
	cp -R good bad
	sed '0,/^ \*\/$/s/^ \*\/$/&\n#define FULL 1u/; s/(&q->head, &i, NULL)/(\&q->head, \&i, FULL)/' \
		good/q.c >bad/q.c
	sed 's/^#define turn.*/&\n#define EMPTY 2u/; s/(&q->head, NULL)/(\&q->head, EMPTY)/' \
		good/other.c >bad/other.c
	"$tools/check-writers" bad/q.c bad/q.h bad/other.c
}

# by_alias: both are in q.h, and other.c has a short name for one
by_alias()
{
	two_homes >told
	sed -i '/^#define FULL/d' bad/q.c
	sed -i 's/^struct wefti_item {/#define FULL 1u\n#define WEFTI_EMPTY 2u\n&/' bad/q.h
	sed -i 's/^#define EMPTY.*/#define EMPTY WEFTI_EMPTY/' bad/other.c
	"$tools/check-writers" bad/q.c bad/q.h bad/other.c
}

passes "good files" "$tools/check-writers" good/q.c good/q.h good/other.c
fails "a writer that is not listed" "item.next is written by pop, which" \
	changed q.c 's/ pop (the owner),//'
fails "a new write by another file" \
	"q.tail is written by reset of other.c, which is not listed" \
	changed other.c 's/^	wefti_turn_to.*/&\n	store_relaxed(\&q->tail, NULL);/'
fails "a new write of a static object" "state is written by put, which" \
	changed q.c 's/^	store_release(&last.*/&\n	store_relaxed(\&state, 1);/'
fails "a new write through a pointer" "wefti_turn is written by put" \
	changed q.c 's/^	store_release(&last.*/&\n	wefti_turn_to(\&wefti_turn, 2);/'
fails "a listed writer that does not write" "q.head is not written by pop" \
	changed q.c 's/q.head  put;/q.head  put, pop;/'
fails "a write that is gone" "q.head is not written by reset of other.c" \
	changed other.c '0,/store_relaxed/s/store_relaxed.*/q->mark = 1;/'
fails "a word that is in no list" "q.tail is in no list of Writers" \
	changed q.c '/^ \*   q.tail/d'
fails "a word that nothing writes" "q.size is not a word that is written" \
	changed q.c 's/^ \*   q.tail/ *   q.size  put\n&/'
fails "a word in two lists" "q.tail is in the list of bad/[a-z]*.c too" \
	changed other.c 's,^/\* other.c.*,/*\n * other.c - x\n *\n * Writers\n *   q.tail  q.c: pop\n */,'
fails "a write of what nobody knows" "which word is written" \
	changed other.c 's/store_relaxed(&q->head/store_relaxed(\&h->head/'
fails "a list that is gone" "in no list of Writers" \
	changed q.c '/^ \* Writers/,/^ \* Pairs/d'
fails "a word with constants of two files" \
	"constants of q.head are in several files: EMPTY of other.c, FULL of q.c" \
	two_homes
passes "a constant that stands for another file's" by_alias

# What is mended is what was there.
rm -rf bad
cp -R good bad
sed -i 's/ pop (the owner),//; /^ \*   q.tail/d; s/; other.c: look, reset (/, pop; other.c: reset (/' bad/q.c
passes "lists to mend" "$tools/check-writers" --fix bad/q.c bad/q.h bad/other.c
passes "mended lists" "$tools/check-writers" bad/q.c bad/q.h bad/other.c
grep -q '^ \*   q.head  put; other.c: reset (before others see it), look$' bad/q.c || {
	echo "a note was lost:"
	grep q.head bad/q.c
	faults=$((faults + 1))
}

# The tree's own: without the writers of a word, each of them is told.
mkdir tree
(cd "$top" && cp -R runtime arch pthread plan9 "$work/tree") || exit 1
file=runtime/sched/seat.c
writers=$(sed -n '/^ \*   thread.attention/,/^ \*   [^ ]/{/^ \*   [^t ]/d;/attention\|^ \*       /p}' \
	"$top/$file" | sed 's/^ \*  *//; s/^thread\.[a-z_]*//; s/[a-z/_]*\.c://g' | tr -s ' ,;' '\n' |
	grep '^[a-z_]*$' | sort -u)
[ "$(echo "$writers" | wc -l)" -ge 4 ] || {
	echo "few writers were found to remove: $writers"
	faults=$((faults + 1))
}
for name in $writers; do
	echo "/^ \\* Writers/,/^ \\*\$/s/ $name\\>/ gone/"
done >remove.sed
sed -f remove.sed "$top/$file" >"tree/$file"
(cd tree && "$tools/check-writers") >told && {
	echo "accepted: $file without writers in its list"
	faults=$((faults + 1))
}
for name in $writers; do
	grep -q "thread.attention is written by $name.*is not listed" told || {
		echo "$file without $name in its list: nothing was told"
		faults=$((faults + 1))
	}
done
finish

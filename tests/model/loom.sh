# SPDX-License-Identifier: MIT
# loom.sh - the models of memory orders; read by tests/model/run
# shellcheck shell=sh
# The variables of tests/model/run:
# shellcheck disable=SC2154

loom_available() {
	if ! command -v cargo > /dev/null 2>&1; then
		echo "skipped: loom (cargo is missing)"
		return 1
	fi
	echo "building the checker (cargo) ..."
	if ! cargo build --release --quiet --locked \
		--manifest-path "$here/loom/Cargo.toml" \
		--target-dir "$cargo_dir" > "$work/cargo.log" 2>&1
	then
		# Offline and nothing cached is no fault of ours; an error is.
		if grep -q -i -e 'failed to download' -e 'network' \
			-e 'could not resolve host' -e "can't connect" \
			"$work/cargo.log"
		then
			echo "skipped: loom (its crates cannot be downloaded)"
			return 1
		fi
		cat "$work/cargo.log"
		report loom/build error holds "cargo build failed"
		return 1
	fi
}

# loom_run NAME WANTED SCENARIO PREEMPTIONS SOURCES [FILE SED]
#
# WANTED is holds or violation. SCENARIO is OBJECT:NAME, for loom/c/OBJECT.c.
# PREEMPTIONS bounds them; - is all. SOURCES are below runtime/.
# FILE and SED: the line of the runtime that is made wrong.
loom_run() {
	name=loom/$1 wanted=$2 object=${3%:*} scenario=${3#*:} bound=$4
	sources=$5 file=${6:-} edit=${7:-}
	chosen "$name" || return 0

	tree=$work/tree
	rm -rf "$tree"
	mkdir -p "$tree" && cp -R "$top/runtime" "$top/arch" "$top/include" \
		"$tree" && cp -R "$here/loom/c" "$tree/model" || exit 1
	if [ -n "$file" ] && ! mutate "$tree/$file" "$edit"; then
		report "$name" error "$wanted" "the control has no effect"
		return 0
	fi

	paths=$tree/model/$object.c
	for s in $sources; do
		paths="$paths $tree/runtime/$s"
	done
	# $paths is a list of words.
	# shellcheck disable=SC2086
	if ! $CC -std=gnu11 -D_GNU_SOURCE -DWEFT_MODEL -O1 -g -fPIC -shared \
		-fexceptions -Wall -I"$tree/model/stub" -I"$tree/runtime" \
		-I"$tree/arch/$arch" -I"$tree/include" -I"$tree/model" \
		-o "$tree/object.so" $paths > "$work/cc.log" 2>&1
	then
		cat "$work/cc.log"
		report "$name" error "$wanted" "does not compile"
		return 0
	fi
	[ "$bound" = - ] && bound=
	# An empty bound is no argument.
	# shellcheck disable=SC2086
	words=$("$cargo_dir/release/weft-loom" "$tree/object.so" "$scenario" \
		$bound 2>&1)
	case $? in
	0) got=holds ;;
	1) got=violation ;;
	3) got=endless ;;
	*) got=error ;;
	esac
	report "$name" "$got" "$wanted" "$words"
}

loom_ring() {
	src=lockfree/ready_ring.c
	h=runtime/lockfree/ready_ring.h
	loom_run ring_steal holds ready_ring:ring_steal 3 "$src"
	loom_run ring_tail holds ready_ring:ring_tail 3 "$src"
	loom_run ring_half holds ready_ring:ring_half 3 "$src"
	loom_run control/ring_push_relaxed violation ready_ring:ring_steal 3 \
		"$src" $h 's/fetch_add_release(&r->word/fetch_add_relaxed(\&r->word/'
	loom_run control/ring_steal_not_acquire violation \
		ready_ring:ring_steal 3 "$src" runtime/$src \
		's/load_acquire(&victim->word)/load_relaxed(\&victim->word)/'
	loom_run control/ring_loot_relaxed violation ready_ring:ring_half 3 \
		"$src" runtime/$src \
		's/fetch_add_release(&mine->word/fetch_add_relaxed(\&mine->word/'
	loom_run control/ring_tail_without_lap violation \
		ready_ring:ring_tail 3 "$src" $h \
		's/(WEFTI_RING_WORD(WEFTI_RING_CAPACITY, 0) - 1)/(UINT64_C(0) - 1)/'
}

loom_fifo() {
	src=lockfree/fifo.c
	loom_run fifo_one_each holds fifo:fifo_one_each - $src
	loom_run fifo_push_pop holds fifo:fifo_push_pop 2 $src
	loom_run fifo_two_poppers holds fifo:fifo_two_poppers 3 $src
	loom_run fifo_nodes_wander holds fifo:fifo_nodes_wander 4 $src
	loom_run fifo_look holds fifo:fifo_look 4 $src
	loom_run control/fifo_link_relaxed violation fifo:fifo_one_each - \
		$src runtime/$src \
		's/cas_weak_release(&last->next/cas_weak_relaxed(\&last->next/'
	loom_run control/fifo_next_not_acquire violation \
		fifo:fifo_push_pop 2 $src runtime/$src \
		's/load_acquire(&dummy->next)/load_relaxed(\&dummy->next)/'
	loom_run control/fifo_head_acquire_only violation \
		fifo:fifo_two_poppers 3 $src runtime/$src \
		's/cas_weak_release(&q->head/cas_weak_acquire(\&q->head/'
	loom_run control/fifo_head_not_looked_at_again violation \
		fifo:fifo_nodes_wander 4 $src runtime/$src \
		's/if (load_relaxed(&q->head) != head)/if (0)/'
	loom_run control/fifo_first_next_relaxed violation \
		fifo:fifo_look 4 $src runtime/$src \
		's/store_release(&n->next/store_relaxed(\&n->next/'
}

loom_depot() {
	h=runtime/lockfree/depot.h
	loom_run depot holds depot:depot 4 ""
	loom_run control/depot_tag_not_counted violation depot:depot 4 "" \
		$h 's/(uint32_t)(old + 1)/(uint32_t)old/'
	loom_run control/depot_push_relaxed violation depot:depot 4 "" \
		$h 's/cas_weak_release/cas_weak_relaxed/'
	loom_run control/depot_pop_not_acquire violation depot:depot 4 "" \
		$h 's/load_acquire(&d->word)/load_relaxed(\&d->word)/'
}

if loom_available; then
	loom_ring
	loom_fifo
	loom_depot
fi

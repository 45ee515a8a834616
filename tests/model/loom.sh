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

# loom_tree DIR: what the scenarios are compiled from, and loom_flags DIR: how.
# tools/mutate uses both, and the list of the scenarios (tests/model/run --list).
loom_tree() {
	mkdir -p "$1" && cp -R "$top/runtime" "$top/arch" "$top/include" \
		"$top/pthread" "$1" && cp -R "$here/loom/c" "$1/model" &&
		sed -i -e 's/\<wefti_pt\./model_pt()->/g' \
			-e 's/&wefti_pt\>/model_pt()/g' "$1"/pthread/*/*.[ch]
}

loom_flags() {
	echo "-std=gnu11 -D_GNU_SOURCE -DWEFT_MODEL -O1 -g -fPIC" \
		"-fexceptions -Wall -Wno-unused-value" \
		"-Wno-deprecated-declarations -include $1/model/self.h" \
		"-I$1/model -I$1/runtime -I$1/arch -I$1/arch/$arch -I$1/include -I$1"
}

# The object of what loom_run() was asked for; reports if there is none.
loom_make() {
	base=$work/base tree=$work/tree
	[ -d "$base" ] || loom_tree "$base" || exit 1
	rm -rf "$tree"
	# Links: an edit puts another file in the place of one.
	cp -Rl "$base" "$tree" || exit 1
	for mark in $loom_marks; do
		if ! mutate "$tree/${mark%%:*}" "${mark#*:}"; then
			report "$name" error "$wanted" "a mark has no place"
			return 1
		fi
	done
	if [ -n "$file" ] && ! mutate "$tree/$file" "$edit"; then
		report "$name" error "$wanted" "the control has no effect"
		return 1
	fi

	paths=$tree/model/$object.c
	for s in $sources; do
		paths="$paths $tree/runtime/$s"
	done
	# $paths is a list of words.
	# shellcheck disable=SC2046,SC2086
	if ! $CC $(loom_flags "$tree") -shared -o "$tree/object.so" $paths \
		> "$work/cc.log" 2>&1
	then
		cat "$work/cc.log"
		report "$name" error "$wanted" "does not compile"
		return 1
	fi
}

# loom_run NAME WANTED SCENARIO PREEMPTIONS SOURCES [FILE SED]
#
# WANTED is holds, violation or endless. SCENARIO is OBJECT:NAME, for loom/c/OBJECT.c.
# PREEMPTIONS bounds them; - is all. SOURCES are below runtime/, or ../pthread/.
# FILE and SED: the line of the runtime that is made wrong.
# $loom_marks: files and edits that mark plain accesses for the checker.
loom_marks=
loom_made=
loom_run() {
	name=loom/$1 wanted=$2 object=${3%:*} scenario=${3#*:} bound=$4
	sources=$5 file=${6:-} edit=${7:-}
	chosen "$name" || return 0
	if [ -n "$listing" ]; then
		printf '%s\t' "$name" "$wanted" "$object" "$scenario" "$bound" \
			"$file"
		# shellcheck disable=SC2086 # words
		printf '%s ' $sources
		printf '\t'
		# shellcheck disable=SC2086 # words
		printf '%s ' $loom_marks
		# One line a scenario: tools/mutate reads it.
		printf '\t%s\n' "$(printf %s "$edit" | tr '\n' ';')"
		return 0
	fi

	# The object of a scenario that has no edit is also that of the next.
	if [ -n "$file" ] || [ "$loom_made" != "$object $sources $loom_marks" ]
	then
		loom_made=
		loom_make || return 0
		[ -n "$file" ] || loom_made="$object $sources $loom_marks"
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
	loom_run ring_half_new holds ready_ring:ring_half_new 3 "$src"
	loom_marks="$h:s/RING_CAPACITY.256u/RING_CAPACITY\t4u/
		$h:s/^.store_relaxed(wefti_ring_slot(a,.w,.len),.t);/model_slot_written(r,w,len);&/
		runtime/$src:s/if.(cas_weak_release(&victim->word,.&w,.w.+.WEFTI_RING_TAKE))/model_slots_read(victim,w,1);&/
		runtime/$src:s/if.(!cas_weak_release(&victim->word,.&w,\$/model_slots_read(victim,w,n);&/
		runtime/$src:s/^...slot_copy(wefti_ring_slot(to/model_slot_written(mine,m,len+i-1),&/"
	loom_run ring_wrap holds ready_ring:ring_wrap 3 "$src"
	loom_run ring_wrap_half holds ready_ring:ring_wrap_half 3 "$src"
	loom_run ring_wrap_loot holds ready_ring:ring_wrap_loot 3 "$src"
	loom_run control/ring_wrap_steal_relaxed violation \
		ready_ring:ring_wrap 3 "$src" runtime/$src \
		'/wefti_ring_steal_one/,/^}/s/cas_weak_release/cas_weak_relaxed/'
	loom_run control/ring_wrap_push_not_acquire violation \
		ready_ring:ring_wrap 3 "$src" $h \
		's/load_acquire(&r->word)/load_relaxed(\&r->word)/'
	loom_run control/ring_wrap_loot_not_acquire violation \
		ready_ring:ring_wrap_loot 3 "$src" runtime/$src \
		's/load_acquire(&mine->word)/load_relaxed(\&mine->word)/'
	loom_marks="$h:s/RING_CAPACITY.256u/RING_CAPACITY\t2u/"
	loom_run ring_grow holds ready_ring:ring_grow 3 "$src"
	loom_run ring_grow_half holds ready_ring:ring_grow_half 3 "$src"
	loom_run ring_shrink holds ready_ring:ring_shrink 3 "$src"
	loom_run ring_shrink_half holds ready_ring:ring_shrink_half 3 "$src"
	loom_run ring_regrow holds ready_ring:ring_regrow 3 "$src"
	loom_run control/ring_grow_relaxed violation ready_ring:ring_grow 3 \
		"$src" runtime/$src \
		's/store_release(&r->array/store_relaxed(\&r->array/'
	loom_run control/ring_grow_one_not_acquire violation \
		ready_ring:ring_grow 3 "$src" runtime/$src \
		'/wefti_ring_steal_one/,/^}/s/load_acquire(&victim->array)/load_relaxed(\&victim->array)/'
	loom_run control/ring_grow_half_not_acquire violation \
		ready_ring:ring_grow_half 3 "$src" runtime/$src \
		's/from = load_acquire(&victim->array)/from = load_relaxed(\&victim->array)/'
	loom_run control/ring_larger_before_word violation \
		ready_ring:ring_shrink 3 "$src" runtime/$src \
		'/^struct.*wefti_ring_steal_one/,/^}/{s/struct wefti_ring_array .a;//
		s/^\t\ta = .*//
		s/uint64_t w = load_acquire/struct wefti_ring_array *a = load_acquire(\&victim->array); &/}'
	loom_run control/ring_grow_tail violation ready_ring:ring_grow 3 \
		"$src" runtime/$src \
		's/wefti_ring_slot(to, w, i),/\&r->slot[0],/'
	loom_marks=
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
	loom_run fifo_look_behind holds fifo:fifo_look_behind - $src
	loom_run fifo_tail holds fifo:fifo_tail 3 $src
	loom_run control/fifo_look_not_acquire violation \
		fifo:fifo_look_behind - $src runtime/$src \
		'/^int wefti_fifo_is_empty/,/^}/s/load_acquire(&q->head)/load_relaxed(\&q->head)/'
	loom_run control/fifo_tail_not_acquire violation fifo:fifo_tail 3 $src \
		runtime/$src \
		'/^void wefti_fifo_push/,/^}/s/load_acquire(&q->tail)/load_relaxed(\&q->tail)/'
	loom_run control/fifo_tail_relaxed violation fifo:fifo_tail 3 $src \
		runtime/$src 's/cas_release(&q->tail/cas_relaxed(\&q->tail/'
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

loom_stack() {
	src="lockfree/pointer_stack.c base/check.c ../arch/$arch/wide.c"
	c=runtime/lockfree/pointer_stack.c
	loom_run stack holds stack:stack 4 "$src"
	loom_run stack_handed_on holds stack:stack_handed_on - "$src"
	loom_run control/stack_tag_not_counted violation stack:stack 4 "$src" \
		$c 's/old.hi + 1/old.hi/'
	loom_run control/stack_cas_relaxed violation stack:stack_handed_on - \
		"$src" runtime/lockfree/pair.h \
		's/memory_order_acq_rel/memory_order_relaxed/'
	loom_run control/stack_pop_not_acquire violation stack:stack 4 \
		"$src" $c 's/pair_hi_acquire/pair_hi_relaxed/'
}

loom_spsc() {
	src=lockfree/spsc.c
	loom_run spsc holds spsc:spsc - $src
	loom_run spsc_many holds spsc:spsc_many - $src
	loom_run control/spsc_push_relaxed violation spsc:spsc - $src \
		runtime/$src '/^int weft_spsc_push(/,/^}/s/store_release/store_relaxed/'
	loom_run control/spsc_pop_relaxed violation spsc:spsc - $src \
		runtime/$src '/^int weft_spsc_pop(/,/^}/s/store_release/store_relaxed/'
	loom_run control/spsc_room_not_acquire violation spsc:spsc - $src \
		runtime/$src 's/load_acquire(&r->head)/load_relaxed(\&r->head)/'
	loom_run control/spsc_ready_not_acquire violation spsc:spsc - $src \
		runtime/$src 's/load_acquire(&r->tail)/load_relaxed(\&r->tail)/'
	loom_run control/spsc_push_many_relaxed violation spsc:spsc_many - \
		$src runtime/$src \
		'/^size_t weft_spsc_push_many(/,/^}/s/store_release/store_relaxed/'
	loom_run control/spsc_pop_many_relaxed violation spsc:spsc_many - \
		$src runtime/$src \
		'/^size_t weft_spsc_pop_many(/,/^}/s/store_release/store_relaxed/'
	loom_marks="runtime/$src:s/r->mask.=.capacity.-.1;/m_data_write(\&r->mask);&/
		runtime/$src:s/need.=.weft_spsc_bytes((size_t)r->mask/m_data_read(\&r->mask);&/"
	loom_run spsc_attached holds spsc:spsc_attached - $src
	loom_run control/spsc_made_relaxed violation spsc:spsc_attached - \
		$src runtime/$src \
		'/^int weft_spsc_init(/,/^}/s/store_release/store_relaxed/'
	loom_run control/spsc_attach_not_acquire violation \
		spsc:spsc_attached - $src runtime/$src \
		'/^int weft_spsc_attach(/,/^}/s/load_acquire/load_relaxed/'
	loom_marks=
}

loom_record() {
	src=record/events.c
	h=runtime/record/events.h
	loom_run record_old holds record:record_old - $src
	loom_run record_new holds record:record_new - $src
	loom_run record_common holds record:record_common 1 $src
	loom_run record_common_late holds record:record_common_late 1 $src
	loom_run control/record_fill_relaxed violation record:record_old - $src $h \
		's/store_release(&e->\(time\|thread\|arg\)/store_relaxed(\&e->\1/'
	loom_run control/record_whole_relaxed violation record:record_new - $src $h \
		's/store_release(&e->word/store_relaxed(\&e->word/'
	loom_run control/record_get_not_acquire violation record:record_new - $src \
		runtime/$src 's/word = load_acquire(&e->word)/word = load_relaxed(\&e->word)/'
	loom_run control/record_words_not_acquire violation record:record_old - $src \
		runtime/$src 's/load_acquire(&e->\(time\|thread\|arg\))/load_relaxed(\&e->\1)/'
	loom_run control/record_not_claimed violation record:record_common 1 $src \
		runtime/$src 's/!cas_acquire(.*)) { /(store_relaxed(\&e->word, (uint64_t)(uint32_t)(n + 1) << 32), 0)) { /'
}

loom_record_mark() {
	src=record/memory.c
	loom_run record_mark holds record_mark:record_mark - $src
	loom_run control/record_mark_relaxed violation record_mark:record_mark - $src \
		runtime/$src 's/store_release(&r->mark/store_relaxed(\&r->mark/'
	loom_run control/record_mark_not_acquire violation record_mark:record_mark - $src \
		runtime/record/memory.h 's/load_acquire(&wefti_recorder.mark)/load_relaxed(\&wefti_recorder.mark)/'
}

loom_lock() {
	src=lockfree/lock.c
	h=runtime/lockfree/lock.h
	loom_run lock holds lock:lock 3 $src
	loom_run lock_three holds lock:lock_three 1 $src
	loom_run control/lock_unlock_relaxed violation lock:lock 3 $src $h \
		's/cas_weak_release(word/cas_weak_relaxed(word/'
	loom_run control/lock_take_not_acquire violation lock:lock 3 $src $h \
		's/cas_acquire(word/cas_relaxed(word/'
	loom_run control/lock_inside_not_acquire violation lock:lock 3 $src \
		runtime/$src 's/cas_weak_acquire(word/cas_weak_relaxed(word/'
	loom_run control/lock_no_wake violation lock:lock 3 $src $h \
		's/wefti_lock_wake(word, scope);/(void)0;/'
	loom_run control/lock_sleeps_on_woken violation lock:lock_three 1 \
		$src runtime/$src 's/else if (next == \*w)/else/'
}

loom_section() {
	h=runtime/atomic/section.h
	src="lockfree/lock.c atomic/section.c"
	loom_run section holds section:section 4 "$src"
	loom_run section_writers holds section:section_writers 3 "$src"
	loom_run control/section_close_relaxed violation section:section 4 \
		"$src" $h 's/store_release(version/store_relaxed(version/'
	loom_run control/section_put_relaxed violation section:section 4 \
		"$src" $h 's/store_release(word/store_relaxed(word/'
	loom_run control/section_copy_relaxed violation section:section 4 \
		"$src" $h 's/= load_seq_cst(word)/= load_relaxed(word)/'
	loom_run control/section_peek_relaxed violation section:section 4 \
		"$src" $h 's/v = load_seq_cst(&e->version)/v = load_relaxed(\&e->version)/'
	loom_run control/section_not_opened violation section:section 4 \
		"$src" $h '/wefti_atomic_open(/,/^}/s/+ 1)/+ 0)/'
	src="$src atomic/generic.c"
	loom_run three_add holds section:three_add 3 "$src"
	loom_run three_read holds section:three_read 3 "$src"
	loom_run control/three_put_relaxed violation section:three_read 3 \
		"$src" $h 's/store_release(&word/store_relaxed(\&word/'
	loom_run control/three_copy_relaxed violation section:three_read 3 \
		"$src" $h '/copy_three(/,/^}/s/load_seq_cst(&word/load_relaxed(\&word/'
	loom_run control/three_peek_relaxed violation section:three_read 3 \
		"$src" $h '/peek_three(/,/^}/s/v = load_seq_cst/v = load_relaxed/'
	loom_run control/three_not_looked_at_again violation \
		section:three_read 3 "$src" $h \
		'/peek_three(/,/^}/s/return load_relaxed(&e->version) == v/return 1/'
	loom_run control/three_not_locked violation section:three_add 3 \
		"$src" runtime/atomic/generic.c \
		's/!wefti_lock_take(&s.entry->lock)/0/'
}

# Groups of two objects, two a slab.
loom_slab() {
	src="lockfree/slab_call.c lockfree/slab_group.c lockfree/slab_recover.c"
	h=runtime/lockfree/slab.h
	g=runtime/lockfree/slab_group.c
	r=runtime/lockfree/slab_recover.c
	loom_marks="$h:s/SLAB_OBJECTS.48u/SLAB_OBJECTS\t2u/
		$h:s/SLAB_GROUPS.*64u/SLAB_GROUPS\t2u/
		$h:s/==.2...CACHE_LINE/>0/"
	loom_run slab_owner holds slab:slab_owner 3 "$src"
	loom_run slab_leave holds slab:slab_leave 3 "$src"
	loom_run slab_dead_freer holds slab:slab_dead_freer 3 "$src"
	loom_run slab_dead_owner holds slab:slab_dead_owner 3 "$src"
	loom_run slab_held holds slab:slab_held 3 "$src"
	loom_run slab_dead_holder holds slab:slab_dead_holder 3 "$src"
	loom_run control/slab_held_relaxed violation slab:slab_held 3 "$src" $g \
		'/^void wefti_slab_clear_bits/,/^}/s/fetch_and_seq_cst/fetch_and_relaxed/'
	loom_run control/slab_held_forgotten violation slab:slab_held 3 "$src" $g \
		'/^void wefti_slab_put_back/,/^}/s/i < count/i + 1 < count/'
	loom_run control/slab_dead_holds_on violation slab:slab_dead_holder 3 \
		"$src" $r 's/kind == WEFTI_STAMP_FREEING && is_in(dead_slots, number)/0/'
	loom_run control/slab_free_relaxed violation slab:slab_owner 3 \
		"$src" $g \
		'/^void wefti_slab_clear_bits/,/^}/s/fetch_and_seq_cst/fetch_and_relaxed/'
	loom_run control/slab_absorb_not_acquire violation slab:slab_owner 3 \
		"$src" $g \
		'/^static uint64_t absorb/,/^}/{s/load_acquire/load_relaxed/;s/fetch_or_acq_rel/fetch_or_release/;}'
	loom_run control/slab_absorb_relaxed violation slab:slab_dead_freer 3 \
		"$src" $g '/^static uint64_t absorb/,/^}/s/fetch_or_acq_rel/fetch_or_acquire/'
	loom_run control/slab_drop_relaxed violation slab:slab_leave 3 \
		"$src" $g '/^void wefti_slab_drop/,/^}/s/cas_weak_seq_cst/cas_weak_relaxed/'
	loom_run control/slab_full_without_a_look violation slab:slab_owner 3 \
		"$src" $g \
		'/^static int release_full/,/^}/s/if (!cas_seq_cst(\(.*\), &w, \(.*\)))/if (store_seq_cst(\1, \2), 0)/'
	loom_run control/slab_recover_not_acquire violation \
		slab:slab_dead_freer 3 "$src" $r \
		'/^static int is_taken/,/^}/s/load_acquire/load_relaxed/'
	loom_run control/slab_recover_what_is_taken violation \
		slab:slab_dead_freer 3 "$src" $r \
		'/^static int finish/,/^}/s/(WEFTI_STAMP_FREEING | slot)/(uint64_t)WEFTI_STAMP_FREE/'
	# loom takes seq_cst accesses as acquire and release only; the fences
	# stand for what C11 gives the hints besides.
	loom_marks="$loom_marks
		$g:s/if.(load_seq_cst(&s->/if(fence_seq_cst(),load_seq_cst(\&s->/
		$g:s/if.(is_available(load_seq_cst/if(fence_seq_cst(),is_available(load_seq_cst/"
	loom_run slab_hints holds slab:slab_hints 3 "$src"
	loom_run slab_late holds slab:slab_late - "$src"
	loom_run slab_late_top holds slab:slab_late_top - "$src"
	loom_run control/slab_no_second_look_at_group violation \
		slab:slab_late - "$src" $g \
		'/^static void hint_unavailable/,/^}/s/if.*is_available.*/if (0)/'
	# Without the look ahead of ENOSPC too, which here makes up for it.
	loom_run control/slab_no_second_look_at_hint violation \
		slab:slab_late_top - "$src" $g \
		'/^static void hint_is_full/,/^}/s/if.*load_seq_cst.*/if (0)/;s/found = search_each_slab(l, made)/found = 0/'
	loom_run control/slab_come_back_unsaid violation slab:slab_hints 3 \
		"$src" $g '/^void wefti_slab_clear_bits/,/^}/s/if (old.*/if (0)/'
	loom_marks=
}

loom_mpmc() {
	src="lockfree/ring.c ../arch/$arch/wide.c"
	c=runtime/lockfree/ring.c
	loom_run mpmc holds ring:ring 3 "$src"
	loom_run mpmc_many holds ring:ring_many 2 "$src"
	loom_run mpmc_hints holds ring:ring_hints 2 "$src"
	loom_run mpmc_walk holds ring:ring_walk 2 "$src"
	loom_run control/mpmc_push_not_acquire violation ring:ring_walk 2 \
		"$src" $c '/^int weft_ring_push/,/^}/s/pair_hi_acquire/pair_hi_relaxed/'
	loom_run control/mpmc_pop_not_acquire violation ring:ring_walk 2 \
		"$src" $c '/^int weft_ring_pop/,/^}/s/pair_hi_acquire/pair_hi_relaxed/'
	loom_run control/mpmc_cas_relaxed violation ring:ring 3 "$src" \
		runtime/lockfree/pair.h \
		's/memory_order_acq_rel/memory_order_relaxed/'
	loom_run control/mpmc_hint_relaxed violation ring:ring_hints 2 \
		"$src" $c 's/cas_weak_release(hint/cas_weak_relaxed(hint/'
	loom_marks="$c:s/r->mask.=.capacity.-.1;/m_data_write(\&r->mask);&/
		$c:s/need.=.weft_ring_bytes((size_t)r->mask/m_data_read(\&r->mask);&/"
	loom_run mpmc_attached holds ring:ring_attached - "$src"
	loom_run control/mpmc_made_relaxed violation ring:ring_attached - \
		"$src" $c '/^int weft_ring_init(/,/^}/s/store_release/store_relaxed/'
	loom_run control/mpmc_attach_not_acquire violation \
		ring:ring_attached - "$src" $c \
		'/^int weft_ring_attach(/,/^}/s/load_acquire/load_relaxed/'
	loom_marks=
}

# Without the fence behind each CAS, which is for the callers.
loom_buffer() {
	src="chan/buffer.c ../arch/$arch/wide.c"
	h=runtime/chan/buffer.h
	loom_marks="$h:s/fence_seq_cst_after_rmw();//
		runtime/chan/buffer.c:s/fence_seq_cst_after_rmw();//"
	loom_run buffer holds buffer:buffer 3 "$src"
	loom_run buffer_many holds buffer:buffer_many 2 "$src"
	loom_run buffer_hints holds buffer:buffer_hints 2 "$src"
	loom_run buffer_walk holds buffer:buffer_walk 2 "$src"
	loom_run buffer_close holds buffer:buffer_close 3 "$src"
	loom_run buffer_close_full holds buffer:buffer_close_full 3 "$src"
	loom_run control/buffer_cas_relaxed violation buffer:buffer 3 "$src" \
		runtime/lockfree/pair.h \
		's/memory_order_acq_rel/memory_order_relaxed/'
	loom_run control/buffer_near_too_far violation buffer:buffer 3 "$src" \
		$h '/int wefti_buffer_is_near(/,/^}/s/ahead(\*hi, at) > 0/ahead(*hi, at) >= 0/'
	loom_run control/buffer_close_forgotten violation \
		buffer:buffer_close 3 "$src" runtime/chan/buffer.c \
		's/w | WEFTI_SLOT_CLOSED/w/'
	loom_marks=
}

loom_wait() {
	h=runtime/thread/wait.h
	loom_run wait holds wait:wait 4 ""
	loom_run wait_old_ticket holds wait:wait_old_ticket - ""
	loom_run wait_one_waker holds wait:wait_one_waker - ""
	loom_run wait_parked holds wait:wait_parked - ""
	loom_run control/wait_cause_not_acquire violation wait:wait 4 "" \
		$h 's/load_acquire(&self->wait)/load_relaxed(\&self->wait)/'
	loom_run control/wait_commit_relaxed violation wait:wait 4 "" \
		$h 's/cas_weak_seq_cst(&t->wait, &w, parked)/cas_weak_relaxed(\&t->wait, \&w, parked)/'
	loom_run control/wait_resolve_relaxed violation wait:wait 4 "" \
		$h 's/cas_weak_acq_rel(&t->wait, &w, idle)/cas_weak_relaxed(\&t->wait, \&w, idle)/'
	loom_run control/wait_begin_parked_relaxed violation \
		wait:wait_parked - "" $h \
		'/wefti_wait_begin_parked(/,/^}/s/store_release/store_relaxed/'
	h=runtime/sched/park.h
	loom_run wait_sole holds wait:wait_sole 3 ""
	loom_run wait_sole_again holds wait:wait_sole_again 3 ""
	loom_run wait_sole_gone holds wait:wait_sole_gone - ""
	loom_run control/wait_sole_gone_not_acquire violation \
		wait:wait_sole_gone - "" $h \
		'/int wefti_unpark_sole(/,/^}/s/load_acquire(&t->cancel)/load_relaxed(\&t->cancel)/'
	loom_run control/wait_sole_taken_not_fenced violation \
		wait:wait_sole 3 "" $h \
		'/int wefti_unpark_sole(/,/^}/s/wefti_membarrier_light();//'
	loom_run control/wait_sole_misses_the_cancel violation \
		wait:wait_sole 3 "" $h \
		'/int wefti_unpark_sole(/,/^}/s/likely(!load_acquire(&t->cancel)) &&//'
	loom_run control/wait_sole_begin_not_fenced violation \
		wait:wait_sole 3 "" $h \
		'/void wefti_park_end_if_cancelled(/,/^}/s/wefti_membarrier_light();//'
	loom_run control/wait_sole_look_not_fenced violation \
		wait:wait_sole 3 "" $h \
		'/void wefti_park_end_if_cancelled(/,/^}/s/wefti_membarrier_heavy();//'
	loom_run control/wait_sole_canceller_stays violation \
		wait:wait_sole 3 "" $h \
		's/data == WEFTI_NODE_TAKEN/0/'
}

# A wait that is kept, claimed or answered; the waits of wait.c have one resolve.
loom_claim() {
	h=runtime/thread/wait.h
	loom_run claim holds claim:claim 3 ""
	loom_run claim_foreign holds claim:claim_foreign - ""
	loom_run claim_two holds claim:claim_two 3 ""
	loom_run claim_parked holds claim:claim_parked - ""
	loom_run keep holds claim:keep 3 ""
	loom_run answer holds claim:answer - ""
	loom_run answer_late holds claim:answer_late 3 ""
	loom_run control/claim_by_two violation claim:claim_two 3 "" $h \
		'/int wefti_wait_claim(/,/^}/s/!wefti_wait_is_taken(w)/1/'
	loom_run control/claim_parked_not_acquire violation \
		claim:claim_parked - "" $h \
		'/int wefti_wait_is_parked(/,/^}/s/load_acquire/load_relaxed/'
	loom_run control/claim_finish_not_acquire violation claim:claim 3 "" \
		$h '/int wefti_wait_finish(/,/^}/s/load_acquire/load_relaxed/'
	loom_run control/claim_finish_relaxed violation \
		claim:claim_foreign - "" $h \
		'/int wefti_wait_finish(/,/^}/s/store_release/store_relaxed/'
	loom_run control/keep_leaves_the_time violation claim:keep 3 "" $h \
		'/int wefti_wait_keep(/,/^}/s/~(WEFTI_WAIT_TIMED | WEFTI_WAIT_CANCELLABLE)/~UINT64_C(0)/'
	loom_run control/answer_armed_relaxed violation claim:answer - "" $h \
		'/int wefti_wait_resolve_armed(/,/^}/s/cas_weak_acq_rel/cas_weak_relaxed/'
	loom_run control/answer_parked_relaxed violation claim:answer - "" $h \
		'/int wefti_wait_resolve_parked(/,/^}/s/cas_weak_acq_rel/cas_weak_relaxed/'
}

# An id, and an item of a table: found by a thread that knows it in no other order.
loom_bare() {
	h=runtime/thread/bare.h
	loom_run bare holds bare:bare - ""
	loom_run control/bare_id_relaxed violation bare:bare - "" $h \
		'/wefti_thread_turn(/,/^}/s/store_release/store_relaxed/'
	loom_run control/bare_find_not_acquire violation bare:bare - "" $h \
		'/wefti_thread_find(/,/^}/s/load_acquire/load_relaxed/'
}

loom_dense() {
	src=mem/dense.c
	c=runtime/mem/dense.c
	h=runtime/mem/dense.h
	loom_run dense holds dense:dense - $src
	loom_run dense_told holds dense:dense_told - $src
	loom_run dense_limit holds dense:dense_limit - $src
	loom_run control/dense_chunk_relaxed violation dense:dense - $src $c \
		's/cas_release(chunk/cas_relaxed(chunk/'
	loom_run control/dense_at_not_acquire violation dense:dense_told - \
		$src $h '/wefti_dense_at(/,/^}/s/load_acquire/load_relaxed/'
	loom_run control/dense_next_relaxed violation dense:dense_limit - \
		$src $c 's/cas_weak_release/cas_weak_relaxed/'
	loom_run control/dense_limit_not_acquire violation dense:dense_limit \
		- $src $h '/wefti_dense_limit(/,/^}/s/load_acquire/load_relaxed/'
}

loom_summons() {
	src="sched/summons.c lockfree/fifo.c"
	c=runtime/sched/summons.c
	loom_run summons holds summons:summons 2 "$src"
	loom_run summons_late holds summons:summons_late 3 "$src"
	loom_run summons_foreign holds summons:summons_foreign 3 "$src"
	loom_run control/summons_answered_twice violation summons:summons 2 \
		"$src" $c 's/!= WEFTI_WAS_PARKED)/== 99)/'
	loom_run control/summons_mark_says_nothing violation \
		summons:summons_foreign 3 "$src" $c \
		's/wefti_wait_summon(t, ticket);	\/\* I3 \*\///'
	loom_run control/summons_wakes_nobody violation \
		summons:summons_foreign 3 "$src" $c \
		's/wefti_wake_foreign(t);//'
	loom_run control/summons_mark_relaxed violation \
		summons:summons_foreign 3 "$src" runtime/thread/wait.h \
		'/int wefti_wait_summon(/,/^}/s/cas_weak_release/cas_weak_relaxed/'
	loom_run control/summons_found_relaxed violation summons:summons 2 \
		"$src" runtime/lockfree/fifo.c \
		's/cas_weak_release(&last->next/cas_weak_relaxed(\&last->next/'
}

# Bounded: without a bound there is an execution in which an announcer takes the
# searching role whenever the VCPU wants it, and the VCPU takes its idle bit back
# whenever the announcer wants that.
loom_idle() {
	src="sched/idle.c sched/poller.c lockfree/fifo.c lockfree/ready_ring.c"
	loom_run idle_one_producer holds idle:idle_one_producer 5 "$src"
	loom_run idle_two_producers holds idle:idle_two_producers 2 "$src"
	loom_run idle_in_the_poller holds idle:idle_in_the_poller 2 "$src"
	loom_run idle_found holds idle:idle_found - "$src"
	loom_run idle_first_watch holds idle:idle_first_watch 4 "$src"
	loom_run idle_kernel_call holds idle:idle_kernel_call 2 "$src"
	loom_run idle_keepers holds idle:idle_keepers 2 "$src"
	loom_run idle_started holds idle:idle_started - "$src"
	loom_run control/idle_two_keepers violation idle:idle_keepers 2 \
		"$src" runtime/sched/idle.c \
		's/if (!cas_seq_cst(&wefti_rt.timekeeper, &nobody, v->index + 1))/if (store_seq_cst(\&wefti_rt.timekeeper, v->index + 1), nobody)/'
	loom_run control/idle_started_twice violation idle:idle_started - \
		"$src" runtime/sched/poller.c \
		's/if (!cas_seq_cst(&wefti_poller.word, &off, word))/if (store_seq_cst(\&wefti_poller.word, word), off)/'
	loom_run control/poller_no_look_at_kernel_calls violation \
		idle:idle_kernel_call 2 "$src" runtime/sched/poller.c \
		's/if (!load_seq_cst(&wefti_poller.kernel_calls))/if (1)/'
	loom_run control/poller_takes_the_eventfd_last violation \
		idle:idle_kernel_call 2 "$src" runtime/sched/poller.c \
		'/^void wefti_poller_handle/,/^}/s/for (/wefti_os_eventfd_take(2);\n\tfor (/'
	loom_run control/poller_no_look_at_wake violation \
		idle:idle_in_the_poller 2 "$src" runtime/sched/poller.c \
		's/if (load_seq_cst(&v->wake) == seen)//'
	loom_run control/poller_no_look_at_sleeper violation \
		idle:idle_in_the_poller 2 "$src" runtime/sched/poller.c \
		's/if (load_seq_cst(&wefti_poller.sleeper) != .*)/if (1)/'
	loom_run control/poller_keeper_not_told violation \
		idle:idle_first_watch 4 "$src" runtime/sched/poller.c \
		's/^\tif (keeper)$/\tif (0)/'
	loom_run control/idle_no_fence_in_announce violation \
		idle:idle_one_producer 5 "$src" runtime/sched/idle.h \
		'/wefti_idle_announce(void)/,/^}/s/fence_seq_cst[a-z_]*();//'
	loom_run control/idle_no_fence_behind_the_bit violation \
		idle:idle_one_producer 5 "$src" runtime/sched/idle.c \
		'/^int wefti_idle_wait/,/^}/s/fence_seq_cst[a-z_]*();//'
	loom_run control/idle_found_no_fence violation idle:idle_found - \
		"$src" runtime/sched/idle.c \
		'/^void wefti_idle_found/,/^}/s/fence_seq_cst();//'
	loom_run control/idle_no_look_behind_the_bit violation \
		idle:idle_one_producer 5 "$src" runtime/sched/idle.c \
		'/^int wefti_idle_wait/,/^}/s/work_is_free()/0/'
	loom_run control/idle_waits_awake_for_the_searcher endless \
		idle:idle_two_producers 2 "$src" runtime/sched/idle.c \
		'/^int wefti_idle_wait/,/^}/s/work_is_free()/wefti_idle_work_waits()/'
}

loom_kernel_call() {
	k=runtime/io/kernel_call.h
	loom_marks="$k:s/c->result.=.result;/m_data_write(\&c->result);&/
		$k:s/c->thread.=.self;/m_data_write(\&c->thread);&/
		$k:s/return.c->result;/m_data_read(\&c->result);&/
		$k:s/wefti_unpark(c->thread/m_data_read(\&c->thread),&/"
	loom_run kernel_call holds kernel_call:kernel_call - ""
	loom_run control/kernel_call_result_relaxed violation \
		kernel_call:kernel_call - "" $k \
		's/xchg_seq_cst(&c->state, WEFTI_CALL_DONE)/xchg_relaxed(\&c->state, WEFTI_CALL_DONE)/'
	loom_run control/kernel_call_ticket_relaxed violation \
		kernel_call:kernel_call - "" $k \
		's/xchg_seq_cst(&c->state, WEFTI_CALL_WAITED)/xchg_relaxed(\&c->state, WEFTI_CALL_WAITED)/'
	loom_run control/kernel_call_wakes_who_is_gone violation \
		kernel_call:kernel_call - "" $k \
		's/^\t    WEFTI_CALL_WAITED)$/\t    WEFTI_CALL_WAITED || 1)/'
	loom_marks=
}

loom_mutex() {
	src="sync/mutex.c sync/mutex_line.c sync/node.c"
	for policy in strict adaptive impatient; do
		loom_run mutex_$policy holds mutex:mutex_$policy 3 "$src"
		loom_run mutex_${policy}_three holds \
			mutex:mutex_${policy}_three 1 "$src"
	done
	loom_run control/mutex_let_go_relaxed violation mutex:mutex_strict 3 \
		"$src" runtime/sync/mutex.h \
		'/int wefti_mutex_let_go/,/^}/s/cas_release/cas_relaxed/'
	loom_run control/mutex_take_not_acquire violation \
		mutex:mutex_strict 3 "$src" runtime/sync/mutex.h \
		'/int wefti_mutex_take_if_free/,/^}/s/cas_weak_acquire/cas_weak_relaxed/'
	loom_run control/mutex_granted_not_acquire violation \
		mutex:mutex_impatient 3 "$src" runtime/sync/mutex.c \
		'/^static NOINLINE int compete/,/^}/s/cas_weak_acquire/cas_weak_relaxed/'
	loom_run control/mutex_handed_relaxed violation mutex:mutex_strict 3 \
		"$src" runtime/thread/wait.h \
		'/int wefti_wait_finish/,/^}/s/\(store\|cas\)_release/\1_relaxed/'
	loom_run control/mutex_queued_relaxed violation mutex:mutex_strict 3 \
		"$src" runtime/sync/mutex.c \
		'/int take_or_queue/,/^}/s/cas_weak_release/cas_weak_relaxed/'
	loom_run control/mutex_readied_before_it_is_handed violation \
		mutex:mutex_strict 3 "$src" runtime/thread/wait.h \
		'/wefti_wait_begin_parked(struct/,/^}/s/WAIT_PARKED/WAIT_ARMED/'
	for scenario in mutex_sweep_strict mutex_sweep_adaptive mutex_sweep_two \
		mutex_sweep_taken
	do
		loom_run $scenario holds mutex:$scenario 1 "$src"
	done
	loom_run mutex_granted holds mutex:mutex_granted 3 "$src"
	loom_run control/mutex_granted_blindly violation \
		mutex:mutex_granted 3 "$src" runtime/sync/mutex.c \
		's/if (cas_weak_acquire(&m->word, &w, w & ~(GRANT | WOKEN)))/if (store_relaxed(\&m->word, w \& ~(GRANT | WOKEN)), 1)/'
	loom_run control/mutex_line_not_acquired violation \
		mutex:mutex_sweep_strict 1 "$src" runtime/sync/mutex_line.c \
		'/wefti_line_take/,/^}/s/cas_weak_acquire/cas_weak_relaxed/'
	loom_run control/mutex_line_not_acquired_at_once violation \
		mutex:mutex_strict 3 "$src" runtime/sync/mutex_line.h \
		'/wefti_line_take_strict/,/^}/s/cas_acquire/cas_relaxed/'
	loom_run control/mutex_sweeps_who_waits violation \
		mutex:mutex_sweep_strict 1 "$src" runtime/sync/mutex_line.c \
		's/int gone = .*;/int gone = 1;/'
	loom_run control/mutex_stamp_taken_for_a_link violation \
		mutex:mutex_sweep_taken 1 "$src" runtime/sync/mutex_line.c \
		's/if (!(link & WEFTI_LINK) ||/if (/'
	loom_run control/mutex_lets_out_what_is_left violation \
		mutex:mutex_sweep_strict 1 "$src" runtime/sync/mutex.c \
		's/wefti_node_let_out(head, WEFTI_NODE_OUT)/wefti_node_drop(head)/'
}

# The wait list, under a semaphore (three that wait are too many to be searched
# to the end; they are for a control). Marked: the list, where the server touches it,
# and a node, where it is pushed and where it is taken.
loom_sem() {
	src="sync/sem.c sync/waitlist.c sync/node.c"
	c=runtime/sync/waitlist.c
	# No spaces: the words are taken one by one.
	loom_marks="$c:s/list.=.s->list;/&m_data_write(list);/
		$c:s/older.=.node->next;/&m_data_read(node);/
		runtime/sync/sem.c:s/if.(wefti_unpark(/m_data_read(node);&/
		runtime/sync/waitlist.h:s/node->next.=.wefti_waitlist_top(w);/&m_data_write(node);/
		runtime/sync/node.c:s/^static.\(struct.wefti_depot.spares\)/\1/"
	loom_run sem_one holds sem:sem_one - "$src"
	loom_run sem_lock holds sem:sem_lock 3 "$src"
	loom_run sem_lock_three holds sem:sem_lock_three 1 "$src"
	loom_run sem_two_posters holds sem:sem_two_posters 1 "$src"
	loom_run sem_timed holds sem:sem_timed 3 "$src"
	loom_run sem_timed_again holds sem:sem_timed_again 2 "$src"
	loom_run sem_timed_two holds sem:sem_timed_two 1 "$src"
	loom_run sem_two_gifts holds sem:sem_two_gifts 2 "$src"
	loom_run sem_requests holds sem:sem_requests 2 "$src"
	loom_run sem_late holds sem:sem_late 2 "$src"
	loom_run control/sem_post_slow_relaxed violation sem:sem_two_gifts 2 \
		"$src" runtime/sync/sem.c \
		'/int post_slow/,/^}/s/cas_weak_release/cas_weak_relaxed/'
	loom_run control/waitlist_takes_blindly violation sem:sem_requests 2 \
		"$src" $c \
		'/^static uint64_t leave_or_take/,/^}/{s/(!cas_weak_acquire(/((cas_weak_acquire(/;s/wefti_waitlist_taken(w)));/wefti_waitlist_taken(w)), 0));/;}'
	loom_run control/waitlist_late_relaxed violation sem:sem_late 2 \
		"$src" $c \
		'/^static int report/,/^}/s/cas_weak_release/cas_weak_relaxed/'
	loom_run control/sem_post_relaxed violation sem:sem_lock 3 "$src" \
		runtime/sync/sem.c \
		'/^int weft_sem_post/,/^}/s/cas_weak_release/cas_weak_relaxed/'
	loom_run control/sem_take_not_acquire violation sem:sem_lock 3 "$src" \
		runtime/sync/sem.c \
		'/take_from_value(/,/^}/s/cas_weak_acquire/cas_weak_relaxed/'
	loom_run control/waitlist_push_relaxed violation \
		sem:sem_two_posters 1 "$src" runtime/sync/sem.c \
		'/^static int take_or_queue/,/^}/s/cas_weak_release/cas_weak_relaxed/'
	loom_run control/waitlist_leave_relaxed violation \
		sem:sem_two_posters 1 "$src" $c \
		'/^static uint64_t leave_or_take/,/^}/s/cas_release/cas_relaxed/'
	loom_run control/waitlist_serve_not_acquire violation \
		sem:sem_two_posters 1 "$src" runtime/sync/sem.c \
		'/^static int post_to_waiter/,/^}/s/cas_weak_acq_rel/cas_weak_release/'
	loom_run control/waitlist_take_not_acquire violation \
		sem:sem_three_wait 1 "$src" $c \
		'/^static uint64_t leave_or_take/,/^}/s/cas_weak_acquire/cas_weak_relaxed/'
	loom_run control/waitlist_leave_without_a_look violation \
		sem:sem_two_posters 1 "$src" $c \
		's/if (cas_release(&list->word, &w, rest))/store_release(\&list->word, rest); if (w)/'
	loom_run control/waitlist_wakes_who_timed_out violation \
		sem:sem_timed_two 1 "$src" $c \
		's/if (!wefti_wait_keep(node->thread, node->seq))/if (0)/'
	loom_run control/node_let_out_relaxed violation \
		sem:sem_timed_again 2 "$src" runtime/sync/node.c \
		'/^void wefti_node_let_out/,/^}/s/xchg_acq_rel/xchg_relaxed/'
	loom_marks=
}

loom_chan() {
	src="chan/rendezvous.c chan/chan_wait.c chan/chan.c sync/waiters.c sync/segment.c sync/stock.c chan/cell.c"
	loom_run chan_meet holds chan:chan_meet 3 "$src"
	loom_run chan_meet_alt holds chan:chan_meet_alt 3 "$src"
	loom_run chan_alt_meets holds chan:chan_alt_meets 3 "$src"
	loom_run chan_meet_two holds chan:chan_meet_two 1 "$src"
	loom_run chan_close holds chan:chan_close 2 "$src"
	loom_run chan_close_sender holds chan:chan_close_sender 2 "$src"
	loom_run chan_timed holds chan:chan_timed 2 "$src"
	loom_run chan_found_closed holds chan:chan_found_closed 1 "$src"
	loom_run chan_two_sided holds chan:chan_two_sided 1 "$src"
	loom_run control/chan_not_looked_at_again violation chan:chan_meet 3 \
		"$src" runtime/chan/rendezvous.c \
		'/^int wefti_rendezvous_may_go_on/,/^}/s/while (unlikely((ticket = .*$/while (ticket = 0, 0) {/'
	loom_run control/chan_lone_no_fence violation chan:chan_meet 3 \
		"$src" runtime/sync/waiters.h \
		'/int wefti_waiters_add_lone(/,/^}/s/fence_seq_cst_after_rmw();//'
	loom_run control/chan_higher_stays violation chan:chan_meet 3 \
		"$src" runtime/chan/rendezvous.c \
		'/WEFTI_TICKET_SEQ_BITS < slot/,/return 1/s/return 1/break/'
	loom_run control/chan_lower_sends_nobody_back violation \
		chan:chan_meet 3 "$src" runtime/chan/rendezvous.c \
		'/^int wefti_rendezvous_may_go_on/,/^}/s/wefti_summon(ticket)/break/'
	loom_run control/chan_lone_taken_from_another violation \
		chan:chan_meet_two 1 "$src" runtime/sync/waiters.h \
		'/int wefti_waiters_takes_lone(/,/^}/s/wefti_ticket_is_open(\*lone)/0/'
	loom_run control/chan_lone_not_acquire violation \
		chan:chan_meet_two 1 "$src" runtime/sync/waiters.h \
		'/int wefti_waiters_takes_lone(/,/^}/s/load_acquire(&q->lone)/load_relaxed(\&q->lone)/'
	loom_run control/chan_lone_wait_forgotten violation \
		chan:chan_meet_two 1 "$src" runtime/chan/rendezvous.c \
		'/^static void post_wait/,/^}/s/unlikely(!wefti_waiters_add_lone(\(.*\))) ||/!wefti_waiters_add_lone(\1) \&\& 0 ||/'
	loom_run control/chan_close_not_looked_at violation chan:chan_close 2 \
		"$src" runtime/chan/rendezvous.c \
		'/^int wefti_rendezvous_may_go_on/,/^}/s/load_acquire(&c->closed)/0/'
	loom_run control/chan_close_no_fence violation chan:chan_close 2 \
		"$src" runtime/chan/chan.c \
		'/^static int close_inside/,/^}/s/fence_seq_cst_after_rmw();//'
	loom_run control/chan_close_wakes_nobody violation chan:chan_close 2 \
		"$src" runtime/chan/chan.c \
		'/^static int close_inside/,/^}/s/wefti_chan_wake_all(c, life, self);//'
	loom_run control/chan_timed_out_though_claimed violation \
		chan:chan_timed 2 "$src" runtime/thread/wait.h \
		'/wefti_wait_resolve(/,/^}/{s/ || (w & WEFTI_WAIT_CLAIMED))/)/;s/if (cause == WEFTI_CAUSE_TIMEDOUT.*/if (0)/;}'
	loom_run control/chan_found_closed_no_fence violation \
		chan:chan_found_closed 1 "$src" runtime/chan/chan.c \
		'/wefti_chan_found_closed(/,/^}/s/fence_seq_cst();//'
	loom_run control/chan_claimed_twice violation chan:chan_two_sided 2 \
		"$src" runtime/chan/chan_wait.c \
		'/^static int add_all/,/^}/s/if (could \&\&/if (0 \&\& could \&\&/'
	loom_run control/chan_met_relaxed violation chan:chan_meet_alt 3 \
		"$src" runtime/thread/wait.h \
		'/int wefti_wait_finish/,/^}/s/\(store\|cas\)_release/\1_relaxed/'
	src="$src chan/buffered.c chan/alone.c chan/buffer.c ../arch/$arch/wide.c chan/call.c"
	loom_run chan_buffered holds chan:chan_buffered 3 "$src"
	loom_run chan_buffered_full holds chan:chan_buffered_full 3 "$src"
	loom_run control/chan_pop_no_fence violation \
		chan:chan_buffered_full 3 "$src" runtime/chan/buffer.h \
		'/int wefti_slot_pop(/,/^}/s/fence_seq_cst_after_rmw();//'
	loom_run chan_buffered_two holds chan:chan_buffered_two 2 "$src"
	loom_run chan_buffered_both holds chan:chan_buffered_both 2 "$src"
	loom_run chan_buffered_cells holds chan:chan_buffered_cells 2 "$src"
	loom_run chan_buffered_cells_two holds chan:chan_buffered_cells_two 1 \
		"$src"
	# The orders of the CAS themselves are hidden here by the fence behind
	# each, which for loom is one step with it.
	loom_run control/chan_push_no_fence violation chan:chan_buffered 3 \
		"$src" runtime/chan/buffer.h \
		'/int wefti_slot_push(/,/^}/s/fence_seq_cst_after_rmw();//'
	loom_run control/chan_receiver_not_looked_for violation \
		chan:chan_buffered 3 "$src" runtime/chan/call.c \
		'/int pushed(/,/^}/s/!wefti_waiters_is_empty(&c->receivers)/0/'
	loom_run control/chan_buffer_not_looked_at violation \
		chan:chan_buffered_alt 3 "$src" runtime/chan/chan_wait.c \
		's/wefti_buffered_may_go_on(a->chan.*;/0;/'
	loom_run chan_handed holds chan:chan_handed 3 "$src"
	loom_run chan_buffered_alt holds chan:chan_buffered_alt 3 "$src"
	loom_run control/chan_alone_not_looked_at violation chan:chan_handed 3 \
		"$src" runtime/chan/alone.c \
		's/unlikely(pair_hi_relaxed(slot) != hi)/0/'
	loom_run control/chan_alone_no_fence violation chan:chan_handed 3 \
		"$src" runtime/sync/waiters.h \
		'/int wefti_waiters_add_lone(/,/^}/s/fence_seq_cst_after_rmw();//'
	loom_run chan_stopped_pop holds chan:chan_stopped_pop 2 "$src"
	loom_run control/chan_alone_others_not_looked_for violation \
		chan:chan_stopped_pop 2 "$src" runtime/chan/alone.c \
		'/^static void post_wait(/,/^}/s/wefti_waiters_find(.*, t->slot)/0/'
	loom_run chan_large holds chan:chan_large 3 "$src"
	loom_run chan_large_full holds chan:chan_large_full 3 "$src"
	loom_run chan_large_handed holds chan:chan_large_handed 3 "$src"
	loom_run control/chan_large_not_looked_at violation \
		chan:chan_large_handed 3 "$src" runtime/chan/alone.c \
		's/unlikely(wefti_buffered_may_go_on(c, w->a.op, self))/0/'
	loom_run control/chan_handed_to_nobody violation chan:chan_handed 3 \
		"$src" runtime/chan/buffered.c \
		'/ int hand_over(/,/^}/s/wefti_alts_hand(self, t, a);//'
	loom_run control/chan_handed_uncopied violation chan:chan_handed 3 \
		"$src" runtime/chan/buffered.c \
		'/ int hand_over(/,/^}/s/if (likely(a->elem != NULL))/if (0)/'
	loom_run chan_close_buffered holds chan:chan_close_buffered 2 "$src"
	loom_run chan_close_full holds chan:chan_close_full 2 "$src"
	loom_run control/chan_close_buffered_no_fence violation \
		chan:chan_close_buffered 2 "$src" runtime/chan/buffer.c \
		'/^int wefti_buffer_close(/,/^}/s/fence_seq_cst_after_rmw();//'
	loom_run control/chan_close_buffered_wakes_nobody violation \
		chan:chan_close_full 2 "$src" runtime/chan/chan.c \
		'/^static int close_inside/,/^}/s/wefti_chan_wake_all(c, life, self);//'
	src="$src chan/one.c"
	loom_run chan_one holds chan:chan_one 3 "$src"
	loom_run chan_one_two holds chan:chan_one_two 2 "$src"
	loom_run control/chan_one_send_relaxed violation chan:chan_one 3 \
		"$src" runtime/chan/one.h \
		's/cas_release(&o->tail/cas_relaxed(\&o->tail/'
	loom_run control/chan_one_recv_not_acquire violation chan:chan_one 3 \
		"$src" runtime/chan/one.h \
		's/load_acquire(&o->tail)/load_relaxed(\&o->tail)/'
	loom_run control/chan_one_room_not_acquire violation \
		chan:chan_one_two 2 "$src" runtime/chan/one.h \
		's/load_acquire(&o->head)/load_relaxed(\&o->head)/'
	loom_run chan_close_one holds chan:chan_close_one 3 "$src"
	loom_run chan_close_one_full holds chan:chan_close_one_full 3 "$src"
	loom_run control/chan_close_one_no_fence violation \
		chan:chan_close_one 3 "$src" runtime/chan/one.c \
		'/^int wefti_one_close(/,/^}/s/fence_seq_cst_after_rmw();//'
	loom_run control/chan_close_one_wakes_no_sender violation \
		chan:chan_close_one_full 3 "$src" runtime/chan/one.c \
		'/^int wefti_one_close(/,/^}/s/wake.*sender_waits.*;//'
	loom_marks="runtime/chan/one.c:/^int.wefti_one_close(/,/^}/s/fence_seq_cst_after_rmw();//
		runtime/chan/chan.c:/^static.int.close_inside/,/^}/s/fence_seq_cst_after_rmw();//"
	loom_run chan_close_order holds chan:chan_close_order - "$src"
	loom_run chan_close_order_one holds chan:chan_close_order_one - "$src"
	loom_run chan_close_order_one_receiver holds \
		chan:chan_close_order_one_receiver - "$src"
	loom_run control/chan_close_order_relaxed violation \
		chan:chan_close_order - "$src" runtime/chan/chan.c \
		's/xchg_seq_cst(&c->closed, 1)/xchg_relaxed(\&c->closed, 1)/'
	loom_run control/chan_close_order_one_relaxed violation \
		chan:chan_close_order_one_receiver - "$src" runtime/chan/one.c \
		's/fetch_or_release(&c->one.tail/fetch_or_relaxed(\&c->one.tail/'
	loom_marks=
	loom_run chan_one_found_closed holds chan:chan_one_found_closed 2 "$src"
	loom_run control/chan_one_found_closed_no_fence violation \
		chan:chan_one_found_closed 2 "$src" runtime/chan/one.c \
		'/ found_closed(/,/^}/s/fence_seq_cst();//'
	loom_run control/chan_one_found_closed_no_wake violation \
		chan:chan_one_found_closed 2 "$src" runtime/chan/one.c \
		'/ found_closed(/,/^}/s/wake_at_end(.*;//'
}

loom_seat() {
	src="sched/seat.c thread/bare.c"
	c=runtime/sched/seat.c
	h=runtime/sched/seat.h
	loom_run seat_calls holds seat:seat_calls - "$src"
	loom_run seat_parks holds seat:seat_parks - "$src"
	loom_run seat_moves holds seat:seat_moves - "$src"
	loom_run seat_ends holds seat:seat_ends - "$src"
	loom_run seat_foreign holds seat:seat_foreign - "$src"
	loom_run seat_carried holds seat:seat_carried - "$src"
	loom_run seat_inside holds seat:seat_inside - "$src"
	loom_run control/seat_inside_conceded_relaxed violation \
		seat:seat_inside - "$src" $c \
		'/COLD void wefti_seat_lost/,/^}/s/!cas_seq_cst/!cas_relaxed/'
	loom_run control/seat_inside_held_relaxed violation \
		seat:seat_inside - "$src" $c \
		'/^static void post_lost/,/^}/s/store_release/store_relaxed/'
	loom_run control/seat_carried_relaxed violation seat:seat_carried - \
		"$src" runtime/sched/switch.h \
		's/store_release(&v->current, to)/store_relaxed(\&v->current, to)/'
	loom_run control/seat_entry_no_fence violation seat:seat_calls - \
		"$src" $h \
		'/wefti_enter_as(struct/,/^}/s/fence_seq_cst();//'
	loom_run control/seat_take_no_fence violation seat:seat_calls - \
		"$src" $c \
		'/wefti_membarrier_heavy(void)/,/^}/s/fence_seq_cst();//'
	loom_run control/seat_leave_relaxed violation seat:seat_calls - \
		"$src" $h '/ wefti_leave(/,/^}/s/store_release/store_relaxed/'
	loom_run control/seat_concede_not_sure violation seat:seat_calls - \
		"$src" $c 's/!cas_seq_cst(&self->attention, &taken, WEFTI_SEAT_CONCEDED)/(store_seq_cst(\&self->attention, WEFTI_SEAT_CONCEDED), 0)/'
	loom_run control/seat_another_stint_conceded violation \
		seat:seat_moves - "$src" $c \
		's/ || (load_seq_cst(&v->current) == self.*;/;/'
	loom_run control/seat_switches_not_seen violation seat:seat_parks - \
		"$src" $c 's/|| load_seq_cst(&v->ticks) != ticks//'
	loom_run control/seat_stint_looked_at_first violation \
		seat:seat_parks - "$src" $c \
		's/load_seq_cst(&t->in_runtime) || is_over(v, t, ticks)/is_over(v, t, ticks) || load_seq_cst(\&t->in_runtime)/'
	loom_run control/seat_conceded_not_acquired violation \
		seat:seat_calls - "$src" $c \
		's/(void)load_acquire(&t->attention)/(void)0/'
	loom_run control/seat_made_outside violation seat:seat_ends - "$src" \
		runtime/thread/bare.c \
		's/kind != WEFTI_KIND_FOREIGN);/0);/'
	loom_run control/seat_foreign_relaxed violation seat:seat_foreign - \
		"$src" runtime/thread/bare.c \
		's/store_release(&t->in_runtime/store_relaxed(\&t->in_runtime/'
	loom_run control/seat_begun_anew_by_a_spawn violation \
		seat:seat_ends - "$src" runtime/thread/bare.c \
		's/^.store_release(&t->in_runtime/store_relaxed(\&t->attention, 0);&/'
}

# Marked: the heap, where a server begins and ends its turns.
loom_timer() {
	src="sched/timer.c"
	c=runtime/sched/timer.c
	loom_marks="$c:s/take_changes(h,.queue_of(word));/m_data_write(\&h->root);&/
		$c:s/word.=.BUSY;/m_data_write(\&h->root);&/
		$c:s/tm->queued_next.=.queue_of(word);/m_data_write(tm);&/
		$c:s/struct.wefti_timer.\*next.=.tm->queued_next;/m_data_read(tm);&/"
	loom_run timer_again holds timer:timer_again 3 "$src"
	loom_run timer_again_late holds timer:timer_again_late 3 "$src"
	loom_run timer_served holds timer:timer_served - "$src"
	loom_run timer_two holds timer:timer_two 3 "$src"
	loom_run timer_kept holds timer:timer_kept 3 "$src"
	loom_run timer_left_out holds timer:timer_left_out 3 "$src"
	loom_run control/timer_ticket_relaxed violation timer:timer_again 3 \
		"$src" $c 's/store_release(&tm->ticket/store_relaxed(\&tm->ticket/'
	loom_run control/timer_ticket_not_acquired violation \
		timer:timer_again 3 "$src" $c \
		's/uint64_t ticket = load_acquire/uint64_t ticket = load_relaxed/'
	loom_run control/timer_deadline_before_ticket violation \
		timer:timer_again 3 "$src" $c \
		's/uint64_t ticket = load_acquire.*/int64_t was = load_relaxed(\&tm->deadline);&/;s/int64_t deadline = load_relaxed(&tm->deadline)/int64_t deadline = was/'
	loom_run control/timer_arm_no_fence violation timer:timer_again 3 \
		"$src" $c '/^void wefti_timer_arm/,/^}/s/fence_seq_cst();//'
	loom_run control/timer_remove_no_fence violation timer:timer_again 3 \
		"$src" $c '/^static void heap_remove/,/^}/s/fence_seq_cst();//'
	loom_run control/timer_queued_relaxed violation timer:timer_two 3 \
		"$src" $c '/^static void submit/,/^}/s/cas_weak_seq_cst/cas_weak_relaxed/'
	loom_run control/timer_left_relaxed violation timer:timer_two 3 \
		"$src" $c '/^static void work/,/^}/s/cas_seq_cst/cas_relaxed/'
	loom_run control/timer_keeper_not_told violation timer:timer_kept 3 \
		"$src" $c 's/if (next != INT64_MAX)$/if (0)/'
	loom_run control/timer_left_out_for_good violation timer:timer_left_out 3 \
		"$src" $c 's/if (next != INT64_MAX)$/if (0)/'
	loom_run control/timer_told_while_busy violation timer:timer_left_out 3 \
		"$src" $c 's/^.*store_seq_cst(&h->next, next);$/&wake_keeper(next);next = INT64_MAX;/'
	loom_run control/timer_told_no_fence violation timer:timer_kept 3 \
		"$src" $c '/^static void wake_keeper/,/^}/s/fence_seq_cst();//'
	loom_run control/timer_keep_no_fence violation timer:timer_kept 3 \
		"$src" $c '/^int64_t wefti_timers_keep/,/^}/s/fence_seq_cst();//'
	loom_marks=
}

loom_side() {
	src="io/side.c sync/waiters.c sync/segment.c sync/stock.c"
	loom_run side_lone holds side:side_lone 2 "$src"
	loom_run side_join holds side:side_join - "$src"
	loom_run side_count holds side:side_count - "$src"
	loom_run control/side_lone_looked_at_again violation \
		side:side_lone 2 "$src" runtime/io/side.c \
		's/wefti_waiters_find_in(q/wefti_waiters_find(q/'
	loom_run control/side_lone_not_looked_at violation \
		side:side_lone 2 "$src" runtime/io/side.c \
		's/if (ticket)/if (0)/'
	loom_run control/side_edges_not_looked_at_again violation \
		side:side_join - "$src" runtime/io/side.c \
		's/load_seq_cst(&s->side.side..edges) != edges/0/'
	loom_run control/side_post_no_fence violation side:side_join - \
		"$src" runtime/io/side.c '/fence_seq_cst_after_rmw/d'
	loom_run control/side_retire_relaxed violation side:side_count - \
		"$src" runtime/sync/waiters.c \
		's/cas_weak_release(&q->count/cas_weak_relaxed(\&q->count/'
	loom_run control/side_count_not_acquire violation side:side_count - \
		"$src" runtime/sync/waiters.h \
		's/load_acquire(&q->count)/load_relaxed(\&q->count)/'
}

# shellcheck source=/dev/null
. "$here/loom_sync.sh"
# shellcheck source=/dev/null
. "$here/loom_sched.sh"
# shellcheck source=/dev/null
. "$here/loom_pthread.sh"

loom_all() {
	part loom_ring
	part loom_fifo
	part loom_depot
	part loom_stack
	part loom_spsc
	part loom_record
	part loom_record_mark
	part loom_lock
	part loom_section
	part loom_mpmc
	part loom_buffer
	part loom_slab
	part loom_wait
	part loom_claim
	part loom_bare
	part loom_dense
	part loom_summons
	part loom_idle
	part loom_timer
	part loom_seat
	part loom_kernel_call
	part loom_mutex
	part loom_sem
	part loom_chan
	part loom_side
	part loom_rwlock
	part loom_once
	part loom_barrier
	part loom_join
	part loom_line
	part loom_waiters
	part loom_node
	part loom_cond
	part loom_spare
	part loom_errand
	part loom_lot
	part loom_pt_rwlock
	part loom_pt_sem
	part loom_pt_ceiling
	part loom_pt_barrier
	part loom_pt_cond
	part loom_pt_once
	part loom_pt_cancel
	part loom_pt_queue
}

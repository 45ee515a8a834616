# SPDX-License-Identifier: MIT
# loom_sync.sh - more models of runtime/sync; read by tests/model/run behind loom.sh
# shellcheck shell=sh
# The variables of loom.sh:
# shellcheck disable=SC2034

# Where the server touches its list, and where a node is written and read, as for
# the semaphore in loom.sh.
list_src="sync/waitlist.c sync/node.c"
list_marks="runtime/sync/waitlist.c:s/list.=.s->list;/&m_data_write(list);/
	runtime/sync/waitlist.c:s/older.=.node->next;/&m_data_read(node);/
	runtime/sync/waitlist.c:s/struct.wefti_node..next.=.node->next;/m_data_read(node);&/
	runtime/sync/waitlist.c:s/s.woken.=.node->next;/m_data_read(node);&/
	runtime/sync/waitlist.c:s/node->next.=.NULL;/m_data_write(node);&/
	runtime/sync/waitlist.h:s/node->next.=.wefti_waitlist_top(w);/&m_data_write(node);/
	runtime/sync/node.c:s/^static.\(struct.wefti_depot.spares\)/\1/"

loom_rwlock() {
	src="sync/rwlock.c $list_src"
	c=runtime/sync/rwlock.c
	loom_marks="$list_marks
		$c:s/l.=.served(s);/&m_data_write(\&l->readers);/
		$c:s/l->readers.=.wefti_waitlist_count(.w);/m_data_write(\&l->readers);&/"
	loom_run rwlock_write holds rwlock:rwlock_write 3 "$src"
	loom_run rwlock_read holds rwlock:rwlock_read 4 "$src"
	loom_run rwlock_readers holds rwlock:rwlock_readers 1 "$src"
	loom_run rwlock_writers holds rwlock:rwlock_writers 1 "$src"
	loom_run rwlock_request holds rwlock:rwlock_request - "$src"
	loom_run rwlock_turns holds rwlock:rwlock_turns 1 "$src"
	loom_run rwlock_free holds rwlock:rwlock_free - "$src"
	loom_run rwlock_destroy holds rwlock:rwlock_destroy - "$src"
	loom_run rwlock_timed holds rwlock:rwlock_timed 2 "$src"
	loom_run rwlock_timed_out holds rwlock:rwlock_timed_out 1 "$src"
	loom_run control/rwlock_take_not_acquire violation \
		rwlock:rwlock_write 3 "$src" $c \
		'/int try_lock(/,/^}/s/cas_weak_acquire/cas_weak_relaxed/'
	loom_run control/rwlock_take_late_not_acquire violation \
		rwlock:rwlock_write 3 "$src" $c \
		'/^static int take_or_queue/,/^}/s/cas_weak_acquire/cas_weak_relaxed/'
	loom_run control/rwlock_push_relaxed violation rwlock:rwlock_writers \
		2 "$src" $c \
		'/^static int take_or_queue/,/^}/s/cas_weak_release/cas_weak_relaxed/'
	loom_run control/rwlock_first_relaxed violation rwlock:rwlock_writers \
		2 "$src" $c '/^static int be_first/,/^}/s/cas_weak_acquire/cas_weak_relaxed/'
	loom_run control/rwlock_unlock_relaxed violation rwlock:rwlock_write 3 \
		"$src" $c '/^int weft_rwlock_unlock/,/^}/s/ cas_release/ cas_relaxed/;/^int weft_rwlock_unlock/,/^}/s/(cas_release/(cas_relaxed/'
	loom_run control/rwlock_unlock_read_relaxed violation \
		rwlock:rwlock_read 4 "$src" $c \
		'/^int weft_rwlock_unlock/,/^}/s/cas_weak_release/cas_weak_relaxed/'
	loom_run control/rwlock_unlock_slow_not_acquire violation \
		rwlock:rwlock_readers 1 "$src" $c \
		'/unlock_slow(struct/,/^}/s/acq_rel/release/'
	loom_run control/rwlock_unlock_slow_relaxed violation \
		rwlock:rwlock_request - "$src" $c \
		'/unlock_slow(struct/,/^}/s/acq_rel/acquire/'
	loom_run control/rwlock_destroy_not_acquire violation \
		rwlock:rwlock_destroy - "$src" $c \
		'/^int weft_rwlock_destroy/,/^}/s/load_acquire/load_relaxed/'
	loom_run control/rwlock_touched_after violation rwlock:rwlock_free - \
		"$src" runtime/sync/waitlist.c \
		's/ops->wake(&s, node);/&m_data_read(list);/'
	loom_run control/rwlock_handed_relaxed violation rwlock:rwlock_free - \
		"$src" runtime/thread/wait.h \
		'/int wefti_wait_finish(/,/^}/s/\(store\|cas\)_release/\1_relaxed/'
	loom_run control/rwlock_reader_with_a_writer violation \
		rwlock:rwlock_turns 1 "$src" $c \
		's/if (to_write && l->readers)/if (0)/'
	loom_marks=
}

loom_once() {
	src="sync/once.c $list_src"
	c=runtime/sync/once.c
	loom_marks=$list_marks
	loom_run once holds once:once - "$src"
	loom_run once_three holds once:once_three 1 "$src"
	loom_run once_fails holds once:once_fails 1 "$src"
	loom_run once_timed holds once:once_timed 2 "$src"
	loom_run once_fails_timed holds once:once_fails_timed 2 "$src"
	loom_run control/once_done_relaxed violation once:once - "$src" $c \
		'/^static void end_run/,/^}/s/acq_rel/acquire/'
	loom_run control/once_ends_not_acquire violation once:once_fails 1 \
		"$src" $c '/^static void end_run/,/^}/s/acq_rel/release/'
	loom_run control/once_seen_relaxed violation once:once - "$src" $c \
		's/load_acquire(&o->list.word)/load_relaxed(\&o->list.word)/'
	loom_run control/once_push_relaxed violation once:once - "$src" $c \
		'/take_part(struct/,/^}/s/cas_weak_release/cas_weak_relaxed/'
	loom_run control/once_begins_not_acquire violation once:once_fails 1 \
		"$src" $c \
		'/take_part(struct/,/^}/s/cas_weak_acquire/cas_weak_relaxed/'
	loom_run control/once_failure_wakes_nobody violation once:once_fails 1 \
		"$src" $c 's/if (s->value && wefti_waitlist_wake_oldest(s))/if (0)/'
	loom_marks=
}

loom_barrier() {
	src="sync/barrier.c $list_src"
	c=runtime/sync/barrier.c
	loom_marks=$list_marks
	loom_run barrier holds barrier:barrier - "$src"
	loom_run barrier_again holds barrier:barrier_again 3 "$src"
	loom_run barrier_three holds barrier:barrier_three 2 "$src"
	loom_run barrier_free holds barrier:barrier_free - "$src"
	loom_run barrier_timed holds barrier:barrier_timed 2 "$src"
	loom_run barrier_tried holds barrier:barrier_tried 2 "$src"
	loom_run control/barrier_push_relaxed violation barrier:barrier - \
		"$src" $c 's/cas_weak_release(&b->list.word/cas_weak_relaxed(\&b->list.word/'
	loom_run control/barrier_last_not_acquire violation barrier:barrier - \
		"$src" $c '/^static int come_last/,/^}/s/cas_weak_acquire/cas_weak_relaxed/'
	loom_run control/barrier_touched_after violation barrier:barrier_free \
		- "$src" runtime/sync/waitlist.c \
		's/ops->wake(&s, node);/&m_data_read(list);/'
	loom_run control/barrier_counted_is_out violation \
		barrier:barrier_tried 2 "$src" $c \
		's/wefti_node_let_out(node, WEFTI_NODE_COUNTED)/wefti_node_let_out(node, WEFTI_NODE_OUT)/'
	loom_run control/barrier_counted_relaxed violation \
		barrier:barrier_tried 2 "$src" runtime/sync/node.c \
		'/^void wefti_node_let_out/,/^}/s/xchg_acq_rel/xchg_relaxed/'
	loom_marks=
}

# Marked: the time in which a thread is the sweeper. A sweep is called for each time.
loom_line() {
	src="sync/mutex_line.c sync/node.c"
	c=runtime/sync/mutex_line.c
	loom_marks="$c:s/define.LEFT_LEAST.16/define\tLEFT_LEAST\t0/
		$c:s/^.store_relaxed(&m->left,.0);/&m_data_write(\&m->list);/
		$c:s/^.store_release(&m->sweep_at,.at);/m_data_write(\&m->list);&/"
	loom_run line_pushed holds line:line_pushed - "$src"
	loom_run line_taken holds line:line_taken 3 "$src"
	loom_run line_two holds line:line_two 3 "$src"
	loom_run control/line_push_relaxed violation line:line_taken 3 "$src" \
		runtime/sync/mutex_line.h \
		's/store_release(&node->data/store_relaxed(\&node->data/'
	loom_run control/line_link_not_acquire violation line:line_taken 3 \
		"$src" $c 's/load_acquire(&node->data)/load_relaxed(\&node->data)/'
	loom_run control/line_taken_out_blindly violation line:line_taken 3 \
		"$src" $c \
		's/if (!cas_relaxed(&above->data, link_above, to))/if (store_relaxed(\&above->data, to), 0)/'
	loom_run control/line_top_not_acquire violation line:line_pushed - \
		"$src" $c \
		's/^\t\t\tslot = wefti_line_top(load_acquire/\t\t\tslot = wefti_line_top(load_relaxed/'
	loom_run control/line_next_sweeper_not_acquire violation \
		line:line_two 3 "$src" $c \
		's/cas_acquire(&m->sweep_at/cas_relaxed(\&m->sweep_at/'
	loom_run control/line_last_sweeper_relaxed violation line:line_two 3 \
		"$src" $c 's/store_release(&m->sweep_at, at)/store_relaxed(\&m->sweep_at, at)/'
	loom_marks=
}

# A node and the struct it lies in: sync/node.c's pairs, by its users.
loom_node() {
	loom_marks=$list_marks
	h=runtime/sync/node.h
	src=$list_src
	loom_run node holds node:node - "$src"
	loom_run node_made holds node:node_made - "$src"
	loom_run node_pooled holds node:node_pooled - "$src"
	loom_run node_spare holds node:node_spare - "$src"
	loom_run control/node_dropped_relaxed violation node:node - "$src" \
		$h '/wefti_node_take_back(/,/^}/s/store_release/store_relaxed/'
	loom_run control/node_free_not_acquire violation node:node - "$src" \
		$h '/wefti_node_is_free(/,/^}/s/load_acquire/load_relaxed/'
	loom_run control/node_made_not_acquire violation node:node_made - \
		"$src" runtime/sync/node.c \
		'/make_spare(void)/,/^}/s/load_acquire/load_relaxed/'
	loom_run control/node_pooled_not_acquire violation node:node_pooled - \
		"$src" runtime/life/pool.h \
		'/wefti_pool_put_slot(/,/^}/s/load_acquire/load_relaxed/'
	loom_run control/node_left_relaxed violation node:node_spare - "$src" \
		runtime/sync/node.c \
		'/wefti_node_leave(struct/,/^}/s/xchg_acq_rel/xchg_relaxed/'
	loom_run control/node_out_relaxed violation node:node_spare - "$src" \
		runtime/sync/node.c \
		'/wefti_node_let_out(struct/,/^}/s/xchg_acq_rel/xchg_relaxed/'
	src="sync/barrier.c $list_src"
	loom_run control/node_state_not_acquire violation \
		barrier:barrier_tried 2 "$src" $h \
		'/wefti_node_state(/,/^}/s/load_acquire/load_relaxed/'
	loom_run control/node_asked_relaxed violation barrier:barrier_tried 2 \
		"$src" runtime/sync/node.c \
		'/^enum.*wefti_node_ask(/,/^}/s/cas_acq_rel/cas_relaxed/'
	loom_marks=
}

# Marked: the result, where it is read; a struct, where it gets its next user.
loom_join() {
	src="life/join.c life/exit.c"
	j=runtime/life/join.c
	e=runtime/life/exit.c
	loom_marks="runtime/life/life.h:s/t->kind.=.WEFTI_KIND_FREE;/m_data_write(t);&/
		$j:s/.result.=.t->result;/(m_data_read(t),*result=t->result);/
		$e:s/^static.\(void.post_exit\)/\1/
		$e:s/^static.\(int.wait_all\)/\1/"
	loom_run join holds join:join - "$src"
	loom_run join_two holds join:join_two 3 "$src"
	loom_run join_detach holds join:join_detach 3 "$src"
	loom_run detach holds join:detach - "$src"
	loom_run join_timed holds join:join_timed - "$src"
	loom_run join_timed_two holds join:join_timed_two 2 "$src"
	loom_run join_main holds join:join_main 2 "$src"
	loom_run join_main_spawns holds join:join_main_spawns 2 "$src"
	loom_run join_main_in_time holds join:join_main_in_time 2 "$src"
	loom_run control/join_main_in_time_leaves_ticket violation \
		join:join_main_in_time 2 "$src" $e \
		'/int.wait_all(/,/^}/s/store_seq_cst(&wefti_rt.main_waits, 0);//'
	loom_run control/join_main_no_fence violation join:join_main 2 "$src" \
		$e 's/wefti_membarrier_light();//'
	loom_run control/join_main_counts_made_first violation \
		join:join_main_spawns 2 "$src" $e \
		'/^static.*threads_running/,/^}/{s/ended = 0;/ended = 0, made = threads_made();/;s/threads_made() - /made - /;}'
	loom_run control/join_main_end_relaxed violation join:join_main_spawns 2 \
		"$src" $e '/^static.*count_end/,/^}/s/store_release/store_relaxed/'
	loom_run control/join_main_no_heavy_fence violation join:join_main 2 \
		"$src" $e 's/wefti_membarrier_heavy();//'
	loom_run control/join_done_relaxed violation join:join - "$src" $e \
		'/^static int make_done/,/^}/s/acq_rel/acquire/'
	loom_run control/join_done_not_acquire violation join:join - "$src" \
		$e '/^static int make_done/,/^}/s/acq_rel/release/'
	loom_run control/join_looks_relaxed violation join:join_timed - \
		"$src" $j '/^int wefti_try_join/,/^}/s/load_acquire/load_relaxed/'
	loom_run control/join_at_once_relaxed violation join:join - "$src" \
		$j '/^int weft_join(/,/^}/s/load_acquire/load_relaxed/'
	loom_run control/join_enlist_relaxed violation join:join - "$src" $j \
		'/^int wefti_join_enlist/,/^}/s/acq_rel/acquire/'
	loom_run control/join_detach_relaxed violation join:detach - "$src" \
		$j '/^static int detach/,/^}/s/load_acquire/load_relaxed/'
	loom_run control/join_claimed_by_two violation join:join_two 3 "$src" \
		$j 's/if (!cas_acq_rel(&t->gen, &gen, gen + 1))/if (store_relaxed(\&t->gen, gen + 1), 0)/'
	loom_run control/join_delist_blind violation join:join_timed - "$src" \
		$j '/^int wefti_join_delist/,/^}/s/return cas_acq_rel/return 1 || cas_acq_rel/'
	loom_run control/join_result_before_the_claim violation \
		join:join_two 3 "$src" $j \
		'/claim(struct/,/^}/s/if (!cas_acq_rel/m_data_read(t); if (!cas_acq_rel/'
	loom_marks=
}

loom_cond() {
	src="sync/cond.c sync/mutex.c sync/mutex_line.c $list_src"
	c=runtime/sync/cond.c
	loom_marks="$list_marks
		$c:s/^static.\(void.queue(\)/\1/
		runtime/sched/park.h:/int.wefti_unpark_sole/,/^}/s/uint64_t.seq/m_data_read(node);&/"
	loom_run cond_hand holds cond:cond_hand 3 "$src"
	loom_run cond_outside holds cond:cond_outside 4 "$src"
	loom_run cond_signals holds cond:cond_signals - "$src"
	loom_run cond_queued holds cond:cond_queued 3 "$src"
	loom_run cond_pushed holds cond:cond_pushed 3 "$src"
	loom_run cond_served holds cond:cond_served 3 "$src"
	loom_run cond_told holds cond:cond_told 3 "$src"
	loom_run control/cond_told_relaxed violation cond:cond_told 3 "$src" $c \
		'/^static int give_signals_once/,/^}/s/return cas_weak_release/return cas_weak_relaxed/'
	loom_run control/cond_told_blindly violation cond:cond_told 3 "$src" $c \
		'/^static int give_signals_once/,/^}/s/return \(cas_weak_release(.*\)$/return 1 | \1/'
	loom_run control/cond_pushed_relaxed violation cond:cond_pushed 3 \
		"$src" $c \
		'/^void queue(/,/^}/s/!cas_weak_release/!cas_weak_relaxed/'
	loom_run control/cond_served_by_two violation cond:cond_served 3 \
		"$src" $c \
		'/^static int give_signals_once/,/^}/{s/(!cas_weak_acq_rel(&list->word, w,	/(!(cas_weak_acq_rel(\&list->word, w,	/;s/wefti_waitlist_taken(was)))/wefti_waitlist_taken(was)), 1))/;}'
	loom_run control/cond_taken_blindly violation cond:cond_signals - \
		"$src" $c \
		's/if (!cas_weak_acq_rel(&list->word, w, 0))/if (store_release(\&list->word, 0), 0)/'
	loom_run control/cond_queue_not_acquire violation cond:cond_queued 3 \
		"$src" $c \
		'/^void queue(/,/^}/s/w = load_acquire/w = load_relaxed/'
	loom_run control/cond_handed_to_the_unsignalled violation \
		cond:cond_hand 3 "$src" $c \
		's/wefti_wait_cause(next) != WEFTI_CAUSE_SIGNALLED ||/0 ||/;s/next->why != WEFTI_WHY_COND ||/0 ||/;s/next->gives_up != m ||/0 ||/'
	loom_run control/cond_handed_unsaid violation cond:cond_hand 3 "$src" \
		$c 's/store_release(&m->owner, next);/(void)0;/'
	loom_run control/cond_push_relaxed violation cond:cond_outside 4 "$src" \
		$c '/^void queue/,/^}/s/\(store\|cas_weak\)_release/\1_relaxed/'
	loom_run control/cond_take_not_acquire violation cond:cond_outside 4 \
		"$src" $c '/^static int give_signals_once/,/^}/s/acq_rel/release/'
	loom_run control/cond_gives_up_first violation cond:cond_hand 3 \
		"$src" $c \
		'/^static void post_wait/,/^}/{s/queue(&c->list, node);//;s/give_up(m);/give_up(m);queue(\&c->list, node);/;}'
	loom_marks=
}
# The signposts: before the load of next, a thread can be overtaken.
loom_waiters() {
	src="sync/waiters.c sync/segment.c sync/stock.c"
	c=runtime/sync/waiters.c
	loom_marks="$c:s/next.=.load_acquire(&seg->next);/model_signpost();&/
		$c:s/uint64_t.next.=.load_acquire(&seg->next),.made;/model_signpost();&/"
	loom_run waiters_found holds waiters:waiters_found 3 "$src"
	loom_run waiters_append holds waiters:waiters_append 3 "$src"
	loom_marks=
	loom_run waiters_one holds waiters:waiters_one - "$src"
	loom_run waiters_two holds waiters:waiters_two 2 "$src"
	loom_run waiters_half holds waiters:waiters_half 1 "$src"
	loom_run waiters_passed holds waiters:waiters_passed 2 "$src"
	loom_marks="$c:s/uint32_t.i.=.wefti_seg_hint(&seg->fill/model_signpost();&/
		$c:s/wefti_seg_set_hint(&seg->fill,.link,.i.+.1);/&model_signpost();/"
	loom_run waiters_counted holds waiters:waiters_counted 2 "$src"
	loom_marks=
	loom_run waiters_retired holds waiters:waiters_retired 3 "$src"
	loom_run waiters_retired_both holds waiters:waiters_retired_both 3 "$src"
	loom_run waiters_retired_told holds waiters:waiters_retired_told 1 "$src"
	loom_run waiters_lone holds waiters:waiters_lone - "$src"
	loom_run waiters_lone_found holds waiters:waiters_lone_found - "$src"
	loom_run segments_first holds segments:segments_first 2 "$src"
	loom_run segments_last holds segments:segments_last 2 "$src"
	loom_run segments_appended holds segments:segments_appended 1 "$src"
	loom_run segments_found_again holds segments:segments_found_again 1 "$src"
	loom_run segments_swept holds segments:segments_swept 2 "$src"
	loom_run segments_ended holds segments:segments_ended 3 "$src"
	loom_run segments_ended_twice holds segments:segments_ended_twice 2 "$src"
	loom_run control/waiters_retired_not_swept violation \
		waiters:waiters_retired_both 3 "$src" $c \
		'/^void wefti_waiters_retire/,/^}/s/sweep(q, self);//'
	loom_run control/waiters_lone_not_acquire violation \
		waiters:waiters_lone - "$src" runtime/sync/waiters.h \
		'/^static.*wefti_waiters_lone(/,/^}/s/load_acquire/load_relaxed/'
	loom_run control/waiters_lone_found_not_acquire violation \
		waiters:waiters_lone_found - "$src" runtime/sync/waiters.h \
		'/^static.*wefti_waiters_find(/,/^}/s/load_acquire/load_relaxed/'
	loom_run control/segments_first_relaxed violation \
		segments:segments_first 2 "$src" $c \
		'/^static uint64_t where_to_add/,/^}/s/cas_acq_rel/cas_acquire/'
	loom_run control/segments_last_not_acquire violation \
		segments:segments_last 2 "$src" $c \
		's/load_acquire(&q->last)/load_relaxed(\&q->last)/'
	loom_run control/segments_last_relaxed violation \
		segments:segments_appended 1 "$src" $c \
		's/store_release(&q->last/store_relaxed(\&q->last/'
	loom_run control/segments_found_again_not_acquire violation \
		segments:segments_found_again 1 "$src" $c \
		'/^uint64_t wefti_waiters_find_in/,/^}/s/	link = load_acquire/	link = load_relaxed/'
	# The links go in a circle then.
	loom_run control/segments_swept_not_acquire endless \
		segments:segments_swept 2 "$src" $c \
		'/^static COLD void sweep/,/^}/s/load_acquire(from)/load_relaxed(from)/'
	loom_run control/segments_ended_and_appended violation \
		segments:segments_ended 3 "$src" runtime/sync/segment.c \
		's/fetch_or_acq_rel(&seg->next, WEFTI_LINK_MARK)/load_acquire(\&seg->next)/'
	loom_run control/segments_ended_twice violation \
		segments:segments_ended_twice 2 "$src" $c \
		's/else if (cas_acq_rel(&q->first, &link, 0))/else if (store_release(\&q->first, 0), 1)/'
	loom_run control/waiters_next_of_another_life violation \
		waiters:waiters_found 3 "$src" runtime/sync/segment.c \
		's/store_release(&seg->next/store_relaxed(\&seg->next/'
	loom_run control/waiters_appended_to_another_life violation \
		waiters:waiters_append 3 "$src" runtime/sync/segment.c \
		's/store_release(&seg->next/store_relaxed(\&seg->next/'
	loom_marks=
}

# SPDX-License-Identifier: MIT
# loom_pthread.sh - the models of pthread/; read by tests/model/run behind loom.sh
# shellcheck shell=sh
# The variables of loom.sh:
# shellcheck disable=SC2034

# What the scenarios' scheduler is told of the lot, and which plain memory is looked
# at: a bucket's list, and the entries. No spaces: the words are taken one by one.
lot_marks="pthread/wait/lot_list.h:s/struct.entry..prev.=.b->last;/&m_data_write(\&b->first);m_data_write(e);/
	pthread/wait/lot_list.h:/^static.inline.void.take_out/,/^}/s/if.(e->prev)/m_data_write(\&b->first);m_data_write(e);&/
	pthread/wait/lot.c:s/e->key.\([!=]\)=.\(key\|word\|from\)/(m_data_read(e),e->key\1=\2)/
	pthread/wait/lot.c:s/insert(b,.&e);/model_entry(\&e.state);&/
	pthread/wait/lot.c:s/end.=.settle(&e,.w,.end);/&m_data_write(\&e);/"

loom_lot() {
	src=../pthread/wait/lot.c
	c=pthread/wait/lot.c
	h=pthread/core/hold.h
	loom_marks=$lot_marks
	loom_run hold holds lot:hold 3 $src
	loom_run hold_three holds lot:hold_three 2 $src
	loom_run lot_wake holds lot:lot_wake 4 $src
	loom_run lot_wake_kernel holds lot:lot_wake_kernel 3 $src
	loom_run lot_wake_two holds lot:lot_wake_two 3 $src
	loom_run lot_timed holds lot:lot_timed 4 $src
	loom_run lot_timed_kernel holds lot:lot_timed_kernel 4 $src
	loom_run lot_timed_gift holds lot:lot_timed_gift 4 $src
	loom_run lot_requeue holds lot:lot_requeue 4 $src
	loom_run lot_requeue_kernel holds lot:lot_requeue_kernel 4 $src
	loom_run lot_requeue_both holds lot:lot_requeue_both 2 $src
	loom_run lot_lock holds lot:lot_lock 3 $src
	loom_run lot_lock_impatient holds lot:lot_lock_impatient 3 $src
	loom_run lot_lock_three holds lot:lot_lock_three 2 $src
	loom_run control/hold_take_relaxed violation lot:hold 3 $src $h \
		's/cas_seq_cst(word, &free, 1)/cas_relaxed(word, \&free, 1)/'
	loom_run control/hold_wait_relaxed violation lot:hold 3 $src $h \
		's/xchg_seq_cst(word, 2)/xchg_relaxed(word, 2)/'
	loom_run control/hold_unlock_relaxed violation lot:hold 3 $src $h \
		's/xchg_seq_cst(word, 0)/xchg_relaxed(word, 0)/'
	loom_run control/hold_no_wake violation lot:hold 3 $src $h \
		's/== 2))/== 3))/'
	loom_run control/lot_woken_relaxed violation lot:lot_timed 4 $src $c \
		's/store_release(&e->state, how)/store_relaxed(\&e->state, how)/'
	loom_run control/lot_settle_not_acquire violation lot:lot_timed 4 \
		$src $c '/^static enum.* settle/,/^}/s/load_seq_cst/load_relaxed/'
	loom_run control/lot_timed_gift_relaxed violation lot:lot_timed_gift 4 \
		$src $c '/^static enum.* settle/,/^}/s/return load_seq_cst/return load_relaxed/'
	loom_run control/lot_touched_when_woken violation lot:lot_timed 4 \
		$src $c \
		'/^static void wake(/,/^}/s/leave_list(e)/store_seq_cst(\&e->state, how), leave_list(e)/'
	loom_run control/lot_not_looked_at_again violation lot:lot_timed 4 \
		$src $c 's/int queued = load_seq_cst.*/int queued = 1;/'
	loom_run control/lot_check_ignored violation lot:lot_wake 4 $src $c \
		's/if (w->check && !w->check(w->arg))/if (w->check(w->arg), 0)/'
	loom_run control/lot_bucket_not_looked_at_again violation \
		lot:lot_requeue 4 $src pthread/wait/lot_list.h \
		's/if (b == load_relaxed(&e->bucket))/if (1)/'
	loom_run control/lot_two_in_any_order violation lot:lot_requeue_both 2 \
		$src pthread/wait/lot_list.h \
		's/(a < b ? a : b)/(a)/;s/(a < b ? b : a)/(b)/'
	loom_run control/lot_unlock_relaxed violation lot:lot_lock 3 $src $c \
		's/store_seq_cst(word, 0)/store_relaxed(word, 0)/'
	loom_run control/lot_unlock_wakes_nobody violation lot:lot_lock 3 \
		$src $c '/^void wefti_lot_unlock/,/^}/s/wake(e, WOKEN);/(void)0;/'
	src="../pthread/core/self.c $src"
	loom_marks="$lot_marks
		pthread/core/self.c:s/wefti_pt_of(t)/model_pt_of(t)/"
	loom_run lot_handlers_return holds lot:lot_handlers_return 2 "$src"
	loom_run lot_handlers_jump holds lot:lot_handlers_jump 2 "$src"
	loom_run control/lot_handlers_take_the_wake violation \
		lot:lot_handlers_jump 2 "$src" $c \
		'/^void wefti_lot_run_handlers/,/^}/s/wefti_lot_wake(key, 1, WEFTI_LOT_ANY);//'
	loom_run control/lot_handlers_before_the_wake violation \
		lot:lot_handlers_jump 2 "$src" $c \
		'/^void wefti_lot_run_handlers/,/^}/{s/wefti_lot_wake(key, 1, WEFTI_LOT_ANY);//;s/wefti_signals_run();/&wefti_lot_wake(key, 1, WEFTI_LOT_ANY);/;}'
	loom_run control/lot_handlers_not_run violation \
		lot:lot_handlers_return 2 "$src" $c \
		'/^void wefti_lot_run_handlers/,/^}/s/if (likely.*/if (1)/'
	loom_marks=
}

loom_pt_rwlock() {
	src="../pthread/sync/rwlock.c ../pthread/wait/lot.c"
	c=pthread/sync/rwlock.c
	loom_marks=$lot_marks
	loom_run rw_write holds pt_rwlock:rw_write 3 "$src"
	loom_run rw_read holds pt_rwlock:rw_read 3 "$src"
	loom_run rw_readers holds pt_rwlock:rw_readers 1 "$src"
	loom_run rw_writers holds pt_rwlock:rw_writers 2 "$src"
	loom_run rw_written holds pt_rwlock:rw_written 1 "$src"
	loom_run rw_timed holds pt_rwlock:rw_timed 2 "$src"
	loom_run rw_left holds pt_rwlock:rw_left 3 "$src"
	loom_run control/rw_take_not_acquire violation pt_rwlock:rw_write 3 \
		"$src" $c '/^static int try_lock(/,/^}/s/cas_weak_acquire/cas_weak_relaxed/'
	loom_run control/rw_unlock_writer_relaxed violation \
		pt_rwlock:rw_write 3 "$src" $c \
		'/^static void unlock_writer/,/^}/s/cas_weak_release/cas_weak_relaxed/'
	loom_run control/rw_unlock_reader_relaxed violation \
		pt_rwlock:rw_read 3 "$src" $c \
		'/^static void unlock_reader/,/^}/s/cas_weak_release/cas_weak_relaxed/'
	loom_run control/rw_waits_unsaid violation pt_rwlock:rw_write 3 \
		"$src" $c 's/w | want->waits)/w)/'
	loom_run control/rw_others_forgotten violation pt_rwlock:rw_writers 2 \
		"$src" $c 's/more = WRITERS_WAIT;.*/more = 0;/'
	loom_run control/rw_left_unsaid violation pt_rwlock:rw_left 3 \
		"$src" $c 's/leave(want);/(void)0;/'
	loom_run control/rw_wakes_no_reader violation pt_rwlock:rw_written 1 \
		"$src" $c \
		'/^static void wake_all_of/,/^}/s/if (was & READERS_WAIT)/if (0)/'
	loom_marks=
}

loom_pt_sem() {
	src="../pthread/sync/sem.c ../pthread/wait/lot.c"
	c=pthread/sync/sem.c
	loom_marks=$lot_marks
	loom_run pt_sem_one holds pt_sem:pt_sem_one 4 "$src"
	loom_run pt_sem_lock holds pt_sem:pt_sem_lock 3 "$src"
	loom_run pt_sem_two holds pt_sem:pt_sem_two 1 "$src"
	loom_run pt_sem_two_posters holds pt_sem:pt_sem_two_posters 1 "$src"
	loom_run pt_sem_timed holds pt_sem:pt_sem_timed 3 "$src"
	loom_run pt_sem_timed_two holds pt_sem:pt_sem_timed_two 1 "$src"
	loom_run control/pt_sem_take_not_acquire violation pt_sem:pt_sem_lock \
		3 "$src" $c 's/cas_weak_acquire(&s->data/cas_weak_relaxed(\&s->data/'
	loom_run control/pt_sem_post_relaxed violation pt_sem:pt_sem_lock 3 \
		"$src" $c 's/cas_weak_seq_cst(&s->data/cas_weak_relaxed(\&s->data/'
	loom_run control/pt_sem_waits_unsaid violation pt_sem:pt_sem_one 4 \
		"$src" $c \
		's/fetch_add_seq_cst(&s->data, ONE_WAITS);//;s/fetch_sub_seq_cst(&s->data, ONE_WAITS);//'
	loom_run control/pt_sem_not_looked_at violation pt_sem:pt_sem_one 4 \
		"$src" $c \
		's/return (uint32_t)load_seq_cst(&((struct sem \*)arg)->data) == 0/return 1/'
	loom_marks=
}

loom_pt_ceiling() {
	src="../pthread/sync/ceiling.c ../pthread/wait/lot.c"
	c=pthread/sync/ceiling.c
	loom_marks=$lot_marks
	loom_run ceiling_lock holds pt_ceiling:ceiling_lock 3 "$src"
	loom_run ceiling_three holds pt_ceiling:ceiling_three 2 "$src"
	loom_run ceiling_changed holds pt_ceiling:ceiling_changed 3 "$src"
	loom_run ceiling_refused holds pt_ceiling:ceiling_refused 3 "$src"
	loom_run control/ceiling_take_not_acquire violation \
		pt_ceiling:ceiling_lock 3 "$src" $c \
		'/^static int lock_under(/,/^}/s/cas_acquire/cas_relaxed/'
	loom_run control/ceiling_unlock_relaxed violation \
		pt_ceiling:ceiling_lock 3 "$src" $c \
		'/^int wefti_ceiling_unlock(/,/^}/s/cas_release/cas_relaxed/'
	loom_run control/ceiling_wakes_none violation pt_ceiling:ceiling_changed \
		3 "$src" $c 's/wake(word, shared, UINT32_MAX);/(void)0;/'
	loom_run control/ceiling_any_waits violation pt_ceiling:ceiling_refused \
		3 "$src" $c \
		's/return load_relaxed(w->word) == w->value/return (load_relaxed(w->word) \& ~WEFTI_CEILING_MASK) == 2/'
	loom_marks=
}

loom_pt_barrier() {
	src="../pthread/sync/barrier.c ../pthread/wait/lot.c"
	c=pthread/sync/barrier.c
	loom_marks=$lot_marks
	loom_run pt_barrier_two holds pt_barrier:pt_barrier_two - "$src"
	loom_run pt_barrier_three holds pt_barrier:pt_barrier_three 3 "$src"
	loom_run pt_barrier_again holds pt_barrier:pt_barrier_again 3 "$src"
	loom_run pt_barrier_destroyed holds pt_barrier:pt_barrier_destroyed 4 "$src"
	loom_run control/pt_barrier_wakes_one violation \
		pt_barrier:pt_barrier_three 2 "$src" $c \
		's/wefti_lot_wake(b, UINT32_MAX/wefti_lot_wake(b, 1/'
	loom_run control/pt_barrier_left_early violation \
		pt_barrier:pt_barrier_again 3 "$src" $c 's/while (!is_over(&a));/while (0);/;s/fetch_add_seq_cst(&b->round, 1);//'
	loom_run control/pt_barrier_round_relaxed violation \
		pt_barrier:pt_barrier_two - "$src" pthread/core/hold.h \
		's/xchg_seq_cst(word, 0)/xchg_relaxed(word, 0)/'
	loom_run control/pt_barrier_destroyed_early violation \
		pt_barrier:pt_barrier_destroyed 4 "$src" $c \
		's/while (has_some_inside(b))/while (0)/'
	loom_run control/pt_barrier_leaves_unsaid violation \
		pt_barrier:pt_barrier_destroyed 4 "$src" $c \
		'/^static void leave/,/^}/s/== (DESTROYED | 1)/== 0/'
	loom_marks=
}

loom_pt_cond() {
	src="../pthread/sync/cond.c ../pthread/core/self.c ../pthread/wait/lot.c"
	c=pthread/sync/cond.c
	loom_marks="$lot_marks
		pthread/core/self.c:s/wefti_pt_of(t)/model_pt_of(t)/"
	loom_run pt_cond_one holds pt_cond:pt_cond_one - "$src"
	loom_run pt_cond_two holds pt_cond:pt_cond_two 3 "$src"
	loom_run pt_cond_all holds pt_cond:pt_cond_all 3 "$src"
	loom_run pt_cond_timed holds pt_cond:pt_cond_timed - "$src"
	loom_run pt_cond_timed_two holds pt_cond:pt_cond_timed_two 3 "$src"
	loom_run pt_cond_destroyed holds pt_cond:pt_cond_destroyed - "$src"
	loom_run pt_cond_handler holds pt_cond:pt_cond_handler 3 "$src"
	loom_run pt_cond_handler_all holds pt_cond:pt_cond_handler_all 4 "$src"
	loom_run control/pt_cond_not_counted violation pt_cond:pt_cond_one 3 \
		"$src" $c 's/.key = c, .count = &w.cond->count,/.key = c,/'
	loom_run control/pt_cond_given_up_early violation pt_cond:pt_cond_one 3 \
		"$src" $c \
		's/end = wefti_lot_wait(lot);/queued(w);end = wefti_lot_wait(lot);/;s/.queued = queued, //'
	loom_run control/pt_cond_touched_when_woken violation \
		pt_cond:pt_cond_destroyed 3 "$src" $c \
		's/end = wefti_lot_wait(lot);/&fetch_add_seq_cst(\&w->cond->missed, 1);/'
	loom_run control/pt_cond_missed_unsaid violation pt_cond:pt_cond_handler \
		3 "$src" $c \
		'/^static void note_missed/,/^}/s/fetch_add_seq_cst(&c->missed, 1)/(void)0/'
	loom_run control/pt_cond_missed_not_looked_at violation \
		pt_cond:pt_cond_handler_all 3 "$src" $c \
		'/^static int none_was_missed/,/^}/s/return .*/return 1;/'
	loom_run control/pt_cond_handler_not_counted violation \
		pt_cond:pt_cond_handler 3 "$src" $c \
		's/count_by(w->cond, 1);/(void)0;/;s/count_by(w->cond, UINT32_MAX);/(void)0;/'
	loom_marks=
}

loom_pt_once() {
	src="../pthread/sync/once.c ../pthread/wait/lot.c"
	c=pthread/sync/once.c
	loom_marks="$lot_marks $c:s/a.result.=.DONE;/a.result=model_result(DONE);/"
	loom_run pt_once holds pt_once:pt_once - "$src"
	loom_run pt_once_three holds pt_once:pt_once_three 2 "$src"
	loom_run pt_once_fails holds pt_once:pt_once_fails 2 "$src"
	loom_run pt_once_forked holds pt_once:pt_once_forked 3 "$src"
	loom_run control/pt_once_done_relaxed violation pt_once:pt_once - \
		"$src" $c 's/store_release(a->word/store_relaxed(a->word/'
	loom_run control/pt_once_seen_relaxed violation pt_once:pt_once - \
		"$src" $c 's/load_acquire(word)/load_relaxed(word)/'
	loom_run control/pt_once_wakes_one violation pt_once:pt_once_three 2 \
		"$src" $c 's/UINT32_MAX, WEFTI_LOT_ANY/1, WEFTI_LOT_ANY/'
	loom_run control/pt_once_waits_for_nothing violation pt_once:pt_once - \
		"$src" $c 's/return load_seq_cst.*BUSY;/return 1;/'
	loom_marks=
}

loom_pt_cancel() {
	src="../pthread/signal/cancel.c ../pthread/core/self.c ../pthread/wait/lot.c"
	c=pthread/signal/cancel.c
	me=pthread/core/self.c
	loom_marks="$lot_marks
		$c:s/wefti_pt_of(t)/model_pt_of(t)/
		$c:s/wefti_pt_thread(thread)/model_thread(thread)/
		$me:s/wefti_pt_of(t)/model_pt_of(t)/
		$c:s/wefti_tls_field(/model_field(/
		$c:s/fetch_or_seq_cst(&pt->urgent,.WEFTI_URGENT_ASKED);/&fence_seq_cst();/
		$c:s/state.==.PTHREAD_CANCEL_DISABLE);\$/&fence_seq_cst();/"
	loom_run cancel_wait holds pt_cancel:cancel_wait 4 "$src"
	loom_run cancel_state holds pt_cancel:cancel_state - "$src"
	loom_run control/cancel_wait_not_looked_for violation \
		pt_cancel:cancel_wait 4 "$src" $me 's/^\tif (seq) {/\tif (0) {/'
	loom_run control/cancel_wait_begins_unseen violation \
		pt_cancel:cancel_wait 4 "$src" pthread/wait/lot.c \
		's/if (w->urgent && wefti_pt_is_urgent(w->urgent))/if (0)/'
	loom_run control/cancel_wait_no_order violation pt_cancel:cancel_wait \
		4 "$src" $me 's/wefti_membarrier_heavy();//'
	loom_run control/cancel_begins_no_order violation \
		pt_cancel:cancel_wait 4 "$src" pthread/core/self.h \
		's/wefti_membarrier_light();//'
	loom_run control/cancel_asked_not_looked_at violation \
		pt_cancel:cancel_state - "$src" $c \
		'/^static void act_on_asked/,/^}/s/if (load_seq_cst.*ASKED)/if (0)/'
	loom_run control/cancel_asked_no_order violation \
		pt_cancel:cancel_state - "$src" $c \
		's/fetch_or_seq_cst(&pt->urgent, WEFTI_URGENT_ASKED);fence_seq_cst();/fetch_or_relaxed(\&pt->urgent, WEFTI_URGENT_ASKED);/'
	loom_run control/cancel_enabled_no_order violation \
		pt_cancel:cancel_state - "$src" $c \
		's/DISABLE);fence_seq_cst();/DISABLE);/;/^static void act_on_asked/,/^}/s/load_seq_cst/load_relaxed/'
	loom_marks=
}

loom_pt_queue() {
	src="../pthread/signal/signal_queue.c ../pthread/core/self.c ../pthread/wait/lot.c"
	c=pthread/signal/signal_queue.c
	loom_marks="$lot_marks
		$c:s/wefti_pt_of(t)/model_pt_of(t)/
		pthread/core/self.c:s/wefti_pt_of(t)/model_pt_of(t)/
		pthread/core/self.c:s/wefti_pt_at(tp)/model_pt_of(t)/"
	loom_run queue_end holds pt_queue:queue_end - "$src"
	loom_run queue_end_two holds pt_queue:queue_end_two 3 "$src"
	loom_run control/queue_end_no_order violation pt_queue:queue_end - "$src" $c \
		's/wefti_membarrier_light();//'
	loom_run control/queue_send_no_order violation pt_queue:queue_end - "$src" $c \
		's/wefti_membarrier_heavy();//'
	loom_run control/queue_use_not_looked_at violation pt_queue:queue_end - "$src" $c \
		's/if (unlikely(load_relaxed(&is_used)))/if (0)/'
	loom_marks=
}

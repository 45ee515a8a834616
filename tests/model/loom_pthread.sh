# SPDX-License-Identifier: MIT
# loom_pthread.sh - the models of pthread/; read by tests/model/run behind loom.sh
# shellcheck shell=sh
# The variables of loom.sh:
# shellcheck disable=SC2034

# What the scenarios' scheduler is told of the lot, and which plain memory is looked
# at: a bucket's list, and the entries. No spaces: the words are taken one by one.
lot_marks="pthread/lot.c:s/struct.entry..prev.=.b->last;/&m_data_write(\&b->first);m_data_write(e);/
	pthread/lot.c:/^static.void.take_out/,/^}/s/if.(e->prev)/m_data_write(\&b->first);m_data_write(e);&/
	pthread/lot.c:s/e->key.\([!=]\)=.\(key\|word\|from\)/(m_data_read(e),e->key\1=\2)/
	pthread/lot.c:s/insert(b,.&e);/model_entry(\&e.state);&/
	pthread/lot.c:s/end.=.settle(&e,.end);/&m_data_write(\&e);/"

loom_lot() {
	src=../pthread/lot.c
	c=pthread/lot.c
	h=pthread/hold.h
	loom_marks=$lot_marks
	loom_run hold holds lot:hold 3 $src
	loom_run hold_three holds lot:hold_three 2 $src
	loom_run lot_wake holds lot:lot_wake 4 $src
	loom_run lot_wake_kernel holds lot:lot_wake_kernel 3 $src
	loom_run lot_wake_two holds lot:lot_wake_two 3 $src
	loom_run lot_timed holds lot:lot_timed 4 $src
	loom_run lot_timed_kernel holds lot:lot_timed_kernel 4 $src
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
		's/store_seq_cst(&e->state, how)/store_relaxed(\&e->state, how)/'
	loom_run control/lot_settle_not_acquire violation lot:lot_timed 4 \
		$src $c '/^static enum.* settle/,/^}/s/load_seq_cst/load_relaxed/'
	loom_run control/lot_touched_when_woken violation lot:lot_timed 4 \
		$src $c \
		'/^static void wake(/,/^}/s/take_out(e)/store_seq_cst(\&e->state, how), take_out(e)/'
	loom_run control/lot_not_looked_at_again violation lot:lot_timed 4 \
		$src $c 's/int queued = load_seq_cst.*/int queued = 1;/'
	loom_run control/lot_check_ignored violation lot:lot_wake 4 $src $c \
		's/if (w->check && !w->check(w->arg))/if (w->check(w->arg), 0)/'
	loom_run control/lot_bucket_not_looked_at_again violation \
		lot:lot_requeue 4 $src $c \
		's/if (b == load_relaxed(&e->bucket))/if (1)/'
	loom_run control/lot_two_in_any_order violation lot:lot_requeue_both 2 \
		$src $c 's/(a < b ? a : b)/(a)/;s/(a < b ? b : a)/(b)/'
	loom_run control/lot_unlock_relaxed violation lot:lot_lock 3 $src $c \
		's/store_seq_cst(word, 0)/store_relaxed(word, 0)/'
	loom_run control/lot_unlock_wakes_nobody violation lot:lot_lock 3 \
		$src $c '/^void wefti_lot_unlock/,/^}/s/wake(e, WOKEN);/(void)0;/'
	loom_marks=
}

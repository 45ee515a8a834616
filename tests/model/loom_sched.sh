# SPDX-License-Identifier: MIT
# loom_sched.sh - more models of runtime/sched and runtime/os; read by tests/model/run
# behind loom.sh
# shellcheck shell=sh
# The variables of loom.sh:
# shellcheck disable=SC2034

# Marked: the link of a spare, where it is written and read. An exchange of a word
# that is also stored to may read what was there before the store, for loom alone: so
# the store is an exchange here.
loom_spare() {
	src="sched/spare.c sched/preempt.c sched/again.c"
	c=runtime/sched/spare.c
	p=runtime/sched/preempt.c
	a=runtime/sched/again.c
	loom_marks="$c:s/store_seq_cst(&k->given,.v)/xchg_seq_cst(\&k->given,v)/
		$c:s/k->spare_next.=.top;/&m_data_write(\&k->spare_next);/
		$c:s/&top,.k->spare_next/\&top,(m_data_read(\&k->spare_next),k->spare_next)/
		$a:s/k->again_next.=.top;/&m_data_write(\&k->again_next);/
		$a:s/next.=.k->again_next;/&m_data_read(\&k->again_next);/
		runtime/thread/peek.h:s/return...const.volatile.uint32_t...&body->preempt_insists.!=.0;/return(load_relaxed(\&body->preempt_insists)!=0);/"
	loom_run spare holds spare:spare - "$src"
	loom_run spare_back holds spare:spare_back 4 "$src"
	loom_run spare_two holds spare:spare_two 2 "$src"
	loom_run spare_again holds spare:again 3 "$src"
	loom_run insist holds spare:insist - "$src"
	loom_run control/insist_no_fence violation spare:insist - "$src" $p \
		'/^void wefti_preempt_taken/,/^}/s/fence_seq_cst();//'
	loom_run control/insist_not_looked_for violation spare:insist - \
		"$src" $p 's/wefti_peek_insists(body)/0/'
	loom_run control/spare_push_relaxed violation spare:spare - "$src" $c \
		'/^static void push/,/^}/s/cas_weak_seq_cst/cas_weak_relaxed/'
	loom_run control/spare_pop_not_acquire violation spare:spare - "$src" \
		$c '/^static struct.*pop(/,/^}/s/k = top = load_seq_cst/k = top = load_relaxed/'
	loom_run control/spare_give_relaxed violation spare:spare - "$src" $c \
		's/xchg_seq_cst(&k->given,v)/xchg_relaxed(\&k->given,v)/'
	loom_run control/spare_given_not_acquire violation spare:spare - \
		"$src" $c 's/xchg_seq_cst(&k->given, NULL)/xchg_relaxed(\&k->given, NULL)/'
	loom_run control/spare_unlisted_before_reserved violation spare:spare \
		- "$src" $c \
		'/^static struct.*pop(/,/^}/{/store_seq_cst(&k->reserved, 1);/d;s/store_seq_cst(&k->listed, 0);/&store_seq_cst(\&k->reserved, 1);/}'
	loom_run control/spare_unlisted_relaxed violation spare:spare - \
		"$src" $c 's/store_seq_cst(&k->listed, 0)/store_relaxed(\&k->listed, 0)/'
	loom_run control/spare_listed_last violation spare:spare - "$src" $c \
		'/^struct.*wefti_spare_wait/,/^}/{/uint32_t listed = /d;s/uint32_t reserved = .*/&uint32_t listed = load_seq_cst(\&k->listed);/}'
	loom_run control/spare_listed_not_acquire violation spare:spare - \
		"$src" $c 's/listed = load_seq_cst(&k->listed)/listed = load_relaxed(\&k->listed)/'
	loom_run control/spare_unreserved_before_given violation spare:spare \
		- "$src" $c \
		'/^void wefti_spare_give/,/^}/{/xchg_seq_cst(&k->given,v);/d;s/store_seq_cst(&k->reserved, 0);/&xchg_seq_cst(\&k->given,v);/;}'
	loom_run control/spare_not_woken violation spare:spare - "$src" $c \
		'/^void wefti_spare_give/,/^}/s/fetch_add_seq_cst(&k->wake, 1);//'
	loom_run control/again_push_relaxed violation spare:again 3 "$src" $a \
		's/cas_weak_seq_cst(&wefti_rt.again/cas_weak_relaxed(\&wefti_rt.again/'
	loom_run control/again_none_before_its_link violation spare:again 3 \
		"$src" $a \
		'/^void wefti_again_signal_all/,/^}/{s/next = k->again_next;.*//;s/k = next)/k = (m_data_read(\&k->again_next), k->again_next))/;}'
	loom_marks=
}

loom_errand() {
	src=os/signal/errand.c
	c=runtime/os/signal/errand.c
	loom_marks="$c:s/^static.\(_Atomic.*;\)/\1/"
	loom_run errand holds errand:errand 4 $src
	loom_run errand_two holds errand:errand_two 3 $src
	loom_run control/errand_posted_relaxed violation errand:errand 4 $src \
		$c 's/store_seq_cst(&place, posted)/store_relaxed(\&place, posted)/'
	loom_run control/errand_run_not_acquire violation errand:errand 4 \
		$src $c \
		'/^void wefti_os_errand_run/,/^}/{s/seen = load_seq_cst(/seen = load_relaxed(/;s/cas_seq_cst/cas_relaxed/;}'
	loom_run control/errand_done_relaxed violation errand:errand 4 $src $c \
		'/^static void change/,/^}/s/store_seq_cst/store_relaxed/'
	loom_run control/errand_done_not_acquire violation errand:errand 4 \
		$src $c \
		's/while (STATE(seen = load_seq_cst(&place)) != DONE)/while (STATE(seen = load_relaxed(\&place)) != DONE)/'
	loom_run control/errand_taken_blindly violation errand:errand 4 \
		$src $c \
		'/^void wefti_os_errand_run/,/^}/s/if (!cas_seq_cst(&place, &seen, WITH(seen, TAKEN)))/if (store_seq_cst(\&place, WITH(seen, TAKEN)), 0)/'
	loom_run control/errand_without_a_turn violation errand:errand_two 3 \
		$src $c 's/#define NEXT_TURN(word).*/#define NEXT_TURN(word) ((word) \& ~7u)/'
	loom_marks=
}

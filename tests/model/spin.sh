# SPDX-License-Identifier: MIT
# spin.sh - the models of protocols; read by tests/model/run
# shellcheck shell=sh
# The variables of tests/model/run:
# shellcheck disable=SC2154

# spin_run NAME WANTED MODEL FLAGS: FLAGS are -D of the model.
spin_run() {
	name=spin/$1 wanted=$2 model=$3 flags=$4
	chosen "$name" || return 0

	dir=$work/spin
	rm -rf "$dir"
	mkdir -p "$dir" || exit 1
	# $flags is a list of words.
	# shellcheck disable=SC2086
	if ! (cd "$dir" && spin -a $flags "$here/spin/$model.pml" \
		> log 2>&1 && $CC -O2 -w -DSAFETY -DCOLLAPSE -DMEMLIM=1900 \
		-o pan pan.c >> log 2>&1)
	then
		cat "$dir/log"
		report "$name" error "$wanted" "does not compile"
		return 0
	fi
	(cd "$dir" && ./pan -m200000 > out 2>&1)
	states=$(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' "$dir/out")
	why=$(sed -n 's/^pan:[0-9]*: //p' "$dir/out" | head -n 1)
	# Not all states, or a search cut short, proves nothing.
	if grep -q -e 'out of memory' -e 'MEMLIM' -e 'max search depth' \
		-e 'hash-table is full' -e 'too small' "$dir/out"
	then
		report "$name" incomplete "$wanted" "${states:-?} states"
	elif grep -q 'errors: 0$' "$dir/out"; then
		report "$name" holds "$wanted" "holds in $states states"
	elif [ -n "$why" ]; then
		report "$name" violation "$wanted" "violation: $why"
	else
		cat "$dir/out"
		report "$name" error "$wanted" "no result"
	fi
}

spin_idle() {
	spin_run idle_1_vcpu_2_foreign holds idle "-DVCPUS=1 -DFOREIGN=2"
	spin_run idle_2_vcpus_1_foreign holds idle "-DVCPUS=2 -DSPAWNS=3"
	spin_run idle_2_vcpus_2_foreign holds idle \
		"-DVCPUS=2 -DSPAWNS=1 -DFOREIGN=2"
	spin_run idle_3_vcpus holds idle "-DVCPUS=3 -DFOREIGN=0"
	spin_run control/idle_no_recheck violation idle "-DNO_RECHECK"
	spin_run control/idle_no_handover violation idle "-DNO_HANDOVER"
	spin_run control/idle_no_second_claim violation idle \
		"-DNO_SECOND_CLAIM -DVCPUS=1 -DFOREIGN=2"
}

spin_ranks() {
	spin_run ranks_3_threads holds ranks ""
	spin_run control/ranks_keeps_lead violation ranks -DKEEPS_LEAD
	spin_run control/ranks_keeps_lead_late violation ranks -DKEEPS_LEAD_LATE
	spin_run control/ranks_leaves_post violation ranks -DLEAVES_POST
	spin_run control/ranks_drops_post violation ranks -DDROPS_POST
	spin_run control/ranks_wakes_self violation ranks -DWAKES_SELF
	spin_run control/ranks_keeps_lead_cancelled violation ranks \
		-DKEEPS_LEAD_CANCELLED
	spin_run control/ranks_not_on_hold violation ranks -DNOT_ON_HOLD
}

spin_keeper() {
	spin_run keeper_is_stopped holds keeper ""
	spin_run control/keeper_counted_late violation keeper -DCOUNTS_LATE
	spin_run control/keeper_monitor_asks_for_role violation keeper \
		-DASKS_FOR_ROLE
	spin_run control/keeper_monitor_sleeps_on violation keeper -DSLEEPS_ON
	spin_run control/keeper_monitor_leaves_it violation keeper -DLEAVES_IT
	spin_run control/keeper_monitor_looks_at_no_work violation keeper \
		-DTRUSTS_IDLE
	spin_run control/keeper_monitor_reads_first violation keeper \
		-DREADS_FIRST
	spin_run control/keeper_monitor_not_told violation keeper \
		-DTRUSTS_SEARCHER
}

spin_poller() {
	spin_run poller_2_vcpus holds poller ""
	spin_run control/poller_keeper_not_woken violation poller -DNO_WAKE
	spin_run control/poller_no_look_at_wake violation poller \
		-DNO_LOOK_AT_WAKE
	spin_run control/poller_edge_eventfd violation poller -DEDGE_EVENTFD
	spin_run control/poller_futex_only violation poller -DFUTEX_ONLY
}

spin_stuck() {
	spin_run stuck holds stuck ""
	spin_run control/stuck_no_walk violation stuck -DNO_WALK
	spin_run control/stuck_walk_without_cas violation stuck -DNO_CAS
	spin_run control/stuck_keeps_from_sleep violation stuck \
		-DCOUNTS_BUSY
	spin_run control/stuck_keeper_not_told violation stuck -DTELLS_NOBODY
}

spin_timers() {
	spin_run timers holds timers ""
	spin_run control/timers_keeper_told_too_early violation timers \
		-DTELLS_EARLY
}

spin_wait() {
	spin_run wait holds wait ""
	spin_run control/wait_blind_commit violation wait -DBLIND_COMMIT
	spin_run control/wait_ready_if_armed violation wait -DREADY_IF_ARMED
	spin_run control/wait_ticket_without_seq violation wait -DNO_SEQ
	spin_run control/wait_flag_ignored violation wait \
		-DNOT_ABORTABLE_IGNORED
	spin_run control/wait_parked_on_its_stack violation wait \
		-DBEGINS_ON_STACK
	spin_run control/wait_told_before_it_begins violation wait \
		-DTELLS_FIRST
}

spin_mutex() {
	spin_run mutex_strict holds mutex -DSTRICT
	spin_run mutex_strict_timed holds mutex "-DSTRICT -DTIMED=1"
	spin_run mutex_adaptive holds mutex ""
	spin_run mutex_adaptive_timed holds mutex -DTIMED=1
	spin_run control/mutex_let_go_blind violation mutex \
		"-DSTRICT -DLET_GO_BLIND"
	spin_run control/mutex_adaptive_let_go_blind violation mutex \
		-DLET_GO_BLIND
	spin_run control/mutex_newest_first violation mutex \
		"-DSTRICT -DNO_REVERSE"
	spin_run control/mutex_touched_after violation mutex \
		"-DSTRICT -DTOUCH_AFTER"
	spin_run control/mutex_owner_off_its_stack_not_readied violation \
		mutex "-DSTRICT -DRUN_ON"
	spin_run control/mutex_no_woken_bit violation mutex -DNO_WOKEN
	spin_run control/mutex_timed_out_counts_as_served violation mutex \
		"-DSTRICT -DTIMED=1 -DFORGET_LOST"
	spin_run control/mutex_swept_line_read_plainly violation mutex \
		"-DSTRICT -DTIMED=1 -DTAKE_PLAIN"
	spin_run control/mutex_sweep_stays violation mutex \
		"-DSTRICT -DTIMED=1 -DSWEEP_STAYS"
	spin_run control/mutex_sweeps_who_waits violation mutex \
		"-DSTRICT -DTIMED=1 -DSWEEP_ALL"
}

spin_waitlist() {
	spin_run waitlist holds waitlist ""
	spin_run waitlist_one_timed holds waitlist "-DTIMED=1 -DPOSTERS=1"
	spin_run waitlist_two_timed holds waitlist "-DTIMED=2 -DWAITERS=2"
	spin_run control/waitlist_leave_blind violation waitlist -DLEAVE_BLIND
	spin_run control/waitlist_no_keep violation waitlist \
		"-DNO_KEEP -DTIMED=1"
	spin_run control/waitlist_two_servers violation waitlist -DTWO_SERVERS
	spin_run control/waitlist_serves_newest violation waitlist \
		-DSERVES_NEWEST
	spin_run control/waitlist_no_report violation waitlist \
		"-DNO_REPORT -DTIMED=2 -DPOSTERS=1"
	spin_run control/waitlist_no_dirty violation waitlist \
		"-DNO_DIRTY -DTIMED=2 -DPOSTERS=1"
}

spin_available() {
	command -v spin > /dev/null 2>&1 || {
		echo "skipped: spin (it is missing)"
		return 1
	}
}

spin_all() {
	part spin_idle
	part spin_ranks
	part spin_keeper
	part spin_poller
	part spin_stuck
	part spin_timers
	part spin_wait
	part spin_mutex
	part spin_waitlist
}

# SPDX-License-Identifier: MIT
# tests.mk - the CUnit programs
#
# A test is one line below: tests/unit/<layer>/test_<what>, made from the .c of
# that name. <what> is a file of the layer, or names what several of its files
# do together. Each file has a test; tools/check-sources fails when a test's
# line is missing.

# Without a running runtime; run once.
plain_tests = \
	tests/examples/test_httpd \
	tests/stall/test_stall \
	tests/stall/test_stall_alt \
	tests/stall/test_stall_chan \
	tests/stall/test_stall_chan_cancel \
	tests/stall/test_stall_chan_end \
	tests/stall/test_stall_fork \
	tests/stall/test_stall_keeper \
	tests/stall/test_stall_last \
	tests/stall/test_stall_queue \
	tests/stall/test_stall_rendezvous \
	tests/stall/test_stall_seat \
	tests/stall/test_stall_sync \
	tests/stall/test_stall_timer \
	tests/stall/test_steps \
	tests/stall/test_steps_one \
	tests/stall/test_steps_queue \
	tests/stall/test_steps_timer \
	tests/unit/arch/test_context \
	tests/unit/arch/test_unwind \
	tests/unit/atomic/test_flag \
	tests/unit/atomic/test_generic \
	tests/unit/atomic/test_section \
	tests/unit/atomic/test_sized \
	tests/unit/atomic/test_small \
	tests/unit/base/test_check \
	tests/unit/base/test_error \
	tests/unit/base/test_format \
	tests/unit/base/test_log \
	tests/unit/base/test_print \
	tests/unit/base/test_settings \
	tests/unit/base/test_shown \
	tests/unit/chan/test_alone \
	tests/unit/chan/test_buffer \
	tests/unit/chan/test_cell \
	tests/unit/chan/test_one \
	tests/unit/chan/test_rendezvous \
	tests/unit/chan/test_waiters_stall \
	tests/unit/io/test_make \
	tests/unit/io/test_side \
	tests/unit/io/test_side_stall \
	tests/unit/io/test_table \
	tests/unit/lockfree/test_atomic \
	tests/unit/lockfree/test_coherence \
	tests/unit/lockfree/test_depot \
	tests/unit/lockfree/test_fifo \
	tests/unit/lockfree/test_fifo_history \
	tests/unit/lockfree/test_index_stack \
	tests/unit/lockfree/test_lock \
	tests/unit/lockfree/test_lock_history \
	tests/unit/lockfree/test_perturb \
	tests/unit/lockfree/test_ready_ring \
	tests/unit/lockfree/test_ready_ring_history \
	tests/unit/lockfree/test_slab \
	tests/unit/lockfree/test_slab_call \
	tests/unit/lockfree/test_slab_file \
	tests/unit/lockfree/test_slab_group \
	tests/unit/lockfree/test_slab_history \
	tests/unit/lockfree/test_slab_kill \
	tests/unit/lockfree/test_slab_limits \
	tests/unit/lockfree/test_slab_local \
	tests/unit/lockfree/test_slab_recover \
	tests/unit/lockfree/test_slab_stall \
	tests/unit/lockfree/test_ring \
	tests/unit/lockfree/test_ring_history \
	tests/unit/life/test_key_stall \
	tests/unit/lockfree/test_ring_stall \
	tests/unit/sched/test_explore \
	tests/unit/sched/test_timer_wheel \
	tests/unit/lockfree/test_spsc \
	tests/unit/lockfree/test_spsc_history \
	tests/unit/lockfree/test_spsc_stall \
	tests/unit/record/test_memory \
	tests/unit/record/test_events \
	tests/unit/record/test_events_stall \
	tests/unit/lockfree/test_pointer_stack \
	tests/unit/lockfree/test_pointer_stack_history \
	tests/unit/lockfree/test_pointer_stack_stall \
	tests/unit/mem/test_dense \
	tests/unit/mem/test_dense_fault \
	tests/unit/mem/test_slot \
	tests/unit/mem/test_stack \
	tests/unit/mem/test_stack_code \
	tests/unit/mem/test_stack_fault \
	tests/unit/mem/test_stack_limit \
	tests/unit/mem/test_stack_lock \
	tests/unit/mem/test_stack_many \
	tests/unit/mem/test_stack_trim \
	tests/unit/observe/test_gate \
	tests/unit/observe/test_groups \
	tests/unit/observe/test_last \
	tests/unit/observe/test_layout \
	tests/unit/observe/test_look \
	tests/unit/observe/test_marks \
	tests/unit/observe/test_out \
	tests/unit/observe/test_overflow \
	tests/unit/observe/test_tell \
	tests/unit/observe/test_view \
	tests/unit/os/call/test_clock \
	tests/unit/os/call/test_copy \
	tests/unit/os/call/test_cpus \
	tests/unit/os/call/test_descriptor \
	tests/unit/os/call/test_disk \
	tests/unit/os/call/test_epoll \
	tests/unit/os/call/test_exit \
	tests/unit/os/call/test_fatal \
	tests/unit/os/call/test_filter \
	tests/unit/os/call/test_fork \
	tests/unit/os/call/test_futex \
	tests/unit/os/call/test_signal_timer \
	tests/unit/os/call/test_lacks \
	tests/unit/os/call/test_root \
	tests/unit/os/call/test_shared_file \
	tests/unit/os/call/test_tasks \
	tests/unit/os/call/test_tid \
	tests/unit/os/call/test_vm \
	tests/unit/os/kthread/test_kthread \
	tests/unit/os/kthread/test_kthread_kept \
	tests/unit/os/kthread/test_quiescent \
	tests/unit/os/libc/test_allocator \
	tests/unit/os/libc/test_bind \
	tests/unit/os/libc/test_exports \
	tests/unit/os/libc/test_kthread_end \
	tests/unit/os/libc/test_libc \
	tests/unit/os/libc/test_loaded \
	tests/unit/os/libc/test_process \
	tests/unit/os/libc/test_process_stack \
	tests/unit/os/libc/test_real \
	tests/unit/os/libc/test_thread_end \
	tests/unit/os/object/test_code_on_stack \
	tests/unit/os/object/test_dormant \
	tests/unit/os/object/test_go \
	tests/unit/os/object/test_objects \
	tests/unit/os/object/test_program \
	tests/unit/os/object/test_symbols \
	tests/unit/os/object/test_text \
	tests/unit/os/object/test_unwind \
	tests/unit/os/object/test_unwind_open \
	tests/unit/os/signal/test_caught \
	tests/unit/os/signal/test_errand \
	tests/unit/os/signal/test_preempt_signal \
	tests/unit/os/signal/test_cpu_timer \
	tests/unit/os/signal/test_retry \
	tests/unit/os/signal/test_signal \
	tests/unit/os/signal/test_trap \
	tests/unit/os/tls/test_loader \
	tests/unit/os/tls/test_tls \
	tests/unit/os/tls/test_tls_check \
	tests/unit/os/tls/test_tls_image \
	tests/unit/os/tls/test_tls_kthread \
	tests/unit/os/tls/test_tls_layout \
	tests/unit/os/tls/test_tls_malloc \
	tests/unit/os/tls/test_tls_process \
	tests/unit/os/tls/test_tls_proof \
	tests/unit/os/tls/test_tls_setxid \
	tests/unit/os/tls/test_tp \
	tests/unit/sched/test_again \
	tests/unit/sched/test_blocked \
	tests/unit/sched/test_foreign \
	tests/unit/sched/test_hold \
	tests/unit/sched/test_kthread \
	tests/unit/os/call/test_write \
	tests/unit/sched/test_park \
	tests/unit/sched/test_poller \
	tests/unit/sched/test_sample \
	tests/unit/sched/test_scarce \
	tests/unit/sched/test_spare \
	tests/unit/sched/test_stuck \
	tests/unit/sync/test_mutex_call \
	tests/unit/sync/test_mutex_line \
	tests/unit/sync/test_node \
	tests/unit/sync/test_segment \
	tests/unit/sync/test_stock \
	tests/unit/sync/test_waiters \
	tests/unit/support/test_support \
	tests/unit/thread/test_bare \
	tests/unit/thread/test_name \
	tests/unit/thread/test_unwound \
	tests/unit/thread/test_wait

# With the runtime; run with WEFT_VCPUS 1, 2 and 8.
runtime_tests = \
	tests/examples/test_chat \
	tests/examples/test_echo \
	tests/examples/test_guide_chat \
	tests/examples/test_lines \
	tests/fault/test_fault \
	tests/soak/test_soak \
	tests/unit/alt/test_alt \
	tests/unit/alt/test_kinds \
	tests/unit/alt/test_ready \
	tests/unit/chan/test_buffered \
	tests/unit/chan/test_call \
	tests/unit/chan/test_chan \
	tests/unit/chan/test_chan_wait \
	tests/unit/chan/test_history \
	tests/unit/chan/test_net \
	tests/unit/chan/test_silent \
	tests/unit/init/test_first \
	tests/unit/init/test_fork \
	tests/unit/init/test_start \
	tests/unit/io/test_accept \
	tests/unit/io/test_call \
	tests/unit/init/test_stop \
	tests/unit/init/test_chosen \
	tests/unit/io/test_close \
	tests/unit/io/test_connect \
	tests/unit/io/test_deadline \
	tests/unit/io/test_disk \
	tests/unit/io/test_file \
	tests/unit/io/test_message \
	tests/unit/io/test_number \
	tests/unit/io/test_lookup \
	tests/unit/io/test_net \
	tests/unit/io/test_poll \
	tests/unit/io/test_process \
	tests/unit/io/test_read \
	tests/unit/io/test_reader \
	tests/unit/io/test_fd_wait \
	tests/unit/io/test_write \
	$(cxx_unit_tests) \
	tests/unit/life/test_block \
	tests/unit/life/test_cancel \
	tests/unit/life/test_exit \
	tests/unit/life/test_join \
	tests/unit/life/test_key \
	tests/unit/life/test_pool \
	tests/unit/life/test_spawn \
	tests/unit/life/test_ticker \
	tests/unit/life/test_yield \
	tests/unit/lockfree/test_green \
	tests/unit/observe/test_crash \
	tests/unit/observe/test_cycle \
	tests/unit/observe/test_deadlock \
	tests/unit/observe/test_dump \
	tests/unit/observe/test_dump_alloc \
	tests/unit/observe/test_dump_hang \
	tests/unit/observe/test_observer \
	tests/unit/os/tls/test_arenas \
	tests/unit/observe/test_asked \
	tests/unit/observe/test_figures \
	tests/unit/observe/test_graph \
	tests/unit/observe/test_profile \
	tests/unit/observe/test_recording \
	tests/unit/observe/test_requests \
	tests/unit/observe/test_stat \
	tests/unit/observe/test_trace \
	tests/unit/observe/test_waiting \
	tests/unit/observe/test_cycle_watch \
	tests/unit/plan9/test_note \
	tests/unit/plan9/test_plan9 \
	tests/unit/os/call/test_calls \
	tests/unit/os/call/test_kernels \
	tests/unit/sched/test_balance \
	tests/unit/sched/test_busy \
	tests/unit/sched/test_idle \
	tests/unit/sched/test_loop \
	tests/unit/sched/test_monitor \
	tests/unit/sched/test_on_cpu \
	tests/unit/sched/test_stacks \
	tests/unit/sched/test_record \
	tests/unit/sched/test_preempt \
	tests/unit/sched/test_profile \
	tests/unit/sched/test_ready \
	tests/unit/sched/test_ready_grow \
	tests/unit/sched/test_ready_history \
	tests/unit/sched/test_sanitizer \
	tests/unit/sched/test_seat \
	tests/unit/sched/test_share \
	tests/unit/sched/test_slice \
	tests/unit/sched/test_steal \
	tests/unit/sched/test_switch \
	tests/unit/sched/test_summons \
	tests/unit/sched/test_timer \
	tests/unit/sync/test_barrier \
	tests/unit/sync/test_cond \
	tests/unit/sync/test_cond_turns \
	tests/unit/sync/test_group \
	tests/unit/sync/test_group_storm \
	tests/unit/sync/test_mutex \
	tests/unit/sync/test_mutex_history \
	tests/unit/sync/test_nomem \
	tests/unit/sync/test_once \
	tests/unit/sync/test_rwlock \
	tests/unit/sync/test_sem \
	tests/unit/sync/test_sem_signal \
	tests/unit/sync/test_waitlist

# One source, run against libc and against the preload library; on 1, 2 and 8.
if PRELOAD
pthread_tests = \
	tests/pthread/wait/test_alone \
	tests/pthread/init/test_allocator \
	tests/pthread/signal/test_altstack \
	tests/pthread/test_answers \
	tests/pthread/test_errno \
	tests/pthread/init/test_atfork \
	tests/pthread/signal/test_blocked \
	tests/pthread/test_calls_listed \
	tests/pthread/test_calls_refused \
	tests/pthread/signal/test_cancel \
	tests/pthread/signal/test_cancel_async \
	tests/pthread/signal/test_cancel_handler \
	tests/pthread/signal/test_cancel_region \
	tests/pthread/signal/test_cancel_stdio \
	tests/pthread/thread/test_chain \
	tests/pthread/sync/test_ceiling \
	tests/pthread/process/test_child \
	tests/pthread/io/test_close \
	tests/pthread/init/test_constructors \
	tests/pthread/thread/test_coroutine \
	tests/pthread/kthread/test_cpu_clock \
	tests/pthread/thread/test_create \
	tests/pthread/sync/test_deadlock \
	tests/pthread/init/test_deepbind \
	tests/pthread/io/test_descriptors \
	tests/pthread/io/test_disk \
	tests/pthread/init/test_early \
	tests/pthread/signal/test_fault \
	tests/pthread/io/test_files \
	tests/pthread/kthread/test_filter \
	tests/pthread/io/test_flags \
	tests/pthread/core/test_foreign \
	tests/pthread/test_fork_locks \
	tests/pthread/sync/test_futex \
	tests/pthread/sync/test_futex_counts \
	tests/pthread/sync/test_futex_inline \
	tests/pthread/shared/test_inherit \
	tests/pthread/shared/test_inherit_shared \
	tests/pthread/signal/test_handler_forks \
	tests/pthread/signal/test_interrupt \
	tests/pthread/signal/test_interrupt_once \
	tests/pthread/signal/test_interrupt_region \
	tests/pthread/signal/test_interrupt_cond \
	tests/pthread/signal/test_interrupt_sem \
	tests/pthread/thread/test_join \
	tests/pthread/signal/test_jump \
	tests/pthread/io/test_kaio \
	tests/pthread/io/test_kaio_thread \
	tests/pthread/test_kernels \
	tests/pthread/signal/test_last \
	tests/pthread/test_libc \
	tests/pthread/thread/test_libcs \
	tests/pthread/init/test_loader \
	tests/pthread/sync/test_locks \
	tests/pthread/test_malloc \
	tests/pthread/test_many \
	tests/pthread/core/test_names \
	tests/pthread/core/test_newer \
	tests/pthread/io/test_messages \
	tests/pthread/process/test_memory_lock \
	tests/pthread/sync/test_once \
	tests/pthread/sync/test_once_bare \
	tests/pthread/test_openmp \
	tests/pthread/signal/test_order \
	tests/pthread/signal/test_order_io \
	tests/pthread/signal/test_order_wake \
	tests/pthread/signal/test_pending \
	tests/pthread/kthread/test_memory_policy \
	tests/pthread/kthread/test_proc \
	tests/pthread/process/test_process \
	tests/pthread/process/test_scheduled \
	tests/pthread/process/test_unseen_child \
	tests/pthread/signal/test_profile \
	tests/pthread/signal/test_profile_calls \
	tests/pthread/signal/test_quit \
	tests/pthread/signal/test_raised \
	tests/pthread/kthread/test_real_time \
	tests/pthread/kthread/test_real_time_reach \
	tests/pthread/kthread/test_refused \
	tests/pthread/wait/test_resolver \
	tests/pthread/shared/test_robust \
	tests/pthread/kthread/test_sched_attr \
	tests/pthread/core/test_second_names \
	tests/pthread/shared/test_shared \
	tests/pthread/shared/test_shared_barrier \
	tests/pthread/shared/test_shared_rwlock \
	tests/pthread/shared/test_shared_wake \
	tests/pthread/signal/test_signal \
	tests/pthread/signal/test_signal_self \
	tests/pthread/signal/test_signal_table \
	tests/pthread/thread/test_small_stack \
	tests/pthread/thread/test_stack_told \
	tests/pthread/io/test_sockets \
	tests/pthread/kthread/test_thread_id \
	tests/pthread/signal/test_thread_timer \
	tests/pthread/signal/test_terminal \
	tests/pthread/kthread/test_tied \
	tests/pthread/init/test_tied_process \
	tests/pthread/kthread/test_credentials \
	tests/pthread/process/test_trace \
	tests/pthread/init/test_trapped \
	tests/pthread/signal/test_urgent \
	tests/pthread/io/test_uring \
	tests/pthread/core/test_versions \
	tests/pthread/wait/test_waits \
	tests/pthread/io/test_writes \
	$(cxx_tests) \
	$(code_on_stack_tests)
if HAVE_CXX
cxx_tests = \
	tests/pthread/test_cxx \
	tests/pthread/test_cxx_20 \
	tests/pthread/test_cxx_life \
	tests/pthread/test_cxx_sync
cxx_unit_tests = \
	tests/unit/cxx/test_channel \
	tests/unit/cxx/test_group \
	tests/unit/cxx/test_sync \
	tests/unit/cxx/test_thread
else
without_cxx = "tests/pthread/test_cxx*, tests/unit/cxx: configure found no C++ compiler"
endif
if HAVE_CODE_ON_STACK
code_on_stack_tests = \
	tests/pthread/thread/test_code_on_stack \
	tests/pthread/thread/test_code_on_stack_later
code_on_stack_modules = tests/pthread/thread/code_on_stack_module.so
else
without_code_on_stack = "tests/pthread/thread/test_code_on_stack*: the compiler has none"
endif
endif

# Programs of the list above, linked with pthread/ on light threads: where a sanitizer
# stands in front of libc's functions, it sees all of pthread/ (tests/pthread/light).
if SANITIZE
light_tests = \
	tests/pthread/signal/test_cancel \
	tests/pthread/sync/test_ceiling \
	tests/pthread/process/test_child \
	tests/pthread/thread/test_create \
	tests/pthread/io/test_descriptors \
	tests/pthread/io/test_disk \
	tests/pthread/io/test_files \
	tests/pthread/io/test_flags \
	tests/pthread/sync/test_futex \
	tests/pthread/signal/test_interrupt_once \
	tests/pthread/thread/test_join \
	tests/pthread/io/test_kaio \
	tests/pthread/io/test_kaio_thread \
	tests/pthread/sync/test_locks \
	tests/pthread/process/test_memory_lock \
	tests/pthread/sync/test_once \
	tests/pthread/sync/test_once_bare \
	tests/pthread/signal/test_order_io \
	tests/pthread/kthread/test_memory_policy \
	tests/pthread/kthread/test_proc \
	tests/pthread/kthread/test_refused \
	tests/pthread/kthread/test_sched_attr \
	tests/pthread/shared/test_shared_barrier \
	tests/pthread/shared/test_shared_wake \
	tests/pthread/signal/test_signal_self \
	tests/pthread/kthread/test_thread_id \
	tests/pthread/signal/test_thread_timer \
	tests/pthread/kthread/test_tied \
	tests/pthread/wait/test_waits
endif

# Left out: cases that need TLS of a thread's own, or a frame of weft's below main().
# ThreadSanitizer holds back a signal where a thread computes, does not see an order that
# only the kernel gives, and takes no threads in the child of a fork. One case spins on a
# plain flag itself.
light_without = \
	the_first_thread_is_joined exit_of_the_only \
	main_may_leave the_end_waits_for each_has_its_own spinners_do_not \
	sleeps_by_other_clocks an_asynchronous_one_ends without_a_thread_it_locks \
	condition_variables_give_it processes_share_it names_are_the_threads the_death_of \
	handlers_leave_syncs a_forked_child_syncs a_message_is_had_once \
	several_messages_are_one who_is_joined_can_be no_shared_signal_is_lost \
	handlers_run_in_the_thread a_child_waits_for_its_timer each_owns_one \
	another_is_signalled a_thread_signals_itself a_thread_owns_a_descriptor

# Scripts, run once.
script_tests = \
	tests/tools/test_bootstrap.sh \
	tests/tools/test_check_abi.sh \
	tests/tools/test_bench.sh \
	tests/tools/test_check_api.sh \
	tests/tools/test_check_calls.sh \
	tests/tools/test_check_layers.sh \
	tests/tools/test_check_manual.sh \
	tests/tools/test_check_pairs.sh \
	tests/tools/test_check_pthread.sh \
	tests/tools/test_check_relocs.sh \
	tests/tools/test_check_commits.sh \
	tests/tools/test_check_prose.sh \
	tests/tools/test_check_writers.sh \
	tests/tools/test_check_sources.sh \
	tests/tools/test_coherence.sh \
	tests/tools/test_completion.sh \
	tests/tools/test_core.sh \
	tests/tools/test_cxx_modes.sh \
	tests/tools/test_dump.sh \
	tests/tools/test_examples.sh \
	tests/tools/test_explore.sh \
	tests/tools/test_explore_known.sh \
	tests/tools/test_explore_moves.sh \
	tests/tools/test_explore_native.sh \
	tests/tools/test_explore_outside.sh \
	tests/tools/test_explore_ipc.sh \
	tests/tools/test_explore_polls.sh \
	tests/tools/test_explore_reduce.sh \
	tests/tools/test_explore_waits.sh \
	tests/tools/test_gdb.sh \
	tests/tools/test_gdb_threads.sh \
	tests/tools/test_graph.sh \
	tests/tools/test_guide.sh \
	tests/tools/test_seeing.sh \
	tests/tools/test_mutate.sh \
	tests/tools/test_install.sh \
	tests/tools/test_plan9.sh \
	tests/tools/test_no_shared.sh \
	tests/tools/test_cli.sh \
	tests/tools/test_shown.sh \
	tests/tools/test_stat.sh \
	tests/tools/test_latomic.sh \
	tests/tools/test_plots.sh \
	tests/tools/test_programs.sh \
	tests/tools/test_report_browser.sh \
	tests/tools/test_rpm.sh \
	tests/tools/test_rt_tests.sh \
	tests/tools/test_run_tests.sh \
	tests/tools/test_snippets.sh \
	tests/tools/test_sanitizers.sh \
	tests/tools/test_points.sh \
	tests/tools/test_points_native.sh \
	tests/tools/test_probes.sh \
	tests/tools/test_stat_latency.sh \
	tests/tools/test_profile.sh \
	tests/tools/test_trace.sh \
	tests/tools/test_trace_cut.sh \
	tests/tools/test_trace_whole.sh \
	tests/tools/test_typed_face.sh \
	tests/tools/test_valgrind.sh

check_LIBRARIES += tests/support/libsupport.a
tests_support_libsupport_a_SOURCES = \
	tests/support/bare_vcpus.h \
	tests/support/echo.h \
	tests/support/error_name.h \
	tests/support/forked.h \
	tests/support/heap.h \
	tests/support/history.c \
	tests/support/history.h \
	tests/support/holdings.h \
	tests/support/left_out.h \
	tests/support/newer.h \
	tests/support/refusal.h \
	tests/support/support.c \
	tests/support/support.h \
	tests/support/threads.h \
	tests/support/ticks.h \
	tests/support/recorded_stacks.h \
	tests/support/told.h \
	tests/support/watchdog.c \
	tests/support/watchdog.h

check_PROGRAMS += $(plain_tests) $(runtime_tests) $(pthread_tests) tests/tools/waits

light = tests/pthread/light
light_programs = $(light_tests:tests/pthread/%=$(light)/%)
light_sources = \
	tests/pthread/light/light.c \
	tests/pthread/light/light.h \
	tests/pthread/light/light.sed \
	tests/pthread/light/hidden_errno.h \
	tests/pthread/light/build \
	tests/pthread/light/controls
EXTRA_DIST += $(light_sources)
$(light_programs): $(light)/made
$(light)/made: $(light_sources) $(libweft_pthread_la_SOURCES) libweft.la \
		$(light_tests:%=%.c) $(compare)
	@CC="$(CC)" FLAGS="$(LIGHT_FLAGS)" LIBS="$(LIGHT_LIBS)" \
		$(srcdir)/$(light)/build $(srcdir) $(weft_cpu) $(light) $(light_tests)
	@touch $@

# What tests/tools/test_examples.sh and test_guide.sh run.
if HAVE_CXX
cxx_examples = examples/pipeline
endif
script_examples = $(cxx_examples) examples/sieve examples/philosophers examples/hashtree \
	examples/depbuild examples/buffers examples/bank examples/notes \
	examples/samples examples/crew examples/atonce examples/shop \
	$(GUIDE)

# For the tests, which are many. Other programs say PROGRAM_LDADD = libweft.la.
LDADD = tests/support/libsupport.a libweft.la $(CUNIT_LIBS)
AM_CPPFLAGS += -I$(srcdir)/tests/support

# Ours stand before the compiler's own library.
atomic_LDADD = tests/support/libsupport.a libweft-atomic.la $(CUNIT_LIBS) \
	-lpthread
tests_unit_atomic_test_flag_LDADD = $(atomic_LDADD) -lm
tests_unit_atomic_test_generic_LDADD = $(atomic_LDADD)
tests_unit_atomic_test_section_LDADD = $(atomic_LDADD)
tests_unit_atomic_test_sized_CFLAGS = $(AM_CFLAGS) $(NO_INLINE_ATOMICS)
tests_unit_atomic_test_sized_LDADD = $(atomic_LDADD)
tests_unit_atomic_test_small_LDADD = $(atomic_LDADD)

# write(2) is the test's; see there. What weft calls has another name
# (runtime/os/libc/libc_rename.h), but for a sanitizer's builds; so in all that follow.
tests_unit_base_test_print_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=write,--wrap=wefti_libc_write \
	-Wl,--defsym=__wrap_wefti_libc_write=__wrap_write

tests_unit_arch_test_context_SOURCES = \
	tests/unit/arch/pair.h \
	tests/unit/arch/test_context.c
tests_unit_arch_test_unwind_SOURCES = \
	tests/unit/arch/pair.h \
	tests/unit/arch/test_unwind.c
tests_unit_arch_test_unwind_LDADD = $(LDADD) $(UNWIND_LIBS)

tests_unit_lockfree_test_lock_history_SOURCES = \
	tests/unit/lockfree/rounds.h \
	tests/unit/lockfree/test_lock_history.c

tests_unit_lockfree_test_ring_history_SOURCES = \
	tests/unit/lockfree/rounds.h \
	tests/unit/lockfree/test_ring_history.c

tests_tools_waits_LDADD = libweft.la

# Each atomic operation is a step that can be stopped at; see tests/stall.
each_step = \
	tests/stall/each_step.c \
	tests/stall/each_step.h \
	tests/stall/steps.c \
	tests/stall/steps.h
each_step_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/stall -DWEFT_PERTURB=1
each_step_LDADD = tests/support/libsupport.a \
	tests/stall/libsteps.a libassembler.la liblibc.la $(CUNIT_LIBS) $(URCU_LIBS) \
	-lpthread -ldl
tests_unit_chan_test_waiters_stall_SOURCES = $(each_step) \
	tests/unit/chan/test_waiters_stall.c
tests_unit_chan_test_waiters_stall_CPPFLAGS = $(each_step_CPPFLAGS)
tests_unit_chan_test_waiters_stall_LDADD = $(each_step_LDADD)
tests_unit_sched_test_explore_CPPFLAGS = $(AM_CPPFLAGS) -DWEFT_PERTURB=1
tests_unit_sched_test_explore_LDADD = $(each_step_LDADD)
tests_unit_io_test_side_stall_SOURCES = $(each_step) \
	tests/unit/io/test_side_stall.c
tests_unit_io_test_side_stall_CPPFLAGS = $(each_step_CPPFLAGS)
tests_unit_io_test_side_stall_LDADD = $(each_step_LDADD)
tests_unit_life_test_key_stall_SOURCES = $(each_step) \
	tests/unit/life/test_key_stall.c
tests_unit_life_test_key_stall_CPPFLAGS = $(each_step_CPPFLAGS)
tests_unit_life_test_key_stall_LDADD = $(each_step_LDADD)
tests_unit_lockfree_test_ring_stall_SOURCES = $(each_step) \
	tests/unit/lockfree/test_ring_stall.c
tests_unit_lockfree_test_ring_stall_CPPFLAGS = $(each_step_CPPFLAGS)
tests_unit_lockfree_test_ring_stall_LDADD = $(each_step_LDADD)
tests_unit_lockfree_test_slab_stall_SOURCES = $(each_step) \
	tests/unit/lockfree/test_slab_stall.c
tests_unit_lockfree_test_slab_stall_CPPFLAGS = $(each_step_CPPFLAGS)
tests_unit_lockfree_test_slab_stall_LDADD = $(each_step_LDADD)
tests_unit_record_test_events_stall_SOURCES = $(each_step) \
	tests/unit/record/test_events_stall.c
tests_unit_record_test_events_stall_CPPFLAGS = $(each_step_CPPFLAGS)
tests_unit_record_test_events_stall_LDADD = $(each_step_LDADD)
tests_unit_lockfree_test_spsc_stall_SOURCES = $(each_step) \
	tests/unit/lockfree/test_spsc_stall.c
tests_unit_lockfree_test_spsc_stall_CPPFLAGS = $(each_step_CPPFLAGS)
tests_unit_lockfree_test_spsc_stall_LDADD = $(each_step_LDADD)
tests_unit_lockfree_test_pointer_stack_stall_SOURCES = $(each_step) \
	tests/unit/lockfree/test_pointer_stack_stall.c
tests_unit_lockfree_test_pointer_stack_stall_CPPFLAGS = $(each_step_CPPFLAGS)
tests_unit_lockfree_test_pointer_stack_stall_LDADD = $(each_step_LDADD)

# A build for the model of caches, which is a benchmark's.
tests_unit_lockfree_test_coherence_SOURCES = bench/coherence/mesi.c \
	tests/unit/lockfree/test_coherence.c
tests_unit_lockfree_test_coherence_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bench \
	-DWEFT_COHERENCE=1

# The clock is the test's; see there.
tests_unit_lockfree_test_perturb_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=clock_gettime,--wrap=wefti_libc_clock_gettime \
	-Wl,--defsym=__wrap_wefti_libc_clock_gettime=__wrap_clock_gettime

tests_unit_lockfree_test_slab_history_SOURCES = \
	tests/unit/lockfree/rounds.h \
	tests/unit/lockfree/test_slab_history.c
# A function that can fail is the test's; see there.
tests_unit_lockfree_test_slab_limits_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_os_file_reserve
# A test steps in before the thread is made.
tests_unit_sync_test_group_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=wefti_spawn

# Functions that can fail are the test's; see there.
tests_unit_lockfree_test_slab_local_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=aligned_alloc,--wrap=wefti_os_at_thread_end
tests_unit_lockfree_test_spsc_history_SOURCES = \
	tests/unit/lockfree/rounds.h \
	tests/unit/lockfree/test_spsc_history.c
tests_unit_lockfree_test_pointer_stack_history_SOURCES = \
	tests/unit/lockfree/rounds.h \
	tests/unit/lockfree/test_pointer_stack_history.c

tests_unit_sched_test_kthread_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_os_kthread_create,--wrap=wefti_thread_bare
# Functions that can fail are the test's; see there.
tests_unit_init_test_first_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_thread_bare,--wrap=wefti_tls_build \
	-Wl,--wrap=wefti_os_vm_reserve,--wrap=wefti_os_vm_unmap

tests_unit_sched_test_summons_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_thread_bare

tests_unit_sched_test_park_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=wefti_os_yield \
	-Wl,--wrap=wefti_os_now_ns

# Functions that can fail are the test's; see there.
tests_unit_sync_test_node_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=wefti_slot_grow
tests_unit_sync_test_segment_SOURCES = $(no_memory) \
	tests/unit/sync/test_segment.c
tests_unit_sync_test_stock_SOURCES = $(no_memory) tests/unit/sync/test_stock.c
tests_unit_sync_test_waiters_SOURCES = $(no_memory) \
	tests/unit/sync/test_waiters.c
no_memory = tests/unit/sync/no_memory.h
tests_unit_sync_test_segment_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_dense_grow
tests_unit_sync_test_stock_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=wefti_dense_grow
tests_unit_sync_test_waiters_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_dense_grow
tests_unit_thread_test_bare_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_slot_grow,--wrap=wefti_fifo_reserve

tests_unit_mem_test_stack_SOURCES = \
	tests/unit/mem/probe.h \
	tests/unit/mem/take.h \
	tests/unit/mem/test_stack.c

tests_unit_mem_test_stack_trim_SOURCES = \
	tests/unit/mem/probe.h \
	tests/unit/mem/take.h \
	tests/unit/mem/test_stack_trim.c
tests_unit_mem_test_stack_trim_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_os_vm_dontneed
tests_unit_mem_test_stack_many_SOURCES = \
	tests/unit/mem/probe.h \
	tests/unit/mem/take.h \
	tests/unit/mem/test_stack_many.c

# Functions that can fail are in refusals.c.
refusals = \
	tests/unit/mem/probe.h \
	tests/unit/mem/refusals.c \
	tests/unit/mem/refusals.h
refusals_wraps = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_os_vm_reserve,--wrap=wefti_os_vm_unmap \
	-Wl,--wrap=wefti_os_vm_guard,--wrap=wefti_os_vm_unguard \
	-Wl,--wrap=wefti_os_vm_forbid,--wrap=wefti_os_vm_allow
tests_unit_mem_test_dense_fault_SOURCES = $(refusals) \
	tests/unit/mem/test_dense_fault.c
tests_unit_mem_test_dense_fault_LDFLAGS = $(refusals_wraps)
tests_unit_mem_test_stack_code_SOURCES = $(refusals) \
	tests/unit/mem/test_stack_code.c
tests_unit_mem_test_stack_code_LDFLAGS = $(refusals_wraps)
tests_unit_mem_test_stack_fault_SOURCES = $(refusals) \
	tests/unit/mem/test_stack_fault.c
tests_unit_mem_test_stack_fault_LDFLAGS = $(refusals_wraps)
tests_unit_mem_test_stack_limit_SOURCES = $(refusals) \
	tests/unit/mem/test_stack_limit.c
tests_unit_mem_test_stack_limit_LDFLAGS = $(refusals_wraps)

# A function that can fail is the test's; see there.
tests_unit_os_call_test_fork_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=__register_atfork,--wrap=wefti_libc___register_atfork \
	-Wl,--defsym=__wrap_wefti_libc___register_atfork=__wrap___register_atfork

tests_unit_os_call_test_copy_SOURCES = \
	tests/support/sandbox.h \
	tests/unit/os/call/test_copy.c

tests_unit_os_call_test_epoll_SOURCES = \
	tests/support/sandbox.h \
	tests/unit/os/call/test_epoll.c

# The program exports what it has; see there.
tests_unit_os_libc_test_real_LDFLAGS = $(AM_LDFLAGS) -Wl,-E

tests_unit_os_libc_test_libc_LDFLAGS = $(AM_LDFLAGS) -Wl,-E

# A function that can fail is the test's; see there.
tests_unit_os_libc_test_thread_end_SOURCES = \
	tests/unit/os/mini.c \
	tests/unit/os/mini.h \
	tests/unit/os/libc/test_thread_end.c
tests_unit_os_libc_test_thread_end_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=__cxa_thread_atexit_impl,--wrap=wefti_libc___cxa_thread_atexit_impl \
	-Wl,--defsym=__wrap_wefti_libc___cxa_thread_atexit_impl=__wrap___cxa_thread_atexit_impl

# Functions that can fail are the test's; see there.
tests_unit_os_kthread_test_kthread_kept_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_os_vm_reserve,--wrap=wefti_os_vm_guard \
	-Wl,--wrap=wefti_os_real

# A function that says something else is the test's; see there.
tests_unit_os_libc_test_allocator_SOURCES = \
	tests/unit/os/module.h \
	tests/unit/os/libc/test_allocator.c
tests_unit_os_libc_test_allocator_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=dlsym,--wrap=wefti_libc_dlsym \
	-Wl,--defsym=__wrap_wefti_libc_dlsym=__wrap_dlsym

tests_unit_os_libc_test_bind_SOURCES = \
	tests/unit/os/module.h \
	tests/unit/os/libc/test_bind.c

tests_unit_os_signal_test_trap_SOURCES = \
	tests/unit/os/module.h \
	tests/unit/os/signal/test_trap.c

tests_unit_os_object_test_text_SOURCES = \
	tests/unit/os/module.h \
	tests/unit/os/object/test_text.c

# A function that can fail is the test's; see there.
tests_unit_os_tls_test_tls_malloc_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc

tests_unit_os_object_test_objects_SOURCES = \
	tests/unit/os/module.h \
	tests/unit/os/object/test_objects.c

tests_unit_os_object_test_symbols_SOURCES = \
	tests/unit/os/module.h \
	tests/unit/os/object/test_symbols.c

# Functions that can fail are the test's; see there.
tests_unit_os_tls_test_tls_layout_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=dlsym,--wrap=wefti_libc_dlsym \
	-Wl,--defsym=__wrap_wefti_libc_dlsym=__wrap_dlsym \
	-Wl,--wrap=wefti_os_real,--wrap=wefti_os_kthread_keep

# Functions that can fail are the test's; see there.
tests_unit_os_tls_test_tls_check_SOURCES = \
	tests/unit/os/module.h \
	tests/unit/os/tls/test_tls_check.c
tests_unit_os_tls_test_tls_check_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_os_vm_reserve,--wrap=wefti_tls_layout_find \
	-Wl,--wrap=wefti_tls_build,--wrap=wefti_tls_reset \
	-Wl,--wrap=wefti_tls_thread_begin

# Each is called with one expectation turned wrong; see there.
tests_unit_os_tls_test_tls_proof_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_os_kthread_keep,--wrap=wefti_tls_prove

# A function that is left out is the test's; see there.
tests_unit_os_tls_test_tls_image_SOURCES = \
	tests/unit/os/module.h \
	tests/unit/os/tls/test_tls_image.c
tests_unit_os_tls_test_tls_image_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_tls_image_find

tests_unit_os_signal_test_preempt_signal_SOURCES = \
	tests/unit/os/mini.c \
	tests/unit/os/mini.h \
	tests/unit/os/signal/test_preempt_signal.c

tests_unit_os_tls_test_tls_SOURCES = \
	tests/unit/os/mini.c \
	tests/unit/os/mini.h \
	tests/unit/os/tls/test_tls.c

tests_unit_os_tls_test_tls_setxid_SOURCES = \
	tests/unit/os/mini.c \
	tests/unit/os/mini.h \
	tests/unit/os/tls/test_tls_setxid.c

tests_unit_os_tls_test_tls_kthread_SOURCES = \
	tests/unit/os/mini.c \
	tests/unit/os/mini.h \
	tests/unit/os/tls/test_tls_kthread.c

tests_unit_os_object_test_code_on_stack_SOURCES = \
	tests/unit/os/module.h \
	tests/unit/os/object/test_code_on_stack.c
tests_unit_os_tls_test_tls_process_SOURCES = \
	tests/unit/os/mini.c \
	tests/unit/os/mini.h \
	tests/unit/os/module.h \
	tests/unit/os/tls/test_tls_process.c

# Libraries that a test loads. By hand, because libtool makes no shared ones
# when it is configured without.
test_modules = \
	tests/pthread/init/deepbind_module.so \
	tests/pthread/libgomp-module.so \
	tests/pthread/core/names_module.so \
	tests/unit/observe/hanging_module.so \
	tests/unit/os/bound_module.so \
	tests/unit/os/dormant_module.so \
	tests/unit/os/plain_module.so \
	tests/unit/os/sanitizer_module.so \
	tests/unit/os/tls_dynamic_module.so \
	tests/unit/os/tls_static_module.so
test_module_sources = \
	tests/pthread/init/deepbind_module.c \
	tests/pthread/libgomp-module.c \
	tests/pthread/core/names_module.c \
	tests/unit/observe/hanging_module.c \
	tests/unit/os/bound_module.c \
	tests/unit/os/dormant_module.c \
	tests/unit/os/plain_module.c \
	tests/unit/os/sanitizer_module.c \
	tests/unit/os/tls_dynamic_module.c \
	tests/unit/os/tls_static_module.c
packed_module = tests/unit/os/packed_module.so
check_DATA = $(test_modules) $(code_on_stack_modules) $(packed_module)
CLEANFILES += $(test_modules) $(code_on_stack_modules) $(packed_module)
EXTRA_DIST += $(test_module_sources) tests/pthread/thread/code_on_stack_module.c

$(test_modules): $(test_module_sources)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CPPFLAGS) $(AM_CFLAGS) \
		-fvisibility=default $(CFLAGS) $(LDFLAGS) -fPIC -shared -o $@ \
		$(srcdir)/$(@:.so=.c)

# A linker that cannot do so says so, and does without.
$(packed_module): tests/unit/os/dormant_module.c
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CPPFLAGS) $(AM_CFLAGS) \
		-fvisibility=default $(CFLAGS) $(LDFLAGS) -fPIC -shared \
		-Wl,-z,pack-relative-relocs -o $@ $(srcdir)/tests/unit/os/dormant_module.c

$(code_on_stack_modules): tests/pthread/thread/code_on_stack_module.c \
		tests/pthread/thread/code_on_stack.h
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && $(CC) $(AM_CPPFLAGS) $(AM_CFLAGS) \
		-fvisibility=default $(CFLAGS) $(LDFLAGS) -fPIC -shared \
		-Wl,-z,execstack -o $@ $(srcdir)/$(@:.so=.c)

# A function that says something else is the test's; see there.
tests_unit_sched_test_blocked_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_os_kthread_wants_lock
tests_unit_sched_test_spare_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_os_kthread_has_children
tests_unit_sched_test_seat_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_os_kthread_wants_lock
tests_unit_sched_test_timer_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_os_now_ns,--wrap=wefti_stuck_find

# fesetround()
tests_unit_sched_test_preempt_LDADD = $(LDADD) -lm

# The library once more: each atomic operation is a step that can be stopped at.
check_LIBRARIES += tests/stall/libsteps.a
tests_stall_libsteps_a_SOURCES = $(libruntime_la_SOURCES) \
	bench/mutex/spinmutex.c \
	bench/mutex/spinmutex.h
tests_stall_libsteps_a_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bench \
	-DWEFT_PERTURB=1
between_wraps = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_idle_wait,--wrap=wefti_poller_run \
	-Wl,--wrap=wefti_timers_run,--wrap=wefti_timers_run_all
tests_stall_test_stall_alt_SOURCES = \
	tests/stall/between.c \
	tests/stall/steer.c \
	tests/stall/steer.h \
	tests/stall/steps.c \
	tests/stall/steps.h \
	tests/stall/test_stall_alt.c
tests_stall_test_stall_alt_LDADD = $(tests_stall_test_stall_LDADD)
tests_stall_test_stall_alt_LDFLAGS = $(between_wraps)
tests_stall_test_stall_chan_SOURCES = \
	tests/stall/between.c \
	tests/stall/chan_others.h \
	tests/stall/steps.c \
	tests/stall/steps.h \
	tests/stall/test_stall_chan.c
tests_stall_test_stall_chan_LDADD = $(tests_stall_test_stall_LDADD)
tests_stall_test_stall_chan_LDFLAGS = $(between_wraps)
tests_stall_test_stall_chan_cancel_SOURCES = \
	tests/stall/between.c \
	tests/stall/steer.c \
	tests/stall/steer.h \
	tests/stall/steps.c \
	tests/stall/steps.h \
	tests/stall/test_stall_chan_cancel.c
tests_stall_test_stall_chan_cancel_LDADD = $(tests_stall_test_stall_LDADD)
tests_stall_test_stall_chan_cancel_LDFLAGS = $(between_wraps)
tests_stall_test_stall_chan_end_SOURCES = \
	tests/stall/between.c \
	tests/stall/steer.c \
	tests/stall/steer.h \
	tests/stall/steps.c \
	tests/stall/steps.h \
	tests/stall/test_stall_chan_end.c
tests_stall_test_stall_chan_end_LDADD = $(tests_stall_test_stall_LDADD)
tests_stall_test_stall_chan_end_LDFLAGS = $(between_wraps)
tests_stall_test_stall_fork_SOURCES = \
	tests/stall/between.c \
	tests/stall/steer.c \
	tests/stall/steer.h \
	tests/stall/steps.c \
	tests/stall/steps.h \
	tests/stall/test_stall_fork.c
tests_stall_test_stall_fork_LDADD = $(tests_stall_test_stall_LDADD)
tests_stall_test_stall_fork_LDFLAGS = $(between_wraps)
tests_stall_test_stall_keeper_SOURCES = \
	tests/stall/steer.c \
	tests/stall/steer.h \
	tests/stall/steps.c \
	tests/stall/steps.h \
	tests/stall/test_stall_keeper.c
tests_stall_test_stall_keeper_LDADD = $(tests_stall_test_stall_LDADD)
tests_stall_test_stall_keeper_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_idle_wait,--wrap=wefti_timers_run_all
tests_stall_test_stall_last_SOURCES = \
	tests/stall/between.c \
	tests/stall/steer.c \
	tests/stall/steer.h \
	tests/stall/steps.c \
	tests/stall/steps.h \
	tests/stall/test_stall_last.c
tests_stall_test_stall_last_LDADD = $(tests_stall_test_stall_LDADD)
tests_stall_test_stall_last_LDFLAGS = $(between_wraps)
# The partner comes where these are called; see there.
tests_stall_test_stall_rendezvous_SOURCES = \
	tests/stall/between.c \
	tests/stall/steer.c \
	tests/stall/steer.h \
	tests/stall/steps.c \
	tests/stall/steps.h \
	tests/stall/test_stall_rendezvous.c
tests_stall_test_stall_rendezvous_LDADD = $(tests_stall_test_stall_LDADD)
tests_stall_test_stall_rendezvous_LDFLAGS = $(between_wraps) \
	-Wl,--wrap=wefti_rendezvous_wait,--wrap=wefti_waiters_add
tests_stall_test_steps_one_SOURCES = \
	tests/stall/steps.c \
	tests/stall/steps.h \
	tests/stall/test_steps_one.c
tests_stall_test_steps_one_LDADD = $(tests_stall_test_stall_LDADD)
tests_stall_test_steps_timer_SOURCES = \
	tests/stall/steps.c \
	tests/stall/steps.h \
	tests/stall/test_steps_timer.c
tests_stall_test_steps_timer_LDADD = $(tests_stall_test_stall_LDADD)
tests_stall_test_steps_SOURCES = \
	tests/stall/calls.c \
	tests/stall/calls.h \
	tests/stall/steer.c \
	tests/stall/steer.h \
	tests/stall/steps.c \
	tests/stall/steps.h \
	tests/stall/test_steps.c
tests_stall_test_steps_CPPFLAGS = $(each_step_CPPFLAGS) -I$(srcdir)/bench
tests_stall_test_steps_LDADD = $(tests_stall_test_stall_LDADD)
tests_stall_test_steps_queue_SOURCES = $(each_step) \
	tests/stall/test_steps_queue.c
tests_stall_test_steps_queue_CPPFLAGS = $(each_step_CPPFLAGS)
tests_stall_test_steps_queue_LDADD = $(each_step_LDADD)
tests_stall_test_stall_SOURCES = \
	tests/stall/calls.c \
	tests/stall/calls.h \
	tests/stall/steer.c \
	tests/stall/steer.h \
	tests/stall/steps.c \
	tests/stall/steps.h \
	tests/stall/test_stall.c
tests_stall_test_stall_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bench
tests_stall_test_stall_LDADD = tests/support/libsupport.a \
	tests/stall/libsteps.a libassembler.la liblibc.la $(CUNIT_LIBS) $(URCU_LIBS) \
	-lpthread -ldl
# Functions of the queues are the test's; see there.
tests_stall_test_stall_queue_SOURCES = \
	tests/stall/steer.c \
	tests/stall/steer.h \
	tests/stall/steps.c \
	tests/stall/steps.h \
	tests/stall/test_stall_queue.c
tests_stall_test_stall_queue_LDADD = $(tests_stall_test_stall_LDADD)
tests_stall_test_stall_queue_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_ring_steal \
	-Wl,--wrap=wefti_fifo_push,--wrap=wefti_fifo_pop
tests_stall_test_stall_seat_SOURCES = \
	tests/stall/steer.c \
	tests/stall/steer.h \
	tests/stall/steps.c \
	tests/stall/steps.h \
	tests/stall/test_stall_seat.c
tests_stall_test_stall_seat_LDADD = $(tests_stall_test_stall_LDADD)
tests_stall_test_stall_seat_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_seat_take
tests_stall_test_stall_sync_SOURCES = \
	tests/stall/between.c \
	tests/stall/steer.c \
	tests/stall/steer.h \
	tests/stall/steps.c \
	tests/stall/steps.h \
	tests/stall/sync_calls.c \
	tests/stall/sync_calls.h \
	tests/stall/test_stall_sync.c
tests_stall_test_stall_sync_LDADD = $(tests_stall_test_stall_LDADD)
tests_stall_test_stall_sync_LDFLAGS = $(between_wraps)
tests_stall_test_stall_timer_SOURCES = \
	tests/stall/steer.c \
	tests/stall/steer.h \
	tests/stall/steps.c \
	tests/stall/steps.h \
	tests/stall/test_stall_timer.c
tests_stall_test_stall_timer_LDADD = $(tests_stall_test_stall_LDADD)
tests_stall_test_stall_timer_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_timer_arm \
	-Wl,--wrap=wefti_timers_run,--wrap=wefti_timers_run_all

# Run by their tests.
tested_examples = examples/chat examples/echo examples/httpd examples/lines \
	examples/guide/12_chat
tests_examples_test_chat_SOURCES = \
	tests/examples/server.h \
	tests/examples/test_chat.c
tests_examples_test_echo_SOURCES = \
	tests/examples/server.h \
	tests/examples/test_echo.c
tests_examples_test_guide_chat_SOURCES = \
	tests/examples/server.h \
	tests/examples/test_guide_chat.c
tests_examples_test_lines_SOURCES = \
	tests/examples/server.h \
	tests/examples/test_lines.c
tests_examples_test_httpd_SOURCES = \
	tests/examples/server.h \
	tests/examples/test_httpd.c

# Functions that can fail are the test's; see there.
tests_fault_test_fault_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc,--wrap=calloc,--wrap=aligned_alloc \
	-Wl,--wrap=wefti_os_vm_reserve,--wrap=wefti_os_kthread_create

# Set it to go before each test: an emulator, or a debugger.
TEST_EXEC =

# How each test with the runtime is run.
each = WEFT_VCPUS=1 WEFT_VCPUS=2 WEFT_VCPUS=8
# The last: threads stay libc's, and tests that are for green threads only are left out.
pthread_each = $(each) WEFT_TLS=shared
light_each = WEFT_VCPUS=1 WEFT_VCPUS=4

# These start some hundred processes, which do much the same on each number of VCPUs.
# check-full runs them on others than 2.
many_processes = tests/unit/os/call/test_calls tests/pthread/test_calls_refused \
	tests/pthread/signal/test_signal_table
many_each = $(or $(filter WEFT_VCPUS=2,$(each)),$(each))
many_pthread_each = $(or $(filter WEFT_VCPUS=2 WEFT_TLS=shared,$(pthread_each)),$(pthread_each))

# These take longest, also under an emulator. They come before their like, so that none of
# them runs alone at the end.
longest = tests/pthread/init/test_tied_process tests/pthread/kthread/test_sched_attr \
	tests/pthread/test_fork_locks tests/pthread/thread/test_code_on_stack_later \
	tests/pthread/signal/test_profile tests/pthread/kthread/test_credentials \
	tests/pthread/init/test_allocator tests/pthread/signal/test_raised \
	tests/pthread/process/test_trace tests/pthread/io/test_disk \
	tests/pthread/kthread/test_tied tests/pthread/signal/test_blocked
longest_first = $(filter $(longest),$(1)) $(filter-out $(longest),$(1))

# Many of them sleep most of the time.
TEST_JOBS = 3

if HAVE_CUNIT
check-local: $(tested_examples)
check-local: $(script_examples) $(manual_examples)
	@$(srcdir)/tools/run-tests --jobs $(TEST_JOBS) --logs tests/logs \
		--exec "$(TEST_EXEC)" \
		--once $(patsubst %,$(srcdir)/%,$(filter-out $(left_out),$(script_tests))) \
		$(filter-out $(left_out),$(plain_tests)) \
		--each "$(many_each)" \
		$(filter-out $(left_out),$(filter $(many_processes),$(runtime_tests))) \
		--each "$(each)" \
		$(filter-out $(left_out) $(many_processes),$(runtime_tests) $(manual_examples)) \
		--each "$(many_pthread_each)" \
		$(filter-out $(left_out),$(filter $(many_processes),$(pthread_tests))) \
		--each "$(pthread_each)" \
		$(call longest_first,$(filter-out $(left_out) $(many_processes),$(pthread_tests)))
	@for t in $(left_out) $(without_cxx) $(without_code_on_stack); do \
		echo "left out here: $$t"; done

# pthread/ under a sanitizer; the control is pthread/ with an order left out.
check-light: $(light_programs)
	@WEFT_TEST_WITHOUT="$(light_without)" $(srcdir)/tools/run-tests \
		--jobs $(TEST_JOBS) --logs tests/logs-light --exec "$(TEST_EXEC)" \
		--each "$(light_each)" $(light_programs)

# Hours. Each round runs them with another seed and longer.
check-full: tests
	@$(srcdir)/tools/run-full --logs tests/logs \
		--once $(plain_tests) --each $(runtime_tests) $(pthread_tests)
else
check-local check-full:
	@echo "make check needs CUnit (Debian: libcunit1-dev)." >&2; \
	echo "Install it, and configure again." >&2; exit 1
endif

# Only compiles, to run one test by hand.
tests: $(check_PROGRAMS) $(check_DATA) $(tested_examples) $(light_programs)
tests: $(check_PROGRAMS) $(check_DATA) $(script_examples) $(manual_examples)
LIGHT_FLAGS = $(HAVE_CPPFLAGS) $(AM_CFLAGS) $(WEFT_CPPFLAGS) $(CFLAGS)
LIGHT_LIBS = .libs/libweft.a $(URCU_LIBS) -lpthread -ldl

# ThreadSanitizer has to report each of these.
light-controls: $(light)/made
	@CC="$(CC)" FLAGS="$(LIGHT_FLAGS)" LIBS="$(LIGHT_LIBS)" \
		$(srcdir)/$(light)/controls $(srcdir) $(weft_cpu) $(light)
.PHONY: tests check-full check-light light-controls

installcheck-local:
	CC="$(CC)" $(srcdir)/tests/tools/installed.sh \
		"$(pkgconfigdir)" "$(libdir)" "$(mandir)"

# Needs spin, and cargo with the crate loom.
model:
	@WEFT_MODEL_DIR=`pwd`/tests/model-work $(srcdir)/tests/model/run
.PHONY: model

clean-local: clean-man
	rm -rf tests/logs tests/logs-light tests/logs-explore tests/explore-pthread \
		tests/model-work $(light)/work $(light)/libc \
		$(light)/control
	rm -f $(light)/made $(light)/light.a $(light_programs)

EXTRA_DIST += tests/tools/common.sh tests/tools/installed.sh $(script_tests) \
	tests/tools/trace_cut.py \
	tests/tools/trace_perfetto.py \
	tests/tools/trace_whole.py \
	tests/tools/results/atomic.json tests/tools/results/channels.json \
	tests/tools/results/echo.json tests/tools/results/litmus.json \
	tests/tools/results/locks.json tests/tools/results/mutex.json \
	tests/tools/results/plan9.json tests/tools/results/preload.json \
	tests/tools/results/queues.json tests/tools/results/slab.json \
	tests/tools/results/threads.json \
	tests/matrix/kernels tests/matrix/run tests/matrix/smoke.c tests/matrix/smoke.cc \
	tests/matrix/smoke.py tests/matrix/smoke_omp.c tests/matrix/smoke_random.c \
	tests/matrix/smoke_redis.sh tests/matrix/smoke_shared.c tests/matrix/smoke_sysbench.sh \
	tests/model/loom.sh \
	tests/model/loom_pthread.sh \
	tests/model/loom_sched.sh \
	tests/model/loom_sync.sh \
	tests/model/loom/Cargo.lock \
	tests/model/loom/Cargo.toml \
	tests/model/loom/build.rs \
	tests/model/loom/c/buffer.c \
	tests/model/loom/c/chan.c \
	tests/model/loom/c/chan_scene.h \
	tests/model/loom/c/claim.c \
	tests/model/loom/c/cond.c \
	tests/model/loom/c/waiters.c \
	tests/model/loom/c/waiters_scene.h \
	tests/model/loom/c/waiting.h \
	tests/model/loom/c/segments.c \
	tests/model/loom/c/bare.c \
	tests/model/loom/c/dense.c \
	tests/model/loom/c/depot.c \
	tests/model/loom/c/errand.c \
	tests/model/loom/c/fifo.c \
	tests/model/loom/c/idle.c \
	tests/model/loom/c/join.c \
	tests/model/loom/c/kernel_call.c \
	tests/model/loom/c/barrier.c \
	tests/model/loom/c/line.c \
	tests/model/loom/c/listed.h \
	tests/model/loom/c/lock.c \
	tests/model/loom/c/lot.c \
	tests/model/loom/c/model.h \
	tests/model/loom/c/mutex.c \
	tests/model/loom/c/node.c \
	tests/model/loom/c/once.c \
	tests/model/loom/c/parks.h \
	tests/model/loom/c/pt.h \
	tests/model/loom/c/pt_barrier.c \
	tests/model/loom/c/pt_cancel.c \
	tests/model/loom/c/pt_queue.c \
	tests/model/loom/c/pt_ceiling.c \
	tests/model/loom/c/pt_cond.c \
	tests/model/loom/c/pt_once.c \
	tests/model/loom/c/pt_rwlock.c \
	tests/model/loom/c/pt_sem.c \
	tests/model/loom/c/ready_ring.c \
	tests/model/loom/c/record.c \
	tests/model/loom/c/record_mark.c \
	tests/model/loom/c/ring.c \
	tests/model/loom/c/rwlock.c \
	tests/model/loom/c/section.c \
	tests/model/loom/c/side.c \
	tests/model/loom/c/slab.c \
	tests/model/loom/c/spare.c \
	tests/model/loom/c/spsc.c \
	tests/model/loom/c/self.h \
	tests/model/loom/c/sched/park_by.h \
	tests/model/loom/c/seat.c \
	tests/model/loom/c/sem.c \
	tests/model/loom/c/stack.c \
	tests/model/loom/c/timer.c \
	tests/model/loom/c/summons.c \
	tests/model/loom/c/wait.c \
	tests/model/loom/src/main.rs \
	tests/explore/control.c \
	tests/explore/control_pthread.c \
	tests/explore/programs \
	tests/explore/pthread \
	tests/explore/run \
	tests/model/run \
	tests/model/spin.sh \
	tests/model/spin/idle.pml \
	tests/model/spin/keeper.pml \
	tests/model/spin/mutex.pml \
	tests/model/spin/poller.pml \
	tests/model/spin/ranks.pml \
	tests/model/spin/stuck.pml \
	tests/model/spin/timers.pml \
	tests/model/spin/wait.pml \
	tests/model/spin/waitlist.pml

tests_unit_observe_test_crash_SOURCES = \
	tests/unit/observe/child.h \
	tests/unit/observe/test_crash.c
tests_unit_observe_test_deadlock_SOURCES = \
	tests/unit/observe/child.h \
	tests/unit/observe/test_deadlock.c

tests_unit_observe_test_dump_SOURCES = \
	tests/unit/observe/child.h \
	tests/unit/observe/test_dump.c

tests_unit_observe_test_groups_SOURCES = \
	tests/unit/observe/test_groups.c \
	tests/unit/observe/told.h

# A function in which it is stopped is the test's; see there.
tests_unit_observe_test_look_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_os_copy

tests_unit_observe_test_observer_SOURCES = \
	tests/unit/observe/child.h \
	tests/unit/observe/test_observer.c

tests_unit_observe_test_out_SOURCES = \
	tests/unit/observe/test_out.c \
	tests/unit/observe/told.h

tests_unit_observe_test_overflow_SOURCES = \
	tests/unit/observe/child.h \
	tests/unit/observe/test_overflow.c

tests_unit_observe_test_tell_SOURCES = \
	tests/unit/observe/test_tell.c \
	tests/unit/observe/told.h

tests_unit_sched_test_ready_SOURCES = \
	tests/unit/sched/gaps.h \
	tests/unit/sched/test_ready.c

tests_unit_sched_test_ready_grow_SOURCES = \
	tests/unit/sched/gaps.h \
	tests/unit/sched/test_ready_grow.c

tests_unit_sync_test_barrier_SOURCES = \
	tests/unit/sync/crowd.h \
	tests/unit/sync/test_barrier.c

tests_unit_sync_test_cond_SOURCES = \
	tests/unit/sync/crowd.h \
	tests/unit/sync/test_cond.c

tests_unit_sync_test_cond_turns_SOURCES = \
	tests/unit/sync/crowd.h \
	tests/unit/sync/test_cond_turns.c

tests_unit_sync_test_group_SOURCES = \
	tests/unit/sync/crowd.h \
	tests/unit/sync/grouped.h \
	tests/unit/sync/test_group.c

tests_unit_sync_test_group_storm_SOURCES = \
	tests/unit/sync/crowd.h \
	tests/unit/sync/grouped.h \
	tests/unit/sync/test_group_storm.c

tests_unit_sync_test_mutex_history_SOURCES = \
	tests/unit/sync/crowd.h \
	tests/unit/sync/test_mutex_history.c

# A function that can fail is the test's; see there.
tests_unit_sync_test_nomem_SOURCES = \
	tests/unit/sync/crowd.h \
	tests/unit/sync/test_nomem.c
tests_unit_sync_test_nomem_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_thread_bare

tests_unit_sync_test_once_SOURCES = \
	tests/unit/sync/crowd.h \
	tests/unit/sync/test_once.c

tests_unit_sync_test_rwlock_SOURCES = \
	tests/unit/sync/crowd.h \
	tests/unit/sync/test_rwlock.c

tests_unit_sync_test_sem_SOURCES = \
	tests/unit/sync/crowd.h \
	tests/unit/sync/test_sem.c

tests_unit_sync_test_waitlist_SOURCES = \
	tests/unit/sync/crowd.h \
	tests/unit/sync/test_waitlist.c

tests_unit_alt_test_alt_SOURCES = \
	tests/unit/alt/test_alt.c \
	tests/unit/chan/crowd.h

# A function that is counted is the test's; see there.
tests_unit_alt_test_kinds_SOURCES = \
	tests/unit/alt/test_kinds.c \
	tests/unit/chan/crowd.h

tests_unit_alt_test_ready_SOURCES = \
	tests/unit/alt/test_ready.c \
	tests/unit/chan/crowd.h
tests_unit_alt_test_ready_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_os_fd_poll

tests_unit_chan_test_chan_wait_SOURCES = \
	tests/unit/chan/crowd.h \
	tests/unit/chan/test_chan_wait.c

tests_unit_chan_test_alone_SOURCES = \
	tests/unit/chan/crowd.h \
	tests/unit/chan/test_alone.c

tests_unit_chan_test_buffer_SOURCES = \
	tests/unit/chan/armed.h \
	tests/unit/chan/test_buffer.c

tests_unit_chan_test_buffered_SOURCES = \
	tests/unit/chan/armed.h \
	tests/unit/chan/crowd.h \
	tests/unit/chan/test_buffered.c

tests_unit_chan_test_call_SOURCES = \
	tests/unit/chan/crowd.h \
	tests/unit/chan/test_call.c

# Functions that can fail are the test's; see there.
tests_unit_chan_test_cell_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=malloc,--wrap=wefti_dense_grow

tests_unit_chan_test_chan_SOURCES = \
	tests/unit/chan/crowd.h \
	tests/unit/chan/test_chan.c

tests_unit_chan_test_history_SOURCES = \
	tests/unit/chan/test_history.c \
	tests/unit/chan/two_queues.h \
	tests/unit/sync/crowd.h

tests_unit_chan_test_rendezvous_SOURCES = \
	tests/unit/chan/armed.h \
	tests/unit/chan/test_rendezvous.c

tests_unit_chan_test_one_SOURCES = \
	tests/unit/chan/armed.h \
	tests/unit/chan/test_one.c

tests_unit_chan_test_silent_SOURCES = \
	tests/unit/chan/crowd.h \
	tests/unit/chan/test_silent.c

tests_unit_io_test_read_SOURCES = \
	tests/unit/io/loop.h \
	tests/unit/io/test_read.c

tests_unit_io_test_close_SOURCES = \
	tests/unit/chan/crowd.h \
	tests/unit/io/loop.h \
	tests/unit/io/test_close.c

# The kernel is asked through the test's function; see there.
tests_unit_io_test_number_SOURCES = \
	tests/unit/chan/crowd.h \
	tests/unit/io/loop.h \
	tests/unit/io/test_number.c
tests_unit_io_test_number_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_os_fd_poll

tests_unit_io_test_call_SOURCES = \
	tests/unit/chan/crowd.h \
	tests/unit/io/test_call.c

tests_unit_io_test_connect_SOURCES = \
	tests/unit/chan/crowd.h \
	tests/unit/io/loop.h \
	tests/unit/io/test_connect.c

tests_unit_io_test_deadline_SOURCES = \
	tests/unit/io/loop.h \
	tests/unit/io/test_deadline.c

tests_unit_io_test_file_SOURCES = \
	tests/unit/io/loop.h \
	tests/unit/io/test_file.c

tests_unit_io_test_net_SOURCES = \
	tests/unit/io/loop.h \
	tests/unit/io/test_net.c

tests_unit_io_test_poll_SOURCES = \
	tests/unit/io/loop.h \
	tests/unit/io/test_poll.c

tests_unit_io_test_accept_SOURCES = \
	tests/unit/chan/crowd.h \
	tests/unit/io/loop.h \
	tests/unit/io/test_accept.c
tests_unit_io_test_accept_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_os_fd_accept

tests_unit_io_test_lookup_SOURCES = \
	tests/unit/io/loop.h \
	tests/unit/io/test_lookup.c
tests_unit_io_test_lookup_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=getaddrinfo,--wrap=wefti_libc_getaddrinfo \
	-Wl,--defsym=__wrap_wefti_libc_getaddrinfo=__wrap_getaddrinfo

tests_unit_io_test_process_SOURCES = \
	tests/support/sandbox.h \
	tests/unit/io/loop.h \
	tests/unit/io/test_process.c

tests_unit_io_test_make_SOURCES = \
	tests/unit/io/loop.h \
	tests/unit/io/test_make.c
tests_unit_io_test_make_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_fd_made

tests_unit_io_test_message_SOURCES = \
	tests/unit/chan/crowd.h \
	tests/unit/io/loop.h \
	tests/unit/io/test_message.c

tests_unit_io_test_write_SOURCES = \
	tests/unit/chan/crowd.h \
	tests/unit/io/loop.h \
	tests/unit/io/test_write.c
tests_unit_io_test_write_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_os_fd_writev_at_once

tests_unit_io_test_fd_wait_SOURCES = \
	tests/unit/chan/crowd.h \
	tests/unit/io/test_fd_wait.c

# Functions that can fail are the test's; see there.
tests_unit_io_test_side_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_waiters_add
tests_unit_io_test_table_LDFLAGS = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_os_vm_reserve

# threadmain() is the test's, main() the library's.
tests_unit_plan9_test_note_LDADD = tests/support/libsupport.a \
	libweft-plan9.la libweft.la $(CUNIT_LIBS)
tests_unit_plan9_test_plan9_LDADD = tests/support/libsupport.a \
	libweft-plan9.la libweft.la $(CUNIT_LIBS)
# As a program would be: without weft, and without the other tests' headers, but
# for one that needs neither.
compare = tests/pthread/compare.c tests/pthread/compare.h \
	tests/support/error_name.h tests/support/heap.h tests/support/left_out.h \
	tests/support/newer.h
compare_CPPFLAGS = -D_GNU_SOURCE -I$(srcdir)/tests/pthread
tests_pthread_wait_test_alone_SOURCES = $(compare) tests/pthread/go_on.h \
	tests/pthread/wait/test_alone.c
tests_pthread_wait_test_alone_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_wait_test_alone_LDADD = -lpthread
tests_pthread_test_answers_SOURCES = $(compare) tests/pthread/test_answers.c
tests_pthread_test_answers_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_test_answers_LDADD = -lpthread

tests_pthread_test_errno_SOURCES = $(compare) tests/pthread/test_errno.c
tests_pthread_test_errno_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_test_errno_LDADD = -lpthread
tests_pthread_sync_test_ceiling_SOURCES = $(compare) tests/pthread/sync/test_ceiling.c
tests_pthread_sync_test_ceiling_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_sync_test_ceiling_LDADD = -lpthread
tests_pthread_process_test_child_SOURCES = $(compare) tests/pthread/process/test_child.c
tests_pthread_process_test_child_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_process_test_child_LDADD = -lpthread
tests_pthread_thread_test_code_on_stack_SOURCES = $(compare) \
	tests/pthread/thread/code_on_stack.h \
	tests/pthread/thread/test_code_on_stack.c
tests_pthread_thread_test_code_on_stack_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_thread_test_code_on_stack_LDFLAGS = $(AM_LDFLAGS) -Wl,-z,execstack
tests_pthread_thread_test_code_on_stack_LDADD = -lpthread
tests_pthread_thread_test_code_on_stack_later_SOURCES = $(compare) \
	tests/pthread/thread/test_code_on_stack_later.c
tests_pthread_thread_test_code_on_stack_later_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_thread_test_code_on_stack_later_LDADD = -lpthread
tests_pthread_init_test_deepbind_SOURCES = $(compare) \
	tests/pthread/init/deepbind.h \
	tests/pthread/init/test_deepbind.c
tests_pthread_init_test_deepbind_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_init_test_deepbind_LDADD = -lpthread
tests_pthread_io_test_descriptors_SOURCES = $(compare) \
	tests/pthread/io/test_descriptors.c
tests_pthread_io_test_descriptors_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_io_test_descriptors_LDADD = -lpthread
tests_pthread_io_test_files_SOURCES = $(compare) tests/pthread/go_on.h \
	tests/pthread/io/test_files.c
tests_pthread_io_test_files_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_io_test_files_LDADD = -lpthread
tests_pthread_io_test_close_SOURCES = $(compare) \
	tests/pthread/io/test_close.c
tests_pthread_io_test_close_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_io_test_close_LDADD = -lpthread
tests_pthread_kthread_test_cpu_clock_SOURCES = $(compare) \
	tests/pthread/kthread/test_cpu_clock.c
tests_pthread_kthread_test_cpu_clock_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_kthread_test_cpu_clock_LDADD = -lpthread
tests_pthread_signal_test_raised_SOURCES = $(compare) \
	tests/pthread/signal/test_raised.c
tests_pthread_signal_test_raised_CPPFLAGS = $(compare_CPPFLAGS) $(AM_CPPFLAGS)
tests_pthread_signal_test_raised_LDADD = -lpthread
tests_pthread_signal_test_terminal_SOURCES = $(compare) \
	tests/pthread/signal/test_terminal.c
tests_pthread_signal_test_terminal_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_terminal_LDADD = -lpthread
tests_pthread_signal_test_fault_SOURCES = $(compare) \
	tests/pthread/signal/test_fault.c
tests_pthread_signal_test_fault_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_fault_LDADD = -lpthread
tests_pthread_signal_test_profile_SOURCES = $(compare) \
	tests/pthread/signal/test_profile.c
tests_pthread_signal_test_profile_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_profile_LDADD = -lpthread
tests_pthread_signal_test_profile_calls_SOURCES = $(compare) \
	tests/pthread/signal/profile_calls.h tests/pthread/signal/test_profile_calls.c
tests_pthread_signal_test_profile_calls_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_profile_calls_LDADD = -lpthread
tests_pthread_signal_test_urgent_SOURCES = $(compare) \
	tests/pthread/signal/test_urgent.c
tests_pthread_signal_test_urgent_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_urgent_LDADD = -lpthread
tests_pthread_io_test_uring_SOURCES = $(compare) tests/pthread/io/test_uring.c
tests_pthread_io_test_uring_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_io_test_uring_LDADD = -lpthread
tests_pthread_io_test_kaio_SOURCES = $(compare) tests/pthread/io/kaio.h \
	tests/pthread/tasks.h tests/pthread/io/test_kaio.c
tests_pthread_io_test_kaio_CPPFLAGS = $(AM_CPPFLAGS) $(compare_CPPFLAGS)
tests_pthread_io_test_kaio_LDADD = -lpthread
tests_pthread_io_test_kaio_thread_SOURCES = $(compare) tests/pthread/io/kaio.h \
	tests/pthread/io/test_kaio_thread.c
tests_pthread_io_test_kaio_thread_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_io_test_kaio_thread_LDADD = -lpthread
tests_pthread_test_fork_locks_SOURCES = $(compare) tests/pthread/test_fork_locks.c
tests_pthread_test_fork_locks_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_test_fork_locks_LDADD = -lpthread

tests_pthread_signal_test_last_SOURCES = $(compare) tests/pthread/signal/test_last.c
tests_pthread_signal_test_last_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_last_LDADD = -lpthread
tests_pthread_io_test_disk_SOURCES = $(compare) \
	tests/pthread/io/test_disk.c
tests_pthread_io_test_disk_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_io_test_disk_LDADD = -lpthread
tests_pthread_thread_test_create_SOURCES = $(compare) tests/pthread/thread/test_create.c
tests_pthread_thread_test_create_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_thread_test_create_LDADD = -lpthread
tests_pthread_sync_test_deadlock_SOURCES = $(compare) \
	tests/pthread/sync/test_deadlock.c
tests_pthread_sync_test_deadlock_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_sync_test_deadlock_LDADD = -lpthread
tests_pthread_init_test_atfork_SOURCES = $(compare) \
	tests/pthread/init/test_atfork.c
tests_pthread_init_test_atfork_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_init_test_atfork_LDADD = -lpthread
tests_pthread_init_test_early_SOURCES = $(compare) \
	tests/pthread/init/test_early.c
tests_pthread_init_test_early_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_init_test_early_LDADD = -lpthread
tests_pthread_io_test_flags_SOURCES = $(compare) tests/pthread/io/test_flags.c
tests_pthread_io_test_flags_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_io_test_flags_LDADD = -lpthread
tests_pthread_thread_test_libcs_SOURCES = $(compare) tests/pthread/thread/test_libcs.c
tests_pthread_thread_test_libcs_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_thread_test_libcs_LDADD = -lpthread -lrt -ldl
tests_pthread_core_test_foreign_SOURCES = $(compare) \
	tests/pthread/core/test_foreign.c
tests_pthread_core_test_foreign_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_core_test_foreign_LDADD = -lpthread $(ANL_LIBS)
tests_pthread_sync_test_futex_counts_SOURCES = $(compare) \
	tests/pthread/sync/futex_call.h tests/pthread/sync/test_futex_counts.c
tests_pthread_sync_test_futex_counts_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_sync_test_futex_counts_LDADD = -lpthread
test_futex_sources = $(compare) tests/pthread/sync/futex_call.h \
	tests/pthread/sync/futex_handlers.c tests/pthread/sync/futex_handlers.h \
	tests/pthread/tasks.h tests/pthread/sync/test_futex.c
tests_pthread_sync_test_futex_SOURCES = $(test_futex_sources)
tests_pthread_sync_test_futex_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_sync_test_futex_LDADD = -lpthread
tests_pthread_sync_test_futex_inline_SOURCES = $(test_futex_sources) \
	tests/pthread/inline_call.h tests/pthread/trapped.h
tests_pthread_sync_test_futex_inline_CPPFLAGS = $(compare_CPPFLAGS) \
	-DWEFT_TESTS_INLINE=1
tests_pthread_sync_test_futex_inline_LDADD = -lpthread
tests_pthread_signal_test_interrupt_region_SOURCES = $(compare) \
	tests/pthread/signal/test_interrupt_region.c
tests_pthread_signal_test_interrupt_region_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_interrupt_region_LDADD = -lpthread
tests_pthread_signal_test_interrupt_once_SOURCES = $(compare) \
	tests/pthread/signal/test_interrupt_once.c
tests_pthread_signal_test_interrupt_once_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_interrupt_once_LDADD = -lpthread
tests_pthread_shared_test_inherit_SOURCES = $(compare) tests/pthread/shared/inherit.h \
	tests/pthread/shared/test_inherit.c
tests_pthread_shared_test_inherit_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_shared_test_inherit_LDADD = -lpthread
tests_pthread_shared_test_inherit_shared_SOURCES = $(compare) tests/pthread/shared/inherit.h \
	tests/pthread/shared/test_inherit_shared.c
tests_pthread_shared_test_inherit_shared_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_shared_test_inherit_shared_LDADD = -lpthread
tests_pthread_signal_test_interrupt_SOURCES = $(compare) \
	tests/pthread/signal/test_interrupt.c
tests_pthread_signal_test_interrupt_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_interrupt_LDADD = -lpthread
tests_pthread_signal_test_interrupt_cond_SOURCES = $(compare) \
	tests/pthread/signal/interrupt_cond.h tests/pthread/signal/test_interrupt_cond.c
tests_pthread_signal_test_interrupt_cond_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_interrupt_cond_LDADD = -lpthread
tests_pthread_signal_test_interrupt_sem_SOURCES = $(compare) \
	tests/pthread/signal/test_interrupt_sem.c
tests_pthread_signal_test_interrupt_sem_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_interrupt_sem_LDADD = -lpthread
tests_pthread_thread_test_join_SOURCES = $(compare) tests/pthread/thread/test_join.c
tests_pthread_thread_test_join_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_thread_test_join_LDADD = -lpthread
tests_pthread_init_test_constructors_SOURCES = $(compare) \
	tests/pthread/init/test_constructors.c
tests_pthread_init_test_constructors_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_init_test_constructors_LDADD = -lpthread
tests_pthread_thread_test_coroutine_SOURCES = $(compare) \
	tests/pthread/thread/test_coroutine.c
tests_pthread_thread_test_coroutine_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_thread_test_coroutine_LDADD = -lpthread
tests_pthread_sync_test_once_SOURCES = $(compare) \
	tests/pthread/sync/test_once.c
tests_pthread_sync_test_once_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_sync_test_once_LDADD = -lpthread
tests_pthread_sync_test_once_bare_SOURCES = $(compare) tests/pthread/sync/test_once_bare.c
tests_pthread_sync_test_once_bare_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_sync_test_once_bare_CFLAGS = $(AM_CFLAGS) -fno-exceptions \
	-fno-asynchronous-unwind-tables
tests_pthread_sync_test_once_bare_LDADD = -lpthread
tests_pthread_wait_test_resolver_SOURCES = $(compare) \
	tests/pthread/wait/test_resolver.c
tests_pthread_wait_test_resolver_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_wait_test_resolver_LDADD = -lpthread -lresolv
tests_pthread_shared_test_shared_barrier_SOURCES = $(compare) \
	tests/pthread/shared/test_shared_barrier.c
tests_pthread_shared_test_shared_barrier_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_shared_test_shared_barrier_LDADD = -lpthread
tests_pthread_signal_test_signal_self_SOURCES = $(compare) \
	tests/pthread/signal/test_signal_self.c
tests_pthread_signal_test_signal_self_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_signal_self_LDADD = -lpthread
tests_pthread_signal_test_signal_table_SOURCES = $(compare) \
	tests/pthread/signal/test_signal_table.c
tests_pthread_signal_test_signal_table_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_signal_table_LDADD = -lpthread
tests_pthread_thread_test_chain_SOURCES = $(compare) \
	tests/pthread/thread/test_chain.c
tests_pthread_thread_test_chain_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_thread_test_chain_LDADD = -lpthread
tests_pthread_thread_test_small_stack_SOURCES = $(compare) \
	tests/pthread/thread/test_small_stack.c
tests_pthread_thread_test_small_stack_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_thread_test_small_stack_LDADD = -lpthread
tests_pthread_thread_test_stack_told_SOURCES = $(compare) \
	tests/pthread/thread/test_stack_told.c
tests_pthread_thread_test_stack_told_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_thread_test_stack_told_LDADD = -lpthread
tests_pthread_core_test_versions_SOURCES = $(compare) \
	tests/pthread/core/test_versions.c
tests_pthread_core_test_versions_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_core_test_versions_LDADD = -lpthread
tests_pthread_signal_test_jump_SOURCES = $(compare) tests/pthread/signal/test_jump.c
tests_pthread_signal_test_jump_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_jump_LDADD = -lpthread
tests_pthread_test_libc_SOURCES = $(compare) tests/pthread/test_libc.c
tests_pthread_test_libc_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_test_libc_LDADD = -lpthread
tests_pthread_init_test_loader_SOURCES = $(compare) \
	tests/pthread/init/test_loader.c
tests_pthread_init_test_loader_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_init_test_loader_LDADD = -lpthread
tests_pthread_sync_test_locks_SOURCES = $(compare) tests/pthread/sync/test_locks.c
tests_pthread_sync_test_locks_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_sync_test_locks_LDADD = -lpthread
tests_pthread_init_test_allocator_SOURCES = $(compare) \
	tests/pthread/tasks.h \
	tests/pthread/init/test_allocator.c
tests_pthread_init_test_allocator_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_init_test_allocator_LDADD = -lpthread
tests_pthread_signal_test_altstack_SOURCES = $(compare) \
	tests/pthread/signal/test_altstack.c
tests_pthread_signal_test_altstack_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_altstack_LDADD = -lpthread
tests_pthread_signal_test_blocked_SOURCES = $(compare) tests/pthread/signal/test_blocked.c
tests_pthread_signal_test_blocked_CPPFLAGS = $(compare_CPPFLAGS) \
	-Wno-deprecated-declarations
tests_pthread_signal_test_blocked_LDADD = -lpthread
tests_pthread_test_malloc_SOURCES = $(compare) tests/pthread/test_malloc.c
tests_pthread_test_malloc_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_test_malloc_LDADD = -lpthread
# Its functions are exported, as the linker does with what libc has.
tests_pthread_core_test_names_SOURCES = $(compare) tests/pthread/core/test_names.c
tests_pthread_core_test_names_CPPFLAGS = $(compare_CPPFLAGS) -I$(srcdir)
tests_pthread_core_test_names_CFLAGS = $(AM_CFLAGS) -fno-builtin
tests_pthread_core_test_names_LDFLAGS = $(AM_LDFLAGS) -Wl,-E
tests_pthread_core_test_names_LDADD = -lpthread
tests_pthread_core_test_newer_SOURCES = $(compare) tests/pthread/core/test_newer.c
tests_pthread_core_test_newer_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_test_many_SOURCES = $(compare) tests/pthread/test_many.c
tests_pthread_test_many_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_test_many_LDADD = -lpthread
tests_pthread_io_test_messages_SOURCES = $(compare) tests/pthread/io/test_messages.c
tests_pthread_io_test_messages_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_io_test_messages_LDADD = -lpthread
tests_pthread_process_test_memory_lock_SOURCES = $(compare) \
	tests/pthread/process/test_memory_lock.c
tests_pthread_process_test_memory_lock_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_process_test_memory_lock_LDADD = -lpthread
tests_pthread_signal_test_cancel_SOURCES = $(compare) tests/pthread/signal/test_cancel.c
tests_pthread_signal_test_cancel_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_cancel_LDADD = -lpthread
tests_pthread_signal_test_cancel_async_SOURCES = $(compare) \
	tests/pthread/signal/test_cancel_async.c
tests_pthread_signal_test_cancel_async_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_cancel_async_LDADD = -lpthread
tests_pthread_signal_test_cancel_handler_SOURCES = $(compare) \
	tests/pthread/signal/test_cancel_handler.c
tests_pthread_signal_test_cancel_handler_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_cancel_handler_CFLAGS = $(AM_CFLAGS) -fexceptions
tests_pthread_signal_test_cancel_handler_LDADD = -lpthread
tests_pthread_signal_test_cancel_region_SOURCES = $(compare) \
	tests/pthread/signal/test_cancel_region.c
tests_pthread_signal_test_cancel_region_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_cancel_region_LDADD = -lpthread
tests_pthread_signal_test_cancel_stdio_SOURCES = $(compare) \
	tests/pthread/signal/test_cancel_stdio.c
tests_pthread_signal_test_cancel_stdio_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_cancel_stdio_LDADD = -lpthread
# As a user's program is compiled; arch/ has a syscall.h, and so has the C++ library.
cxx_unit_CPPFLAGS = -D_GNU_SOURCE -I$(srcdir)/include -I$(srcdir)/tests/support
tests_unit_cxx_test_channel_SOURCES = tests/unit/cxx/cxx.h tests/unit/cxx/test_channel.cc
tests_unit_cxx_test_channel_CPPFLAGS = $(cxx_unit_CPPFLAGS)
tests_unit_cxx_test_channel_CXXFLAGS = $(CXX_TEST_FLAGS) $(SANITIZE_CFLAGS)
tests_unit_cxx_test_group_SOURCES = tests/unit/cxx/cxx.h tests/unit/cxx/test_group.cc
tests_unit_cxx_test_group_CPPFLAGS = $(cxx_unit_CPPFLAGS)
tests_unit_cxx_test_group_CXXFLAGS = $(CXX_TEST_FLAGS) $(SANITIZE_CFLAGS)
tests_unit_cxx_test_sync_SOURCES = tests/unit/cxx/cxx.h tests/unit/cxx/test_sync.cc
tests_unit_cxx_test_sync_CPPFLAGS = $(cxx_unit_CPPFLAGS)
tests_unit_cxx_test_sync_CXXFLAGS = $(CXX_TEST_FLAGS) $(SANITIZE_CFLAGS)
tests_unit_cxx_test_thread_SOURCES = tests/unit/cxx/cxx.h tests/unit/cxx/test_thread.cc
tests_unit_cxx_test_thread_CPPFLAGS = $(cxx_unit_CPPFLAGS)
tests_unit_cxx_test_thread_CXXFLAGS = $(CXX_TEST_FLAGS) $(SANITIZE_CFLAGS)
EXTRA_DIST += tests/unit/cxx/modes.cc
# Compiled by tests/tools/test_plan9.sh.
EXTRA_DIST += tests/plan9/lib.c tests/plan9/life.c tests/plan9/note.c tests/plan9/print.c \
	tests/plan9/sieve.c tests/plan9/spawn.c
cxx = $(compare) tests/pthread/cxx.h
tests_pthread_test_cxx_SOURCES = $(cxx) tests/pthread/test_cxx.cc
tests_pthread_test_cxx_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_test_cxx_CXXFLAGS = $(CXX_TEST_FLAGS)
tests_pthread_test_cxx_LDADD = -lpthread
tests_pthread_test_cxx_20_SOURCES = $(cxx) tests/pthread/test_cxx_20.cc
tests_pthread_test_cxx_20_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_test_cxx_20_CXXFLAGS = $(CXX_TEST_FLAGS)
tests_pthread_test_cxx_20_LDADD = -lpthread
tests_pthread_test_cxx_life_SOURCES = $(cxx) tests/pthread/test_cxx_life.cc
tests_pthread_test_cxx_life_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_test_cxx_life_CXXFLAGS = $(CXX_TEST_FLAGS)
tests_pthread_test_cxx_life_LDADD = -lpthread
tests_pthread_test_cxx_sync_SOURCES = $(cxx) tests/pthread/test_cxx_sync.cc
tests_pthread_test_cxx_sync_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_test_cxx_sync_CXXFLAGS = $(CXX_TEST_FLAGS)
tests_pthread_test_cxx_sync_LDADD = -lpthread
tests_pthread_test_openmp_SOURCES = $(compare) \
	tests/pthread/tasks.h tests/pthread/trapped.h \
	tests/pthread/test_openmp.c
tests_pthread_test_openmp_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_test_openmp_LDADD = -lpthread
order_locks = tests/pthread/signal/order_locks.h tests/pthread/signal/order_way.h
tests_pthread_signal_test_order_SOURCES = $(compare) $(order_locks) \
	tests/pthread/signal/order.h tests/pthread/signal/test_order.c
tests_pthread_signal_test_order_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_order_LDADD = -lpthread
tests_pthread_signal_test_order_wake_SOURCES = $(compare) $(order_locks) \
	tests/pthread/signal/test_order_wake.c
tests_pthread_signal_test_order_wake_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_order_wake_LDADD = -lpthread
tests_pthread_signal_test_order_io_SOURCES = $(compare) \
	tests/pthread/signal/order.h tests/pthread/signal/order_way.h \
	tests/pthread/signal/test_order_io.c
tests_pthread_signal_test_order_io_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_order_io_LDADD = -lpthread
tests_pthread_signal_test_handler_forks_SOURCES = $(compare) \
	tests/pthread/signal/test_handler_forks.c
tests_pthread_signal_test_handler_forks_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_handler_forks_LDADD = -lpthread
tests_pthread_signal_test_pending_SOURCES = $(compare) tests/pthread/signal/test_pending.c
tests_pthread_signal_test_pending_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_pending_LDADD = -lpthread
tests_pthread_kthread_test_memory_policy_SOURCES = $(compare) \
	tests/pthread/kthread/test_memory_policy.c
tests_pthread_kthread_test_memory_policy_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_kthread_test_memory_policy_LDADD = -lpthread

tests_pthread_kthread_test_proc_SOURCES = $(compare) tests/pthread/kthread/test_proc.c
tests_pthread_kthread_test_proc_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_kthread_test_proc_LDADD = -lpthread
tests_pthread_process_test_scheduled_SOURCES = $(compare) tests/pthread/tasks.h \
	tests/pthread/process/test_scheduled.c
tests_pthread_process_test_scheduled_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_process_test_scheduled_LDADD = -lpthread
tests_pthread_process_test_unseen_child_SOURCES = $(compare) \
	tests/pthread/process/test_unseen_child.c
tests_pthread_process_test_unseen_child_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_process_test_unseen_child_LDADD = -lpthread
tests_pthread_process_test_process_SOURCES = $(compare) tests/pthread/process/test_process.c
tests_pthread_process_test_process_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_process_test_process_LDADD = -lpthread
tests_pthread_signal_test_quit_SOURCES = $(compare) tests/pthread/tasks.h \
	tests/pthread/signal/test_quit.c
tests_pthread_signal_test_quit_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_quit_LDADD = -lpthread
tests_pthread_kthread_test_real_time_SOURCES = $(compare) tests/pthread/kthread/real_time.h \
	tests/pthread/kthread/test_real_time.c
tests_pthread_kthread_test_real_time_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_kthread_test_real_time_LDADD = -lpthread
tests_pthread_kthread_test_real_time_reach_SOURCES = $(compare) \
	tests/pthread/kthread/real_time.h tests/pthread/kthread/test_real_time_reach.c
tests_pthread_kthread_test_real_time_reach_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_kthread_test_real_time_reach_LDADD = -lpthread
tests_pthread_kthread_test_filter_SOURCES = $(compare) tests/support/own_filter.h \
	tests/support/refused.h tests/support/sandbox.h tests/support/turns.h \
	tests/pthread/kthread/test_filter.c
tests_pthread_kthread_test_filter_CPPFLAGS = $(AM_CPPFLAGS) $(compare_CPPFLAGS)
tests_pthread_kthread_test_filter_LDADD = -lpthread
tests_pthread_kthread_test_refused_SOURCES = $(compare) tests/pthread/kthread/test_refused.c
tests_pthread_kthread_test_refused_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_kthread_test_refused_LDADD = -lpthread
tests_pthread_shared_test_robust_SOURCES = $(compare) tests/pthread/shared/test_robust.c
tests_pthread_shared_test_robust_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_shared_test_robust_LDADD = -lpthread
tests_pthread_kthread_test_sched_attr_SOURCES = $(compare) \
	tests/pthread/kthread/test_sched_attr.c
tests_pthread_kthread_test_sched_attr_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_kthread_test_sched_attr_LDADD = -lpthread
tests_pthread_shared_test_shared_SOURCES = $(compare) tests/pthread/shared/shared.h \
	tests/pthread/shared/test_shared.c
tests_pthread_shared_test_shared_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_shared_test_shared_LDADD = -lpthread
tests_pthread_shared_test_shared_rwlock_SOURCES = $(compare) \
	tests/pthread/shared/test_shared_rwlock.c
tests_pthread_shared_test_shared_rwlock_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_shared_test_shared_rwlock_LDADD = -lpthread
tests_pthread_shared_test_shared_wake_SOURCES = $(compare) tests/pthread/shared/shared.h \
	tests/pthread/tasks.h tests/pthread/shared/test_shared_wake.c
tests_pthread_shared_test_shared_wake_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_shared_test_shared_wake_LDADD = -lpthread
tests_pthread_signal_test_signal_SOURCES = $(compare) tests/pthread/signal/test_signal.c
tests_pthread_signal_test_signal_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_signal_LDADD = -lpthread
tests_pthread_core_test_second_names_SOURCES = $(compare) tests/pthread/tasks.h \
	tests/pthread/core/test_second_names.c
tests_pthread_core_test_second_names_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_core_test_second_names_LDADD = -lpthread
tests_pthread_io_test_sockets_SOURCES = $(compare) tests/pthread/io/test_sockets.c
tests_pthread_io_test_sockets_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_io_test_sockets_LDADD = -lpthread
tests_pthread_kthread_test_thread_id_SOURCES = $(compare) tests/pthread/kthread/test_thread_id.c
tests_pthread_kthread_test_thread_id_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_kthread_test_thread_id_LDADD = -lpthread
tests_pthread_signal_test_thread_timer_SOURCES = $(compare) \
	tests/pthread/signal/test_thread_timer.c
tests_pthread_signal_test_thread_timer_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_signal_test_thread_timer_LDADD = -lpthread
tests_pthread_kthread_test_tied_SOURCES = $(compare) tests/pthread/move.h \
	tests/pthread/kthread/test_tied.c
tests_pthread_kthread_test_tied_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_kthread_test_tied_LDADD = -lpthread
tests_pthread_init_test_tied_process_SOURCES = $(compare) tests/pthread/gate.h \
	tests/pthread/move.h tests/pthread/tasks.h \
	tests/pthread/init/test_tied_process.c
tests_pthread_init_test_tied_process_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_init_test_tied_process_LDADD = -lpthread

tests_unit_os_call_test_filter_SOURCES = tests/support/refused.h \
	tests/support/sandbox.h tests/unit/os/call/test_filter.c
tests_unit_os_call_test_kernels_SOURCES = tests/support/kernels.h \
	tests/support/sandbox.h tests/unit/os/call/test_kernels.c
tests_unit_os_call_test_lacks_SOURCES = tests/support/kernels.h \
	tests/support/sandbox.h tests/unit/os/call/test_lacks.c
tests_pthread_test_kernels_SOURCES = $(compare) tests/support/kernels.h \
	tests/support/sandbox.h tests/pthread/test_kernels.c
tests_pthread_test_kernels_CPPFLAGS = $(AM_CPPFLAGS) $(compare_CPPFLAGS)
tests_pthread_test_kernels_LDADD = -lpthread

# Also compiled by tests/matrix/run, where there is no make.
check_PROGRAMS += tests/matrix/smoke tests/matrix/smoke_shared
tests_matrix_smoke_CPPFLAGS = -D_GNU_SOURCE
tests_matrix_smoke_LDADD = -lpthread -ldl -lrt
tests_matrix_smoke_shared_CPPFLAGS = -D_GNU_SOURCE
tests_matrix_smoke_shared_LDADD = -lpthread -lrt

tests_unit_os_call_test_calls_SOURCES = tests/support/own_filter.h \
	tests/support/refused.h tests/support/sandbox.h \
	tests/unit/os/call/test_calls.c

tests_pthread_test_calls_listed_SOURCES = $(compare) tests/support/own_filter.h \
	tests/support/refused.h tests/support/sandbox.h tests/support/turns.h \
	tests/pthread/test_calls_listed.c
tests_pthread_test_calls_listed_CPPFLAGS = $(AM_CPPFLAGS) $(compare_CPPFLAGS)
tests_pthread_test_calls_listed_LDADD = -lpthread
tests_pthread_test_calls_refused_SOURCES = tests/support/own_filter.h \
	tests/support/refused.h tests/support/sandbox.h tests/support/turns.h \
	tests/pthread/test_calls_refused.c
tests_pthread_test_calls_refused_CPPFLAGS = $(AM_CPPFLAGS)
tests_pthread_test_calls_refused_LDADD = -lpthread

tests_pthread_kthread_test_credentials_SOURCES = $(compare) tests/pthread/gate.h \
	tests/pthread/kthread/test_credentials.c
tests_pthread_kthread_test_credentials_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_kthread_test_credentials_LDADD = -lpthread
tests_pthread_process_test_trace_SOURCES = $(compare) tests/pthread/gate.h \
	tests/pthread/process/test_trace.c
tests_pthread_process_test_trace_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_process_test_trace_LDADD = -lpthread
tests_pthread_init_test_trapped_SOURCES = $(compare) \
	tests/pthread/inline_call.h tests/pthread/tasks.h \
	tests/pthread/trapped.h \
	tests/pthread/init/test_trapped.c
tests_pthread_init_test_trapped_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_init_test_trapped_LDADD = -lpthread
tests_pthread_wait_test_waits_SOURCES = $(compare) tests/pthread/wait/test_waits.c
tests_pthread_wait_test_waits_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_wait_test_waits_LDADD = -lpthread
tests_pthread_io_test_writes_SOURCES = $(compare) tests/pthread/io/test_writes.c
tests_pthread_io_test_writes_CPPFLAGS = $(compare_CPPFLAGS)
tests_pthread_io_test_writes_LDADD = -lpthread

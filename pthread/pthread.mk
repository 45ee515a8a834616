# SPDX-License-Identifier: MIT
# pthread.mk - libweft-pthread.so, which runs a program's pthreads as threads

# By rooms, low to high: each includes and calls only itself and those above it here
# (tools/layers.txt).

# core: a thread's identity; libc's own definitions; the table of functions
pthread_core_sources = \
	pthread/core/above.h \
	pthread/core/answer.h \
	pthread/core/c11.h \
	pthread/core/go.c \
	pthread/core/go.h \
	pthread/core/hold.h \
	pthread/core/prototypes.h \
	pthread/core/real.c \
	pthread/core/real.h \
	pthread/core/second_names.h \
	pthread/core/number.c \
	pthread/core/number.h \
	pthread/core/self.c \
	pthread/core/self.h \
	pthread/core/started.c \
	pthread/core/started.h \
	pthread/core/table.h \
	pthread/core/table_files.h \
	pthread/core/table_ids.h \
	pthread/core/table_io.h \
	pthread/core/time.h

# signal: what interrupts a thread, and where it may
pthread_signal_sources = \
	pthread/signal/altstack.c \
	pthread/signal/altstack.h \
	pthread/signal/cancel.c \
	pthread/signal/cancel.h \
	pthread/signal/exit.c \
	pthread/signal/interrupt.c \
	pthread/signal/interrupt.h \
	pthread/signal/jump.c \
	pthread/signal/lend.h \
	pthread/signal/region.h \
	pthread/signal/room.c \
	pthread/signal/room.h \
	pthread/signal/sigaction.c \
	pthread/signal/sigcall.c \
	pthread/signal/signal.c \
	pthread/signal/signal.h \
	pthread/signal/signal_act.c \
	pthread/signal/signal_back.c \
	pthread/signal/signal_caught.c \
	pthread/signal/signal_fault.c \
	pthread/signal/signal_left.c \
	pthread/signal/signal_list.c \
	pthread/signal/signal_list.h \
	pthread/signal/signal_queue.c \
	pthread/signal/signal_queue.h \
	pthread/signal/signal_tty.c \
	pthread/signal/sigold.c \
	pthread/signal/thread_timer.c \
	pthread/signal/thread_timer.h \
	pthread/signal/unwound.c \
	pthread/signal/unwound.h

# kthread: what the kernel ties to a kernel thread
pthread_kthread_sources = \
	pthread/kthread/affinity.c \
	pthread/kthread/cpu_clock.c \
	pthread/kthread/cpu_clock.h \
	pthread/kthread/filter.c \
	pthread/kthread/filter.h \
	pthread/kthread/kept.c \
	pthread/kthread/kept.h \
	pthread/kthread/memory_policy.c \
	pthread/kthread/name.c \
	pthread/kthread/nice.c \
	pthread/kthread/prctl.c \
	pthread/kthread/proc.c \
	pthread/kthread/proc.h \
	pthread/kthread/proc_text.c \
	pthread/kthread/proc_text.h \
	pthread/kthread/real_time.c \
	pthread/kthread/real_time.h \
	pthread/kthread/sched_attr.c \
	pthread/kthread/schedule.c \
	pthread/kthread/schedule_fork.c \
	pthread/kthread/schedule_lent.c \
	pthread/kthread/schedule.h \
	pthread/kthread/scheduled.c \
	pthread/kthread/thread_id.c \
	pthread/kthread/thread_id.h \
	pthread/kthread/tid_address.c \
	pthread/kthread/tid_address.h \
	pthread/kthread/tied.c \
	pthread/kthread/tied.h

# wait: waiting at an address, for a descriptor, for a time
pthread_wait_sources = \
	pthread/wait/fd_table.c \
	pthread/wait/fd_table.h \
	pthread/wait/fd_wait.c \
	pthread/wait/fd_wait.h \
	pthread/wait/lot.c \
	pthread/wait/lot.h \
	pthread/wait/lot_list.h \
	pthread/wait/lot_thread.h \
	pthread/wait/sigwait.c \
	pthread/wait/sleep.c \
	pthread/wait/sleep.h \
	pthread/wait/socket_wait.c

# shared: what processes share
pthread_shared_sources = \
	pthread/shared/deputy.c \
	pthread/shared/deputy.h \
	pthread/shared/mutex_layout.h \
	pthread/shared/mutex_owner.h \
	pthread/shared/pi.c \
	pthread/shared/pi.h \
	pthread/shared/robust.c \
	pthread/shared/robust.h \
	pthread/shared/robust_end.c \
	pthread/shared/robust_list.h \
	pthread/shared/shared.c \
	pthread/shared/shared.h \
	pthread/shared/watch.c \
	pthread/shared/watch.h \
	pthread/shared/watch_place.h \
	pthread/shared/watch_words.c \
	pthread/shared/watch_words.h \
	pthread/shared/watcher.c

# sync: locks in glibc's layout
pthread_sync_sources = \
	pthread/sync/barrier.c \
	pthread/sync/ceiling.c \
	pthread/sync/ceiling.h \
	pthread/sync/cond.c \
	pthread/sync/cond_shared.c \
	pthread/sync/cond_shared.h \
	pthread/sync/futex.c \
	pthread/sync/futex.h \
	pthread/sync/mutex.c \
	pthread/sync/mutex.h \
	pthread/sync/once.c \
	pthread/sync/rwlock.c \
	pthread/sync/rwlock_layout.h \
	pthread/sync/sem.c \
	pthread/sync/spin.c

# io: calls on descriptors
pthread_io_sources = \
	pthread/io/connect.c \
	pthread/io/disk.c \
	pthread/io/disk.h \
	pthread/io/fd.c \
	pthread/io/file.c \
	pthread/io/filelock.c \
	pthread/io/fortify.c \
	pthread/io/in_region.c \
	pthread/io/io.c \
	pthread/io/io.h \
	pthread/io/kaio.c \
	pthread/io/kaio.h \
	pthread/io/ipc.c \
	pthread/io/mmsg.c \
	pthread/io/open.c \
	pthread/io/owner.c \
	pthread/io/owner.h \
	pthread/io/plain.c \
	pthread/io/plain.h \
	pthread/io/poll.c \
	pthread/io/proc_path.c \
	pthread/io/select.c \
	pthread/io/socket.c \
	pthread/io/splice.c \
	pthread/io/uring.c \
	pthread/io/uring.h

# process: exec, spawn, fork of a program, wait, ptrace
pthread_process_sources = \
	pthread/process/child.c \
	pthread/process/environment.c \
	pthread/process/environment.h \
	pthread/process/memory_lock.c \
	pthread/process/memory_lock.h \
	pthread/process/process.c \
	pthread/process/ptrace.c \
	pthread/process/ptrace.h \
	pthread/process/vfork.c

# thread: a thread's life
pthread_thread_sources = \
	pthread/thread/attr.c \
	pthread/thread/attr.h \
	pthread/thread/c11.c \
	pthread/thread/code_on_stack.c \
	pthread/thread/code_on_stack.h \
	pthread/thread/create.c \
	pthread/thread/create.h \
	pthread/thread/join.c \
	pthread/thread/own_stack.c \
	pthread/thread/own_stack.h

# init: start, fork, what is loaded, syscall()
pthread_init_sources = \
	pthread/init/above.c \
	pthread/init/allocator.c \
	pthread/init/allocator.h \
	pthread/init/atfork.c \
	pthread/init/deepbind.c \
	pthread/init/deepbind.h \
	pthread/init/dlopen.c \
	pthread/init/layout.c \
	pthread/init/layout.h \
	pthread/init/lock_owners.c \
	pthread/init/lock_owners.h \
	pthread/init/sigsys.c \
	pthread/init/start.c \
	pthread/init/start.h \
	pthread/init/syscall.c \
	pthread/init/tied_call.c \
	pthread/init/tied_call.h \
	pthread/init/trapped.c \
	pthread/init/trapped.h \
	pthread/init/unseen.c \
	pthread/init/unseen.h

# One object with the runtime in it: it uses what libweft does not export, and
# a program that is linked with libweft itself has a runtime of its own.
if PRELOAD
lib_LTLIBRARIES += libweft-pthread.la
endif
libweft_pthread_la_SOURCES = \
	$(pthread_core_sources) $(pthread_signal_sources) $(pthread_kthread_sources) \
	$(pthread_wait_sources) $(pthread_shared_sources) $(pthread_sync_sources) \
	$(pthread_io_sources) $(pthread_process_sources) $(pthread_thread_sources) \
	$(pthread_init_sources)
if ARCH_X86_64
libweft_pthread_la_SOURCES += $(x86_64_preload)
endif
if ARCH_AARCH64
libweft_pthread_la_SOURCES += $(aarch64_preload)
endif

# Not AM_CPPFLAGS: the tests have a threads.h too.
libweft_pthread_la_CPPFLAGS = -D_GNU_SOURCE $(WEFT_CPPFLAGS) -I$(srcdir) \
	-I$(srcdir)/runtime -I$(srcdir)/arch -I$(srcdir)/arch/$(weft_cpu) -I$(srcdir)/include
# A function that leaves pthread_once() by an exception must undo it.
# pthread_yield() is deprecated, and used.
libweft_pthread_la_CFLAGS = $(AM_CFLAGS) $(LIBC_CFLAGS) -DWEFTI_INTERPOSES \
	-fexceptions -Wno-deprecated-declarations
libweft_pthread_la_LIBADD = libruntime.la libassembler.la liblibc.la $(URCU_LIBS) \
	-lpthread -ldl
libweft_pthread_la_LDFLAGS = $(SANITIZE_CFLAGS) -shared -module \
	-avoid-version \
	-Wl,--version-script=$(srcdir)/pthread/libweft-pthread.map \
	-Wl,-Bsymbolic-functions -Wl,-z,nodelete -Wl,-z,relro -Wl,-z,now \
	-Wl,--gc-sections -Wl,--sort-section=name
EXTRA_libweft_pthread_la_DEPENDENCIES = pthread/libweft-pthread.map
EXTRA_DIST += pthread/libweft-pthread.map

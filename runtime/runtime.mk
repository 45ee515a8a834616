# SPDX-License-Identifier: MIT
# runtime.mk - what libweft is made of, by layer (see tools/layers.txt)
#
# One line a file, sorted. tools/check-sources fails when one is missing.

include_HEADERS = include/weft.h include/weft.hpp

weftcxxdir = $(includedir)/weft/cxx
weftcxx_HEADERS = \
	include/weft/cxx/channel.hpp \
	include/weft/cxx/condition.hpp \
	include/weft/cxx/error.hpp \
	include/weft/cxx/group.hpp \
	include/weft/cxx/meet.hpp \
	include/weft/cxx/message.hpp \
	include/weft/cxx/mutex.hpp \
	include/weft/cxx/runtime.hpp \
	include/weft/cxx/select.hpp \
	include/weft/cxx/thread.hpp \
	include/weft/cxx/time.hpp \
	include/weft/cxx/trace.hpp

# Programs include them by these names alone: weft 9c and weft-plan9.pc say where.
weftplan9dir = $(includedir)/weft/plan9
weftplan9_HEADERS = \
	include/weft/plan9/libc.h \
	include/weft/plan9/thread.h \
	include/weft/plan9/u.h

weftincludedir = $(includedir)/weft
weftinclude_HEADERS = \
	include/weft/barrier.h \
	include/weft/base.h \
	include/weft/chan.h \
	include/weft/cond.h \
	include/weft/group.h \
	include/weft/io.h \
	include/weft/key.h \
	include/weft/lock.h \
	include/weft/mpi.h \
	include/weft/mutex.h \
	include/weft/net.h \
	include/weft/observe.h \
	include/weft/once.h \
	include/weft/process.h \
	include/weft/reader.h \
	include/weft/runtime.h \
	include/weft/plan9.h \
	include/weft/ring.h \
	include/weft/rwlock.h \
	include/weft/sem.h \
	include/weft/slab.h \
	include/weft/spsc.h \
	include/weft/stack.h \
	include/weft/thread.h \
	include/weft/timer.h \
	include/weft/trace.h

lib_LTLIBRARIES = libweft.la
noinst_LTLIBRARIES = libassembler.la liblibc.la libruntime.la

# L0
base_sources = \
	runtime/base/check.c \
	runtime/base/check.h \
	runtime/base/compiler.h \
	runtime/base/error.c \
	runtime/base/format.c \
	runtime/base/format.h \
	runtime/base/log.c \
	runtime/base/log.h \
	runtime/base/print.c \
	runtime/base/probe.h \
	runtime/base/settings.c \
	runtime/base/settings.h \
	runtime/base/shown.c \
	runtime/base/shown.h

# L1, by rooms, low to high. Assembler is apart, because context.c and context.S
# share an object's name.

# os/call: one wrapper a system call, and the table of them
os_call_sources = \
	runtime/os/call/calls.h \
	runtime/os/call/clock.c \
	runtime/os/call/clock.h \
	runtime/os/call/copy.c \
	runtime/os/call/copy.h \
	runtime/os/call/cpus.c \
	runtime/os/call/cpus.h \
	runtime/os/call/descriptor.c \
	runtime/os/call/descriptor.h \
	runtime/os/call/disk.c \
	runtime/os/call/disk.h \
	runtime/os/call/epoll.c \
	runtime/os/call/epoll.h \
	runtime/os/call/exit.c \
	runtime/os/call/exit.h \
	runtime/os/call/fatal.c \
	runtime/os/call/fatal.h \
	runtime/os/call/filter.c \
	runtime/os/call/filter.h \
	runtime/os/call/fork.c \
	runtime/os/call/fork.h \
	runtime/os/call/futex.c \
	runtime/os/call/futex.h \
	runtime/os/call/lacks.c \
	runtime/os/call/lacks.h \
	runtime/os/call/missing.h \
	runtime/os/call/newer.h \
	runtime/os/call/root.c \
	runtime/os/call/root.h \
	runtime/os/call/shared_file.c \
	runtime/os/call/shared_file.h \
	runtime/os/call/signal_timer.c \
	runtime/os/call/signal_timer.h \
	runtime/os/call/tasks.c \
	runtime/os/call/tasks.h \
	runtime/os/call/tid.c \
	runtime/os/call/tid.h \
	runtime/os/call/vm.c \
	runtime/os/call/vm.h \
	runtime/os/call/write.c \
	runtime/os/call/write.h

# os/libc: libc's own entry points, and what is kept of it at a thread's end
os_libc_sources = \
	runtime/os/libc/allocator.c \
	runtime/os/libc/allocator.h \
	runtime/os/libc/bind.c \
	runtime/os/libc/bind.h \
	runtime/os/libc/kthread_end.c \
	runtime/os/libc/kthread_end.h \
	runtime/os/libc/loaded.c \
	runtime/os/libc/loaded.h \
	runtime/os/libc/named.h \
	runtime/os/libc/process.c \
	runtime/os/libc/process.h \
	runtime/os/libc/process_stack.c \
	runtime/os/libc/process_stack.h \
	runtime/os/libc/real.c \
	runtime/os/libc/real.h \
	runtime/os/libc/thread_end.c \
	runtime/os/libc/thread_end.h

# os/signal: signals, and what is sent by them
os_signal_sources = \
	runtime/os/signal/caught.c \
	runtime/os/signal/caught.h \
	runtime/os/signal/cpu_timer.c \
	runtime/os/signal/cpu_timer.h \
	runtime/os/signal/errand.c \
	runtime/os/signal/errand.h \
	runtime/os/signal/preempt_signal.c \
	runtime/os/signal/retry.c \
	runtime/os/signal/retry.h \
	runtime/os/signal/signal.c \
	runtime/os/signal/signal.h \
	runtime/os/signal/trap.c \
	runtime/os/signal/trap.h

# os/kthread: kernel threads, and their grace periods
os_kthread_sources = \
	runtime/os/kthread/kthread.c \
	runtime/os/kthread/kthread.h \
	runtime/os/kthread/kthread_kept.c \
	runtime/os/kthread/kthread_kept.h \
	runtime/os/kthread/quiescent.c \
	runtime/os/kthread/quiescent.h

# os/object: loaded files, addresses, call stacks
os_object_sources = \
	runtime/os/object/code_on_stack.c \
	runtime/os/object/code_on_stack.h \
	runtime/os/object/dormant.c \
	runtime/os/object/dormant.h \
	runtime/os/object/go.c \
	runtime/os/object/go.h \
	runtime/os/object/objects.c \
	runtime/os/object/objects.h \
	runtime/os/object/program.c \
	runtime/os/object/program.h \
	runtime/os/object/symbols.c \
	runtime/os/object/symbols.h \
	runtime/os/object/text.c \
	runtime/os/object/text.h \
	runtime/os/object/unwind.c \
	runtime/os/object/unwind.h \
	runtime/os/object/unwind_open.c \
	runtime/os/object/unwind_open.h

# os/tls: libc's thread control block and static TLS, for a green thread
os_tls_sources = \
	runtime/os/tls/loader.c \
	runtime/os/tls/loader.h \
	runtime/os/tls/tls.c \
	runtime/os/tls/tls.h \
	runtime/os/tls/tls_check.c \
	runtime/os/tls/tls_image.c \
	runtime/os/tls/tls_image.h \
	runtime/os/tls/tls_kthread.c \
	runtime/os/tls/tls_layout.c \
	runtime/os/tls/tls_layout.h \
	runtime/os/tls/tls_malloc.c \
	runtime/os/tls/tls_malloc.h \
	runtime/os/tls/tls_proof.c \
	runtime/os/tls/tls_proof.h \
	runtime/os/tls/tls_setxid.c \
	runtime/os/tls/tls_setxid.h \
	runtime/os/tls/tp.c \
	runtime/os/tls/tp.h

# Each library has these: the way to libc's functions.
libc_sources = \
	runtime/os/libc/exports.c \
	runtime/os/libc/dynamic.h \
	runtime/os/libc/exports.h \
	runtime/os/libc/libc.c \
	runtime/os/libc/libc.h \
	runtime/os/libc/libc_names.h \
	runtime/os/libc/libc_rename.h

# What all CPUs share.
arch_sources = \
	arch/context.h \
	arch/cpu.h \
	arch/interrupted.h \
	arch/tcb.h \
	arch/tls_above.h \
	arch/valgrind.c \
	arch/wide.h

x86_64_assembler = \
	arch/x86_64/context.S

# Only the preload library has these.
x86_64_preload = \
	arch/x86_64/dlopen.S \
	arch/x86_64/sigsetjmp.S \
	arch/x86_64/vfork.S

x86_64_sources = \
	arch/x86_64/context.c \
	arch/x86_64/cpu.c \
	arch/x86_64/frame.h \
	arch/x86_64/instructions.h \
	arch/x86_64/registers.h \
	arch/x86_64/reloc.h \
	arch/x86_64/signal_frame.h \
	arch/x86_64/syscall.h \
	arch/x86_64/tcb_layout.h \
	arch/x86_64/wide.c \
	arch/x86_64/wide_access.h

aarch64_assembler = \
	arch/aarch64/context.S

aarch64_preload = \
	arch/aarch64/dlopen.S \
	arch/aarch64/sigsetjmp.S \
	arch/aarch64/vfork.S

aarch64_sources = \
	arch/aarch64/context.c \
	arch/aarch64/cpu.c \
	arch/aarch64/frame.h \
	arch/aarch64/instructions.h \
	arch/aarch64/registers.h \
	arch/aarch64/reloc.h \
	arch/aarch64/signal_frame.h \
	arch/aarch64/syscall.h \
	arch/aarch64/tcb_layout.h \
	arch/aarch64/wide.c \
	arch/aarch64/wide_access.h

riscv64_assembler = \
	arch/riscv64/context.S

riscv64_sources = \
	arch/riscv64/context.c \
	arch/riscv64/cpu.c \
	arch/riscv64/frame.h \
	arch/riscv64/instructions.h \
	arch/riscv64/registers.h \
	arch/riscv64/reloc.h \
	arch/riscv64/signal_frame.h \
	arch/riscv64/syscall.h \
	arch/riscv64/tcb_layout.h \
	arch/riscv64/wide.c \
	arch/riscv64/wide_access.h

# L2
lockfree_sources = \
	runtime/lockfree/atomic.c \
	runtime/lockfree/atomic.h \
	runtime/lockfree/atomic_model.h \
	runtime/lockfree/back_off.h \
	runtime/lockfree/coherence.h \
	runtime/lockfree/count.h \
	runtime/lockfree/depot.h \
	runtime/lockfree/fifo.c \
	runtime/lockfree/fifo.h \
	runtime/lockfree/index_stack.c \
	runtime/lockfree/lock.c \
	runtime/lockfree/lock.h \
	runtime/lockfree/pair.h \
	runtime/lockfree/perturb.c \
	runtime/lockfree/perturb.h \
	runtime/lockfree/pointer_stack.c \
	runtime/lockfree/public_stacks.h \
	runtime/lockfree/ready_ring.c \
	runtime/lockfree/ready_ring.h \
	runtime/lockfree/ring.c \
	runtime/lockfree/ring.h \
	runtime/lockfree/slab.h \
	runtime/lockfree/slab_call.c \
	runtime/lockfree/slab_file.c \
	runtime/lockfree/slab_group.c \
	runtime/lockfree/slab_local.c \
	runtime/lockfree/slab_recover.c \
	runtime/lockfree/spsc.c \
	runtime/lockfree/spsc.h

# The recorder's memory
record_sources = \
	runtime/record/format.h \
	runtime/record/memory.c \
	runtime/record/memory.h \
	runtime/record/events.c \
	runtime/record/events.h

# L3
mem_sources = \
	runtime/mem/dense.c \
	runtime/mem/dense.h \
	runtime/mem/slot.c \
	runtime/mem/slot.h \
	runtime/mem/stack.c \
	runtime/mem/stack.h \
	runtime/mem/stack_code.c \
	runtime/mem/stack_code.h \
	runtime/mem/stack_lock.c \
	runtime/mem/stack_lock.h \
	runtime/mem/stack_place.h \
	runtime/mem/stack_trim.c \
	runtime/mem/stack_trim.h

# L4
thread_sources = \
	runtime/thread/bare.c \
	runtime/thread/bare.h \
	runtime/thread/name.c \
	runtime/thread/name.h \
	runtime/thread/peek.h \
	runtime/thread/thread.h \
	runtime/thread/wait.h \
	runtime/thread/why.h

# L5
sched_sources = \
	runtime/sched/again.c \
	runtime/sched/again.h \
	runtime/sched/balance.c \
	runtime/sched/balance.h \
	runtime/sched/blocked.c \
	runtime/sched/blocked.h \
	runtime/sched/busy.c \
	runtime/sched/busy.h \
	runtime/sched/explore.c \
	runtime/sched/explore.h \
	runtime/sched/foreign.c \
	runtime/sched/hold.c \
	runtime/sched/idle.c \
	runtime/sched/idle.h \
	runtime/sched/kthread.c \
	runtime/sched/loop.c \
	runtime/sched/loop.h \
	runtime/sched/monitor.c \
	runtime/sched/monitor.h \
	runtime/sched/on_cpu.c \
	runtime/sched/on_cpu.h \
	runtime/sched/park.c \
	runtime/sched/park.h \
	runtime/sched/park_by.h \
	runtime/sched/policy.h \
	runtime/sched/poller.c \
	runtime/sched/poller.h \
	runtime/sched/preempt.c \
	runtime/sched/preempt.h \
	runtime/sched/ready.c \
	runtime/sched/ready.h \
	runtime/sched/ready_grow.c \
	runtime/sched/ready_grow.h \
	runtime/sched/record.c \
	runtime/sched/record.h \
	runtime/sched/sanitizer.c \
	runtime/sched/sanitizer.h \
	runtime/sched/sample.c \
	runtime/sched/sample.h \
	runtime/sched/scarce.c \
	runtime/sched/scarce.h \
	runtime/sched/seat.c \
	runtime/sched/seat.h \
	runtime/sched/share.c \
	runtime/sched/share.h \
	runtime/sched/slice.c \
	runtime/sched/slice.h \
	runtime/sched/spare.c \
	runtime/sched/spare.h \
	runtime/sched/steal.c \
	runtime/sched/steal.h \
	runtime/sched/summons.c \
	runtime/sched/summons.h \
	runtime/sched/switch.h \
	runtime/sched/stacks.c \
	runtime/sched/stacks.h \
	runtime/sched/stuck.c \
	runtime/sched/stuck.h \
	runtime/sched/timer.c \
	runtime/sched/timer.h \
	runtime/sched/timer_heap.h \
	runtime/sched/timer_wheel.h \
	runtime/sched/vcpu.h

# L6
life_sources = \
	runtime/life/block.c \
	runtime/life/cancel.c \
	runtime/life/exit.c \
	runtime/life/few.h \
	runtime/life/join.c \
	runtime/life/key.c \
	runtime/life/life.h \
	runtime/life/pool.c \
	runtime/life/pool.h \
	runtime/life/spawn.c \
	runtime/life/ticker.c \
	runtime/life/yield.c

# L7
sync_sources = \
	runtime/sync/barrier.c \
	runtime/sync/cond.c \
	runtime/sync/group.c \
	runtime/sync/mutex.c \
	runtime/sync/mutex.h \
	runtime/sync/mutex_age.h \
	runtime/sync/mutex_call.c \
	runtime/sync/mutex_line.c \
	runtime/sync/mutex_line.h \
	runtime/sync/node.c \
	runtime/sync/node.h \
	runtime/sync/once.c \
	runtime/sync/rwlock.c \
	runtime/sync/segment.c \
	runtime/sync/segment.h \
	runtime/sync/sem.c \
	runtime/sync/stock.c \
	runtime/sync/stock.h \
	runtime/sync/waiters.c \
	runtime/sync/waiters.h \
	runtime/sync/waitlist.c \
	runtime/sync/waitlist.h

# L8
chan_sources = \
	runtime/chan/alone.c \
	runtime/chan/buffer.c \
	runtime/chan/buffer.h \
	runtime/chan/buffered.c \
	runtime/chan/call.c \
	runtime/chan/cell.c \
	runtime/chan/cell.h \
	runtime/chan/chan.c \
	runtime/chan/chan.h \
	runtime/chan/chan_wait.c \
	runtime/chan/one.c \
	runtime/chan/one.h \
	runtime/chan/rendezvous.c

io_sources = \
	runtime/io/accept.c \
	runtime/io/call.c \
	runtime/io/call.h \
	runtime/io/disk.c \
	runtime/io/disk.h \
	runtime/io/file.c \
	runtime/io/kernel_call.h \
	runtime/io/make.c \
	runtime/io/message.c \
	runtime/io/lookup.c \
	runtime/io/poll.c \
	runtime/io/process.c \
	runtime/io/read.c \
	runtime/io/reader.c \
	runtime/io/side.c \
	runtime/io/side.h \
	runtime/io/span.h \
	runtime/io/table.c \
	runtime/io/table.h \
	runtime/io/fd_wait.c \
	runtime/io/fd_wait.h \
	runtime/io/write.c

# L9
alt_sources = \
	runtime/alt/alt.c

# L10
observe_sources = \
	runtime/observe/asked.c \
	runtime/observe/asked.h \
	runtime/observe/crash.c \
	runtime/observe/crash.h \
	runtime/observe/cycle.c \
	runtime/observe/cycle.h \
	runtime/observe/deadlock.c \
	runtime/observe/deadlock.h \
	runtime/observe/dump.c \
	runtime/observe/dump.h \
	runtime/observe/figures.c \
	runtime/observe/figures.h \
	runtime/observe/gate.c \
	runtime/observe/gate.h \
	runtime/observe/graph.c \
	runtime/observe/graph.h \
	runtime/observe/groups.c \
	runtime/observe/groups.h \
	runtime/observe/last.c \
	runtime/observe/last.h \
	runtime/observe/layout.c \
	runtime/observe/layout.h \
	runtime/observe/look.c \
	runtime/observe/look.h \
	runtime/observe/marks.c \
	runtime/observe/marks.h \
	runtime/observe/observer.c \
	runtime/observe/observer.h \
	runtime/observe/out.c \
	runtime/observe/out.h \
	runtime/observe/overflow.c \
	runtime/observe/profile.c \
	runtime/observe/profile.h \
	runtime/observe/recording.c \
	runtime/observe/recording.h \
	runtime/observe/overflow.h \
	runtime/observe/requests.c \
	runtime/observe/requests.h \
	runtime/observe/stat.c \
	runtime/observe/tell.c \
	runtime/observe/trace.c \
	runtime/observe/trace.h \
	runtime/observe/view.c \
	runtime/observe/view.h \
	runtime/observe/waiting.c \
	runtime/observe/waiting.h \
	runtime/observe/cycle_watch.c \
	runtime/observe/cycle_watch.h

init_sources = \
	runtime/init/first.c \
	runtime/init/fork.c \
	runtime/init/fork.h \
	runtime/init/start.c \
	runtime/init/start.h \
	runtime/init/stop.c \
	runtime/init/chosen.c \
	runtime/init/chosen.h

libruntime_la_SOURCES = \
	$(base_sources) $(arch_sources) $(os_call_sources) $(os_libc_sources) $(os_signal_sources) \
	$(os_kthread_sources) $(os_object_sources) $(os_tls_sources) \
	$(lockfree_sources) $(record_sources) \
	$(mem_sources) $(thread_sources) $(sched_sources) $(life_sources) $(sync_sources) \
	$(chan_sources) $(io_sources) $(alt_sources) $(observe_sources) \
	$(init_sources)

if ARCH_X86_64
libruntime_la_SOURCES += $(x86_64_sources)
libassembler_la_SOURCES = $(x86_64_assembler)
liblibc_la_SOURCES = $(libc_sources) arch/x86_64/libc_entry.S
endif
if ARCH_AARCH64
libruntime_la_SOURCES += $(aarch64_sources)
libassembler_la_SOURCES = $(aarch64_assembler)
liblibc_la_SOURCES = $(libc_sources) arch/aarch64/libc_entry.S
endif
if ARCH_RISCV64
libruntime_la_SOURCES += $(riscv64_sources)
libassembler_la_SOURCES = $(riscv64_assembler)
liblibc_la_SOURCES = $(libc_sources) arch/riscv64/libc_entry.S
endif

# Not AM_LDFLAGS: with -static there, libtool takes the objects that are not for shared
# libraries.
libassembler_la_LDFLAGS = $(SANITIZE_CFLAGS)
liblibc_la_LDFLAGS = $(SANITIZE_CFLAGS)

# Flags of its own give each object a name of its own.
libruntime_la_CFLAGS = $(AM_CFLAGS) $(LIBC_CFLAGS)
libruntime_la_LDFLAGS = $(SANITIZE_CFLAGS)

libweft_la_SOURCES =
# A runtime whose kernel threads are running cannot be unloaded: nodelete.
libweft_la_LIBADD = libruntime.la libassembler.la liblibc.la $(URCU_LIBS) -lpthread -ldl
libweft_la_LDFLAGS = $(SANITIZE_CFLAGS) -version-info 0:0:0 \
	-Wl,--version-script=$(srcdir)/runtime/libweft.map \
	-Wl,-Bsymbolic-functions -Wl,-z,nodelete -Wl,-z,relro -Wl,-z,now \
	-Wl,--sort-section=name
if !SANITIZE
libweft_la_LDFLAGS += -Wl,-z,defs
endif
EXTRA_libweft_la_DEPENDENCIES = runtime/libweft.map
EXTRA_DIST += runtime/libweft.map

# In place of libatomic.so.1, with or without libweft.
lib_LTLIBRARIES += libweft-atomic.la
libweft_atomic_la_SOURCES = \
	runtime/atomic/flag.c \
	runtime/atomic/generic.c \
	runtime/atomic/names.h \
	runtime/atomic/section.c \
	runtime/atomic/section.h \
	runtime/atomic/sized.c \
	runtime/atomic/small.c \
	runtime/atomic/small.h \
	runtime/lockfree/atomic.c \
	runtime/lockfree/lock.c \
	runtime/lockfree/perturb.c \
	runtime/os/call/fatal.c \
	runtime/os/call/fork.c \
	runtime/os/call/futex.c
if ARCH_X86_64
libweft_atomic_la_SOURCES += arch/x86_64/wide.c
endif
if ARCH_AARCH64
libweft_atomic_la_SOURCES += arch/aarch64/wide.c
endif
if ARCH_RISCV64
libweft_atomic_la_SOURCES += arch/riscv64/wide.c
endif
libweft_atomic_la_LIBADD = liblibc.la
libweft_atomic_la_CFLAGS = $(AM_CFLAGS) $(LIBC_CFLAGS) -ftls-model=initial-exec
libweft_atomic_la_LDFLAGS = $(SANITIZE_CFLAGS) -version-info 0:0:0 \
	-Wl,--version-script=$(srcdir)/runtime/atomic/libweft-atomic.map \
	-Wl,-Bsymbolic-functions -Wl,-z,relro -Wl,-z,now
EXTRA_libweft_atomic_la_DEPENDENCIES = runtime/atomic/libweft-atomic.map
EXTRA_DIST += runtime/atomic/libweft-atomic.map
# gcc knows these functions itself. With -flto it would compare them with its own
# declarations, which have the parameter "weak" that no call passes.
$(libweft_atomic_la_OBJECTS): CFLAGS += -fno-lto

# Included by the compiler and not by a source: objects that were made without it.
$(libruntime_la_OBJECTS) $(libweft_atomic_la_OBJECTS) \
$(libweft_plan9_la_OBJECTS) $(libweft_pthread_la_OBJECTS): \
		$(srcdir)/runtime/os/libc/libc_rename.h

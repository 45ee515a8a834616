# SPDX-License-Identifier: MIT
# pthread.mk - libweft-pthread.so, which runs a program's pthreads as threads

# One object with the runtime in it: it uses what libweft does not export, and
# a program that is linked with libweft itself has a runtime of its own.
if PRELOAD
lib_LTLIBRARIES += libweft-pthread.la
endif
libweft_pthread_la_SOURCES = \
	pthread/affinity.c \
	pthread/allocator.c \
	pthread/allocator.h \
	pthread/altstack.c \
	pthread/altstack.h \
	pthread/atfork.c \
	pthread/attr.c \
	pthread/barrier.c \
	pthread/c11.c \
	pthread/cancel.c \
	pthread/cancel.h \
	pthread/ceiling.c \
	pthread/ceiling.h \
	pthread/child.c \
	pthread/code_on_stack.c \
	pthread/code_on_stack.h \
	pthread/cond.c \
	pthread/cond_shared.c \
	pthread/cond_shared.h \
	pthread/connect.c \
	pthread/cpu_clock.c \
	pthread/cpu_clock.h \
	pthread/create.c \
	pthread/deepbind.c \
	pthread/deepbind.h \
	pthread/deputy.c \
	pthread/deputy.h \
	pthread/disk.c \
	pthread/disk.h \
	pthread/environment.c \
	pthread/environment.h \
	pthread/fd.c \
	pthread/fd.h \
	pthread/file.c \
	pthread/filelock.c \
	pthread/fortify.c \
	pthread/futex.c \
	pthread/given.c \
	pthread/go.c \
	pthread/go.h \
	pthread/given.h \
	pthread/hold.h \
	pthread/interrupt.c \
	pthread/interrupt.h \
	pthread/io.c \
	pthread/io.h \
	pthread/join.c \
	pthread/jump.c \
	pthread/kaio.c \
	pthread/kaio.h \
	pthread/lend.h \
	pthread/lot.c \
	pthread/lot.h \
	pthread/lot_list.h \
	pthread/long.c \
	pthread/memory_lock.c \
	pthread/memory_lock.h \
	pthread/message.c \
	pthread/mmsg.c \
	pthread/mutex.c \
	pthread/mutex.h \
	pthread/mutex_owner.h \
	pthread/nice.c \
	pthread/once.c \
	pthread/owner.c \
	pthread/owner.h \
	pthread/pi.c \
	pthread/pi.h \
	pthread/plain.c \
	pthread/plain.h \
	pthread/poll.c \
	pthread/prctl.c \
	pthread/proc.c \
	pthread/proc.h \
	pthread/proc_path.c \
	pthread/process.c \
	pthread/prototypes.h \
	pthread/ready.c \
	pthread/ready.h \
	pthread/real.c \
	pthread/real.h \
	pthread/real_time.c \
	pthread/real_time.h \
	pthread/region.h \
	pthread/robust.c \
	pthread/robust.h \
	pthread/robust_end.c \
	pthread/robust_list.h \
	pthread/room.c \
	pthread/room.h \
	pthread/rwlock.c \
	pthread/sched_attr.c \
	pthread/schedule.c \
	pthread/schedule.h \
	pthread/second_names.h \
	pthread/select.c \
	pthread/self.c \
	pthread/self.h \
	pthread/sem.c \
	pthread/shared.c \
	pthread/shared.h \
	pthread/sigaction.c \
	pthread/sigcall.c \
	pthread/signal.c \
	pthread/signal.h \
	pthread/signal_act.c \
	pthread/signal_back.c \
	pthread/signal_caught.c \
	pthread/signal_fault.c \
	pthread/signal_left.c \
	pthread/signal_list.c \
	pthread/signal_list.h \
	pthread/signal_queue.c \
	pthread/signal_queue.h \
	pthread/signal_tty.c \
	pthread/sigold.c \
	pthread/sigsys.c \
	pthread/sleep.c \
	pthread/sleep.h \
	pthread/socket.c \
	pthread/socket_wait.c \
	pthread/spin.c \
	pthread/splice.c \
	pthread/start.c \
	pthread/start.h \
	pthread/table.h \
	pthread/table_files.h \
	pthread/table_ids.h \
	pthread/thread_id.c \
	pthread/thread_id.h \
	pthread/thread_timer.c \
	pthread/thread_timer.h \
	pthread/tid_address.c \
	pthread/tied.c \
	pthread/tied.h \
	pthread/time.h \
	pthread/trace.c \
	pthread/trace.h \
	pthread/trapped.c \
	pthread/trapped.h \
	pthread/unwound.c \
	pthread/unwound.h \
	pthread/uring.c \
	pthread/uring.h \
	pthread/vfork.c \
	pthread/watch.c \
	pthread/watch.h \
	pthread/watch_place.h \
	pthread/watch_words.c \
	pthread/watch_words.h \
	pthread/watcher.c
if ARCH_X86_64
libweft_pthread_la_SOURCES += $(x86_64_preload)
endif
if ARCH_AARCH64
libweft_pthread_la_SOURCES += $(aarch64_preload)
endif

# Not AM_CPPFLAGS: the tests have a threads.h too.
libweft_pthread_la_CPPFLAGS = -D_GNU_SOURCE $(WEFT_CPPFLAGS) -I$(srcdir) \
	-I$(srcdir)/runtime -I$(srcdir)/arch/$(weft_cpu) -I$(srcdir)/include
# Who leaves pthread_once() by an exception has to undo it.
# pthread_yield() is deprecated, and used.
libweft_pthread_la_CFLAGS = $(AM_CFLAGS) $(LIBC_CFLAGS) -DWEFTI_INTERPOSES \
	-fexceptions -Wno-deprecated-declarations
libweft_pthread_la_LIBADD = libruntime.la libassembler.la liblibc.la $(URCU_LIBS) \
	-lpthread -ldl
libweft_pthread_la_LDFLAGS = $(SANITIZE_CFLAGS) -shared -module \
	-avoid-version \
	-Wl,--version-script=$(srcdir)/pthread/libweft-pthread.map \
	-Wl,-Bsymbolic-functions -Wl,-z,nodelete -Wl,-z,relro -Wl,-z,now \
	-Wl,--gc-sections
EXTRA_libweft_pthread_la_DEPENDENCIES = pthread/libweft-pthread.map
EXTRA_DIST += pthread/libweft-pthread.map

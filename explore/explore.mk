# SPDX-License-Identifier: MIT
# explore.mk - libweft-explore.so, which says which thread of a program runs next
#
# It stands in front of libc, and is no layer of the runtime's: it is linked
# with nothing of weft's.

if PRELOAD
lib_LTLIBRARIES += libweft-explore.la libweft-points.la
endif
libweft_explore_la_SOURCES = \
	explore/access.h \
	explore/barrier.c \
	explore/c11.c \
	explore/child.c \
	explore/choice.c \
	explore/clock.c \
	explore/cond.c \
	explore/connect.c \
	explore/copies.c \
	explore/cpu.c \
	explore/crash.c \
	explore/descriptor.c \
	explore/descriptor.h \
	explore/explore.h \
	explore/export.h \
	explore/filelock.c \
	explore/fork.c \
	explore/futex.c \
	explore/heap.c \
	explore/hooks.h \
	explore/life.c \
	explore/memory.c \
	explore/message.c \
	explore/mutex.c \
	explore/native.c \
	explore/native.h \
	explore/native_calls.c \
	explore/native_chan.c \
	explore/native_io.c \
	explore/native_memory.c \
	explore/native_time.c \
	explore/named.c \
	explore/object.c \
	explore/once.c \
	explore/pieces.c \
	explore/poll.c \
	explore/race.c \
	explore/race.h \
	explore/real.c \
	explore/real.h \
	explore/report.h \
	explore/rwlock.c \
	explore/schedule.c \
	explore/sem.c \
	explore/send.c \
	explore/signal.c \
	explore/sigwait.c \
	explore/serve.c \
	explore/sites.c \
	explore/spin.c \
	explore/spurious.c \
	explore/stack.c \
	explore/start.c \
	explore/start.h \
	explore/strategy.c \
	explore/stream.c \
	explore/sysv.c \
	explore/tell.c \
	explore/tell_race.c \
	explore/time.c \
	explore/transfer.c
libweft_explore_la_CPPFLAGS = -D_GNU_SOURCE -I$(srcdir)/include -I$(srcdir)/arch -I$(srcdir)/arch/$(weft_cpu)
# A function that leaves pthread_once() by an exception must undo it.
libweft_explore_la_CFLAGS = $(AM_CFLAGS) -fexceptions -Wno-deprecated-declarations
libweft_explore_la_LIBADD = -lpthread -ldl
libweft_explore_la_LDFLAGS = $(SANITIZE_CFLAGS) -shared -module -avoid-version \
	-Wl,--version-script=$(srcdir)/explore/libweft-explore.map \
	-Wl,-Bsymbolic-functions -Wl,-z,nodelete -Wl,-z,relro -Wl,-z,now
EXTRA_libweft_explore_la_DEPENDENCIES = explore/libweft-explore.map
EXTRA_DIST += explore/libweft-explore.map explore/libweft-points.map

# What programs of weft cc and weft c++ are linked with: the hooks of -fsanitize=thread.
libweft_points_la_SOURCES = \
	explore/access.h \
	explore/export.h \
	explore/hooks.h \
	explore/points.c
if ARCH_X86_64
libweft_explore_la_SOURCES += arch/x86_64/wide.c
libweft_points_la_SOURCES += arch/x86_64/wide.c
endif
if ARCH_AARCH64
libweft_explore_la_SOURCES += arch/aarch64/wide.c
libweft_points_la_SOURCES += arch/aarch64/wide.c
endif
libweft_points_la_CPPFLAGS = -D_GNU_SOURCE -I$(srcdir)/arch -I$(srcdir)/arch/$(weft_cpu)
libweft_points_la_CFLAGS = $(CODE_CFLAGS) $(WARN_CFLAGS)
libweft_points_la_LDFLAGS = -shared -avoid-version \
	-Wl,--version-script=$(srcdir)/explore/libweft-points.map \
	-Wl,-Bsymbolic-functions -Wl,-z,relro -Wl,-z,now
EXTRA_libweft_points_la_DEPENDENCIES = explore/libweft-points.map

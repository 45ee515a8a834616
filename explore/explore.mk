# SPDX-License-Identifier: MIT
# explore.mk - libweft-explore.so, which says which thread of a program runs next
#
# It stands in front of libweft-pthread.so, and is no layer of the runtime's: it is linked
# with nothing of weft's.

if PRELOAD
lib_LTLIBRARIES += libweft-explore.la
endif
libweft_explore_la_SOURCES = \
	explore/barrier.c \
	explore/c11.c \
	explore/choice.c \
	explore/cond.c \
	explore/descriptor.c \
	explore/explore.h \
	explore/life.c \
	explore/mutex.c \
	explore/object.c \
	explore/once.c \
	explore/real.c \
	explore/real.h \
	explore/report.h \
	explore/rwlock.c \
	explore/schedule.c \
	explore/sem.c \
	explore/serve.c \
	explore/spin.c \
	explore/start.c \
	explore/start.h \
	explore/strategy.c \
	explore/tell.c \
	explore/time.c
libweft_explore_la_CPPFLAGS = -D_GNU_SOURCE
# A function that leaves pthread_once() by an exception must undo it.
libweft_explore_la_CFLAGS = $(AM_CFLAGS) -fexceptions -Wno-deprecated-declarations
libweft_explore_la_LIBADD = -lpthread -ldl
libweft_explore_la_LDFLAGS = $(SANITIZE_CFLAGS) -shared -module -avoid-version \
	-Wl,--version-script=$(srcdir)/explore/libweft-explore.map \
	-Wl,-Bsymbolic-functions -Wl,-z,nodelete -Wl,-z,relro -Wl,-z,now
EXTRA_libweft_explore_la_DEPENDENCIES = explore/libweft-explore.map
EXTRA_DIST += explore/libweft-explore.map

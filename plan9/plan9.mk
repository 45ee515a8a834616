# SPDX-License-Identifier: MIT
# plan9.mk - libweft-plan9: Plan 9's thread library, on weft

lib_LTLIBRARIES += libweft-plan9.la
libweft_plan9_la_SOURCES = \
	plan9/chan.c \
	plan9/date.c \
	plan9/error.c \
	plan9/exec.c \
	plan9/file.c \
	plan9/fmt.c \
	plan9/format.c \
	plan9/io.c \
	plan9/net.c \
	plan9/note.c \
	plan9/plan9.h \
	plan9/print.c \
	plan9/process.c \
	plan9/random.c \
	plan9/runes.c \
	plan9/sync.c \
	plan9/text.c \
	plan9/thread.c \
	plan9/verbs.c \
	plan9/verbs.h \
	plan9/words.c
libweft_plan9_la_CPPFLAGS = -D_GNU_SOURCE $(WEFT_CPPFLAGS) \
	-I$(srcdir)/include -I$(srcdir)/plan9 -I$(srcdir)/runtime
libweft_plan9_la_CFLAGS = $(AM_CFLAGS) $(LIBC_CFLAGS) -fvisibility=default
libweft_plan9_la_LIBADD = liblibc.la
libweft_plan9_la_LDFLAGS = $(SANITIZE_CFLAGS) -version-info 0:0:0 \
	-Wl,--version-script=$(srcdir)/plan9/libweft-plan9.map \
	-Wl,-Bsymbolic-functions
# libtool would link it once more when it is installed, and refuse another prefix than
# configure's. It is told nothing of libweft, which is found beside this library.
ORIGIN_RUNPATH = -Wl,-rpath,'$$ORIGIN'
if SHARED
libweft_plan9_la_LDFLAGS += -Wl,.libs/libweft.so $(ORIGIN_RUNPATH)
endif
EXTRA_libweft_plan9_la_DEPENDENCIES = libweft.la plan9/libweft-plan9.map
EXTRA_DIST += plan9/libweft-plan9.map

# SPDX-License-Identifier: MIT
# plan9.mk - libweft-plan9: Plan 9's thread library, on weft

lib_LTLIBRARIES += libweft-plan9.la
libweft_plan9_la_SOURCES = \
	plan9/chan.c \
	plan9/io.c \
	plan9/plan9.h \
	plan9/sync.c \
	plan9/thread.c
libweft_plan9_la_CPPFLAGS = -D_GNU_SOURCE $(WEFT_CPPFLAGS) \
	-I$(srcdir)/include -I$(srcdir)/plan9 -I$(srcdir)/runtime
libweft_plan9_la_CFLAGS = $(AM_CFLAGS) $(LIBC_CFLAGS) -fvisibility=default
libweft_plan9_la_LIBADD = libweft.la liblibc.la
libweft_plan9_la_LDFLAGS = $(SANITIZE_CFLAGS) -version-info 0:0:0 \
	-Wl,-Bsymbolic-functions

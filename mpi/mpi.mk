# SPDX-License-Identifier: MIT
# mpi.mk - libweft-mpi: waits for MPI park the thread. One library for each vendor
#
# It is no layer of the runtime's, and is not linked with libweft (mpi/threads.h).

mpi_sources = \
	mpi/call.h \
	mpi/calls.c \
	mpi/finish.c \
	mpi/guests.c \
	mpi/init.c \
	mpi/lock.c \
	mpi/lock.h \
	mpi/look.c \
	mpi/look.h \
	mpi/native.c \
	mpi/receive.c \
	mpi/receive.h \
	mpi/threads.c \
	mpi/threads.h \
	mpi/wait.c \
	mpi/wait.h
# The settings and the lines on standard error, which go past a program's write().
noinst_LTLIBRARIES += libmpibase.la
libmpibase_la_SOURCES = \
	runtime/base/format.c \
	runtime/base/log.c \
	runtime/base/print.c \
	runtime/base/settings.c
libmpibase_la_CFLAGS = $(AM_CFLAGS) $(LIBC_CFLAGS)
libmpibase_la_LDFLAGS = $(SANITIZE_CFLAGS)
libmpibase_la_LIBADD = liblibc.la

mpi_cppflags = -I$(srcdir)/mpi $(AM_CPPFLAGS)
mpi_ldflags = $(SANITIZE_CFLAGS) -shared -avoid-version \
	-Wl,--version-script=$(srcdir)/mpi/libweft-mpi.map -Wl,-z,nodelete -Wl,-z,relro

mpi_pcs =
if OPENMPI
mpi_pcs += weft-mpi-openmpi
lib_LTLIBRARIES += libweft-mpi-openmpi.la
endif
libweft_mpi_openmpi_la_SOURCES = $(mpi_sources)
nodist_libweft_mpi_openmpi_la_SOURCES = mpi/wrappers-openmpi.c
libweft_mpi_openmpi_la_CPPFLAGS = $(mpi_cppflags) $(OPENMPI_CFLAGS) \
	-DWEFT_MPI_VENDOR='"Open MPI"' -DWEFT_MPI_BEGINS='"Open MPI"' \
	-DWEFT_MPI_NAME='"libweft-mpi-openmpi.so"'
libweft_mpi_openmpi_la_CFLAGS = $(AM_CFLAGS)
libweft_mpi_openmpi_la_LDFLAGS = $(mpi_ldflags)
libweft_mpi_openmpi_la_LIBADD = libmpibase.la $(OPENMPI_LIBS) -lpthread
EXTRA_libweft_mpi_openmpi_la_DEPENDENCIES = mpi/libweft-mpi.map

if MPICH
mpi_pcs += weft-mpi-mpich
lib_LTLIBRARIES += libweft-mpi-mpich.la
endif
libweft_mpi_mpich_la_SOURCES = $(mpi_sources)
nodist_libweft_mpi_mpich_la_SOURCES = mpi/wrappers-mpich.c
libweft_mpi_mpich_la_CPPFLAGS = $(mpi_cppflags) $(MPICH_CFLAGS) \
	-DWEFT_MPI_VENDOR='"MPICH"' -DWEFT_MPI_BEGINS='"MPICH"' \
	-DWEFT_MPI_NAME='"libweft-mpi-mpich.so"' -DWEFT_MPI_LARGE \
	-DWEFT_MPI_CALLS_WORLDS_HANDLER
libweft_mpi_mpich_la_CFLAGS = $(AM_CFLAGS)
libweft_mpi_mpich_la_LDFLAGS = $(mpi_ldflags)
libweft_mpi_mpich_la_LIBADD = libmpibase.la $(MPICH_LIBS) -lpthread
EXTRA_libweft_mpi_mpich_la_DEPENDENCIES = mpi/libweft-mpi.map

# weft-mpi.pc is the first of them.
if OPENMPI
mpi_vendor = openmpi
mpi_pcs += weft-mpi
else
mpi_vendor = mpich
if MPICH
mpi_pcs += weft-mpi
endif
endif

# The wrappers of what the vendor's header declares.
make_wrappers = $(MKDIR_P) mpi && echo '\#include <mpi.h>' | \
	$(CPP) $$flags -x c - >$@.i && $(PYTHON3) $(srcdir)/mpi/generate $@.i >$@.tmp && \
	rm -f $@.i && mv $@.tmp $@
mpi/wrappers-openmpi.c: mpi/generate
	$(AM_V_GEN)flags='$(OPENMPI_CFLAGS)'; $(make_wrappers)
mpi/wrappers-mpich.c: mpi/generate
	$(AM_V_GEN)flags='$(MPICH_CFLAGS)'; $(make_wrappers)
CLEANFILES += mpi/wrappers-openmpi.c mpi/wrappers-mpich.c

EXTRA_DIST += mpi/generate mpi/libweft-mpi.map tests/mpi/arguments.c tests/mpi/calls.c \
	tests/mpi/cancelled.c \
	tests/mpi/check.h \
	tests/mpi/errors.c tests/mpi/files.c \
	tests/mpi/native.c tests/mpi/persistent.c tests/mpi/spawned.c \
	tests/mpi/too_long.c \
	tests/mpi/turns.c tests/mpi/others tests/mpi/run tests/mpi/threads.h packaging/weft-mpi.pc.in \
	packaging/weft-mpi-openmpi.pc.in packaging/weft-mpi-mpich.pc.in

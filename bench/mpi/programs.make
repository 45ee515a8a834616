# SPDX-License-Identifier: MIT
# programs.make - the programs of bench-mpi, for each MPI whose compiler is here
#
# make bench calls it in the build folder, with srcdir and FLAGS. The programs of a vendor
# lie in bench/mpi/VENDOR: NAME-pthreads, NAME-tls and NAME-light of one source, where
# libweft-mpi was built, and NAME-alone, with one thread a rank.

here = $(foreach v,openmpi mpich,$(if $(shell command -v mpicc.$v),$v))
here_weft = $(foreach v,$(here),$(if $(wildcard .libs/libweft-mpi-$v.so),$v))
names = heat threads

all: $(foreach v,$(here),bench/mpi/$v/loggp \
		$(foreach n,$(names),bench/mpi/$v/$n-alone bench/mpi/$v/$n-pthreads)) \
	$(foreach v,$(here_weft), \
		$(foreach n,$(names),bench/mpi/$v/$n-light bench/mpi/$v/$n-tls))

examples = $(srcdir)/examples/mpi
ranks = $(examples)/ranks.c $(examples)/ranks.h $(srcdir)/examples/either.h \
	$(srcdir)/bench/mpi/figures.h
heat = $(examples)/heat.c $(examples)/heat.h $(ranks)
compile = @echo "  MPICC    $@"; mkdir -p $(@D) && mpicc.$* $(FLAGS) -D_GNU_SOURCE \
	-I$(srcdir)/examples -I$(srcdir)/include $1 -o $@ $(filter %.c,$^) $2 -lm
pthreads = $(call compile,-DWITH_PTHREADS,-pthread)
tls = $(call compile,$1,-L.libs -Wl$(,)-rpath$(,)$(CURDIR)/.libs \
	-Wl$(,)--no-as-needed -lweft-mpi-$* -lweft)
light = $(call tls,-DEITHER_FLAGS=WEFT_LIGHT)
, := ,

bench/mpi/%/loggp: $(srcdir)/bench/mpi/loggp.c $(ranks)
	$(pthreads)
bench/mpi/%/heat-alone: $(examples)/heat_alone.c $(heat)
	$(pthreads)
bench/mpi/%/heat-pthreads: $(examples)/heat_threads.c $(heat)
	$(pthreads)
bench/mpi/%/heat-tls: $(examples)/heat_threads.c $(heat)
	$(tls)
bench/mpi/%/heat-light: $(examples)/heat_threads.c $(heat)
	$(light)
bench/mpi/%/threads-alone: $(srcdir)/bench/mpi/alone.c $(ranks)
	$(pthreads)
bench/mpi/%/threads-pthreads: $(srcdir)/bench/mpi/threads.c $(ranks)
	$(pthreads)
bench/mpi/%/threads-tls: $(srcdir)/bench/mpi/threads.c $(ranks)
	$(tls)
bench/mpi/%/threads-light: $(srcdir)/bench/mpi/threads.c $(ranks)
	$(light)

.PHONY: all

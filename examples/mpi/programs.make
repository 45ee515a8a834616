# SPDX-License-Identifier: MIT
# programs.make - the programs of several ranks, for each MPI whose compiler is here
#
# The build folder's make examples-mpi calls it there, with srcdir and FLAGS. The
# programs of a vendor lie in examples/mpi/VENDOR. One source makes NAME-weft, with
# weft's threads, where libweft-mpi was built, and NAME-pthreads.

names = heat queens sieve words
here = $(foreach v,openmpi mpich,$(if $(shell command -v mpicc.$v),$v))
here_weft = $(foreach v,$(here),$(if $(wildcard .libs/libweft-mpi-$v.so),$v))

all: $(foreach v,$(here),$(foreach n,heat-alone $(names:=-pthreads),examples/mpi/$v/$n)) \
	$(foreach v,$(here_weft),$(foreach n,$(names:=-weft),examples/mpi/$v/$n))

from = $(addprefix $(srcdir)/examples/,mpi/ranks.c mpi/ranks.h either.h $1)
compile = @echo "  MPICC    $@"; mkdir -p $(@D) && \
	mpicc.$* $(FLAGS) -D_GNU_SOURCE $1 -o $@ $(filter %.c,$^) $2 -lm
pthreads = $(call compile,-DWITH_PTHREADS,-pthread)
weft = $(call compile,-I$(srcdir)/include,-L.libs -Wl$(,)-rpath$(,)$(CURDIR)/.libs \
	-Wl$(,)--no-as-needed -lweft-mpi-$* -lweft)
, := ,

heat = $(call from,mpi/heat.h mpi/heat.c mpi/heat_threads.c)
queens = $(call from,mpi/queens.c)
sieve = $(call from,mpi/sieve.c)
words = $(call from,mpi/words.c wordtable.c wordtable.h)

examples/mpi/%/heat-alone: $(call from,mpi/heat.h mpi/heat.c mpi/heat_alone.c)
	$(pthreads)
examples/mpi/%/heat-pthreads: $(heat)
	$(pthreads)
examples/mpi/%/heat-weft: $(heat)
	$(weft)
examples/mpi/%/queens-pthreads: $(queens)
	$(pthreads)
examples/mpi/%/queens-weft: $(queens)
	$(weft)
examples/mpi/%/sieve-pthreads: $(sieve)
	$(pthreads)
examples/mpi/%/sieve-weft: $(sieve)
	$(weft)
examples/mpi/%/words-pthreads: $(words)
	$(pthreads)
examples/mpi/%/words-weft: $(words)
	$(weft)

.PHONY: all

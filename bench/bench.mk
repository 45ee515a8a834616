# SPDX-License-Identifier: MIT
# bench.mk - benchmarks: one program a question, bench/bench-<name>
#
# make bench builds them; make run-bench BENCH=name runs one with BENCH_ARGS and
# leaves bench/name.json and bench/name.csv.

bench_programs = \
	bench/bench-mutex \
	bench/bench-threads

EXTRA_PROGRAMS += $(bench_programs)
CLEANFILES += $(bench_programs)

bench_sources = \
	bench/bench.h \
	bench/child.c \
	bench/enter.h \
	bench/face.h \
	bench/face_pthreads.h \
	bench/face_weft.h \
	bench/machine.c \
	bench/options.c \
	bench/options.h \
	bench/results.c \
	bench/results.h \
	bench/run.c \
	bench/sample.c \
	bench/sample.h \
	bench/span.h \
	bench/table.c \
	bench/work.h \
	bench/write.c

bench_cppflags = $(AM_CPPFLAGS) -I$(srcdir)/bench

bench_bench_threads_CPPFLAGS = $(bench_cppflags)
bench_bench_threads_LDADD = libweft.la
bench_bench_threads_SOURCES = $(bench_sources) \
	bench/threads/bodies.h \
	bench/threads/forkjoin.h \
	bench/threads/light.c \
	bench/threads/lock.h \
	bench/threads/main.c \
	bench/threads/parked.h \
	bench/threads/pingpong.h \
	bench/threads/pthreads.c \
	bench/threads/spawn.h \
	bench/threads/threads.h \
	bench/threads/tls.c \
	bench/threads/wake.h \
	bench/threads/yield.h

bench_bench_mutex_CPPFLAGS = $(bench_cppflags)
bench_bench_mutex_LDADD = libweft.la
bench_bench_mutex_SOURCES = $(bench_sources) \
	bench/mutex/bodies.h \
	bench/mutex/hogs.c \
	bench/mutex/light.c \
	bench/mutex/main.c \
	bench/mutex/mutex.h \
	bench/mutex/pthreads.c \
	bench/mutex/rho.c \
	bench/mutex/rho.h \
	bench/mutex/spinmutex.c \
	bench/mutex/spinmutex.h \
	bench/mutex/tls.c

bench: $(bench_programs)

list-bench:
	@echo "benchmarks:" $(bench_programs:bench/bench-%=%)

# The commit that was measured: what git says, or this version.
BENCH =
BENCH_ARGS =
run-bench:
	@case " $(bench_programs:bench/bench-%=%) " in \
	*" $(BENCH) "*) ;; \
	*) echo "there is no benchmark '$(BENCH)'; there is:" \
		$(bench_programs:bench/bench-%=%) >&2; exit 1 ;; \
	esac
	@$(MAKE) $(AM_MAKEFLAGS) bench/bench-$(BENCH)$(EXEEXT)
	@commit=`git -C $(srcdir) describe --always --dirty 2>/dev/null` || \
		commit=$(PACKAGE_VERSION); \
	bench/bench-$(BENCH) --json bench/$(BENCH).json \
		--csv bench/$(BENCH).csv --commit "$$commit" $(BENCH_ARGS) && \
	echo "results: `pwd`/bench/$(BENCH).json and .csv"

.PHONY: bench list-bench run-bench

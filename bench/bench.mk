# SPDX-License-Identifier: MIT
# bench.mk - one program a suite; make bench builds them, tools/bench runs them

BENCHES = bench/bench-threads bench/bench-mutex bench/bench-channels \
	bench/bench-echo bench/bench-atomic bench/bench-slab bench/bench-queues \
	bench/bench-litmus bench/bench-locks bench/bench-plan9 \
	bench/bench-mpi bench/bench-preload bench/preload-create bench/preload-echo \
	bench/preload-idle bench/preload-teams
if HAVE_CXX
BENCHES += bench/bench-cxx
endif
EXTRA_PROGRAMS += $(BENCHES)
EXTRA_LIBRARIES += bench/libbench.a
BENCH_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bench

bench_libbench_a_CPPFLAGS = $(BENCH_CPPFLAGS)
bench_libbench_a_SOURCES = \
	bench/ask_go.c bench/ask_go.h bench/bench.h bench/child.c \
	bench/crew.h bench/enter.h bench/face.h \
	bench/face_pthreads.h bench/face_weft.h bench/help.c bench/machine.c \
	bench/options.c bench/options.h bench/results.c bench/results.h \
	bench/run.c bench/sample.c bench/sample.h bench/span.h bench/table.c \
	bench/work.h bench/write.c

bench_bench_threads_CPPFLAGS = $(BENCH_CPPFLAGS)
bench_bench_threads_LDADD = bench/libbench.a libweft.la
bench_bench_threads_SOURCES = \
	bench/threads/beside.h \
	bench/threads/bodies.h bench/threads/forkjoin.h \
	bench/threads/light.c bench/threads/lock.h bench/threads/main.c \
	bench/threads/pairs.h bench/threads/parked.h \
	bench/threads/pingpong.h bench/threads/preload.c \
	bench/threads/pthreads.c bench/threads/sleepers.h \
	bench/threads/spawn.h bench/threads/start.h \
	bench/threads/threads.h bench/threads/tls.c bench/threads/wake.h \
	bench/threads/yield.h

bench_bench_mutex_CPPFLAGS = $(BENCH_CPPFLAGS)
bench_bench_mutex_LDADD = bench/libbench.a libweft.la
bench_bench_mutex_SOURCES = \
	bench/mutex/bodies.h bench/mutex/hogs.c bench/mutex/light.c \
	bench/mutex/main.c bench/mutex/mutex.h bench/mutex/pthreads.c \
	bench/mutex/rho.c bench/mutex/rho.h bench/mutex/spinmutex.c \
	bench/mutex/spinmutex.h bench/mutex/tls.c

bench_bench_echo_CPPFLAGS = $(BENCH_CPPFLAGS)
bench_bench_echo_LDADD = bench/libbench.a libweft.la
bench_bench_echo_SOURCES = \
	bench/echo/drive.c bench/echo/echo.h bench/echo/epoll.c \
	bench/echo/go.c bench/echo/light.c bench/echo/main.c \
	bench/echo/pthreads.c bench/echo/serve.h bench/echo/tls.c

# Programs in Go, where it is; their variants are skipped where it is not.
BENCHES_GO = bench/echo-go bench/channels-go
bench/echo-go: bench/echo/echo.go
	@if command -v go > /dev/null 2>&1; then \
		echo "  GO       $@"; \
		GO111MODULE=off GOFLAGS= go build -o $@ \
			$(srcdir)/bench/echo/echo.go; \
	else \
		echo "There is no Go: $@ is left out."; \
	fi

EXTRA_DIST += bench/echo/echo.go
bench_bench_channels_CPPFLAGS = $(BENCH_CPPFLAGS)
bench_bench_channels_LDADD = bench/libbench.a libweft.la
bench_bench_channels_SOURCES = \
	bench/channels/bodies.h bench/channels/channels.h \
	bench/channels/face_chan.h bench/channels/go.c \
	bench/channels/light.c bench/channels/locked_chan.h \
	bench/channels/main.c bench/channels/pthreads.c \
	bench/channels/skynet.h bench/channels/tls.c

# The Go variant, where there is a Go compiler.
bench/channels-go: bench/channels/go/main.go
	@if command -v go > /dev/null 2>&1; then \
		$(MKDIR_P) bench && GOFLAGS=-mod=mod go build -o $@ \
			$(srcdir)/bench/channels/go/main.go; \
	else \
		echo "no Go compiler: the variant go is left out"; \
	fi

EXTRA_DIST += bench/channels/go/main.go

bench_bench_plan9_CPPFLAGS = $(BENCH_CPPFLAGS)
bench_bench_plan9_LDADD = bench/libbench.a libweft.la
bench_bench_plan9_SOURCES = \
	bench/plan9/bodies.h bench/plan9/light.c bench/plan9/locked.h \
	bench/plan9/main.c bench/plan9/mutexed.h bench/plan9/pacer.h \
	bench/plan9/pthreads.c bench/plan9/talk.h bench/plan9/tls.c

# What it asks for counts: the library again, with atomics that are counted.
BENCHES_COUNTED = bench/plan9-cas
EXTRA_PROGRAMS += $(BENCHES_COUNTED)
EXTRA_LIBRARIES += bench/libcounted.a
bench_libcounted_a_SOURCES = $(libruntime_la_SOURCES)
bench_libcounted_a_CPPFLAGS = $(AM_CPPFLAGS) -DWEFT_COUNT=1
bench_plan9_cas_CPPFLAGS = $(BENCH_CPPFLAGS) -DWEFT_COUNT=1
bench_plan9_cas_LDADD = bench/libbench.a bench/libcounted.a libassembler.la liblibc.la \
	$(URCU_LIBS) -lpthread -ldl
bench_plan9_cas_SOURCES = \
	bench/plan9/bodies.h bench/plan9/cas.c bench/plan9/light.c \
	bench/plan9/locked.h bench/plan9/mutexed.h bench/plan9/pacer.h \
	bench/plan9/pthreads.c bench/plan9/talk.h bench/plan9/tls.c

# Accesses to shared memory are told to a model of caches: the library and the programs
# again. tools/coherence runs them.
COHERENT = bench/coherent-threads bench/coherent-channels bench/coherent-mutex \
	bench/coherent-queues bench/coherent-scale
EXTRA_PROGRAMS += $(COHERENT)
EXTRA_LIBRARIES += bench/libcoherent.a
bench_libcoherent_a_SOURCES = $(libruntime_la_SOURCES) $(bench_libbench_a_SOURCES) \
	bench/coherence/coherence.h bench/coherence/mesi.c bench/coherence/mesi.h \
	bench/coherence/object.c bench/coherence/tell.c bench/coherence/touch.c \
	bench/coherence/turn.c bench/coherence/turn.h bench/coherence/wrap.c
coherent_wraps = $(AM_LDFLAGS) \
	-Wl,--wrap=wefti_os_futex_wait,--wrap=wefti_os_futex_wake \
	-Wl,--wrap=wefti_os_now_ns,--wrap=wefti_os_yield \
	-Wl,--wrap=wefti_os_kthread_is_asleep,--wrap=clock_gettime
COHERENT_CPPFLAGS = $(BENCH_CPPFLAGS) -DWEFT_COHERENCE=1
COHERENT_LIBS = bench/libcoherent.a libassembler.la liblibc.la $(URCU_LIBS) \
	-lpthread -ldl
bench_libcoherent_a_CPPFLAGS = $(COHERENT_CPPFLAGS)
bench_coherent_threads_SOURCES = $(bench_bench_threads_SOURCES)
bench_coherent_threads_CPPFLAGS = $(COHERENT_CPPFLAGS)
bench_coherent_threads_LDADD = $(COHERENT_LIBS)
bench_coherent_threads_LDFLAGS = $(coherent_wraps)
bench_coherent_channels_SOURCES = $(bench_bench_channels_SOURCES)
bench_coherent_channels_CPPFLAGS = $(COHERENT_CPPFLAGS)
bench_coherent_channels_LDADD = $(COHERENT_LIBS)
bench_coherent_channels_LDFLAGS = $(coherent_wraps)
bench_coherent_mutex_SOURCES = $(bench_bench_mutex_SOURCES)
bench_coherent_mutex_CPPFLAGS = $(COHERENT_CPPFLAGS)
bench_coherent_mutex_LDADD = $(COHERENT_LIBS)
bench_coherent_mutex_LDFLAGS = $(coherent_wraps)
bench_coherent_queues_SOURCES = $(bench_bench_queues_SOURCES)
bench_coherent_queues_CPPFLAGS = $(COHERENT_CPPFLAGS) $(QUEUES_CPPFLAGS)
bench_coherent_queues_LDADD = $(QUEUES_LIBS) $(COHERENT_LIBS)
bench_coherent_queues_LDFLAGS = $(coherent_wraps)
bench_coherent_scale_SOURCES = bench/coherence/cases.c bench/coherence/scale.c \
	bench/coherence/scale.h
bench_coherent_scale_CPPFLAGS = $(COHERENT_CPPFLAGS)
bench_coherent_scale_LDADD = $(COHERENT_LIBS)
bench_coherent_scale_LDFLAGS = $(coherent_wraps)
coherent: $(COHERENT)

# Programs for pthreads, which know nothing of weft, and the suite that runs
# them and other programs.
bench_bench_preload_CPPFLAGS = $(BENCH_CPPFLAGS)
bench_bench_preload_LDADD = bench/libbench.a
bench_bench_preload_SOURCES = \
	bench/echo/drive.c bench/echo/echo.h bench/preload/fixed.c \
	bench/preload/main.c bench/preload/own.c bench/preload/preload.h \
	bench/preload/run.c bench/preload/servers.c
bench_preload_create_LDADD = -lpthread
bench_preload_create_SOURCES = bench/preload/create.c
bench_preload_echo_LDADD = -lpthread
bench_preload_echo_SOURCES = bench/preload/echo.c
bench_preload_teams_SOURCES = bench/preload/teams.c
bench_preload_idle_LDADD = -lpthread
bench_preload_idle_SOURCES = bench/preload/idle.c

# Programs of two ranks, which the compilers of MPI build, and the suite that runs them.
bench_bench_mpi_CPPFLAGS = $(BENCH_CPPFLAGS)
bench_bench_mpi_LDADD = bench/libbench.a
bench_bench_mpi_SOURCES = bench/mpi/main.c
BENCHES_MPI = bench-mpi-programs
bench-mpi-programs: $(lib_LTLIBRARIES)
	@$(MAKE) -f $(srcdir)/bench/mpi/programs.make srcdir=$(srcdir) \
		FLAGS='$(CODE_CFLAGS) $(WARN_CFLAGS)'
clean-bench-mpi:
	rm -rf bench/mpi/openmpi bench/mpi/mpich
clean-local: clean-bench-mpi
EXTRA_DIST += bench/mpi/alone.c bench/mpi/figures.h bench/mpi/loggp.c \
	bench/mpi/programs.make bench/mpi/threads.c

bench_bench_atomic_CPPFLAGS = $(BENCH_CPPFLAGS)
bench_bench_atomic_LDADD = bench/libbench.a libweft-atomic.la -lpthread -ldl
bench_bench_atomic_SOURCES = \
	bench/atomic/locked.c bench/atomic/main.c bench/atomic/object.c \
	bench/atomic/stack.h

bench_bench_slab_CPPFLAGS = $(BENCH_CPPFLAGS)
bench_bench_slab_LDADD = bench/libbench.a libweft.la -lpthread -ldl
bench_bench_slab_SOURCES = \
	bench/slab/allocs.h bench/slab/lists.c bench/slab/main.c \
	bench/slab/peers.c bench/slab/uslab.c

bench_bench_locks_CPPFLAGS = $(BENCH_CPPFLAGS)
bench_bench_locks_LDADD = bench/libbench.a libweft.la -lpthread
bench_bench_locks_SOURCES = \
	bench/locks/bodies.h bench/locks/futex.c bench/locks/light.c \
	bench/locks/locks.h bench/locks/main.c bench/locks/pthreads.c \
	bench/locks/table.c bench/locks/tls.c

bench_bench_litmus_CPPFLAGS = $(BENCH_CPPFLAGS)
bench_bench_litmus_LDADD = bench/libbench.a libweft.la -lpthread
bench_bench_litmus_SOURCES = \
	bench/litmus/litmus.h bench/litmus/main.c bench/litmus/tests.c

# What weft.hpp costs over C; prints a table.
bench_bench_cxx_SOURCES = bench/cxx/main.cc
bench_bench_cxx_CPPFLAGS = -D_GNU_SOURCE -I$(srcdir)/include -I$(srcdir)/bench
bench_bench_cxx_CXXFLAGS = $(CXX_TEST_FLAGS)
bench_bench_cxx_LDADD = bench/libbench.a libweft.la

# Peers that configure has not found are skipped.
bench_bench_queues_CPPFLAGS = $(BENCH_CPPFLAGS) $(QUEUES_CPPFLAGS)
bench_bench_queues_LDADD = bench/libbench.a libweft.la $(QUEUES_LIBS) \
	-lpthread -ldl
bench_bench_queues_SOURCES = \
	bench/queues/boost.c bench/queues/ck.c bench/queues/green.c \
	bench/queues/locked.c bench/queues/main.c bench/queues/nodes.c \
	bench/queues/queues.h bench/queues/urcu.c bench/queues/weft.c

# In C++, where Boost is.
BENCHES_CXX = bench/queues-boost.so
bench/queues-boost.so: bench/queues/boost.cc
	@if test -n "$(BENCH_CXX)"; then \
		echo "  CXX      $@"; \
		$(MKDIR_P) bench && $(BENCH_CXX) -O2 -g -fPIC -shared \
			-o $@ $(srcdir)/bench/queues/boost.cc; \
	else \
		echo "no Boost.Lockfree: $@ is left out"; \
	fi

EXTRA_DIST += bench/queues/boost.cc
EXTRA_DIST += tools/coherence tools/bench tools/bench-explore tools/bench-goals tools/bench-report tools/bench-report.css \
	tools/bench_draw.py tools/bench_pictures.py tools/bench_results.py \
	tools/bench_suites.py tools/demo tools/demo-mpi tools/plot-bench
CLEANFILES += $(BENCHES) $(BENCHES_GO) $(BENCHES_CXX) $(BENCHES_COUNTED) $(COHERENT) bench/libcoherent.a bench/libbench.a bench/libcounted.a bench/*.json bench/*.csv \
	bench/*.svg bench/*.pdf bench/*.txt bench/report.html

.PHONY: bench coherent bench-mpi-programs clean-bench-mpi list-bench run-bench demo demo-mpi
bench: $(BENCHES) $(BENCHES_GO) $(BENCHES_CXX) $(BENCHES_COUNTED) $(BENCHES_MPI)

list-bench:
	@$(srcdir)/tools/bench --list

# BENCH_ARGS goes to the program: make run-bench BENCH=mutex BENCH_ARGS=--quick
run-bench: $(BENCHES) $(BENCHES_GO) $(BENCHES_CXX) $(BENCHES_COUNTED) $(BENCHES_MPI)
	@$(srcdir)/tools/bench --build . "$(BENCH)" $(BENCH_ARGS)

demo: $(BENCHES) examples/wordfreq examples/wordfreq-pthreads
	@$(srcdir)/tools/demo --build .

demo-mpi: bench/bench-mpi cli/weft bench-mpi-programs
	@$(srcdir)/tools/demo-mpi --build .

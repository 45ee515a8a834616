# SPDX-License-Identifier: MIT
# examples.mk - programs that show what weft is for; make examples builds them

EXAMPLES = examples/hello examples/pingpong examples/pingpong-pthreads \
	examples/wordfreq examples/wordfreq-pthreads examples/samples \
	examples/crew examples/echo examples/httpd examples/sieve \
	examples/philosophers examples/hashtree examples/depbuild \
	examples/buffers examples/bank examples/notes examples/chat examples/lines examples/atonce \
	examples/shop
EXTRA_PROGRAMS += $(EXAMPLES)
CLEANFILES += $(EXAMPLES)

examples_hello_SOURCES = examples/hello.c
examples_hello_LDADD = libweft.la

# A program with faults, which doc/seeing.md finds.
examples_shop_SOURCES = examples/shop.c
examples_shop_LDADD = libweft.la

# In C++.
if HAVE_CXX
EXAMPLES += examples/pipeline
endif
examples_pipeline_SOURCES = examples/pipeline.cc
examples_pipeline_CPPFLAGS = -D_GNU_SOURCE -I$(srcdir)/include
examples_pipeline_CXXFLAGS = $(CXX_TEST_FLAGS) $(SANITIZE_CFLAGS)
examples_pipeline_LDADD = libweft.la

# Channels: a row of filters, forks, a pipeline, a graph, a chat server.
examples_sieve_SOURCES = examples/sieve.c
examples_sieve_LDADD = libweft.la
examples_philosophers_SOURCES = examples/philosophers.c
examples_philosophers_LDADD = libweft.la
examples_hashtree_SOURCES = examples/hashtree.c
examples_hashtree_LDADD = libweft.la
examples_depbuild_SOURCES = examples/depbuild.c
examples_depbuild_LDADD = libweft.la
examples_chat_SOURCES = examples/chat.c examples/chat.h \
	examples/chatclient.c examples/chatroom.c examples/server.c \
	examples/server.h
examples_chat_LDADD = libweft.la

# Two processes and a ring between them; no runtime.
examples_samples_SOURCES = examples/samples.c
examples_samples_LDADD = libweft.la

# Groups: two threads a connection, and a stop with a deadline.
examples_lines_SOURCES = examples/lines.c examples/server.c examples/server.h
examples_lines_LDADD = libweft.la

examples_echo_SOURCES = examples/echo.c examples/server.c examples/server.h
examples_echo_LDADD = libweft.la

examples_httpd_SOURCES = examples/httpd.c examples/httprequest.c \
	examples/httprequest.h examples/server.c examples/server.h
examples_httpd_LDADD = libweft.la
# Plain pthreads and a ring between them; no runtime.
examples_crew_SOURCES = examples/crew.c
examples_crew_LDADD = libweft.la -lpthread

# For Plan 9's thread library; weft 9c compiles it too.
examples_atonce_SOURCES = examples/atonce.c
examples_atonce_CPPFLAGS = -I$(srcdir)/include/weft/plan9 -I$(srcdir)/include
examples_atonce_LDADD = libweft-plan9.la libweft.la

# Plain pthreads and a stack of buffers.
examples_buffers_SOURCES = examples/buffers.c
examples_buffers_LDADD = libweft.la -lpthread

# Locks in memory that processes share; objects in a file.
examples_bank_SOURCES = examples/bank.c
examples_bank_LDADD = libweft.la -lpthread
examples_notes_SOURCES = examples/notes.c
examples_notes_LDADD = libweft.la

# The same source twice; the second knows nothing of weft.
examples_pingpong_SOURCES = examples/pingpong.c examples/either.h
examples_pingpong_LDADD = libweft.la
examples_pingpong_pthreads_SOURCES = $(examples_pingpong_SOURCES)
examples_pingpong_pthreads_CPPFLAGS = -D_GNU_SOURCE -DWITH_PTHREADS
examples_pingpong_pthreads_CFLAGS = $(AM_CFLAGS) -pthread
examples_pingpong_pthreads_LDADD =

examples_wordfreq_SOURCES = examples/wordfreq.c examples/wordtable.c \
	examples/wordtable.h examples/either.h
examples_wordfreq_LDADD = libweft.la
examples_wordfreq_pthreads_SOURCES = $(examples_wordfreq_SOURCES)
examples_wordfreq_pthreads_CPPFLAGS = -D_GNU_SOURCE -DWITH_PTHREADS
examples_wordfreq_pthreads_CFLAGS = $(AM_CFLAGS) -pthread
examples_wordfreq_pthreads_LDADD =

# Programs with a bug that depends on the order of threads: weft explore finds it.
EXTRA_DIST += examples/buggy/aget.c examples/buggy/pbzip2.c
EXTRA_DIST += examples/buggy/atomicity.c examples/buggy/deadlock.c \
	examples/buggy/destroyed.c examples/buggy/double_unlock.c \
	examples/buggy/lost_wakeup.c examples/buggy/native.c examples/buggy/native_race.c \
	examples/buggy/order.c examples/buggy/race.c

# Programs of several ranks. The compilers of MPI build them.
EXTRA_DIST += examples/mpi/heat.c examples/mpi/heat.h examples/mpi/heat_alone.c \
	examples/mpi/heat_threads.c examples/mpi/programs.make examples/mpi/queens.c \
	examples/mpi/ranks.c examples/mpi/ranks.h examples/mpi/sieve.c \
	examples/mpi/words.c tests/mpi/test_examples.sh

.PHONY: examples-mpi clean-examples-mpi
examples-mpi:
	@$(MAKE) -f $(srcdir)/examples/mpi/programs.make srcdir=$(srcdir) \
		FLAGS='$(CODE_CFLAGS) $(WARN_CFLAGS)'
clean-examples-mpi:
	rm -rf examples/mpi/openmpi examples/mpi/mpich
clean-local: clean-examples-mpi

# The programs of doc/guide.md.
GUIDE = examples/guide/01_hello examples/guide/02_many \
	examples/guide/03_results examples/guide/04_mutex \
	examples/guide/05_channels examples/guide/06_alt \
	examples/guide/07_deadlines examples/guide/08_groups \
	examples/guide/09_sockets examples/guide/10_blocking \
	examples/guide/11_hang examples/guide/12_chat
EXAMPLES += $(GUIDE)
examples_guide_01_hello_SOURCES = examples/guide/01_hello.c
examples_guide_01_hello_LDADD = libweft.la
examples_guide_02_many_SOURCES = examples/guide/02_many.c
examples_guide_02_many_LDADD = libweft.la
examples_guide_03_results_SOURCES = examples/guide/03_results.c
examples_guide_03_results_LDADD = libweft.la
examples_guide_04_mutex_SOURCES = examples/guide/04_mutex.c
examples_guide_04_mutex_LDADD = libweft.la
examples_guide_05_channels_SOURCES = examples/guide/05_channels.c
examples_guide_05_channels_LDADD = libweft.la
examples_guide_06_alt_SOURCES = examples/guide/06_alt.c
examples_guide_06_alt_LDADD = libweft.la
examples_guide_07_deadlines_SOURCES = examples/guide/07_deadlines.c
examples_guide_07_deadlines_LDADD = libweft.la
examples_guide_08_groups_SOURCES = examples/guide/08_groups.c
examples_guide_08_groups_LDADD = libweft.la
examples_guide_09_sockets_SOURCES = examples/guide/09_sockets.c
examples_guide_09_sockets_LDADD = libweft.la
examples_guide_10_blocking_SOURCES = examples/guide/10_blocking.c
examples_guide_10_blocking_LDADD = libweft.la -lpthread
examples_guide_11_hang_SOURCES = examples/guide/11_hang.c
examples_guide_11_hang_LDADD = libweft.la
examples_guide_12_chat_SOURCES = examples/guide/12_chat.c
examples_guide_12_chat_LDADD = libweft.la
# The programs in the manual pages of section 3, one for a few functions of a header.
# make-man finds a page's by what it calls. Each ends with 0 if its result is right, and
# the tests run it. They are linked as the tests are.
manual_examples = \
	examples/manual/barrier \
	examples/manual/base \
	examples/manual/chan \
	examples/manual/chan_alt \
	examples/manual/cond \
	examples/manual/group \
	examples/manual/io \
	examples/manual/io_file \
	examples/manual/io_wait \
	examples/manual/key \
	examples/manual/lock \
	examples/manual/mutex \
	examples/manual/net \
	examples/manual/net_message \
	examples/manual/net_name \
	examples/manual/observe \
	examples/manual/once \
	examples/manual/plan9 \
	examples/manual/process \
	examples/manual/reader \
	examples/manual/ring \
	examples/manual/runtime \
	examples/manual/runtime_block \
	examples/manual/rwlock \
	examples/manual/sem \
	examples/manual/slab \
	examples/manual/slab_file \
	examples/manual/spsc \
	examples/manual/stack \
	examples/manual/stack_index \
	examples/manual/thread \
	examples/manual/thread_cancel \
	examples/manual/thread_end \
	examples/manual/thread_sleep \
	examples/manual/timer \
	examples/manual/trace
EXTRA_PROGRAMS += $(manual_examples)
examples_manual_plan9_CPPFLAGS = -I$(srcdir)/include/weft/plan9 -I$(srcdir)/include
examples_manual_plan9_LDADD = libweft-plan9.la libweft.la
CLEANFILES += $(manual_examples)

# The manual refers to these.
examplesdir = $(docdir)/examples
dist_examples_DATA = examples/pipeline.cc
manualdir = $(examplesdir)/manual
# Where there is an MPI, tests/mpi/run compiles the last.
dist_manual_DATA = $(manual_examples:=.c) examples/manual/mpi.c

.PHONY: examples
examples: $(EXAMPLES) $(manual_examples)

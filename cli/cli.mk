# SPDX-License-Identifier: MIT
# cli.mk - the weft command

# weft loads libc alone, so weft run starts soon. It runs weft-tools for the commands that
# need other libraries.
bin_PROGRAMS += cli/weft
pkglibexec_PROGRAMS = cli/weft-tools
cli_weft_SOURCES = cli/main.c
cli_weft_tools_SOURCES = cli/tools_main.c
noinst_LIBRARIES += cli/libcli.a
cli_libcli_a_SOURCES = \
	cli/ask.c \
	cli/check.c \
	cli/cli.h \
	cli/compile.c \
	cli/core.c \
	cli/core_file.c \
	cli/core_file.h \
	cli/core_threads.c \
	cli/descriptor.c \
	cli/descriptor.h \
	cli/dump.c \
	cli/elf.c \
	cli/explain.c \
	cli/explain.h \
	cli/explore.c \
	cli/explore.h \
	cli/explore_begin.c \
	cli/explore_columns.c \
	cli/explore_found.c \
	cli/explore_lines.c \
	cli/explore_points.c \
	cli/explore_process.c \
	cli/explore_replay.c \
	cli/explore_runs.c \
	cli/explore_search.c \
	cli/explore_shrink.c \
	cli/figures.c \
	cli/figures.h \
	cli/help.c \
	cli/libraries.c \
	cli/listen.c \
	cli/maps.c \
	cli/numbers.c \
	cli/picture.c \
	cli/place.c \
	cli/prometheus.c \
	cli/run.c \
	cli/screen.c \
	cli/shown.c \
	cli/stat.c \
	cli/symbols.c \
	cli/tools.c \
	cli/top.c \
	cli/trace/attach.c \
	cli/trace/child.c \
	cli/trace/chrome.c \
	cli/trace/collect.c \
	cli/trace/command.c \
	cli/trace/command.h \
	cli/trace/drain.c \
	cli/trace/drain.h \
	cli/trace/job.c \
	cli/trace/job.h \
	cli/trace/latency.c \
	cli/trace/file.c \
	cli/trace/recording.c \
	cli/trace/recording.h \
	cli/trace/stack.c \
	cli/trace/stack.h \
	cli/trace/story.c \
	cli/trace/story.h \
	cli/trace/tell.h \
	cli/trace/tell_switch.c \
	cli/trace/tell_thread.c \
	cli/trace/tell_vcpu.c \
	cli/trace/text.c \
	cli/trace/threads.c \
	cli/trace/threads.h \
	cli/trace/words.c \
	cli/trace/words.h \
	cli/trace/writer.h
cli_libcli_a_CPPFLAGS = -D_GNU_SOURCE -I$(srcdir) -I$(srcdir)/cli \
	-I$(srcdir)/runtime -I$(srcdir)/include \
	-I$(srcdir)/arch -I$(srcdir)/arch/$(weft_cpu) \
	-DWEFT_LIBDIR='"$(libdir)"' -DWEFT_INCLUDEDIR='"$(includedir)"' \
	-DWEFT_TOOLSDIR='"$(pkglibexecdir)"' \
	-DWEFT_HAS_PRELOAD=$(has_preload) -DWEFT_HAS_PERFETTO=$(has_perfetto) \
	-DWEFT_HAS_CURSES=$(has_curses) -DWEFT_HAS_PROFILE=$(has_profile) \
	-DWEFT_LIBDIR_FROM_BINDIR="\"`realpath -ms --relative-to='$(bindir)' '$(libdir)'`\"" \
	-DWEFT_INCLUDEDIR_FROM_BINDIR="\"`realpath -ms --relative-to='$(bindir)' '$(includedir)'`\"" \
	-DWEFT_TOOLSDIR_FROM_BINDIR="\"`realpath -ms --relative-to='$(bindir)' '$(pkglibexecdir)'`\""
cli_weft_CPPFLAGS = $(cli_libcli_a_CPPFLAGS)
cli_weft_tools_CPPFLAGS = $(cli_libcli_a_CPPFLAGS)
if PRELOAD
has_preload = 1
else
has_preload = 0
endif
if CURSES
has_curses = 1
else
has_curses = 0
endif
cli_weft_LDADD = cli/libcli.a libruntime.la libassembler.la liblibc.la $(URCU_LIBS)
cli_weft_tools_LDADD = $(cli_weft_LDADD) $(CURSES_LIBS)

# Perfetto's format: code that protobuf-c makes.
nodist_cli_libcli_a_SOURCES =
EXTRA_DIST += cli/trace/perfetto.proto cli/trace/perfetto.c
if PERFETTO
has_perfetto = 1
cli_libcli_a_SOURCES += cli/trace/perfetto.c
nodist_cli_libcli_a_SOURCES += cli/trace/perfetto.pb-c.c
cli_libcli_a_CPPFLAGS += -Icli/trace
cli_weft_tools_LDADD += $(PROTOBUF_C_LIBS)
CLEANFILES += cli/trace/perfetto.pb-c.c cli/trace/perfetto.pb-c.h
cli/trace/perfetto.pb-c.c: cli/trace/perfetto.proto
	$(AM_V_GEN)$(MKDIR_P) cli/trace && $(PROTOC_C) --proto_path=$(srcdir)/cli/trace \
		--c_out=cli/trace $(srcdir)/cli/trace/perfetto.proto
cli/trace/perfetto.pb-c.h: cli/trace/perfetto.pb-c.c
cli/trace/libcli_a-perfetto.$(OBJEXT): cli/trace/perfetto.pb-c.h
else
has_perfetto = 0
endif

# Profiles: the calls in a stack are found by libdw, and pprof's format is protobuf's.
profile_sources = \
	cli/profile/command.c \
	cli/profile/folded.c \
	cli/profile/gather.c \
	cli/profile/pprof.c \
	cli/profile/profile.h \
	cli/profile/table.c \
	cli/profile/unwind.c
EXTRA_DIST += cli/profile/profile.proto $(profile_sources)
if PROFILE
has_profile = 1
cli_libcli_a_SOURCES += $(profile_sources)
nodist_cli_libcli_a_SOURCES += cli/profile/profile.pb-c.c
cli_libcli_a_CPPFLAGS += -Icli/profile
cli_weft_tools_LDADD += $(PROFILE_LIBS)
CLEANFILES += cli/profile/profile.pb-c.c cli/profile/profile.pb-c.h
cli/profile/profile.pb-c.c: cli/profile/profile.proto
	$(AM_V_GEN)$(MKDIR_P) cli/profile && $(PROTOC_C) --proto_path=$(srcdir)/cli/profile \
		--c_out=cli/profile $(srcdir)/cli/profile/profile.proto
cli/profile/profile.pb-c.h: cli/profile/profile.pb-c.c
cli/profile/libcli_a-pprof.$(OBJEXT): cli/profile/profile.pb-c.h
else
has_profile = 0
endif

# Where bash-completion and zsh look for them.
bashcompdir = $(datadir)/bash-completion/completions
dist_bashcomp_DATA = cli/completion/weft
zshcompdir = $(datadir)/zsh/site-functions
dist_zshcomp_DATA = cli/completion/_weft

# gdb reads it with the library, from the first folder; users name the second (source).
EXTRA_DIST += cli/gdb/weft-gdb.py
local_data += install-gdb
local_data_removed += uninstall-gdb
gdb_scripts = "$(DESTDIR)$(datadir)/gdb/auto-load$(libdir)"
with_shared = for name in `sed -n "s/^library_names='\([^ ']*\).*/\1/p" libweft.la`
if PRELOAD
with_shared += libweft-pthread.so
endif
install-gdb:
	@$(MKDIR_P) "$(DESTDIR)$(pkgdatadir)" $(gdb_scripts)
	$(INSTALL_DATA) $(srcdir)/cli/gdb/weft-gdb.py "$(DESTDIR)$(pkgdatadir)"
	@$(with_shared); do \
		$(INSTALL_DATA) $(srcdir)/cli/gdb/weft-gdb.py $(gdb_scripts)/$$name-gdb.py || exit; \
	done
uninstall-gdb:
	rm -f "$(DESTDIR)$(pkgdatadir)/weft-gdb.py"
	$(with_shared); do rm -f $(gdb_scripts)/$$name-gdb.py; done
.PHONY: install-gdb uninstall-gdb

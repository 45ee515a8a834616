# SPDX-License-Identifier: MIT
# cli.mk - the weft command

bin_PROGRAMS += cli/weft
cli_weft_SOURCES = \
	cli/check.c \
	cli/cli.h \
	cli/compile.c \
	cli/core.c \
	cli/dump.c \
	cli/elf.c \
	cli/main.c \
	cli/place.c \
	cli/run.c \
	cli/symbols.c
cli_weft_CPPFLAGS = -D_GNU_SOURCE -I$(srcdir) -I$(srcdir)/cli \
	-I$(srcdir)/runtime -I$(srcdir)/include \
	-DWEFT_LIBDIR='"$(libdir)"' -DWEFT_INCLUDEDIR='"$(includedir)"' \
	-DWEFT_HAS_PRELOAD=$(has_preload) \
	-DWEFT_LIBDIR_FROM_BINDIR="\"`realpath -ms --relative-to='$(bindir)' '$(libdir)'`\"" \
	-DWEFT_INCLUDEDIR_FROM_BINDIR="\"`realpath -ms --relative-to='$(bindir)' '$(includedir)'`\""
if PRELOAD
has_preload = 1
else
has_preload = 0
endif
cli_weft_LDADD = libruntime.la libassembler.la liblibc.la $(URCU_LIBS)

# Where bash-completion and zsh look for them.
bashcompdir = $(datadir)/bash-completion/completions
dist_bashcomp_DATA = cli/completion/weft
zshcompdir = $(datadir)/zsh/site-functions
dist_zshcomp_DATA = cli/completion/_weft

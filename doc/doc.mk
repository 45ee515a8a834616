# SPDX-License-Identifier: MIT
# doc.mk - manual pages: section 3 is made from the public headers

dist_man_MANS = doc/man/weft.1 doc/man/weft.7 doc/man/weft-atomic.7 \
	doc/man/weft-calls.7 doc/man/weft-cxx.7 doc/man/weft-mpi.7 doc/man/weft-plan9.7

# Made from pthread/core/table.h.
if HAVE_PYTHON3
man_MANS = doc/man/weft-pthread.7

doc/man/weft-pthread.7: pthread/core/table.h pthread/core/table_files.h pthread/core/table_ids.h \
		pthread/core/table_io.h \
		tools/make-pthread-man
	$(AM_V_GEN)$(MKDIR_P) doc/man && \
	$(PYTHON3) $(srcdir)/tools/make-pthread-man $(srcdir) >$@.new && \
	mv $@.new $@
endif
CLEANFILES += doc/man/weft-pthread.7
EXTRA_DIST += tools/make-pthread-man

man3dir = $(mandir)/man3
man3_stamp = doc/man/man3.stamp

if HAVE_PYTHON3
local_all += $(man3_stamp)

$(man3_stamp): $(include_HEADERS) $(weftinclude_HEADERS) $(dist_manual_DATA) CHANGES \
		tools/make-man tools/headers.py
	$(AM_V_GEN)rm -rf doc/man/man3 && \
	$(PYTHON3) $(srcdir)/tools/make-man $(srcdir) doc/man/man3 && \
	touch $@

local_data += install-man3
local_data_removed += uninstall-man3

install-man3: $(man3_stamp)
	$(MKDIR_P) "$(DESTDIR)$(man3dir)"
	$(INSTALL_DATA) doc/man/man3/*.3 "$(DESTDIR)$(man3dir)"

uninstall-man3:
	$(PYTHON3) $(srcdir)/tools/make-man --list $(srcdir) | \
	while read -r page; do rm -f "$(DESTDIR)$(man3dir)/$$page"; done
endif

clean-man:
	rm -rf doc/man/man3 $(man3_stamp)

EXTRA_DIST += doc/abi.md doc/bench.md doc/coming-from-go.md doc/coming-from-plan9.md \
	doc/coming-from-pthreads.md doc/guide.md doc/limits.md doc/pictures doc/porting.md \
	doc/explore.md doc/seeing.md \
	doc/design tools/make-man tools/headers.py

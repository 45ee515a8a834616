# SPDX-License-Identifier: MIT
# packaging.mk - how other programs find an installed weft, or the one in this build

pkgconfigdir = $(libdir)/pkgconfig
pc_templates = packaging/weft.pc.in packaging/weft-atomic.pc.in packaging/weft-plan9.pc.in
EXTRA_DIST += $(pc_templates)

# fill PREFIX, LIBDIR, INCLUDEDIR: what is below the prefix is named by it.
fill = sed -e "s|%prefix%|$$prefix|" -e "s|%libdir%|$$libdir|" \
	-e "s|%includedir%|$$includedir|" -e 's|%version%|$(PACKAGE_VERSION)|' \
	-e 's|%libs%|$(URCU_LIBS) -lpthread -ldl $(LIBC_LIBS)|' \
	-e "/^prefix=/!s|=$$prefix/|=\$${prefix}/|"

# At the time of the install, so that make install prefix=DIR writes DIR.
local_data += install-pc
install-pc:
	@$(MKDIR_P) "$(DESTDIR)$(pkgconfigdir)"
	@prefix="$(prefix)" libdir="$(libdir)" includedir="$(includedir)"; \
	for pc in $(pc_templates); do \
		to="$(DESTDIR)$(pkgconfigdir)/`basename $$pc .in`"; \
		echo " install $$to"; $(fill) $(srcdir)/$$pc >"$$to" && \
		chmod 644 "$$to" || exit; \
	done

local_data_removed += uninstall-pc
uninstall-pc:
	for pc in $(pc_templates); do \
		rm -f "$(DESTDIR)$(pkgconfigdir)/`basename $$pc .in`"; done

# pkg-config takes NAME-uninstalled.pc for NAME, if PKG_CONFIG_PATH names this folder.
local_all += weft-uninstalled.pc
weft-uninstalled.pc: $(pc_templates) Makefile
	$(AM_V_GEN)prefix="$(abs_top_builddir)" libdir="$(abs_top_builddir)/.libs" \
	includedir="$(abs_top_srcdir)/include"; \
	for pc in weft-atomic weft-plan9 weft; do \
		$(fill) $(srcdir)/packaging/$$pc.pc.in >$$pc-uninstalled.pc || exit; \
	done
CLEANFILES += weft-uninstalled.pc weft-atomic-uninstalled.pc weft-plan9-uninstalled.pc
.PHONY: install-pc uninstall-pc

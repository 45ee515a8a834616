# SPDX-License-Identifier: MIT
# packaging.mk - how other programs find an installed weft, or the one in this build

pkgconfigdir = $(libdir)/pkgconfig
cmakedir = $(libdir)/cmake/weft
pc_templates = packaging/weft.pc.in packaging/weft-atomic.pc.in packaging/weft-plan9.pc.in \
	$(mpi_pcs:%=packaging/%.pc.in)
cmake_templates = packaging/weftConfig.cmake.in packaging/weftConfigVersion.cmake.in
EXTRA_DIST += $(pc_templates) $(cmake_templates)

# By the shell's $$prefix, $$libdir, $$includedir and $$from_lib. What is below the prefix
# is named by it.
fill = sed -e "s|%prefix%|$$prefix|" -e "s|%libdir%|$$libdir|" \
	-e "s|%includedir%|$$includedir|" -e "s|%include_from_lib%|$$from_lib|" \
	-e 's|%mpi%|$(mpi_vendor)|' -e 's|%version%|$(PACKAGE_VERSION)|' \
	-e 's|%libs%|$(URCU_LIBS) -lpthread -ldl $(LIBC_LIBS)|' \
	-e "/^prefix=/!s|=$$prefix/|=\$${prefix}/|"

# At the time of the install, so that make install prefix=DIR writes DIR.
local_data += install-filled
install-filled:
	@$(MKDIR_P) "$(DESTDIR)$(pkgconfigdir)" "$(DESTDIR)$(cmakedir)"
	@prefix="$(prefix)" libdir="$(libdir)" includedir="$(includedir)"; \
	from_lib=`realpath -ms --relative-to="$$libdir" "$$includedir"`; \
	for f in $(pc_templates) $(cmake_templates); do \
		case $$f in \
		*.pc.in) to="$(DESTDIR)$(pkgconfigdir)" ;; \
		*) to="$(DESTDIR)$(cmakedir)" ;; \
		esac; \
		to=$$to/`basename $$f .in`; \
		echo " install $$to"; \
		$(fill) $(srcdir)/$$f >"$$to" && chmod 644 "$$to" || exit; \
	done

local_data_removed += uninstall-filled
uninstall-filled:
	for f in $(pc_templates); do \
		rm -f "$(DESTDIR)$(pkgconfigdir)/`basename $$f .in`"; done
	for f in $(cmake_templates); do \
		rm -f "$(DESTDIR)$(cmakedir)/`basename $$f .in`"; done

# pkg-config takes NAME-uninstalled.pc for NAME, if PKG_CONFIG_PATH names this folder.
local_all += weft-uninstalled.pc
weft-uninstalled.pc: $(pc_templates) Makefile
	$(AM_V_GEN)prefix="$(abs_top_builddir)" libdir="$(abs_top_builddir)/.libs" \
	includedir="$(abs_top_srcdir)/include"; \
	for pc in weft-atomic weft-plan9 $(mpi_pcs) weft; do \
		$(fill) $(srcdir)/packaging/$$pc.pc.in >$$pc-uninstalled.pc || exit; \
	done
CLEANFILES += weft-uninstalled.pc weft-atomic-uninstalled.pc weft-plan9-uninstalled.pc \
	$(mpi_pcs:%=%-uninstalled.pc)
.PHONY: install-filled uninstall-filled

EXTRA_DIST += packaging/weft.spec \
	debian/changelog \
	debian/control \
	debian/copyright \
	debian/libweft-atomic0.install \
	debian/libweft-atomic0.symbols \
	debian/libweft-dev.docs \
	debian/libweft-dev.install \
	debian/libweft-plan9-0.install \
	debian/libweft-plan9-0.symbols \
	debian/libweft0.install \
	debian/libweft0.lintian-overrides \
	debian/libweft0.symbols \
	debian/not-installed \
	debian/rules \
	debian/source/format \
	debian/tests/control \
	debian/tests/installed \
	debian/weft.install \
	debian/weft.lintian-overrides

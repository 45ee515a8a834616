# SPDX-License-Identifier: MIT
# tools.mk - lints, and what the build runs

EXTRA_DIST += \
	tools/check-api \
	tools/check-headers \
	tools/check-layers \
	tools/check-pairs \
	tools/check-sources \
	tools/layers.txt \
	tools/run-full \
	tools/run-tests

# In the order in which a reader wants to hear of faults.
lint: all
	$(srcdir)/tools/check-sources $(srcdir)
	$(srcdir)/tools/check-layers $(srcdir)
	cd $(srcdir) && tools/check-pairs
	$(srcdir)/tools/check-headers $(srcdir)
	$(srcdir)/tools/check-api $(srcdir) .libs/libweft.so doc/man/man3
.PHONY: lint

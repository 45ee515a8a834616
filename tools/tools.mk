# SPDX-License-Identifier: MIT
# tools.mk - lints, and what the build runs

EXTRA_DIST += \
	tools/check-abi \
	tools/check-api \
	tools/check-calls \
	tools/check-commits \
	tools/check-dist \
	tools/check-headers \
	tools/check-layers \
	tools/check-manual \
	tools/check-pairs \
	tools/check-prose \
	tools/check-pthread \
	tools/check-relocs \
	tools/check-snippets \
	tools/check-sources \
	tools/check-writers \
	tools/c_code.py \
	tools/c_words.py \
	tools/cross-root \
	tools/layers.txt \
	tools/matrix tools/matrix_root.sh \
	tools/mutants.py \
	tools/mutate \
	tools/mutate-survivors \
	tools/mutate_models.py \
	tools/mutate_tests.py \
	tools/prose.txt \
	tools/run-full \
	tools/run-ladder \
	tools/run-mpi-suite \
	tools/run-posix-suite \
	tools/run-tests \
	tools/trips \
	tools/vm

# Each is a target of its own, so that make -k lint shows the faults of all.
lint: lint-sources lint-layers lint-pairs lint-writers lint-headers \
	lint-calls lint-abi lint-api lint-manual lint-pthread lint-relocs lint-prose \
	lint-snippets lint-commits lint-dist

lint-sources:
	@$(srcdir)/tools/check-sources $(srcdir)

lint-layers: $(lib_LTLIBRARIES)
	@$(srcdir)/tools/check-layers $(srcdir) .

lint-pairs:
	@cd $(srcdir) && tools/check-pairs

lint-writers:
	@cd $(srcdir) && tools/check-writers

lint-calls:
	@$(srcdir)/tools/check-calls

lint-prose:
	@cd $(srcdir) && tools/check-prose

lint-snippets:
	@$(srcdir)/tools/check-snippets

lint-commits:
	@$(srcdir)/tools/check-commits $(srcdir)

lint-dist:
	@for f in $(DISTFILES); do echo $$f; done >dist.list
	@$(srcdir)/tools/check-dist $(srcdir) dist.list
CLEANFILES += dist.list

lint-headers:
	@$(srcdir)/tools/check-headers $(srcdir)

lint-api: libweft.la $(man3_stamp)
	@$(srcdir)/tools/check-api $(srcdir) .libs/libweft.so doc/man/man3

lint-manual: $(man3_stamp) $(man_MANS)
	@$(srcdir)/tools/check-manual $(srcdir) doc/man $(dist_examples_DATA) \
		$(dist_manual_DATA)

if SHARED
lint-abi: libweft.la libweft-plan9.la libweft-atomic.la
	@$(srcdir)/tools/check-abi $(srcdir) .libs
else
lint-abi:
endif

if PRELOAD
lint-pthread: libweft-pthread.la
	@$(srcdir)/tools/check-pthread $(srcdir) .libs/libweft-pthread.so
else
lint-pthread:
endif

# A sanitizer has to see the calls: there they go by name.
if SANITIZE
lint-relocs:
else
lint-relocs: $(lib_LTLIBRARIES)
	@$(srcdir)/tools/check-relocs $(lib_LTLIBRARIES:%.la=.libs/%.so) .libs/libweft.a
endif

.PHONY: lint lint-sources lint-layers lint-pairs lint-writers lint-headers \
	lint-calls lint-abi lint-api lint-manual lint-pthread lint-relocs lint-prose \
	lint-snippets lint-commits lint-dist

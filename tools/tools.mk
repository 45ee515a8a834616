# SPDX-License-Identifier: MIT
# tools.mk - lints, and what the build runs

EXTRA_DIST += tools/run-tests

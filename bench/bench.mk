# SPDX-License-Identifier: MIT
# bench.mk - one program a question; make bench builds them all

# SPDX-License-Identifier: MIT
# examples.mk - programs that show what weft is for

# SPDX-License-Identifier: MIT
# cli.mk - the weft command

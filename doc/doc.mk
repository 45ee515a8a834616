# SPDX-License-Identifier: MIT
# doc.mk - manual pages

/* SPDX-License-Identifier: MIT */
/*
 * pthread/wait/fd_table.c - what is remembered about descriptors, by their numbers
 *
 * Writers
 *   wefti_pt_fds  wefti_pt_fd_doubt, wefti_pt_fd_note
 */
#include "pthread/wait/fd_table.h"

_Atomic uint8_t wefti_pt_fds[WEFTI_FD_MOST] TABLE;

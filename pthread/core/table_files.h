/* SPDX-License-Identifier: MIT */
/*
 * pthread/core/table_files.h - the part of pthread/core/table.h with a path argument
 *
 * All are here for the files of a green thread in /proc (pthread/kthread/proc.h).
 */
#ifndef WEFT_PTHREAD_CORE_TABLE_FILES_H
#define WEFT_PTHREAD_CORE_TABLE_FILES_H

#define WEFTI_TABLE_FILES(OURS, LIBC, PLANNED) \
	/* io/proc_path.c */ \
	OURS(fopen, "knows a green thread's files in /proc") \
	OURS(opendir, "knows a green thread's files in /proc") \
	OURS(stat, "knows a green thread's files in /proc") \
	OURS(lstat, "knows a green thread's files in /proc") \
	OURS(fstatat, "knows a green thread's files in /proc") \
	OURS(__xstat, "old headers turn stat() into this") \
	OURS(__lxstat, "old headers turn lstat() into this") \
	OURS(__fxstatat, "old headers turn fstatat() into this") \
	OURS(statx, "knows a green thread's files in /proc") \
	OURS(access, "knows a green thread's files in /proc") \
	OURS(faccessat, "knows a green thread's files in /proc") \
	OURS(readlink, "knows a green thread's files in /proc") \
	OURS(readlinkat, "knows a green thread's files in /proc")

#endif

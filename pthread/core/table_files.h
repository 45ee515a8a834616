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
	OURS(fopen, "of a green thread's files in /proc") \
	OURS(opendir, "the same") \
	OURS(stat, "the same") \
	OURS(lstat, "the same") \
	OURS(fstatat, "the same") \
	OURS(__xstat, "what old headers make of stat()") \
	OURS(__lxstat, "what old headers make of lstat()") \
	OURS(__fxstatat, "what old headers make of fstatat()") \
	OURS(statx, "the same") \
	OURS(access, "the same") \
	OURS(faccessat, "the same") \
	OURS(readlink, "the same") \
	OURS(readlinkat, "the same")

#endif

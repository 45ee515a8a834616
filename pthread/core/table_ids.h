/* SPDX-License-Identifier: MIT */
/* pthread/core/table_ids.h - the part of pthread/core/table.h with an id argument */
#ifndef WEFT_PTHREAD_CORE_TABLE_IDS_H
#define WEFT_PTHREAD_CORE_TABLE_IDS_H

#define WEFTI_TABLE_IDS(OURS, LIBC, PLANNED) \
	/* kthread/thread_id.c */ \
	OURS(tgkill, "") \
	OURS(getpgid, "of a green thread's id: the process's") \
	OURS(setpgid, "of a green thread's id: EINVAL, as of any that is not the first") \
	OURS(getsid, "of a green thread's id: the process's") \
	OURS(prlimit, "the same") \
	OURS(prlimit64, "the same") \
	OURS(process_vm_readv, "the same") \
	OURS(process_vm_writev, "the same") \
	OURS(capget, "the same") \
	OURS(pidfd_open, "of a green thread's id: as of any that is not the first")

#endif

/* SPDX-License-Identifier: MIT */
/* pthread/core/table_ids.h - the part of pthread/core/table.h with an id argument */
#ifndef WEFT_PTHREAD_CORE_TABLE_IDS_H
#define WEFT_PTHREAD_CORE_TABLE_IDS_H

#define WEFTI_TABLE_IDS(OURS, LIBC, PLANNED) \
	/* kthread/thread_id.c */ \
	OURS(tgkill, "") \
	OURS(pthread_gettid_np, "what gettid() says in that thread") \
	OURS(getpgid, "a green thread's id stands for the process") \
	OURS(setpgid, \
		"EINVAL for a green thread's id, as for each but the first thread's") \
	OURS(getsid, "a green thread's id stands for the process") \
	OURS(prlimit, "a green thread's id stands for the process") \
	OURS(prlimit64, "a green thread's id stands for the process") \
	OURS(process_vm_readv, "a green thread's id stands for the process") \
	OURS(process_vm_writev, "a green thread's id stands for the process") \
	OURS(capget, "a green thread's id stands for the process") \
	OURS(pidfd_open, \
		"a green thread's id: the kernel's error for any but the first thread")

#endif

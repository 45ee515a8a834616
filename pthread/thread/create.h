/* SPDX-License-Identifier: MIT */
/* pthread/thread/create.h - a thread begins and ends */
#ifndef WEFT_PTHREAD_THREAD_CREATE_H
#define WEFT_PTHREAD_THREAD_CREATE_H

/* In the child of a fork: there are no other threads. */
void wefti_create_forget(void);

#endif

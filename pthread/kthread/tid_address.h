/* SPDX-License-Identifier: MIT */
/* pthread/kthread/tid_address.h - the word that is cleared when a thread has ended */
#ifndef WEFT_PTHREAD_KTHREAD_TID_ADDRESS_H
#define WEFT_PTHREAD_KTHREAD_TID_ADDRESS_H

/* The caller's word. */
int *wefti_tid_address(void);
void wefti_tid_address_set(int *address);

/*
 * Called when the thread's function has returned: clears the word. Returns the word, at
 * which threads may wait in the lot; or NULL.
 */
int *wefti_tid_address_end(void);

#endif

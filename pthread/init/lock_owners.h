/* SPDX-License-Identifier: MIT */
/* pthread/init/lock_owners.h - dumps learn which thread owns a lock of the program's */
#ifndef WEFT_PTHREAD_INIT_LOCK_OWNERS_H
#define WEFT_PTHREAD_INIT_LOCK_OWNERS_H

void wefti_lock_owners_begin(void);

#endif

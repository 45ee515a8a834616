/* SPDX-License-Identifier: MIT */
/* pthread/io/owner.h - descriptors that send their signal to a green thread */
#ifndef WEFT_PTHREAD_IO_OWNER_H
#define WEFT_PTHREAD_IO_OWNER_H

#include <signal.h>
#include <stdint.h>

/* The commands of fcntl() about owners. Returns 1 if it is done. */
int wefti_owner_control(int fd, int command, void *arg, int *result);

/* Called by the receiver: a descriptor has sent this signal. */
void wefti_owner_signalled(const siginfo_t *info);

void wefti_owners_forget(void);		/* in the child of a fork */

#endif

/* SPDX-License-Identifier: MIT */
/* pthread/thread/code_on_stack.h - executable stacks, for programs that ask for them */
#ifndef WEFT_PTHREAD_THREAD_CODE_ON_STACK_H
#define WEFT_PTHREAD_THREAD_CODE_ON_STACK_H

/* If a library was loaded that asks for executable stacks: makes all stacks so. */
void wefti_code_on_stack(void);

/* A library may be loaded that the last look has not seen. */
void wefti_code_on_stack_again(void);

#endif

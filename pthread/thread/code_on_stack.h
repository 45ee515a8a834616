/* SPDX-License-Identifier: MIT */
/* pthread/thread/code_on_stack.h - code may run on stacks where a program asks for it */
#ifndef WEFT_PTHREAD_THREAD_CODE_ON_STACK_H
#define WEFT_PTHREAD_THREAD_CODE_ON_STACK_H

/* If something was loaded: sees whether it asks for it, and has it so everywhere. */
void wefti_code_on_stack(void);

/* Something may come that the last look has not seen. */
void wefti_code_on_stack_again(void);

#endif

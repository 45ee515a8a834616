/* SPDX-License-Identifier: MIT */
/* pthread/init/code_on_stack.h - code may run on stacks where a program asks for it */
#ifndef WEFT_PTHREAD_INIT_CODE_ON_STACK_H
#define WEFT_PTHREAD_INIT_CODE_ON_STACK_H

/* If something was loaded: sees whether it asks for it, and has it so everywhere. */
void wefti_code_on_stack(void);

#endif

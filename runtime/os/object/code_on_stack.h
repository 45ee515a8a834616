/* SPDX-License-Identifier: MIT */
/* os/object/code_on_stack.h - does the program ask for stacks on which code may run? */
#ifndef WEFT_OS_OBJECT_CODE_ON_STACK_H
#define WEFT_OS_OBJECT_CODE_ON_STACK_H

/* Does it, or a library that is loaded now? Takes a lock of the loader. */
int wefti_os_code_on_stack(void);

#endif

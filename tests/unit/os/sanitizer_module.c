/* SPDX-License-Identifier: MIT */
/* sanitizer_module.c - a library that looks like a sanitizer's */

void __msan_init(void);

void __msan_init(void)
{
}

/* SPDX-License-Identifier: MIT */
/* futex_handlers.h - cases of test_futex.c: handlers run while a thread waits */
#ifndef WEFT_TESTS_FUTEX_HANDLERS_H
#define WEFT_TESTS_FUTEX_HANDLERS_H

void a_handler_ends_the_wait(void);
void any_handler_ends_a_wait_in_time(void);
void others_go_on_after_some_handlers(void);
void also_after_many_wakes_of_nobody(void);

#endif

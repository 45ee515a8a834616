/* SPDX-License-Identifier: MIT */
/* watchdog.h - ends a test that hangs, and says where everything stood */
#ifndef WEFT_TESTS_WATCHDOG_H
#define WEFT_TESTS_WATCHDOG_H

/* Starts the watchdog's kernel thread; 0 seconds: there is none. */
void wefti_test_watchdog_start(double seconds);

/* A case begins: it has the full time, and this name in a report. */
void wefti_test_watchdog_case(const char *suite, const char *name);

/* Has it begun to report? Then the program will be ended. */
int wefti_test_watchdog_is_over(void);

/* Behind the last case: if it has, waits for that. */
void wefti_test_watchdog_await(void);

#endif

/* SPDX-License-Identifier: MIT */
/* cli/trace/words.h - words for what events say */
#ifndef WEFT_CLI_TRACE_WORDS_H
#define WEFT_CLI_TRACE_WORDS_H

#include <stdint.h>

/* "waits for mutex": how a thread has left its VCPU, from WEFTI_LEFT_WAITS on. */
const char *trace_wait_words(uint32_t left);

/* "woken": enum wefti_event_ready. */
const char *trace_ready_words(uint32_t detail);

#endif

/* SPDX-License-Identifier: MIT */
/* observe/requests.h - what another process can ask for */
#ifndef WEFT_OBSERVE_REQUESTS_H
#define WEFT_OBSERVE_REQUESTS_H

/*
 * Called by the observer: writes the answer to the request into fd, which nobody may
 * read. The request is "WORD" or "WORD ARGUMENTS". An unknown word is answered too.
 */
void wefti_request_answer(const char *request, int fd);

#endif

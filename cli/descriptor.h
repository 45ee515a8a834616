/* SPDX-License-Identifier: MIT */
/* cli/descriptor.h - what a descriptor of another process is */
#ifndef WEFT_CLI_DESCRIPTOR_H
#define WEFT_CLI_DESCRIPTOR_H

#include <stddef.h>

/*
 * Writes in words what fd of the process is: "TCP 127.0.0.1:80 -> 127.0.0.1:40000", "pipe",
 * a file's name. Returns 0 if that is not known.
 */
int weft_cli_descriptor(long pid, int fd, char *text, size_t bytes);

#endif

/* SPDX-License-Identifier: MIT */
/* os/call/cpus.h - how many CPUs this process may use */
#ifndef WEFT_OS_CALL_CPUS_H
#define WEFT_OS_CALL_CPUS_H

/*
 * The number of CPUs allowed: the smaller of the affinity mask and the CPU quota of our
 * cgroups (v2 or v1, ancestors too; rounded up). At least 1. root stands before /proc and
 * /sys; it is "" except in tests.
 */
unsigned wefti_os_cpus_allowed(const char *root);

/* The quota alone; 0: there is none. */
unsigned wefti_os_cpus_quota(const char *root);

/* CPUs of the machine that are online. At least 1. */
unsigned wefti_os_cpus_online(void);

#endif

/* SPDX-License-Identifier: MIT */
/* os/call/cpus.c - how many CPUs this process may use */
#include "os/call/cpus.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/format.h"
#include "syscall.h"

#define CPUS_MAX	8192		/* what CONFIG_MAXSMP allows */

/* The start of a small file as a string; returns its length, or -1. */
static long read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t got = 0;

	if (fd < 0)
		return -1;
	while (used < size - 1 &&
	       (got = read(fd, text + used, size - 1 - used)) > 0)
		used += (size_t)got;
	close(fd);
	text[used] = '\0';
	return got < 0 ? -1 : (long)used;
}

static unsigned smaller(unsigned a, unsigned b)
{
	if (!a || !b)
		return a ? a : b;
	return a < b ? a : b;
}

/* 150,000 us of each 100,000: 2 CPUs. No quota, or nonsense: 0. */
static unsigned quota_cpus(long long quota_us, long long period_us)
{
	long long cpus;

	if (quota_us <= 0 || period_us <= 0)
		return 0;
	cpus = quota_us / period_us + (quota_us % period_us != 0);
	return cpus > CPUS_MAX ? CPUS_MAX : (unsigned)cpus;
}

/* cpu.max: "max 100000" or "150000 100000". */
static unsigned quota_v2(const char *group)
{
	char path[PATH_MAX], text[128], *rest;
	long long quota;

	wefti_format(path, sizeof(path), "%s/cpu.max", group);
	if (read_text(path, text, sizeof(text)) <= 0)
		return 0;
	quota = strtoll(text, &rest, 10);
	return quota_cpus(quota, strtoll(rest, NULL, 10));
}

static unsigned quota_v1(const char *group)
{
	char path[PATH_MAX], text[128];
	long long quota;

	wefti_format(path, sizeof(path), "%s/cpu.cfs_quota_us", group);
	if (read_text(path, text, sizeof(text)) <= 0)
		return 0;
	quota = atoll(text);
	if (quota <= 0)		/* -1: none */
		return 0;
	wefti_format(path, sizeof(path), "%s/cpu.cfs_period_us", group);
	if (read_text(path, text, sizeof(text)) <= 0)
		return 0;
	return quota_cpus(quota, atoll(text));
}

/*
 * The smallest quota of a group and its ancestors. In a container the name of the group
 * may be the host's. Then only the mount itself can be seen, and the way up ends there.
 */
static unsigned quota_upwards(const char *mount, const char *name,
			      unsigned (*quota)(const char *group))
{
	char group[PATH_MAX / 2];
	size_t mount_length = strlen(mount);
	unsigned least;
	size_t length;
	char *slash;

	length = wefti_format(group, sizeof(group), "%s%s", mount, name);
	if (length >= sizeof(group) - 1)	/* the name may have been cut */
		return quota(mount);
	while (length > mount_length && group[length - 1] == '/')	/* "/": the root */
		group[--length] = '\0';
	least = quota(group);
	while ((slash = strrchr(group, '/')) && (size_t)(slash - group) >= mount_length) {
		*slash = '\0';
		least = smaller(least, quota(group));
	}
	return least;
}

/* Is "cpu" one of the words in "cpu,cpuacct"? */
static int lists_cpu(const char *controllers, size_t length)
{
	while (length) {
		const char *comma = memchr(controllers, ',', length);
		size_t word = comma ? (size_t)(comma - controllers) : length;

		if (word == 3 && strncmp(controllers, "cpu", 3) == 0)
			return 1;
		if (!comma)
			return 0;
		controllers += word + 1;
		length -= word + 1;
	}
	return 0;
}

/* One line of /proc/self/cgroup: "0::/name", or "4:cpu,cpuacct:/name". */
static unsigned quota_of_line(const char *root, const char *line)
{
	const char *first = strchr(line, ':');
	const char *second = first ? strchr(first + 1, ':') : NULL;
	char mount[PATH_MAX / 4];
	const char *controllers;
	struct stat is_there;
	size_t length;

	if (!second)
		return 0;
	controllers = first + 1;
	length = (size_t)(second - controllers);
	if (length == 0) {
		wefti_format(mount, sizeof(mount), "%s/sys/fs/cgroup", root);
		return quota_upwards(mount, second + 1, quota_v2);
	}
	if (!lists_cpu(controllers, length))
		return 0;
	wefti_format(mount, sizeof(mount), "%s/sys/fs/cgroup/%.*s", root,
			     (int)length, controllers);
	if (fstatat(AT_FDCWD, mount, &is_there, 0) != 0)
		wefti_format(mount, sizeof(mount), "%s/sys/fs/cgroup/cpu",
			     root);
	return quota_upwards(mount, second + 1, quota_v1);
}

unsigned wefti_os_cpus_quota(const char *root)
{
	char path[PATH_MAX], text[PATH_MAX];
	unsigned least = 0;

	wefti_format(path, sizeof(path), "%s/proc/self/cgroup", root);
	if (read_text(path, text, sizeof(text)) <= 0)
		return 0;
	for (char *line = text, *end; line; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		least = smaller(least, quota_of_line(root, line));
	}
	return least;
}

/* By the system call: libc's form fails on masks larger than its own. */
static unsigned cpus_in_mask(void)
{
	uint64_t mask[CPUS_MAX / 64];
	long bytes = wefti_arch_syscall(SYS_sched_getaffinity, 0, sizeof(mask),
					(long)mask, 0, 0, 0);
	unsigned count = 0;

	for (long i = 0; i < bytes / 8; i++)
		count += (unsigned)__builtin_popcountll(mask[i]);
	return count;
}

unsigned wefti_os_cpus_online(void)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN);

	return count > 0 ? (unsigned)count : 1;
}

unsigned wefti_os_cpus_allowed(const char *root)
{
	unsigned cpus = cpus_in_mask();

	if (cpus != 1)		/* no quota allows less */
		cpus = smaller(cpus, wefti_os_cpus_quota(root));
	return cpus ? cpus : wefti_os_cpus_online();
}

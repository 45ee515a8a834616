/* SPDX-License-Identifier: MIT */
/* test_cpus.c - os/cpus: affinity, and quotas of made-up cgroup trees */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/call/cpus.h"
#include "support.h"

static char root[64];

static void write_file(const char *path, const char *text)
{
	char whole[512], *slash;
	FILE *f;

	snprintf(whole, sizeof(whole), "%s/%s", root, path);
	for (slash = whole + 1; *slash; slash++) {
		if (*slash != '/')
			continue;
		*slash = '\0';
		mkdir(whole, 0755);
		*slash = '/';
	}
	f = fopen(whole, "w");
	if (!f || fputs(text, f) < 0 || fclose(f) != 0)
		abort();
}

static void begin(void)
{
	snprintf(root, sizeof(root), "/tmp/weft-cpus-XXXXXX");
	if (!mkdtemp(root))
		abort();
}

static void end(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r '%s'", root);
	CU_ASSERT_EQUAL(system(command), 0);
}

static unsigned v2(const char *group, const char *limit)
{
	char line[256], path[256];
	unsigned quota;

	begin();
	snprintf(line, sizeof(line), "0::%s\n", group);
	snprintf(path, sizeof(path), "sys/fs/cgroup%s/cpu.max", group);
	write_file("proc/self/cgroup", line);
	write_file(path, limit);
	quota = wefti_os_cpus_quota(root);
	end();
	return quota;
}

static void quota_of_v2_is_rounded_up(void)
{
	CU_ASSERT_EQUAL(v2("/a", "max 100000\n"), 0);
	CU_ASSERT_EQUAL(v2("/a", "100000 100000\n"), 1);
	CU_ASSERT_EQUAL(v2("/a", "100001 100000\n"), 2);
	CU_ASSERT_EQUAL(v2("/a", "150000 100000\n"), 2);
	CU_ASSERT_EQUAL(v2("/a", "1000 100000\n"), 1);
	CU_ASSERT_EQUAL(v2("/", "300000 100000\n"), 3);
	CU_ASSERT_EQUAL(v2("/a/b c/d:e", "400000 100000\n"), 4);
}

static void nonsense_is_no_quota(void)
{
	CU_ASSERT_EQUAL(v2("/a", ""), 0);
	CU_ASSERT_EQUAL(v2("/a", "-5 100000\n"), 0);
	CU_ASSERT_EQUAL(v2("/a", "100000 0\n"), 0);
	CU_ASSERT_EQUAL(v2("/a", "hello\n"), 0);
	CU_ASSERT(v2("/a", "9223372036854775807 1\n") <= 8192);
	CU_ASSERT_EQUAL(wefti_os_cpus_quota("/nonexistent"), 0);
}

static void ancestors_limit_too(void)
{
	begin();
	write_file("proc/self/cgroup", "0::/a/b\n");
	write_file("sys/fs/cgroup/a/b/cpu.max", "800000 100000\n");
	write_file("sys/fs/cgroup/a/cpu.max", "200000 100000\n");
	write_file("sys/fs/cgroup/cpu.max", "500000 100000\n");
	CU_ASSERT_EQUAL(wefti_os_cpus_quota(root), 2);
	end();
}

static void in_a_container_the_mount_counts(void)
{
	begin();
	write_file("proc/self/cgroup", "0::/name/on/the/host\n");
	write_file("sys/fs/cgroup/cpu.max", "200000 100000\n");
	CU_ASSERT_EQUAL(wefti_os_cpus_quota(root), 2);
	end();
}

static void quota_of_v1_is_found_among_controllers(void)
{
	begin();
	write_file("proc/self/cgroup", "12:cpuset:/x\n4:cpu,cpuacct:/box\n"
				       "1:name=systemd:/y\n");
	write_file("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us",
		   "250000\n");
	write_file("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_period_us",
		   "100000\n");
	CU_ASSERT_EQUAL(wefti_os_cpus_quota(root), 3);
	write_file("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "-1\n");
	CU_ASSERT_EQUAL(wefti_os_cpus_quota(root), 0);
	end();

	begin();
	write_file("proc/self/cgroup", "4:cpuacct,cpu:/box\n");
	write_file("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "100000\n");
	write_file("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000\n");
	CU_ASSERT_EQUAL(wefti_os_cpus_quota(root), 1);
	end();
}

static void allowed_is_the_least_of_mask_and_quota(void)
{
	cpu_set_t all, one;
	unsigned allowed = wefti_os_cpus_allowed("/nonexistent");

	sched_getaffinity(0, sizeof(all), &all);
	CU_ASSERT_EQUAL(allowed, (unsigned)CPU_COUNT(&all));
	CU_ASSERT(allowed <= wefti_os_cpus_online());
	CU_ASSERT(wefti_os_cpus_allowed("") >= 1);
	CU_ASSERT(wefti_os_cpus_allowed("") <= allowed);

	begin();
	write_file("proc/self/cgroup", "0::/\n");
	write_file("sys/fs/cgroup/cpu.max", "100000 100000\n");
	CU_ASSERT_EQUAL(wefti_os_cpus_allowed(root), 1);
	write_file("sys/fs/cgroup/cpu.max", "99900000 100000\n");
	CU_ASSERT_EQUAL(wefti_os_cpus_allowed(root), allowed);
	end();

	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
		if (CPU_ISSET(cpu, &all))
			CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	CU_ASSERT_EQUAL(wefti_os_cpus_allowed(""), 1);
	sched_setaffinity(0, sizeof(all), &all);
}

static const struct test_case cases[] = {
	TEST(quota_of_v2_is_rounded_up),
	TEST(nonsense_is_no_quota),
	TEST(ancestors_limit_too),
	TEST(in_a_container_the_mount_counts),
	TEST(quota_of_v1_is_found_among_controllers),
	TEST(allowed_is_the_least_of_mask_and_quota),
};

TEST_MAIN("os/cpus", cases)

/* SPDX-License-Identifier: MIT */
/*
 * preload-idle - how much memory do idle pthreads take?
 *
 * preload-idle N makes N threads with default attributes that wait for one
 * condition variable. When all wait, it prints by how many bytes memory has
 * grown: resident memory, page tables of the process, and kernel stacks and
 * slab. The last two are those of the whole system, so what other processes do
 * shows there. Then it wakes and joins the threads.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct memory {
	double resident, tables;	/* of the process */
	double stacks, slab;		/* of the system */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_wait = PTHREAD_COND_INITIALIZER;
static pthread_cond_t over = PTHREAD_COND_INITIALIZER;
static long waiting;
static int is_over;

static void *wait_idle(void *arg)
{
	long count = *(long *)arg;

	pthread_mutex_lock(&lock);
	if (++waiting == count)
		pthread_cond_signal(&all_wait);
	while (!is_over)
		pthread_cond_wait(&over, &lock);
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* The bytes that a line "NAME: n kB" of the file tells. */
static double read_kb(const char *path, const char *name)
{
	size_t length = strlen(name);
	FILE *f = fopen(path, "r");
	double kb = -1;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, length) && line[length] == ':')
			kb = atof(line + length + 1);
	if (f)
		fclose(f);
	if (kb < 0)
		exit(1);
	return kb * 1024;
}

static struct memory look(void)
{
	return (struct memory){
		.resident = read_kb("/proc/self/status", "VmRSS"),
		.tables = read_kb("/proc/self/status", "VmPTE"),
		.stacks = read_kb("/proc/meminfo", "KernelStack"),
		.slab = read_kb("/proc/meminfo", "Slab"),
	};
}

int main(int argc, char **argv)
{
	long count = argc == 2 ? atol(argv[1]) : 0;
	pthread_t *thread = count > 0 ?
			    calloc((size_t)count, sizeof(*thread)) : NULL;
	struct memory before, with;

	if (!thread)
		return 2;
	before = look();
	for (long i = 0; i < count; i++)
		if (pthread_create(&thread[i], NULL, wait_idle, &count))
			return 1;
	pthread_mutex_lock(&lock);
	while (waiting < count)
		pthread_cond_wait(&all_wait, &lock);
	with = look();
	is_over = 1;
	pthread_cond_broadcast(&over);
	pthread_mutex_unlock(&lock);
	for (long i = 0; i < count; i++)
		if (pthread_join(thread[i], NULL))
			return 1;
	printf("%.0f %.0f %.0f %.0f\n", with.resident - before.resident,
	       with.tables - before.tables, with.stacks - before.stacks,
	       with.slab - before.slab);
	return 0;
}

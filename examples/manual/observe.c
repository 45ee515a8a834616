/* SPDX-License-Identifier: MIT */
/* observe.c - counts, and a dump of all threads into a file */
#include <stdio.h>
#include <string.h>
#include <weft.h>

static struct weft_sem end = WEFT_SEM_INIT;

static void *wait_for_end(void *unused)
{
	weft_sem_wait(&end);
	return unused;
}

int main(void)
{
	struct weft_attr attr = { .name = "waits-for-end" };
	struct weft_stat stat;
	FILE *file = tmpfile();
	char line[256];
	uint64_t id;
	int found = 0;

	if (!file || weft_start(NULL) != 0 ||
	    weft_spawn(&id, &attr, wait_for_end, NULL) != 0)
		return 1;
	if (weft_dump(fileno(file)) != 0 || weft_stat(&stat) != 0)
		return 1;
	rewind(file);
	while (fgets(line, sizeof(line), file))
		if (strstr(line, "waits-for-end")) {
			printf("%s", line);	/* its name, id and state */
			found = 1;
		}
	printf("%llu threads were made\n", (unsigned long long)stat.threads_made);
	weft_sem_post(&end);
	if (weft_join(id, NULL) != 0)
		return 1;
	return !found || stat.threads_made < 1 || weft_stop() != 0;
}

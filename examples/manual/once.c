/* SPDX-License-Identifier: MIT */
/* once.c - a table that the first thread which needs it makes */
#include <stdio.h>
#include <weft.h>

static struct weft_once once = WEFT_ONCE_INIT;
static int table[10], made;

static int make_table(void *unused)
{
	(void)unused;
	for (int i = 0; i < 10; i++)
		table[i] = i * i;
	made++;
	return 0;	/* done; after an error another thread would try again */
}

static void *look_up(void *arg)
{
	int *number = arg;
	int error = weft_once(&once, make_table, NULL);

	*number = error ? error : table[*number];
	return NULL;
}

int main(void)
{
	int number[4] = { 3, 5, 7, 9 };
	uint64_t id[4];

	if (weft_start(NULL) != 0)
		return 1;
	for (int i = 0; i < 4; i++)
		if (weft_spawn(&id[i], NULL, look_up, &number[i]) != 0)
			return 1;
	for (int i = 0; i < 4; i++)
		if (weft_join(id[i], NULL) != 0)
			return 1;
	printf("%d %d %d %d\n", number[0], number[1], number[2], number[3]);
	return made != 1 || number[0] != 9 || number[3] != 81 || weft_stop() != 0;
}

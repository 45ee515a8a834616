/* SPDX-License-Identifier: MIT */
/* gate.h - threads go on on other kernel threads than they came on */
#ifndef WEFT_TESTS_GATE_H
#define WEFT_TESTS_GATE_H

#include <errno.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <unistd.h>

static int gates;

static inline void make_gates(int count)
{
	gates = semget(IPC_PRIVATE, count, 0666);
	if (gates < 0)
		abort();
}

static inline void remove_gates(void)
{
	semctl(gates, 0, IPC_RMID);
}

/* Never begun again by the kernel; setuid() interrupts it too. */
static inline void change_gate(struct sembuf *by)
{
	while (semop(gates, by, 1) != 0)
		if (errno != EINTR)
			abort();
}

/* Blocked, it loses its VCPU: it goes on on another kernel thread. */
static inline void pass_gate(unsigned short n)
{
	struct sembuf down = { .sem_num = n, .sem_op = -1 };

	change_gate(&down);
}

/* For so many; one after the other. */
static inline void open_gate(unsigned short n, int count)
{
	struct sembuf up = { .sem_num = n, .sem_op = 1 };

	for (int i = 0; i < count; i++) {
		usleep(10000);
		change_gate(&up);
	}
}

#endif

/* SPDX-License-Identifier: MIT */
/*
 * explore/sysv.c - System V's message queues and semaphores: the others run while a thread waits
 *
 * They have no descriptor. So a waiting thread, and those that make steps meanwhile, ask the
 * kernel whether the call would wait, and the call is made without a wait. Which of two
 * waiting threads gets a message is the strategy's choice; in the kernel it is the first one.
 *
 * A handler ends each of these calls, with SA_RESTART, too.
 */
#include "explore.h"

#include <errno.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>

#include "real.h"

#define NS_PER_S	INT64_C(1000000000)
#define OPS_MOST	1000u	/* more are an error */

static char key;	/* what one thread has done there happens before what the next one does */

struct call {
	int id;
	const struct sembuf *ops;
	size_t n;		/* of ops, or the bytes of a message */
	long type;
	int flags;
	int waits;		/* a look has found that the call would wait */
};

/* POSIX has the program define it. */
union argument {
	int value;
	struct semid_ds *about;
};

/* Keeps errno. Returns what the look has found: 0: the call would wait. */
static int looked(struct call *c, int found, int kept)
{
	c->waits |= !found;
	errno = kept;
	return found;
}

/* All of the operations succeed, or none. An error is the call's to tell. */
static int look_at_semaphores(void *arguments)
{
	struct call *c = arguments;
	const int kept = errno;

	for (size_t i = 0; i < c->n && c->n <= OPS_MOST; i++) {
		int value = semctl(c->id, c->ops[i].sem_num, GETVAL, (union argument){ 0 });

		if (value < 0)
			return looked(c, 1, kept);
		for (size_t k = 0; k < i; k++)
			if (c->ops[k].sem_num == c->ops[i].sem_num)
				value += c->ops[k].sem_op;
		if (c->ops[i].sem_op == 0 ? value != 0 : value + c->ops[i].sem_op < 0)
			return looked(c, c->ops[i].sem_flg & IPC_NOWAIT, kept);
	}
	return looked(c, 1, kept);
}

/* IPC_NOWAIT, if one of the operations that do not wait has failed; or 0 */
static int has_try(struct call *c)
{
	for (size_t i = 0; i < c->n && c->n <= OPS_MOST; i++)
		if (c->ops[i].sem_flg & IPC_NOWAIT)
			return look_at_semaphores(c) ? IPC_NOWAIT : 0;
	return 0;
}

static int is_wrong(const struct call *c)
{
	struct msginfo most;

	return c->type < 1 ||
	       (msgctl(0, IPC_INFO, (struct msqid_ds *)&most) >= 0 && c->n > (size_t)most.msgmax);
}

static int has_room(void *arguments)
{
	struct call *c = arguments;
	const int kept = errno;
	struct msqid_ds about;

	if (is_wrong(c) || msgctl(c->id, IPC_STAT, &about) != 0)
		return looked(c, 1, kept);
	return looked(c, about.__msg_cbytes + c->n <= about.msg_qbytes &&
				 about.msg_qnum + 1 <= about.msg_qbytes, kept);
}

static int fits(const struct call *c, long type)
{
	if (c->type < 0)
		return type <= -c->type;
	return c->type == 0 || (c->flags & MSG_EXCEPT ? type != c->type : type == c->type);
}

/*
 * Each message is copied without its text. A kernel that cannot copy them tells how many
 * there are; a thread that waits for another type then tries again and again.
 */
static int has_message(void *arguments)
{
	struct call *c = arguments;
	const int kept = errno;
	struct { long type; char text[8]; } copy;
	struct msqid_ds about;

	for (long i = 0;; i++) {
		if (REAL(msgrcv)(c->id, &copy, 0, i, MSG_COPY | IPC_NOWAIT | MSG_NOERROR) < 0)
			break;
		if (fits(c, copy.type))
			return looked(c, 1, kept);
	}
	if (errno == ENOMSG)
		return looked(c, 0, kept);
	return looked(c, msgctl(c->id, IPC_STAT, &about) != 0 || about.msg_qnum > 0, kept);
}

/*
 * The caller's next call does not wait. Returns 1; 0: the deadline has come; -1: a handler has
 * run.
 */
static int wait_for(int (*look)(void *), struct call *c, int64_t deadline,
		    enum wefti_ex_op op, const void *where)
{
	if (!(c->flags & IPC_NOWAIT))
		return wefti_ex_wait_ready(&(struct wefti_ex_try){ look, c }, NULL, 0, deadline,
					   op, where);
	wefti_ex_point(wefti_ex_self, op, NULL, where);
	return 1;
}

/*
 * The call has not waited. error: what says that it would. Returns 1: another process was
 * faster, so the wait begins anew. What was removed meanwhile is another error.
 */
static int is_too_late(const struct call *c, ssize_t result, int error)
{
	if (result < 0 && errno == EINVAL && c->waits)
		errno = EIDRM;
	if (result >= 0 || errno != error)
		return 0;
	wefti_ex_found_nothing();
	return !(c->flags & IPC_NOWAIT);
}

static ssize_t did(ssize_t result)
{
	const int kept = errno;

	if (result >= 0)
		wefti_ex_take(wefti_ex_self, &key);
	errno = kept;
	return result;
}

EXPORT int msgsnd(int id, const void *message, size_t bytes, int flags)
{
	struct call c = { .id = id, .n = bytes, .flags = flags };
	int result;

	if (!wefti_ex_controlled() || !message)
		return REAL(msgsnd)(id, message, bytes, flags);
	c.type = *(const long *)message;
	do {
		if (wait_for(has_room, &c, WEFTI_EX_NEVER, WEFTI_EX_SEND, CALLER) < 0)
			return -1;
		wefti_ex_give(wefti_ex_self, &key);
		result = REAL(msgsnd)(id, message, bytes, flags | IPC_NOWAIT);
	} while (is_too_late(&c, result, EAGAIN));
	return result;
}

EXPORT ssize_t msgrcv(int id, void *message, size_t bytes, long type, int flags)
{
	struct call c = { .id = id, .n = bytes, .type = type, .flags = flags };
	ssize_t result;

	if (!wefti_ex_controlled())
		return REAL(msgrcv)(id, message, bytes, type, flags);
	do {
		if (wait_for(has_message, &c, WEFTI_EX_NEVER, WEFTI_EX_RECEIVE, CALLER) < 0)
			return -1;
		result = REAL(msgrcv)(id, message, bytes, type, flags | IPC_NOWAIT);
	} while (is_too_late(&c, result, ENOMSG));
	return did(result);
}

static int change(int id, struct sembuf *ops, size_t n, int64_t deadline, const void *where)
{
	static const struct timespec at_once = { 0, 0 };
	struct call c = { .id = id, .ops = ops, .n = n };
	int result, ready;

	do {
		ready = wait_for(look_at_semaphores, &c, deadline, WEFTI_EX_SEMOP, where);
		if (ready <= 0) {
			errno = ready ? errno : EAGAIN;
			return -1;
		}
		wefti_ex_give(wefti_ex_self, &key);
		result = REAL(semtimedop)(id, ops, n, &at_once);
		c.flags = has_try(&c);
	} while (is_too_late(&c, result, EAGAIN));
	return (int)did(result);
}

EXPORT int semtimedop(int id, struct sembuf *ops, size_t n, const struct timespec *time)
{
	if (!wefti_ex_controlled() || (time && (time->tv_sec < 0 || time->tv_nsec < 0 ||
						time->tv_nsec >= NS_PER_S)))
		return REAL(semtimedop)(id, ops, n, time);
	return change(id, ops, n, !time || time->tv_sec >= INT64_MAX / NS_PER_S - 1 ?
		      WEFTI_EX_NEVER : wefti_ex_in(time->tv_sec * NS_PER_S + time->tv_nsec), CALLER);
}

EXPORT int semop(int id, struct sembuf *ops, size_t n)
{
	return wefti_ex_controlled() ? change(id, ops, n, WEFTI_EX_NEVER, CALLER) :
				       REAL(semtimedop)(id, ops, n, NULL);
}

/* SPDX-License-Identifier: MIT */
/* test_alone.c - a call that waits stops its thread and no other */
#include "go_on.h"

#include <fcntl.h>
#include <mqueue.h>
#include <netdb.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/wait.h>

/* Some threads wait, two others go on, then that comes what they wait for. */
static void meanwhile(void *(*wait)(void *arg), long count,
		      void (*bring)(long which))
{
	pthread_t t[8];

	go_on_init();
	for (long i = 0; i < count; i++)
		t[i] = start(wait, (void *)i);
	go_on(scaled(200));
	usleep(10000);		/* most likely all wait by now */
	go_on(scaled(200));
	for (long i = 0; i < count; i++)
		bring(i);
	for (long i = 0; i < count; i++)
		printf("%ld ", (long)finish(t[i]));
	printf("\n");
}

/* --- POSIX's message queues ---------------------------------------- */

static mqd_t queue;

static void make_queue(void)
{
	struct mq_attr attr = { .mq_maxmsg = 4, .mq_msgsize = 16 };
	char name[32];

	snprintf(name, sizeof(name), "/weft-%d", (int)getpid());
	queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr);
	show_errno("queue", queue);
	mq_unlink(name);
}

static void *get_message(void *arg)
{
	unsigned priority = 0;
	char buf[16];

	(void)arg;
	return (void *)(mq_receive(queue, buf, sizeof(buf), &priority) +
			(long)priority);
}

static void put_message(long which)
{
	(void)which;
	if (mq_send(queue, "four", 4, 7) != 0)
		abort();
}

static void *put_one_more(void *arg)
{
	return (void *)(long)mq_send(queue, "", 0, (unsigned)(long)arg);
}

static void take_message(long which)
{
	get_message((void *)which);
}

static void *run_out_of_time(void *arg)
{
	struct timespec at = soon(CLOCK_REALTIME, 20), wrong = { 0, -1 };
	char buf[16];

	if (arg) {
		show_errno("send", mq_timedsend(queue, "x", 1, 0, &at));
		show_errno("wrong", mq_timedsend(queue, "x", 1, 0, &wrong));
		return NULL;
	}
	show_errno("receive", mq_timedreceive(queue, buf, 16, NULL, &at));
	show_errno("over", mq_timedreceive(queue, buf, 16, NULL, &at));
	show_errno("wrong", mq_timedreceive(queue, buf, 16, NULL, &wrong));
	show_errno("small", mq_receive(queue, buf, 8, NULL));
	return NULL;
}

static void message_queues(void)
{
	make_queue();
	if (queue < 0)
		return;
	meanwhile(get_message, 4, put_message);
	finish(start(run_out_of_time, NULL));
	for (int i = 0; i < 4; i++)
		put_message(i);
	finish(start(run_out_of_time, &queue));
	meanwhile(put_one_more, 4, take_message);
}

/* --- System V ------------------------------------------------------ */

struct message {
	long type;
	char text[8];
};

static int msgs, sems;

static void *get_typed(void *arg)
{
	struct message m = { 0, "" };
	ssize_t n = msgrcv(msgs, &m, sizeof(m.text), (long)arg + 1, 0);

	return (void *)(n * 100 + m.type);
}

static void put_typed(long which)
{
	struct message m = { which + 1, "text" };

	if (msgsnd(msgs, &m, (size_t)which + 1, 0) != 0)
		abort();
}

static void *put_into_full(void *arg)
{
	struct message m = { (long)arg + 1, "" };

	return (void *)(long)msgsnd(msgs, &m, 8, 0);
}

static void take_any(long which)
{
	struct message m;

	(void)which;
	if (msgrcv(msgs, &m, sizeof(m.text), 0, 0) < 0)
		abort();
}

static void queues_of_system_v(void)
{
	struct message m = { 9, "" };
	struct msqid_ds ds;

	msgs = msgget(IPC_PRIVATE, 0600);
	show_errno("queue", msgs);
	if (msgs < 0)
		return;
	meanwhile(get_typed, 4, put_typed);
	if (msgctl(msgs, IPC_STAT, &ds) == 0) {
		ds.msg_qbytes = 64;
		show_errno("smaller", msgctl(msgs, IPC_SET, &ds));
	}
	for (int i = 0; i < 8; i++)
		if (msgsnd(msgs, &m, 8, IPC_NOWAIT) != 0)
			abort();
	show_errno("full", msgsnd(msgs, &m, 8, IPC_NOWAIT));
	meanwhile(put_into_full, 4, take_any);
	show_errno("none", msgrcv(msgs, &m, 8, 77, IPC_NOWAIT));
	show_errno("remove", msgctl(msgs, IPC_RMID, NULL));
}

static void *decrease(void *arg)
{
	struct sembuf op = { .sem_num = (unsigned short)(long)arg,
			     .sem_op = -1 };

	return (void *)(long)semop(sems, &op, 1);
}

static void increase(long which)
{
	struct sembuf op = { .sem_num = (unsigned short)which, .sem_op = 1 };

	if (semop(sems, &op, 1) != 0)
		abort();
}

static void *decrease_in_time(void *arg)
{
	struct sembuf op = { .sem_num = 0, .sem_op = -1 };
	struct timespec time = { 0, 20000000 }, wrong = { 0, -1 };

	show_errno("time", semtimedop(sems, &op, 1, &time));
	show_errno("wrong", semtimedop(sems, &op, 1, &wrong));
	op.sem_flg = IPC_NOWAIT;
	show_errno("busy", semop(sems, &op, 1));
	op.sem_num = 4;
	show_errno("no such", semop(sems, &op, 1));
	return arg;
}

static void *wait_until_removed(void *arg)
{
	show_errno("removed", (long)decrease(arg));
	return arg;
}

static void semaphores_of_system_v(void)
{
	pthread_t t;

	sems = semget(IPC_PRIVATE, 4, 0600);
	show_errno("semaphores", sems);
	if (sems < 0)
		return;
	meanwhile(decrease, 4, increase);
	finish(start(decrease_in_time, NULL));
	t = start(wait_until_removed, NULL);
	while (semctl(sems, 0, GETNCNT) == 0)
		usleep(1000);
	if (semctl(sems, 0, IPC_RMID) != 0)
		abort();
	finish(t);
}

/* --- locks of files ------------------------------------------------ */

static int file[4][2];

static void *lock_by_flock(void *arg)
{
	return (void *)(long)flock(file[(long)arg][1], LOCK_EX);
}

static void unlock_by_flock(long which)
{
	if (flock(file[which][0], LOCK_UN) != 0)
		abort();
}

static void *lock_open_file(void *arg)
{
	struct flock lock = { .l_type = F_WRLCK };

	return (void *)(long)fcntl(file[(long)arg][1], F_OFD_SETLKW, &lock);
}

static void unlock_open_file(long which)
{
	struct flock lock = { .l_type = F_UNLCK };

	if (fcntl(file[which][0], F_OFD_SETLK, &lock) != 0)
		abort();
}

static void locks_of_files(void)
{
	struct flock lock = { .l_type = F_WRLCK };

	for (int i = 0; i < 4; i++) {
		char name[] = "/tmp/weft-lock-XXXXXX";

		file[i][0] = mkstemp(name);
		file[i][1] = open(name, O_RDWR);
		unlink(name);
		if (flock(file[i][0], LOCK_EX) != 0 ||
		    fcntl(file[i][0], F_OFD_SETLK, &lock) != 0)
			abort();
	}
	meanwhile(lock_by_flock, 4, unlock_by_flock);
	meanwhile(lock_open_file, 4, unlock_open_file);
}

/* --- children, and locks that they have ---------------------------- */

static int locked, hold[2];

/* The child keeps what it has locked until nobody has the pipe's other end. */
static void start_child(void)
{
	int told[2];
	char c = 0;

	if (pipe(told) || pipe(hold))
		abort();
	if (fork() == 0) {
		close(hold[1]);
		if (lockf(locked, F_LOCK, 0) != 0 || write(told[1], &c, 1) != 1)
			_exit(9);
		(void)!read(hold[0], &c, 1);
		_exit(3);
	}
	close(hold[0]);
	if (read(told[0], &c, 1) != 1)
		abort();
	close(told[0]);
	close(told[1]);
}

static void let_child_end(long which)
{
	if (which == 0)
		close(hold[1]);
}

static void *lock_record(void *arg)
{
	struct flock lock = { .l_type = F_WRLCK, .l_start = 10, .l_len = 5 };

	(void)arg;
	return (void *)(long)fcntl(locked, F_SETLKW, &lock);
}

static void *lock_by_lockf(void *arg)
{
	(void)arg;
	return (void *)(long)lockf(locked, F_LOCK, 0);
}

static void *wait_for_any(void *arg)
{
	int status = 0;

	(void)arg;
	return (void *)(long)(wait(&status) > 0 ? WEXITSTATUS(status) : -1);
}

static void *wait_for_id(void *arg)
{
	siginfo_t info = { 0 };
	int r = waitid(P_ALL, 0, &info, WEXITED);

	return (void *)(long)(r == 0 ? info.si_status : (long)arg - 1);
}

static void children_and_their_locks(void)
{
	void *(*const waits[])(void *arg) = {
		lock_record, lock_by_lockf, wait_for_any, wait_for_id,
	};
	char name[] = "/tmp/weft-lock-XXXXXX";

	locked = mkstemp(name);
	unlink(name);
	for (int i = 0; i < 4; i++) {
		start_child();
		meanwhile(waits[i], 1, let_child_end);
		if (i < 2 && (wait(NULL) < 0 || lockf(locked, F_ULOCK, 0) != 0))
			abort();
	}
	show_errno("no child", wait(NULL));
}

/* --- signals and what takes long ----------------------------------- */

static _Atomic int ready;

static void on_signal(int signal)
{
	(void)signal;
}

static void *be_interrupted(void *arg)
{
	struct message m;
	char buf[16];

	if (arg)
		show_errno("msgrcv", msgrcv(msgs, &m, 8, 1, 0));
	else
		show_errno("mq_receive", mq_receive(queue, buf, 16, NULL));
	ready = 1;
	return arg;
}

/* Again and again: the first may come before it waits. */
static void handlers_end_a_wait_for_a_message(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigaction(SIGUSR1, &action, NULL);
	make_queue();
	msgs = msgget(IPC_PRIVATE, 0600);
	show_errno("queue", msgs);
	for (int i = 0; queue >= 0 && msgs >= 0 && i < 2; i++) {
		pthread_t t;

		ready = 0;
		t = start(be_interrupted, i ? &msgs : NULL);
		while (!ready) {
			usleep(2000);
			pthread_kill(t, SIGUSR1);
		}
		finish(t);
	}
	msgctl(msgs, IPC_RMID, NULL);
}

static void *look_up(void *arg)
{
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST,
				  .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	char host[64] = "";

	printf("%d ", getaddrinfo("127.0.0.1", "80", &hints, &found));
	printf("%d %s\n", getnameinfo(found->ai_addr, found->ai_addrlen, host,
				      sizeof(host), NULL, 0, NI_NUMERICHOST),
	       host);
	freeaddrinfo(found);
	printf("%d\n", gethostbyname("127.0.0.1")->h_length);
	return arg;
}

static void *sync_all(void *arg)
{
	int fd = *(int *)arg;

	show_errno("fallocate", posix_fallocate(fd, 0, 10000));
	printf("%ld\n", (long)lseek(fd, 0, SEEK_END));
	show_errno("fsync", fsync(fd));
	show_errno("fdatasync", fdatasync(fd));
	show_errno("range", sync_file_range(fd, 0, 0, 0));
	show_errno("closed", fsync(-1));
	show_errno("closed", syncfs(-1));
	return NULL;
}

static void long_calls_do_what_they_do(void)
{
	char name[] = "/tmp/weft-sync-XXXXXX";
	int fd = mkstemp(name);

	unlink(name);
	finish(start(look_up, NULL));
	finish(start(sync_all, &fd));
}

static const struct compare_case cases[] = {
	COMPARE(message_queues),
	COMPARE(queues_of_system_v),
	COMPARE(semaphores_of_system_v),
	COMPARE(locks_of_files),
	COMPARE(children_and_their_locks),
	COMPARE(handlers_end_a_wait_for_a_message),
	COMPARE(long_calls_do_what_they_do),
};

COMPARE_MAIN(cases)

#!/bin/sh
# SPDX-License-Identifier: MIT
# test_explore_ipc.sh - weft explore: message queues, System V's semaphores, named pipes, and
# data that is longer than a pipe or a socket takes
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

weft=${WEFT_TEST_CLI-cli/weft}
if [ ! -x "$weft" ] || [ ! -f .libs/libweft-explore.so ] ||
    ! command -v "${CC-cc}" >/dev/null; then
	echo "test_explore_ipc.sh: left out, there is no $weft with its library, or no compiler"
	exit 0
fi

# Two threads talk, and each has to wait for the other one. None may keep the turn.
cat >"$work/talk.c" <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#define N 4
#define LONG 300000
#define CHECK(is) do { if (!(is)) { fprintf(stderr, "line %d: %s\n", __LINE__, strerror(errno)); _exit(9); } } while (0)
static const struct timespec hour = { 1, 0 };
static struct timespec soon;
static mqd_t queue;
static int id, ends[2], order[2], turns;
static char path[2][64], text[LONG];
static struct message { long type; char text[2000]; } message = { 2, "" };

static void *mq_peer(void *unused)
{
	for (int i = 0; i < N; i++)
		CHECK(mq_send(queue, (char *)&i, sizeof(i), 1) == 0);
	return unused;
}
static void mq_here(void)
{
	int got;
	for (int i = 0; i < N; i++)
		CHECK(mq_receive(queue, (char *)&got, sizeof(got), NULL) == sizeof(got) && got == i);
	CHECK(mq_timedreceive(queue, (char *)&got, sizeof(got), NULL, &soon) == -1 &&
	      errno == ETIMEDOUT);
	CHECK(mq_timedsend(queue, "abcd", 4, 1, &soon) == 0);
	CHECK(mq_timedsend(queue, "abcd", 4, 1, &soon) == -1 && errno == ETIMEDOUT);
}

/* The queue has room for one message: three bytes of each thousand are used. */
static void *msg_peer(void *unused)
{
	for (int i = 0; i < N; i++)
		CHECK(msgsnd(id, &message, sizeof(message.text), 0) == 0);
	message.type = 1;
	CHECK(msgsnd(id, &message, sizeof(message.text), 0) == 0);
	return unused;
}
static void msg_here(void)
{
	struct message got;
	for (int i = 0; i < N; i++)
		CHECK(msgrcv(id, &got, sizeof(got.text), i % 2 ? 0 : -2, 0) > 0);
	CHECK(msgrcv(id, &got, sizeof(got.text), 1, 0) > 0);
	CHECK(msgrcv(id, &got, sizeof(got.text), 1, IPC_NOWAIT) == -1 && errno == ENOMSG);
}

/* Both are taken at once, or none. */
static void *sem_peer(void *unused)
{
	struct sembuf give[2] = { { 0, 1, 0 }, { 1, 1, 0 } }, none = { 0, 0, 0 };
	for (int i = 0; i < N; i++) {
		CHECK(semop(id, &give[i % 2], 1) == 0);
		CHECK(semop(id, &give[(i + 1) % 2], 1) == 0);
		CHECK(semop(id, &none, 1) == 0);
	}
	return unused;
}
static void sem_here(void)
{
	struct sembuf take[2] = { { 0, -1, 0 }, { 1, -1, 0 } }, try = { 0, -1, IPC_NOWAIT };
	for (int i = 0; i < N; i++)
		CHECK(semop(id, take, 2) == 0);
	CHECK(semtimedop(id, take, 2, &hour) == -1 && errno == EAGAIN);
	CHECK(semop(id, &try, 1) == -1 && errno == EAGAIN);
}

static void *fifo_peer(void *unused)
{
	char c;
	for (int i = 0; i < N; i++) {
		const int fd = open(path[i % 2], i % 2 ? O_RDONLY : O_WRONLY);
		CHECK(fd >= 0 && !(fcntl(fd, F_GETFL) & O_NONBLOCK));
		CHECK(i % 2 ? read(fd, &c, 1) == 1 : write(fd, "x", 1) == 1);
		close(fd);
	}
	return unused;
}
static void fifo_here(void)
{
	char c;
	for (int i = 0; i < N; i++) {
		const int fd = openat(AT_FDCWD, path[i % 2], i % 2 ? O_WRONLY : O_RDONLY);
		CHECK(fd >= 0);
		CHECK(i % 2 ? write(fd, "x", 1) == 1 : read(fd, &c, 1) == 1);
		while (i % 2 == 0 && read(fd, &c, 1) != 0)
			;
		close(fd);
	}
}

static void *long_reader(void *unused)
{
	static char got[LONG];
	for (size_t n = 0; n < 3 * LONG;) {
		const ssize_t bytes = read(ends[0], got, sizeof(got));
		CHECK(bytes > 0);
		for (ssize_t i = 0; i < bytes; i++)
			CHECK(got[i] == (char)((n + (size_t)i) % LONG % 251));
		n += (size_t)bytes;
	}
	return unused;
}
static void long_here(int is_socket)
{
	struct iovec pieces[3] = { { text, 100 }, { text + 100, 0 }, { text + 100, LONG - 100 } };
	struct msghdr m = { .msg_iov = pieces, .msg_iovlen = 3 };
	CHECK(writev(ends[1], pieces, 3) == LONG);
	CHECK((is_socket ? send(ends[1], text, LONG, 0) : write(ends[1], text, LONG)) == LONG);
	CHECK((is_socket ? sendmsg(ends[1], &m, 0) : writev(ends[1], pieces, 3)) == LONG);
}

/* More messages than the other end's queue takes. */
static void *packet_reader(void *unused)
{
	char c[2];
	for (int i = 0; i < 600; i++)
		CHECK(recv(ends[0], c, sizeof(c), 0) == 1);
	return unused;
}
static void packet_here(void)
{
	for (int i = 0; i < 600; i++)
		CHECK(send(ends[1], "x", 1, 0) == 1);
}

/* It is removed under the thread that waits. */
static void *removes(void *unused)
{
	usleep(1000);
	CHECK(turns ? msgctl(id, IPC_RMID, NULL) == 0 : semctl(id, 0, IPC_RMID) == 0);
	return unused;
}
static void removed_here(int is_message)
{
	struct sembuf take = { 0, -1, 0 };
	struct message got;
	CHECK((is_message ? msgrcv(id, &got, sizeof(got.text), 0, 0) : semop(id, &take, 1)) == -1);
	CHECK(errno == EIDRM || errno == EINVAL);
	id = -1;
}

/* A lost update: which thread takes the message first is an order, too. */
static void *takes(void *number)
{
	struct message got;
	CHECK(msgrcv(id, &got, sizeof(got.text), 0, 0) > 0);
	order[turns++] = *(int *)number;
	return number;
}
static void order_here(void)
{
	static int numbers[2] = { 1, 2 };
	pthread_t threads[2];
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, takes, &numbers[i]);
	for (int i = 0; i < 2; i++)
		CHECK(msgsnd(id, &message, 1, 0) == 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	msgctl(id, IPC_RMID, NULL);
	_exit(order[0] == 2 ? 7 : 0);
}

static void make(const char *what)
{
	struct mq_attr attr = { .mq_maxmsg = 1, .mq_msgsize = sizeof(int) };
	struct msqid_ds about;
	char name[64];
	snprintf(name, sizeof(name), "/weft-test-%d", (int)getpid());
	if (strcmp(what, "mq") == 0) {
		queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attr);
		if (queue == (mqd_t)-1 && errno == ENOSYS)
			_exit(0);
		CHECK(queue != (mqd_t)-1);
		mq_unlink(name);
	}
	if (strstr(what, "msg")) {
		CHECK((id = msgget(IPC_PRIVATE, 0600)) >= 0);
		CHECK(msgctl(id, IPC_STAT, &about) == 0);
		about.msg_qbytes = 3000;
		CHECK(msgctl(id, IPC_SET, &about) == 0);
	}
	if (strstr(what, "sem"))
		CHECK((id = semget(IPC_PRIVATE, 2, 0600)) >= 0);
	for (int i = 0; i < 2 && strcmp(what, "fifo") == 0; i++) {
		snprintf(path[i], sizeof(path[i]), "%s/fifo-%d-%d", getenv("FOLDER"), (int)getpid(), i);
		CHECK(mkfifo(path[i], 0600) == 0);
	}
	if (strcmp(what, "pipe") == 0)
		CHECK(pipe(ends) == 0);
	if (strcmp(what, "socket") == 0 || strcmp(what, "packet") == 0)
		CHECK(socketpair(AF_UNIX, *what == 's' ? SOCK_STREAM : SOCK_DGRAM, 0, ends) == 0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	void *(*peer)(void *) = NULL;
	pthread_t thread;
	for (int i = 0; i < LONG; i++)
		text[i] = (char)(i % 251);
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_sec += 3600;
	make(what);
	turns = strcmp(what, "msg-removed") == 0;
	if (strcmp(what, "msg-order") == 0)
		order_here();
	if (strcmp(what, "mq") == 0)
		peer = mq_peer;
	else if (strcmp(what, "msg") == 0)
		peer = msg_peer;
	else if (strcmp(what, "sem") == 0)
		peer = sem_peer;
	else if (strcmp(what, "fifo") == 0)
		peer = fifo_peer;
	else if (strcmp(what, "pipe") == 0 || strcmp(what, "socket") == 0)
		peer = long_reader;
	else if (strcmp(what, "packet") == 0)
		peer = packet_reader;
	else
		peer = removes;
	pthread_create(&thread, NULL, peer, NULL);
	if (peer == mq_peer)
		mq_here();
	else if (peer == msg_peer)
		msg_here();
	else if (peer == sem_peer)
		sem_here();
	else if (peer == fifo_peer)
		fifo_here();
	else if (peer == long_reader)
		long_here(*what == 's');
	else if (peer == packet_reader)
		packet_here();
	else
		removed_here(turns);
	pthread_join(thread, NULL);
	if (id > 0 && strcmp(what, "msg") == 0)
		msgctl(id, IPC_RMID, NULL);
	if (id > 0 && strcmp(what, "sem") == 0)
		semctl(id, 0, IPC_RMID);
	if (peer == fifo_peer)
		CHECK(unlink(path[0]) == 0 && unlink(path[1]) == 0);
	return 0;
}
END

# shellcheck disable=SC2086 # CC may have options
${CC-cc} -g -O1 -pthread -o "$work/talk" "$work/talk.c" -lrt || {
	echo "cannot compile talk"
	exit 1
}
export FOLDER="$work"

# The bound on steps ends what would go round for ever; the timeout is no measure.
explore()
{
	"$weft" explore --timeout 10m --steps 100000 "$@"
}

for kind in mq msg sem fifo pipe socket packet msg-removed sem-removed; do
	for strategy in random pct pos weights robin changes; do
		passes "$kind by $strategy" status_is 0 explore --runs 10 -s $strategy "$work/talk" $kind
		passes "$kind by $strategy in one course" refuses says 'another course'
	done
	for search in preempt delay; do
		passes "$kind by $search" status_is 0 explore --runs 40 -s $search "$work/talk" $kind
	done
done

passes "which thread gets a message" status_is 1 explore --runs 40 "$work/talk" msg-order
passes "is an order" says 'receives a message, talk.c:[0-9]'
passes "with a list" says 'weft run --seed list:'
finish

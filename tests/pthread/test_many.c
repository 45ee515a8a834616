/* SPDX-License-Identifier: MIT */
/*
 * test_many.c - as many threads as a program asks for, with default attributes
 *
 * A fiftieth and a twentieth of what is promised; tools/run-full runs the whole.
 * What the memory was is in the log.
 */
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <netinet/in.h>

#include "compare.h"

#define THREADS		2000	/* 100,000 at a scale of 50 */
#define CONNECTIONS	450	/* 9,000 at a scale of 20 */
#define ROUNDS		8
#define MESSAGE		64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_here = PTHREAD_COND_INITIALIZER;
static pthread_cond_t go_on = PTHREAD_COND_INITIALIZER;
static long here, count;
static int may_go;
static __thread long mine;

/* In KiB. */
static long memory(const char *field)
{
	FILE *f = fopen("/proc/self/status", "r");
	size_t length = strlen(field);
	char line[256];
	long kib = -1;

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, field, length) == 0)
			kib = strtol(line + length, NULL, 10);
	if (f)
		fclose(f);
	return kib;
}

static void *be_one_of_many(void *arg)
{
	mine = (long)arg;
	pthread_mutex_lock(&lock);
	if (++here == count)
		pthread_cond_signal(&all_here);
	while (!may_go)
		pthread_cond_wait(&go_on, &lock);
	pthread_mutex_unlock(&lock);
	return (void *)mine;
}

static void make(pthread_t *t)
{
	for (long i = 0; i < count; i++) {
		int error = pthread_create(&t[i], NULL, be_one_of_many,
					   (void *)i);

		if (error) {
			printf("thread %ld: %s\n", i, strerror(error));
			exit(1);
		}
	}
}

/* 1.2 GB for 100,000, and what a program has anyway. */
static int is_small(long kib)
{
	return kib > 0 && kib < count * 12 + 10240;
}

static void many_wait_at_once(void)
{
	pthread_t *t;
	long kib, wrong = 0;

	count = scaled(THREADS);
	t = calloc((size_t)count, sizeof(*t));
	make(t);
	pthread_mutex_lock(&lock);
	while (here < count)
		pthread_cond_wait(&all_here, &lock);
	kib = memory("VmRSS:");
	fprintf(stderr, "%ld threads: VmRSS %ld KiB, page tables %ld KiB\n",
		count, kib, memory("VmPTE:"));
	may_go = 1;
	pthread_cond_broadcast(&go_on);
	pthread_mutex_unlock(&lock);
	for (long i = 0; i < count; i++)
		wrong += (long)finish(t[i]) != i;
	printf("wrong %ld, small %d\n", wrong, is_small(kib));
	free(t);
}

/* --- a thread for each connection ---------------------------------- */

/* Each of the two processes has one end of each connection. */
static long raise_limit(long wanted)
{
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur < (rlim_t)wanted + 50)
		wanted = (long)limit.rlim_cur - 50;
	return wanted;
}

static int move_all(int fd, char *bytes, int out)
{
	for (size_t done = 0; done < MESSAGE;) {
		ssize_t n = out ? write(fd, bytes + done, MESSAGE - done) :
				  read(fd, bytes + done, MESSAGE - done);

		if (n <= 0)
			return 0;
		done += (size_t)n;
	}
	return 1;
}

static void *serve(void *arg)
{
	int fd = (int)(long)arg;
	char bytes[MESSAGE];
	long answered = 0;

	/* So that the client does not overrun the queue of listen(). */
	if (write(fd, "", 1) != 1)
		return NULL;
	while (move_all(fd, bytes, 0) && move_all(fd, bytes, 1))
		answered++;
	close(fd);
	return (void *)answered;
}

static int connect_to(const struct sockaddr_in *address)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char greeting;

	if (fd < 0 || connect(fd, (const struct sockaddr *)address,
			      sizeof(*address)) != 0 ||
	    read(fd, &greeting, 1) != 1) {
		perror("connect");
		_exit(1);
	}
	return fd;
}

/* All connections have a message on its way at the same time. */
static void ask(const int *fd, char round)
{
	char sent[MESSAGE], received[MESSAGE];

	for (long i = 0; i < count; i++) {
		memset(sent, round + (char)i, sizeof(sent));
		if (!move_all(fd[i], sent, 1))
			_exit(2);
	}
	for (long i = 0; i < count; i++) {
		memset(sent, round + (char)i, sizeof(sent));
		if (!move_all(fd[i], received, 0) ||
		    memcmp(sent, received, sizeof(sent)) != 0)
			_exit(3);
	}
}

static void be_client(const struct sockaddr_in *address)
{
	int *fd = calloc((size_t)count, sizeof(*fd));

	for (long i = 0; i < count; i++)
		fd[i] = connect_to(address);
	for (char round = 0; round < ROUNDS; round++)
		ask(fd, round);
	_exit(0);
}

static int listen_here(struct sockaddr_in *address)
{
	socklen_t length = sizeof(*address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*address = (struct sockaddr_in){ .sin_family = AF_INET };
	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (struct sockaddr *)address, length) != 0 ||
	    listen(fd, 128) != 0 ||
	    getsockname(fd, (struct sockaddr *)address, &length) != 0)
		abort();
	return fd;
}

static void each_connection_has_a_thread(void)
{
	struct sockaddr_in address;
	int listener = listen_here(&address), status = -1;
	pthread_t *t;
	long rounds = 0;
	pid_t client;

	count = raise_limit(scaled(CONNECTIONS));
	t = calloc((size_t)count, sizeof(*t));
	client = fork();
	if (client == 0)
		be_client(&address);
	for (long i = 0; i < count; i++) {
		int fd = accept(listener, NULL, NULL);

		if (fd < 0)
			abort();
		t[i] = start(serve, (void *)(long)fd);
	}
	fprintf(stderr, "%ld connections: VmRSS %ld KiB\n", count,
		memory("VmRSS:"));
	for (long i = 0; i < count; i++)
		rounds += (long)finish(t[i]);
	waitpid(client, &status, 0);
	printf("all answered %d, client %d\n", rounds == count * ROUNDS,
	       WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	free(t);
}

static const struct compare_case cases[] = {
	WEFT_ONLY(many_wait_at_once, "wrong 0, small 1\n"),
	COMPARE(each_connection_has_a_thread),
};

COMPARE_MAIN(cases)

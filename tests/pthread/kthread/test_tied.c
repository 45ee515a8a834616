/* SPDX-License-Identifier: MIT */
/* test_tied.c - what the kernel ties to a kernel thread is the green thread's */
#include "move.h"

#include <linux/futex.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* --- prctl() ------------------------------------------------------- */

static void *have_a_name(void *arg)
{
	char mine[16], told[16] = "";
	long good = 0;

	snprintf(mine, sizeof(mine), "thread %ld", (long)arg);
	prctl(PR_SET_NAME, mine);
	pthread_barrier_wait(&all_here);
	move();
	prctl(PR_GET_NAME, told);
	good += strcmp(mine, told) == 0;
	pthread_getname_np(pthread_self(), told, sizeof(told));
	good += strcmp(mine, told) == 0;
	syscall(SYS_prctl, PR_SET_NAME, "one that is far too long");
	move();
	syscall(SYS_prctl, PR_GET_NAME, told);
	return (void *)(good + (strcmp(told, "one that is far") == 0));
}

static void *tell_name(void *arg)
{
	return (void *)(long)!prctl(PR_GET_NAME, arg);
}

static void names_are_the_threads(void)
{
	char name[16] = "", comm[32] = "";
	FILE *file;

	printf("%ld\n", in_threads(have_a_name));
	prctl(PR_GET_NAME, name);
	printf("%s\n", name);
	prctl(PR_SET_NAME, "the first");
	move();
	prctl(PR_GET_NAME, name);
	printf("%s\n", name);
	finish(start(tell_name, name));
	printf("inherited: %s\n", name);
	file = fopen("/proc/self/comm", "r");
	if (file && fgets(comm, sizeof(comm), file))
		printf("of the process: %s", comm);
}

static void *tell_name_of(void *first)
{
	char name[16] = "";

	pthread_setname_np(pthread_self(), "another's");
	sched_yield();
	pthread_getname_np(*(pthread_t *)first, name, sizeof(name));
	puts(name);
	return first;
}

/* weft reads its settings when the first thread comes. */
static void perf_names_are_not_the_programs(void)
{
	pthread_t first = pthread_self();

	setenv("WEFT_PERF_NAMES", "1", 1);
	finish(start(tell_name_of, &first));
	pthread_setname_np(first, "new");
	finish(start(tell_name_of, &first));
}

static void *fork_and_ask(void *arg)
{
	char name[16] = "";

	prctl(PR_SET_NAME, "parent");
	fflush(stdout);
	if (fork() == 0) {
		prctl(PR_GET_NAME, name);
		printf("child: %s\n", name);
		exit(0);
	}
	wait(NULL);
	return arg;
}

static void a_child_has_the_threads_name(void)
{
	finish(start(fork_and_ask, NULL));
}

static void *set_slack(void *arg)
{
	show_errno("set", prctl(PR_SET_TIMERSLACK, 70000));
	move();
	printf("%d\n", prctl(PR_GET_TIMERSLACK));
	return arg;
}

static void timer_slack_is_the_threads(void)
{
	int before = prctl(PR_GET_TIMERSLACK);

	finish(start(set_slack, NULL));
	printf("%d\n", prctl(PR_GET_TIMERSLACK) == before);
}

static void *set_death_signal(void *arg)
{
	int signal = -1;

	show_errno("none", prctl(PR_SET_PDEATHSIG, 1000));
	show_errno("set", prctl(PR_SET_PDEATHSIG, SIGUSR1));
	move();
	show_errno("get", prctl(PR_GET_PDEATHSIG, &signal));
	printf("%d\n", signal == SIGUSR1);
	return arg;
}

static void note_death(int signal)
{
	(void)signal;
	(void)!write(STDOUT_FILENO, "parent died\n", 12);
	_exit(0);
}

static void *wait_for_death(void *arg)
{
	int *ready = arg;

	prctl(PR_SET_PDEATHSIG, SIGUSR1);
	move();
	(void)!write(ready[1], "x", 1);
	for (;;)
		pause();
	return NULL;
}

/* The parent is killed when the child waits for that. */
static void the_death_of_the_parent_is_told(void)
{
	int ready[2], over[2];
	char c;
	pid_t parent;

	finish(start(set_death_signal, NULL));
	fflush(stdout);
	if (pipe(ready) != 0 || pipe(over) != 0)
		abort();
	parent = fork();
	if (parent == 0) {
		if (fork() == 0) {
			signal(SIGUSR1, note_death);
			close(over[0]);
			start(wait_for_death, ready);
			for (;;)
				pause();
		}
		close(over[1]);
		for (;;)
			pause();
	}
	close(over[1]);
	(void)!read(ready[0], &c, 1);
	kill(parent, SIGKILL);
	waitpid(parent, NULL, 0);
	(void)!read(over[0], &c, 1);	/* the child has ended */
}

static const char privileges[] =
	"grep -q 'NoNewPrivs:.1' /proc/self/status";

static void *give_up_privileges(void *arg)
{
	printf("before %d\n", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
	show_errno("wrong", prctl(PR_SET_NO_NEW_PRIVS, 1, 1, 0, 0));
	show_errno("set", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	pthread_barrier_wait(&all_here);
	return arg;
}

/* Whichever kernel thread starts them. */
static void *start_programs(void *arg)
{
	int status = -1;
	pid_t child;

	for (int i = 0; i < 3; i++) {
		move();
		status = system(privileges);
		if (WEXITSTATUS(status) != 0)
			return (void *)1;
	}
	child = fork();
	if (child == 0)
		_exit(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
	waitpid(child, &status, 0);
	(void)arg;
	return (void *)(long)(WEXITSTATUS(status) != 1);
}

static void *give_up_and_start(void *arg)
{
	if (!arg)
		give_up_privileges(NULL);
	else
		pthread_barrier_wait(&all_here);
	return arg ? NULL : start_programs(NULL);
}

static void privileges_stay_given_up(void)
{
	printf("%ld\n", in_threads(give_up_and_start));
}

static void *set_of_process(void *arg)
{
	show_errno("set", prctl(PR_SET_DUMPABLE, 0));
	move();
	printf("%d\n", prctl(PR_GET_DUMPABLE));
	prctl(PR_SET_DUMPABLE, 1);
	show_errno("bad", prctl(12345));
	return arg;
}

static void the_processs_is_the_kernels(void)
{
	finish(start(set_of_process, NULL));
	printf("%d\n", prctl(PR_GET_DUMPABLE));
}

/* --- CPUs, policies, nice values ----------------------------------- */

static void *have_a_cpu(void *arg)
{
	pid_t id = (pid_t)syscall(SYS_gettid);
	cpu_set_t before, one, told;
	int cpu = (long)arg % 2 ? CPU_SETSIZE - 1 : 0, good = 0;
	unsigned here;

	sched_getaffinity(0, sizeof(before), &before);
	while (!CPU_ISSET(cpu, &before))	/* the first, or the last */
		cpu += (long)arg % 2 ? -1 : 1;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	pthread_barrier_wait(&all_here);
	if ((long)arg % 2)
		good += sched_setaffinity(id, sizeof(one), &one) == 0;
	else
		good += pthread_setaffinity_np(pthread_self(), sizeof(one),
					       &one) == 0;
	move();
	CPU_ZERO(&told);
	good += sched_getaffinity(0, sizeof(told), &told) == 0 &&
		CPU_EQUAL(&told, &one);
	CPU_ZERO(&told);
	good += syscall(SYS_sched_getaffinity, id, sizeof(told), &told) > 0 &&
		CPU_EQUAL(&told, &one);
	CPU_ZERO(&told);
	good += pthread_getaffinity_np(pthread_self(), sizeof(told), &told) ==
		0 && CPU_EQUAL(&told, &one);
	good += sched_getcpu() == cpu;
	good += getcpu(&here, NULL) == 0 && (int)here == cpu;
	good += syscall(SYS_getcpu, &here, NULL, NULL) == 0 && (int)here == cpu;
	good += sched_setaffinity(0, sizeof(before), &before) == 0;
	sched_getaffinity(id, sizeof(told), &told);
	return (void *)(long)(good + CPU_EQUAL(&told, &before));
}

static void *tell_cpus(void *arg)
{
	sched_getaffinity(0, sizeof(cpu_set_t), arg);
	return arg;
}

static void cpus_are_the_threads(void)
{
	cpu_set_t before, none, one, told;
	pthread_attr_t attr;
	pthread_t t;
	int cpu = 0;

	sched_getaffinity(0, sizeof(before), &before);
	printf("%ld\n", in_threads(have_a_cpu));
	sched_getaffinity(getpid(), sizeof(told), &told);
	printf("%d\n", CPU_EQUAL(&told, &before));
	CPU_ZERO(&none);
	show_errno("none", sched_setaffinity(0, sizeof(none), &none));
	show_errno("short", sched_getaffinity(0, 1, &told));
	show_errno("nobody", sched_setaffinity(0x3fffffff, sizeof(one),
					       &before));
	while (!CPU_ISSET(cpu, &before))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
	finish(start(tell_cpus, &told));
	printf("inherited %d\n", CPU_EQUAL(&told, &one));
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(before), &one);
	show("create", pthread_create(&t, &attr, tell_cpus, &told));
	finish(t);
	printf("by attributes %d\n", CPU_EQUAL(&told, &one));
}

/* main keeps to one CPU, and its threads are to have another. */
static void cpus_that_main_has_left(void)
{
	cpu_set_t all, first, last, told;
	pthread_attr_t attr;
	int a = -1, b = -1;
	pthread_t t;

	sched_getaffinity(0, sizeof(all), &all);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all)) {
			a = a < 0 ? cpu : a;
			b = cpu;
		}
	CPU_ZERO(&first);
	CPU_ZERO(&last);
	CPU_SET(a, &first);
	CPU_SET(b, &last);
	show_errno("main's", sched_setaffinity(0, sizeof(first), &first));
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(last), &last);
	show("create", pthread_create(&t, &attr, tell_cpus, &told));
	finish(t);
	printf("by attributes %d\n", CPU_EQUAL(&told, &last));
	show_errno("set", sched_setaffinity(0, sizeof(last), &last));
	CPU_ZERO(&last);
	CPU_SET(CPU_SETSIZE - 1, &last);
	show_errno("none", sched_setaffinity(0, sizeof(last), &last));
	memset(&last, 0xff, sizeof(last));
	show_errno("all", sched_setaffinity(0, sizeof(last), &last));
	sched_getaffinity(0, sizeof(told), &told);
	printf("has all %d\n", CPU_EQUAL(&told, &all));
}

static void *have_a_policy(void *arg)
{
	struct sched_param param = { .sched_priority = 0 };
	pid_t id = (pid_t)syscall(SYS_gettid);
	int good = 0, policy = -1;

	pthread_barrier_wait(&all_here);
	good += sched_setscheduler((long)arg % 2 ? id : 0, SCHED_BATCH,
				   &param) == 0;
	move();
	good += sched_getscheduler(id) == SCHED_BATCH;
	pthread_getschedparam(pthread_self(), &policy, &param);
	good += policy == SCHED_BATCH;
	param.sched_priority = 3;
	good += sched_setparam(0, &param) == -1 && errno == EINVAL;
	good += sched_getparam(id, &param) == 0 && param.sched_priority == 0;
	good += syscall(SYS_sched_setscheduler, 0, SCHED_OTHER |
			SCHED_RESET_ON_FORK, &param) == 0;
	move();
	good += sched_getscheduler(0) == (SCHED_OTHER | SCHED_RESET_ON_FORK);
	return (void *)(long)good;
}

static void *tell_policy(void *arg)
{
	(void)arg;
	return (void *)(long)sched_getscheduler(0);
}

static void policies_are_the_threads(void)
{
	struct sched_param param = { .sched_priority = 0 };
	struct timespec t;

	printf("%ld\n", in_threads(have_a_policy));
	printf("%d\n", sched_getscheduler(getpid()));
	show_errno("none", sched_setscheduler(0, 77, &param));
	show_errno("negative", sched_setscheduler(0, -1, &param));
	show_errno("nobody", sched_getscheduler(0x3fffffff));
	show_errno("interval", sched_rr_get_interval(0, &t));
	sched_setscheduler(0, SCHED_BATCH | SCHED_RESET_ON_FORK, &param);
	printf("reset: %ld\n", (long)finish(start(tell_policy, NULL)));
	sched_setscheduler(0, SCHED_BATCH, &param);
	printf("inherited: %ld\n", (long)finish(start(tell_policy, NULL)));
}

static _Atomic int word = 77;

/* With the kernel's answer of before there were threads: not all kernels tell. */
static void *leave_word(void *is_told)
{
	int *libcs = NULL, *now = NULL;
	long id = syscall(SYS_gettid);

	if (is_told && prctl(PR_GET_TID_ADDRESS, &libcs) == 0)
		printf("libc's: %d\n", libcs && *libcs != 0);	/* the id, before 2.43 */
	printf("%d\n", syscall(SYS_set_tid_address, libcs) == id);
	printf("%d\n", syscall(SYS_set_tid_address, &word) == id);
	if (is_told && prctl(PR_GET_TID_ADDRESS, &now) == 0)
		printf("ours: %d\n", now == (int *)&word);
	return is_told;
}

/* glibc 2.43 has pthread_detach() wait for its own word, if the thread is about to end. */
static void a_word_is_emptied_when_the_thread_has_ended(void)
{
	pthread_attr_t attr;
	pthread_t t;
	int *at;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&t, &attr, leave_word,
			   prctl(PR_GET_TID_ADDRESS, &at) == 0 ? &word : NULL) != 0)
		abort();
	pthread_attr_destroy(&attr);
	while (word == 77)
		syscall(SYS_futex, &word, FUTEX_WAIT, 77, NULL, NULL, 0);
	printf("%d\n", word);
}

static int base;

static void *be_nice(void *arg)
{
	int more = (int)(long)arg % 3, good = 0, want = base + more;
	pid_t id = (pid_t)syscall(SYS_gettid);

	want = want > 19 ? 19 : want;
	pthread_barrier_wait(&all_here);
	if ((long)arg % 2)
		good += nice(more) == want;
	else
		good += setpriority(PRIO_PROCESS, (id_t)id, want) == 0;
	move();
	good += getpriority(PRIO_PROCESS, 0) == want;
	good += getpriority(PRIO_PROCESS, (id_t)id) == want;
	good += syscall(SYS_getpriority, PRIO_PROCESS, id) == 20 - want;
	return (void *)(long)good;
}

static void nice_values_are_the_threads(void)
{
	base = getpriority(PRIO_PROCESS, 0);
	printf("%ld\n", in_threads(be_nice));
	printf("%d\n", getpriority(PRIO_PROCESS, 0) - base);
	printf("%d\n", getpriority(PRIO_PROCESS, (id_t)getpid()) - base);
	show_errno("which", setpriority(77, 0, 5));
	show_errno("beyond", setpriority(PRIO_PROCESS, 0, 100));
	printf("%d %d\n", getpriority(PRIO_PROCESS, 0), nice(1000));
	errno = 0;
	getpriority(PRIO_PROCESS, 0x3fffffff);
	show("nobody", errno);
}

static void *raise_again(void *arg)
{
	struct rlimit none = { 0, 0 };
	long r;

	setrlimit(RLIMIT_NICE, &none);
	show_errno("nicer", setpriority(PRIO_PROCESS, 0, 19));
	r = setpriority(PRIO_PROCESS, 0, 18);
	printf("less nice: %s\n", r == 0 ? "privileged" : strerror(errno));
	errno = 0;
	r = nice(-3);
	printf("by nice: %s\n", errno == 0 ? "privileged" : strerror(errno));
	return arg;
}

static void to_be_less_nice_is_a_privilege(void)
{
	finish(start(raise_again, NULL));
}

static const struct compare_case cases[] = {
	COMPARE(names_are_the_threads),
	COMPARE(perf_names_are_not_the_programs),
	COMPARE(a_child_has_the_threads_name),
	COMPARE(timer_slack_is_the_threads),
	COMPARE(the_death_of_the_parent_is_told),
	COMPARE(privileges_stay_given_up),
	COMPARE(the_processs_is_the_kernels),
	COMPARE(cpus_are_the_threads),
	COMPARE(cpus_that_main_has_left),
	COMPARE(policies_are_the_threads),
	COMPARE(a_word_is_emptied_when_the_thread_has_ended),
	COMPARE(nice_values_are_the_threads),
	COMPARE(to_be_less_nice_is_a_privilege),
};

COMPARE_MAIN(cases)

/* SPDX-License-Identifier: MIT */
/* test_sched_attr.c - sched_setattr() and sched_getattr(), which are of one thread */
#include "compare.h"

#include <dlfcn.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define RESET		0x01u		/* SCHED_FLAG_RESET_ON_FORK and so on */
#define KEEP_POLICY	0x08u
#define KEEP_PARAMS	0x10u
#define KEEP_ALL	(KEEP_POLICY | KEEP_PARAMS)
#define UNKNOWN		0x80u
#define NOBODY		0x3fffffff
#define FIRST_BYTES	48u		/* what the first kernel with it had */

/* The kernel's, with room for what later ones may have. */
struct attr {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
	char more[80];
};

#define A(...)	((struct attr) { __VA_ARGS__ })

static void put(const char *what, long id, struct attr attr)
{
	const uint32_t size = attr.size;

	show_errno(what, syscall(SYS_sched_setattr, id, &attr, 0));
	if (attr.size != size)
		printf("  size is another: %d\n", attr.size >= FIRST_BYTES);
}

/* Whether the kernel tells of slices depends on its version. */
static void get(const char *what, long id)
{
	struct attr a;

	memset(&a, 0x55, sizeof(a));
	if (syscall(SYS_sched_getattr, id, &a, FIRST_BYTES, 0) != 0) {
		show(what, errno);
		return;
	}
	printf("%s: size %u policy %u flags %u nice %d priority %u, %u %u\n",
	       what, a.size, a.policy, (unsigned)a.flags, a.nice, a.priority,
	       (unsigned)a.deadline, (unsigned)a.period);
}

static void both(const char *what, struct attr attr)
{
	put(what, 0, attr);
	get("  has", 0);
}

static void *run_nothing(void *arg)
{
	return arg;
}

static void *set_policies(void *arg)
{
	get("as made", 0);
	both("zero", A(0));
	both("nicer", A(.nice = 3));
	both("beyond", A(.nice = 100));
	both("other", A(.policy = SCHED_OTHER, .nice = 19));
	both("batch", A(.policy = SCHED_BATCH, .nice = 19, .flags = RESET));
	both("priority", A(.policy = SCHED_BATCH, .nice = 19, .priority = 2));
	both("none", A(.policy = 99, .nice = 19));
	both("four", A(.policy = 4, .nice = 19));
	both("negative", A(.policy = (uint32_t)-1, .nice = 19));
	both("legacy flag", A(.policy = SCHED_RESET_ON_FORK, .nice = 19));
	both("unknown flag", A(.flags = UNKNOWN, .nice = 19));
	both("no deadline", A(.policy = 6));
	both("idle", A(.policy = SCHED_IDLE, .nice = 2, .flags = RESET));
	both("stay idle", A(.policy = SCHED_IDLE, .priority = 1,
			    .flags = RESET));
	return arg;
}

static void policies_and_nice_values(void)
{
	finish(start(set_policies, NULL));
	get("the first", 0);
	get("by its id", getpid());
}

static void *keep_some(void *arg)
{
	both("begin", A(.nice = 5));
	both("all", A(.policy = 99, .flags = KEEP_ALL, .nice = 9));
	both("reset", A(.policy = 99, .flags = KEEP_ALL | RESET, .nice = 9));
	both("policy", A(.policy = 99, .flags = KEEP_POLICY, .nice = 9));
	both("no policy", A(.policy = (uint32_t)-1, .flags = KEEP_POLICY));
	both("priority", A(.flags = KEEP_ALL, .priority = 4));
	both("parameters", A(.flags = KEEP_PARAMS, .nice = 9));
	both("another", A(.flags = KEEP_PARAMS, .policy = SCHED_BATCH));
	both("wrong", A(.flags = KEEP_PARAMS, .policy = 99));
	both("and reset", A(.flags = KEEP_PARAMS | RESET));
	both("still", A(.flags = KEEP_POLICY, .nice = 12));
	both("real", A(.flags = KEEP_PARAMS, .policy = SCHED_FIFO));
	return arg;
}

static void what_is_kept(void)
{
	finish(start(keep_some, NULL));
}

static void *try_sizes(void *arg)
{
	struct attr a = { .size = 0 };
	const unsigned sizes[] = { 0, 4, 47, FIRST_BYTES, sizeof(a), 5000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		printf("%u ", sizes[i]);
		put("put", 0, A(.size = sizes[i], .nice = 1));
	}
	a.size = sizeof(a);
	a.more[sizeof(a.more) - 1] = 1;
	put("not zero", 0, a);
	show_errno("get 0", syscall(SYS_sched_getattr, 0, &a, 0, 0));
	show_errno("get 47", syscall(SYS_sched_getattr, 0, &a, 47, 0));
	show_errno("get 48", syscall(SYS_sched_getattr, 0, &a, 48, 0));
	show_errno("get all", syscall(SYS_sched_getattr, 0, &a, sizeof(a), 0));
	printf("%d\n", a.size > FIRST_BYTES && a.nice == 1);
	show_errno("get 5000", syscall(SYS_sched_getattr, 0, &a, 5000, 0));
	show_errno("get flags", syscall(SYS_sched_getattr, 0, &a, 48, 1));
	show_errno("get null", syscall(SYS_sched_getattr, 0, NULL, 48, 0));
	show_errno("get bad", syscall(SYS_sched_getattr, 0, 8L, 48, 0));
	a = A(.nice = 2);
	show_errno("flags", syscall(SYS_sched_setattr, 0, &a, 1));
	show_errno("null", syscall(SYS_sched_setattr, 0, NULL, 0));
	show_errno("bad", syscall(SYS_sched_setattr, 0, 8L, 0));
	return arg;
}

static void sizes_are_checked(void)
{
	finish(start(try_sizes, NULL));
	get("the first", 0);
}

static pthread_barrier_t here, done;
static _Atomic long other;

static void *be_another(void *arg)
{
	other = syscall(SYS_gettid);
	pthread_barrier_wait(&here);
	pthread_barrier_wait(&done);
	get("itself", 0);
	printf("its nice value: %d\n", getpriority(PRIO_PROCESS, 0));
	printf("its policy: %d\n", sched_getscheduler(0));
	setpriority(PRIO_PROCESS, 0, 14);
	get("then", other);
	return arg;
}

static void threads_have_ids(void)
{
	pthread_t t;

	pthread_barrier_init(&here, NULL, 2);
	pthread_barrier_init(&done, NULL, 2);
	t = start(be_another, NULL);
	pthread_barrier_wait(&here);
	put("another", other, A(.policy = SCHED_BATCH, .nice = 11));
	get("another", other);
	get("the first", 0);
	pthread_barrier_wait(&done);
	finish(t);
	put("nobody", NOBODY, A(.nice = 11));
	get("nobody", NOBODY);
	put("negative", -1, A(.nice = 11));
	get("negative", -1);
	put("wrong and nobody", NOBODY, A(.size = 5));
	put("the process", getpid(), A(.nice = 7));
	printf("%d\n", getpriority(PRIO_PROCESS, 0));
}

/* Another process's; its thread has no id that we know. */
static void processes_have_ids(void)
{
	int over[2];
	pid_t child;
	char c;

	finish(start(run_nothing, NULL));
	fflush(stdout);
	if (pipe(over) != 0)
		abort();
	child = fork();
	if (child == 0) {
		close(over[1]);
		(void)!read(over[0], &c, 1);
		_exit(0);
	}
	close(over[0]);
	put("a child", child, A(.policy = SCHED_BATCH, .nice = 13));
	get("a child", child);
	get("the first", 0);
	printf("policy %d\n", sched_getscheduler(child));
	close(over[1]);
	waitpid(child, NULL, 0);
}

/*
 * Parent and child share a CPU. So the child runs, for the first time, after the parent has
 * set its policy, and must not take that for what it has to put right.
 */
static void new_children_keep_what_is_set(void)
{
	cpu_set_t one;
	pid_t child;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	show_errno("one CPU", sched_setaffinity(0, sizeof(one), &one));
	finish(start(run_nothing, NULL));
	fflush(stdout);
	for (int i = 0; i < 20; i++) {
		int over[2];
		char c = 0;

		if (pipe(over) != 0)
			abort();
		child = fork();
		if (child == 0)
			_exit(write(over[1], "", 1) != 1 || pause());
		if (syscall(SYS_sched_setattr, child,
			    &A(.policy = SCHED_BATCH, .nice = 13), 0) != 0)
			abort();
		(void)!read(over[0], &c, 1);
		get("the child", child);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		close(over[0]);
		close(over[1]);
	}
}

static void *tell(void *arg)
{
	get((const char *)arg, 0);
	return arg;
}

static void *make_others(void *arg)
{
	both("nice", A(.policy = SCHED_BATCH, .nice = 6));
	finish(start(tell, "inherited"));
	both("reset", A(.policy = SCHED_BATCH, .nice = 6, .flags = RESET));
	finish(start(tell, "new"));
	return arg;
}

static void new_threads_inherit(void)
{
	finish(start(make_others, NULL));
}

/* --- with a privilege, and without --------------------------------- */

static void *set_real_time(void *arg)
{
	both("fifo", A(.policy = SCHED_FIFO, .priority = 5, .nice = 1));
	both("none", A(.policy = SCHED_FIFO));
	both("most", A(.policy = SCHED_RR, .priority = 99));
	both("more", A(.policy = SCHED_RR, .priority = 100));
	both("much more", A(.policy = SCHED_RR, .priority = 0x100000a));
	both("less", A(.policy = SCHED_FIFO, .priority = 3));
	both("keep policy", A(.flags = KEEP_POLICY, .priority = 4));
	both("keep wrong", A(.flags = KEEP_POLICY));
	both("keep all", A(.flags = KEEP_ALL));
	both("keep parameters", A(.flags = KEEP_PARAMS));
	both("reset", A(.policy = SCHED_FIFO, .priority = 2, .flags = RESET));
	finish(start(tell, "new"));
	both("other", A(.nice = 2));
	both("less nice", A(.nice = -5, .flags = RESET));
	finish(start(tell, "new"));
	both("idle", A(.policy = SCHED_IDLE));
	both("not idle", A(.nice = 2));
	both("wrong deadline", A(.policy = 6, .runtime = 9000000,
				 .deadline = 4000000));
	return arg;
}

static void real_time_priorities(void)
{
	finish(start(set_real_time, NULL));
}

static void give_up(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct none[2] = { { 0, 0, 0 } };

	if (syscall(SYS_capset, &head, none) != 0)
		abort();
}

static void limit(int which, unsigned long most)
{
	struct rlimit to = { most, most };

	getrlimit(which, &to);
	if (to.rlim_max > most)
		to.rlim_max = most;
	to.rlim_cur = to.rlim_max;
	setrlimit(which, &to);
}

static void *set_without(void *arg)
{
	set_policies(NULL);
	both("flag is kept", A(.policy = SCHED_IDLE));
	return arg;
}

static void without_a_privilege(void)
{
	limit(RLIMIT_NICE, 0);
	limit(RLIMIT_RTPRIO, 0);
	give_up();
	finish(start(set_real_time, NULL));
	finish(start(set_without, NULL));
	both("the first: deadline", A(.policy = 6, .runtime = 2000000,
				      .deadline = 9000000));
	get("the first", 0);
}

/* Only root can have them; others have none, on both sides. */
static void *set_within(void *arg)
{
	struct sched_param low = { .sched_priority = 1 };
	struct sched_param high = { .sched_priority = 8 };

	both("within", A(.policy = SCHED_FIFO, .priority = 5));
	both("above", A(.policy = SCHED_FIFO, .priority = 6));
	both("other", A(.nice = 4));
	both("less nice", A(.nice = -3));
	both("too little", A(.nice = -10));
	both("idle", A(.policy = SCHED_IDLE));
	both("not idle", A(.nice = 4));
	show_errno("low", sched_setscheduler(0, SCHED_RR, &low));
	show_errno("high", sched_setscheduler(0, SCHED_RR, &high));
	get("at last", 0);
	return arg;
}

static void limits_allow_some(void)
{
	limit(RLIMIT_NICE, 25);
	limit(RLIMIT_RTPRIO, 5);
	give_up();
	finish(start(set_within, NULL));
}

/* It had more before the limit came down; what is no more, it may have. */
static void *come_down(void *arg)
{
	struct sched_param param = { .sched_priority = 5 };

	show_errno("high", sched_setscheduler(0, SCHED_FIFO, &param));
	both("higher", A(.policy = SCHED_FIFO, .priority = 8));
	limit(RLIMIT_NICE, 0);
	limit(RLIMIT_RTPRIO, 0);
	param.sched_priority = 3;
	show_errno("lower", sched_setparam(0, &param));
	both("lower", A(.policy = SCHED_FIFO, .priority = 2));
	both("again", A(.policy = SCHED_FIFO, .priority = 3));
	both("another", A(.policy = SCHED_RR, .priority = 1));
	both("other", A(.nice = 0));
	both("idle", A(.policy = SCHED_IDLE));
	param.sched_priority = 0;
	show_errno("not idle", sched_setscheduler(0, SCHED_OTHER, &param));
	return arg;
}

static void a_thread_with_more_keeps_it(void)
{
	limit(RLIMIT_NICE, 25);
	limit(RLIMIT_RTPRIO, 8);
	give_up();
	finish(start(come_down, NULL));
}

/* --- others' ways to it -------------------------------------------- */

typedef int (*set_fn)(pid_t id, void *attr, unsigned flags);
typedef int (*get_fn)(pid_t id, void *attr, unsigned bytes, unsigned flags);

/* A libc may have functions of these names. */
static void *call_functions(void *arg)
{
	set_fn set = (set_fn)dlsym(RTLD_DEFAULT, "sched_setattr");
	get_fn tell_of = (get_fn)dlsym(RTLD_DEFAULT, "sched_getattr");
	struct attr a = { .policy = SCHED_BATCH, .nice = 8 };
	struct attr told = { .size = 0 };

	if (set && tell_of) {
		show_errno("set", set(0, &a, 0));
		show_errno("get", tell_of(0, &told, FIRST_BYTES, 0));
		show_errno("wrong", tell_of(0, &told, FIRST_BYTES, 1));
	} else {
		show_errno("set", syscall(SYS_sched_setattr, 0, &a, 0));
		show_errno("get", syscall(SYS_sched_getattr, 0, &told,
					  FIRST_BYTES, 0));
		show_errno("wrong", syscall(SYS_sched_getattr, 0, &told,
					    FIRST_BYTES, 1));
	}
	printf("%u %d\n", told.policy, told.nice);
	return arg;
}

/* As a pool does that gives its threads what their maker had. */
static void *be_as(void *attr)
{
	show_errno("hand on", syscall(SYS_sched_setattr, 0, attr, 0));
	get("a pool's thread", 0);
	return attr;
}

static void functions_and_pools(void)
{
	struct attr a = { .size = 0 };

	finish(start(call_functions, NULL));
	both("the first", A(.policy = SCHED_BATCH, .nice = 9));
	show_errno("get", syscall(SYS_sched_getattr, 0, &a, sizeof(a), 0));
	finish(start(be_as, &a));
}

/* A slice of 5 ms and one that is too short; of a kernel without them, nothing. */
static void *set_slices(void *arg)
{
	struct attr a = { .size = 0 };
	const unsigned long slices[] = { 5000000, 1, 3000000000uL, 0 };

	for (int i = 0; i < 4; i++) {
		put("slice", 0, A(.runtime = slices[i]));
		syscall(SYS_sched_getattr, 0, &a, FIRST_BYTES, 0);
		printf("%lu\n", (unsigned long)a.runtime);
	}
	put("slice", 0, A(.runtime = 5000000));
	put("kept", 0, A(.runtime = 6000000, .flags = KEEP_ALL));
	setpriority(PRIO_PROCESS, 0, 3);
	syscall(SYS_sched_getattr, 0, &a, FIRST_BYTES, 0);
	printf("%lu\n", (unsigned long)a.runtime);
	return arg;
}

static void slices_are_told(void)
{
	finish(start(set_slices, NULL));
}

static const struct compare_case cases[] = {
	COMPARE(policies_and_nice_values),
	COMPARE(what_is_kept),
	COMPARE(sizes_are_checked),
	COMPARE(threads_have_ids),
	COMPARE(processes_have_ids),
	COMPARE(new_children_keep_what_is_set),
	COMPARE(new_threads_inherit),
	COMPARE(real_time_priorities),
	COMPARE(without_a_privilege),
	COMPARE(limits_allow_some),
	COMPARE(a_thread_with_more_keeps_it),
	COMPARE(functions_and_pools),
	COMPARE(slices_are_told),
};

COMPARE_MAIN(cases)

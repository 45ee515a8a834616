/* SPDX-License-Identifier: MIT */
/* test_libc.c - what libc keeps for each thread, and what else it does for them */
#include "compare.h"

#include <ctype.h>
#include <fcntl.h>
#include <locale.h>
#include <sched.h>
#include <semaphore.h>
#include <spawn.h>
#include <sys/wait.h>

#define THREADS	8

static long in_threads(void *(*fn)(void *arg))
{
	pthread_t t[THREADS];
	long sum = 0;

	for (long i = 0; i < THREADS; i++)
		t[i] = start(fn, (void *)i);
	for (int i = 0; i < THREADS; i++)
		sum += (long)finish(t[i]);
	return sum;
}

/* --- each thread's own --------------------------------------------- */

static __thread long mine = 5;

/* The text of strsignal() is the thread's own in each libc, that of strerror() is not. */
static void *look_at_own(void *arg)
{
	long i = (long)arg, good = 1;
	char text[32];
	locale_t c = newlocale(LC_ALL_MASK, "C", NULL);
	const char *message;

	mine += i;
	if (i % 2)
		uselocale(c);
	message = strsignal((int)(100000 + i));
	snprintf(text, sizeof(text), "%ld", 100000 + i);
	errno = (int)i;
	for (int k = 0; k < 20; k++) {
		sched_yield();
		good &= errno == i && mine == 5 + i && isalpha('a') != 0;
		good &= strstr(message, text) != NULL;
		good &= (uselocale(NULL) == c) == (i % 2);
		good &= sched_getcpu() >= 0;
		errno = (int)i;
	}
	if (i % 2)
		uselocale(LC_GLOBAL_LOCALE);
	freelocale(c);
	return (void *)good;
}

static void threads_have_errno_and_locale_of_their_own(void)
{
	printf("%ld\n", in_threads(look_at_own));
	printf("%ld %d\n", mine, uselocale(NULL) == LC_GLOBAL_LOCALE);
}

/* A byte with one thread: libc then does without its locks. */
#ifdef HAVE_SYS_SINGLE_THREADED_H
#include <sys/single_threaded.h>

static void *look_at_single(void *arg)
{
	return (void *)(long)(__libc_single_threaded == 0 && arg != &mine);
}

static void libc_knows_that_there_are_threads(void)
{
	printf("%ld\n", in_threads(look_at_single));
}
#else
static void libc_knows_that_there_are_threads(void)
{
	puts("not here: libc tells no program");
}
#endif

static FILE *file;

static void *write_line(void *arg)
{
	for (int k = 0; k < 10; k++) {
		flockfile(file);
		for (int i = 0; i < 5; i++) {
			putc_unlocked((int)('a' + (long)arg), file);
			sched_yield();
		}
		putc_unlocked('\n', file);
		funlockfile(file);
	}
	return arg;
}

static void the_owner_of_a_file_lock_may_give_way(void)
{
	char line[32];
	int lines = 0, whole = 0;

	file = tmpfile();
	in_threads(write_line);
	rewind(file);
	for (; fgets(line, sizeof(line), file); lines++)
		whole += strlen(line) == 6 && line[0] == line[1] &&
			 line[1] == line[2] && line[2] == line[3] &&
			 line[3] == line[4];
	printf("%d %d\n", lines, whole);
}

/* --- locks that inherit priorities, semaphores with names ---------- */

static pthread_mutex_t inheriting;
static long counted;

static void *count(void *arg)
{
	for (int i = 0; i < 100; i++) {
		pthread_mutex_lock(&inheriting);
		counted++;
		if (i % 20 == 0)
			sched_yield();
		pthread_mutex_unlock(&inheriting);
	}
	return (void *)(long)(arg != NULL);
}

static void a_mutex_may_inherit_priorities(void)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	show("protocol", pthread_mutexattr_setprotocol(&attr,
						       PTHREAD_PRIO_INHERIT));
	show("init", pthread_mutex_init(&inheriting, &attr));
	in_threads(count);
	printf("%ld\n", counted);
	show("destroy", pthread_mutex_destroy(&inheriting));
}

static sem_t *named, *again;

static void *take(void *arg)
{
	int error = sem_wait((long)arg % 2 ? named : again);

	sem_post(named);
	return (void *)(long)(error == 0);
}

static void a_semaphore_with_a_name_is_one(void)
{
	char name[32];
	int value = -1;

	snprintf(name, sizeof(name), "/weft-l%d", (int)getpid());
	named = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
	again = sem_open(name, 0);
	sem_unlink(name);
	printf("%d\n", named != SEM_FAILED && named == again);
	sem_post(again);
	printf("%ld\n", in_threads(take));
	sem_getvalue(named, &value);
	printf("%d\n", value);
	sem_close(again);
	sem_close(named);
}

/* --- processes ----------------------------------------------------- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int onces;

static void do_once(void)
{
	onces++;
}

static void *fork_after_once(void *arg)
{
	int status = 0;
	pid_t child;

	pthread_once(&once, do_once);
	child = fork();
	if (child == 0) {
		pthread_once(&once, do_once);
		_exit(onces);
	}
	waitpid(child, &status, 0);
	printf("%d %d\n", WEXITSTATUS(status), onces);
	return arg;
}

static void once_is_once_in_a_child_too(void)
{
	finish(start(fork_after_once, NULL));
}

static void *spawn(void *arg)
{
	char text[16], *argv[] = { "sh", "-c", text, NULL };
	extern char **environ;
	int status = 0;
	pid_t child;

	snprintf(text, sizeof(text), "exit %ld", (long)arg);
	if (posix_spawn(&child, "/bin/sh", NULL, NULL, argv, environ) != 0 ||
	    waitpid(child, &status, 0) != child)
		return NULL;
	return (void *)(long)WEXITSTATUS(status);
}

static void programs_are_spawned_by_threads(void)
{
	printf("%ld\n", in_threads(spawn));
}

/* --- the end of the process ---------------------------------------- */

static pthread_t first, exiting;
static sem_t asked, answered;

static void tell(const char *what)
{
	pthread_t self = pthread_self();

	printf("%s: %s\n", what, pthread_equal(self, first) ? "the first" :
	       pthread_equal(self, exiting) ? "who exits" : "another");
}

static void tell_one(void)
{
	tell("one");
}

static void tell_two(void)
{
	tell("two");
}

static void tell_three(void)
{
	tell("three");
}

static void tell_status(int status, void *arg)
{
	printf("%d ", status);
	tell(arg);
}

static void register_another(void)
{
	tell("registers");
	show("late", atexit(tell_three));
}

/* Others run on meanwhile. */
static void ask_and_wait(void)
{
	tell("asks");
	sem_post(&asked);
	sem_wait(&answered);
	tell("has waited");
}

static void *register_one(void *arg)
{
	show("one", atexit(tell_one));
	show("with status", on_exit(tell_status, arg));
	return arg;
}

static void *register_two(void *arg)
{
	show("two", atexit(tell_two));
	return arg;
}

static void *answer(void *arg)
{
	sem_wait(&asked);
	tell("answers");
	sem_post(&answered);
	for (;;)
		pause();
	return arg;
}

static void functions_for_the_end_run_in_order(void)
{
	static char text[] = "as registered";

	first = pthread_self();
	finish(start(register_one, text));
	show("three", atexit(tell_three));
	finish(start(register_two, NULL));
	show("again", atexit(tell_one));
}

static void destroy(void *what)
{
	tell(what);
}

static void *exit_by_itself(void *arg)
{
	static char text[] = "a key's value";
	pthread_key_t key;

	exiting = pthread_self();
	pthread_key_create(&key, destroy);
	pthread_setspecific(key, text);
	atexit(register_another);
	atexit(ask_and_wait);
	if (arg)
		pthread_join(first, NULL);
	exit(5);
}

static void a_thread_ends_the_process(void)
{
	static char text[] = "as registered";

	first = pthread_self();
	sem_init(&asked, 0, 0);
	sem_init(&answered, 0, 0);
	finish(start(register_one, text));
	start(answer, NULL);
	finish(start(exit_by_itself, NULL));
	printf("not reached\n");
}

/* The first has ended; what it has set is destroyed then. */
static void a_thread_ends_the_process_after_the_first(void)
{
	static char text[] = "the first's";
	pthread_key_t key;

	first = pthread_self();
	sem_init(&asked, 0, 0);
	sem_init(&answered, 0, 0);
	pthread_key_create(&key, destroy);
	pthread_setspecific(key, text);
	show("two", atexit(tell_two));
	start(answer, NULL);
	start(exit_by_itself, text);
	pthread_exit(NULL);
}

static void *exit_quickly(void *arg)
{
	exiting = pthread_self();
	show("two", at_quick_exit(tell_two));
	fflush(stdout);
	quick_exit(6);
	return arg;
}

static void flush(void)
{
	tell("flushes");
	fflush(stdout);
}

static void a_thread_ends_the_process_quickly(void)
{
	first = pthread_self();
	atexit(tell_one);
	at_quick_exit(flush);
	finish(start(exit_quickly, NULL));
}

static const struct compare_case cases[] = {
	COMPARE(threads_have_errno_and_locale_of_their_own),
	COMPARE(libc_knows_that_there_are_threads),
	COMPARE(the_owner_of_a_file_lock_may_give_way),
	COMPARE(a_mutex_may_inherit_priorities),
	COMPARE(a_semaphore_with_a_name_is_one),
	COMPARE(once_is_once_in_a_child_too),
	COMPARE(programs_are_spawned_by_threads),
	COMPARE(functions_for_the_end_run_in_order),
	ENDS_WITH(5, a_thread_ends_the_process),
	ENDS_WITH(5, a_thread_ends_the_process_after_the_first),
	ENDS_WITH(6, a_thread_ends_the_process_quickly),
};

COMPARE_MAIN(cases)

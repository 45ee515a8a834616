/* SPDX-License-Identifier: MIT */
/* test_cxx_life.cc - C++: objects that a thread has, and how it is unwound */
#include "cxx.h"

#include <condition_variable>
#include <cxxabi.h>
#include <mutex>
#include <semaphore.h>
#include <signal.h>
#include <string>

namespace {

/* --- objects that a thread has ------------------------------------- */

thread_local std::string *notes;
thread_local int fresh = 42;

/* The small letter when it is made, the capital when it is no more. */
struct noted {
	char name;

	explicit noted(char n) : name(n) { *notes += name; }
	~noted();
};

template <char NAME> void have()
{
	thread_local noted object(NAME);

	move();
	(void)object;
}

noted::~noted()
{
	*notes += (char)(name - 'a' + 'A');
	move();
	if (name == 'c')
		have<'d'>();	/* one that is made when others go */
}

pthread_key_t key;

void note_key(void *text)
{
	*static_cast<std::string *>(text) += '.';
}

enum ending { RETURNS, EXITS, THROWS, IS_CANCELLED };

void have_three_and_end(int me, std::string *text)
{
	notes = text;
	pthread_setspecific(key, text);
	*notes += std::to_string(fresh) + ' ';
	fresh = me;
	have<'b'>();
	have<'a'>();
	have<'c'>();
	pthread_barrier_wait(&all_here);
	switch ((ending)(me % 4)) {
	case RETURNS:
		return;
	case EXITS:
		pthread_exit(nullptr);
	case THROWS:
		try {
			throw me;
		} catch (int) {
			return;
		}
	case IS_CANCELLED:
		pthread_cancel(pthread_self());
		pthread_testcancel();
	}
}

/* Each has new ones, where the memory is that of one before, too. */
void threads_destroy_what_they_have()
{
	for (int round = 0; round < 3; round++) {
		std::string texts[THREADS];

		pthread_key_create(&key, note_key);
		in_threads([&](int i) {
			have_three_and_end(i, &texts[i]);
			return 0;
		});
		for (const auto &text : texts)
			printf("%s\n", text.c_str());
		pthread_key_delete(key);
	}
}

struct farewell {
	const char *of;

	~farewell()
	{
		move();
		printf("%s\n", of);
	}
};

farewell &the_threads()
{
	thread_local farewell mine = { "nobody's" };

	return mine;
}

void main_and_one_have(const char *mains, const char *others)
{
	static farewell the_programs = { "the program's" };

	(void)the_programs;
	the_threads().of = mains;
	std::thread([others] { the_threads().of = others; }).join();
}

void the_end_destroys_what_main_has()
{
	main_and_one_have("main's", "another's");
	printf("end\n");
}

void exit_destroys_what_its_caller_has()
{
	main_and_one_have("main's, who did not call", "another's");
	std::thread([] {
		the_threads().of = "the caller's";
		exit(3);
	}).join();
}

/* What main has of its own libc destroys if main is the last; weft at once. */
void main_may_leave_before_others()
{
	static std::atomic<bool> left { false };
	struct leaving {
		~leaving() { left = true; }
	} stays_a_while;

	(void)stays_a_while;
	std::thread([] {
		while (!left)
			move();
		main_and_one_have("the last one's", "another's");
	}).detach();
	pthread_exit(nullptr);
}

/* --- cancellation and pthread_exit() ------------------------------- */

sem_t begun, never;
std::mutex mutex;
std::condition_variable never_told;
int empty[2];

void wait_in(int way)
{
	static const auto hour = std::chrono::hours(1);
	std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
	char c;

	switch (way) {
	case 0:
		for (;;)
			std::this_thread::sleep_for(hour);
	case 1:
		(void)!read(empty[0], &c, 1);
		break;
	case 2:
		sem_wait(&never);
		break;
	case 3:
		lock.lock();
		for (;;)
			never_told.wait(lock);
	case 4:
		lock.lock();
		for (;;)
			never_told.wait_for(lock, hour);
	case 5:
		for (;;)
			pthread_testcancel();
	}
}

struct on_stack {
	const char *name;

	~on_stack()
	{
		move();		/* others run while it is unwound */
		printf("%s goes\n", name);
	}
};

void be_unwound(int way)
{
	on_stack outer = { "outer" };

	try {
		on_stack inner = { "inner" };
		counted object(way);

		sem_post(&begun);
		if (way < 0)
			pthread_exit(nullptr);
		wait_in(way);
	} catch (const abi::__forced_unwind &) {
		printf("forced\n");
		throw;
	} catch (...) {
		printf("not this\n");
	}
}

void a_cancelled_thread_is_unwound()
{
	if (pipe(empty) != 0)
		abort();
	sem_init(&never, 0, 0);
	for (int way = 0; way < 6; way++) {
		sem_init(&begun, 0, 0);
		std::thread t(be_unwound, way);

		while (sem_wait(&begun) != 0)
			;
		pthread_cancel(t.native_handle());
		t.join();
		printf("%d: there %d, mutex %d\n", way,
		       counted::there.load(), mutex.try_lock());
		mutex.unlock();
	}
}

/* Out of a handler too: the exception there goes with it. */
void an_exiting_thread_is_unwound()
{
	std::thread(be_unwound, -1).join();
	std::thread([] {
		on_stack outer = { "outermost" };

		try {
			throw counted(1);
		} catch (const counted &) {
			on_stack inner = { "the handler's" };

			pthread_exit(nullptr);
		}
	}).join();
	printf("there %d\n", counted::there.load());
	printf("%ld\n", (long)finish(start([](void *arg) -> void * {
		try {
			throw 5;
		} catch (...) {
			pthread_exit(arg);
		}
	}, (void *)77L)));
}

void a_kept_cancellation_ends_the_process()
{
	printf("before\n");
	end_without_a_core();
	std::thread([] {
		pthread_cancel(pthread_self());
		try {
			pthread_testcancel();
		} catch (...) {
		}
	}).join();
	printf("not this\n");
}

const struct compare_case cases[] = {
	COMPARE(threads_destroy_what_they_have),
	COMPARE(the_end_destroys_what_main_has),
	ENDS_WITH(3, exit_destroys_what_its_caller_has),
	COMPARE(main_may_leave_before_others),
	COMPARE(a_cancelled_thread_is_unwound),
	COMPARE(an_exiting_thread_is_unwound),
	ENDS_BY(SIGABRT, a_kept_cancellation_ends_the_process),
};

} /* namespace */

COMPARE_MAIN(cases)

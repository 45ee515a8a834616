/* SPDX-License-Identifier: MIT */
/* explore/report.h - what libweft-explore.so tells weft explore of a run */
#ifndef WEFT_EXPLORE_REPORT_H
#define WEFT_EXPLORE_REPORT_H

#include <stdint.h>

/*
 * The environment variable that turns the library on:
 *	pid=N,seed=N,strategy=WORD[,steps=N][,trace][,fd=N[,tell]][,serve=N][,learn][,sites]
 *	[,points=N][,noraces][,forks][,race=KEY][,location=N][,native][,list=CHOICES]
 * pid: only this process is explored, and none of its children. fd: a file with a struct
 * wefti_ex_shared, which outlives a crash. Without it, and with tell, the library prints one
 * line. serve: a socket. The process goes up to main() and makes a child for each run
 * (serve.c). learn: the run fills the report's sites. sites: accesses there are points.
 * points: one access in N is a point. race, location: the run ends at such a race. native: the
 * program is linked with libweft.so (native.c).
 */
#define WEFTI_EX_VARIABLE	"WEFT_EXPLORE"
#define WEFTI_EX_MAGIC		0x77784531u
#define WEFTI_EX_STEPS		1000000u	/* the bound on the steps of a run */
#define WEFTI_EX_TEXT		4000u

#define WEFTI_EX_RACES		8u	/* of a run, that are told */
#define WEFTI_EX_RACE_TEXT	1200u
#define WEFTI_EX_SITES		4096u	/* places of the code whose accesses are points */
#define WEFTI_EX_CHOICES	4096u	/* that a report has room for */
#define WEFTI_EX_CHOICE_TEXT	64u	/* of a choice in text, at most */
#define WEFTI_EX_LIST		(WEFTI_EX_CHOICES * WEFTI_EX_CHOICE_TEXT + 1u)
#define WEFTI_EX_STRATEGY	16u	/* of a strategy */

/*
 * A choice of a run that is not the plain one: thread `by`, at its choice number `at`. In
 * text, with "/" between two:
 *	BYrTO@AT  thread TO runs next
 *	BYwTO@AT  thread TO is woken by a signal
 *	BYt0@AT   the next deadline comes
 *	BYsTO@AT  thread TO's wait for a condition variable ends without a signal
 *	BYh0@AT   an unlock of weft's own mutex hands it over
 */
struct wefti_ex_choice {
	uint32_t by, at, to;
	char what;	/* 'r', 'w', 't', 's' or 'h' */
};

/*
 * The points of a run at which there was a choice, for a search through all orders. Each
 * takes WEFTI_EX_FORK words and those of its threads: by, at, what, the past (two words), the
 * plain choice, whether another choice is a preemption, how many threads; the threads. The
 * past is a hash of the steps up to there, the same for orders of them that no thread can
 * tell apart.
 */
#define WEFTI_EX_FORK		8u
#define WEFTI_EX_FORK_WORDS	(256u * 1024u)

enum wefti_ex_verdict {
	WEFTI_EX_NONE,		/* the run has not begun, or the library found nothing */
	WEFTI_EX_DEADLOCK,
	WEFTI_EX_HANG,		/* more steps than the bound */
	WEFTI_EX_MISUSE,	/* undefined use of an object */
	WEFTI_EX_LIMIT,		/* more threads or objects than the library can follow */
	WEFTI_EX_RACE,		/* the race at which the run was to end */
};

struct wefti_ex_race {
	uint64_t key;		/* of the two places */
	uint64_t location;	/* the variable, in its module; 0: it is in none */
	char text[WEFTI_EX_RACE_TEXT];
};

/* Written by the thread that has the turn; read by weft explore after the run. */
struct wefti_ex_report {
	uint32_t magic;		/* set when the library is on */
	uint32_t verdict;
	uint64_t steps, switches, threads;
	uint64_t hash;		/* of each choice and each step */
	uint64_t key;		/* equal keys: the same failure */
	uint64_t where;		/* the call of the last step */
	uint64_t crash;		/* a hash of a crash's place and callers; 0: it is not known */
	uint32_t last_op;
	uint32_t last_thread;
	char text[WEFTI_EX_TEXT];	/* what is wrong, in lines */
	uint32_t races;			/* how many of race[] */
	uint32_t choices;		/* more than there is room for: some are missing */
	struct wefti_ex_choice choice[WEFTI_EX_CHOICES];
	struct wefti_ex_race race[WEFTI_EX_RACES];
	uint32_t sites;			/* how many of site[]; kept for the next runs */
	uint64_t site[WEFTI_EX_SITES];
};

/* A run that a process at its main() is asked for. */
struct wefti_ex_request {
	uint64_t seed;
	int32_t pid;		/* the run's process, and its group; 0: not made yet. So a
				 * program that a run executes knows that it is to be explored */
	uint32_t traces, has_list, has_forks;
	uint64_t race_to_end, location_to_end;
	char strategy[WEFTI_EX_STRATEGY];
	char list[WEFTI_EX_LIST];
};

struct wefti_ex_shared {
	struct wefti_ex_report report;
	struct wefti_ex_request request;
	uint32_t fork_words;	/* WEFTI_EX_FORK_WORDS: some are missing */
	uint32_t fork[WEFTI_EX_FORK_WORDS];
};

/* What such a process writes to the socket first. Then: the status of each run. */
#define WEFTI_EX_SERVES		0x77784553

#endif

/* SPDX-License-Identifier: MIT */
/* cli/figures.h - what a process says of its runtime, read (observe/figures.h) */
#ifndef WEFT_CLI_FIGURES_H
#define WEFT_CLI_FIGURES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The single values, in the order in which they are printed. */
enum weft_value {
	VALUE_TIME_NS,
	VALUE_START_NS,
	VALUE_VCPUS,
	VALUE_KERNEL_THREADS,
	VALUE_THREADS,
	VALUE_THREADS_PEAK,
	VALUE_RUNNING,
	VALUE_READY,
	VALUE_BLOCKED,
	VALUE_ENDED,
	VALUE_FOREIGN,
	VALUE_THREADS_MADE,
	VALUE_SWITCHES,
	VALUE_STEALS,
	VALUE_PREEMPTIONS,
	VALUE_COMPENSATIONS,
	VALUE_WAKES,
	VALUE_BLOCKED_NS,
	VALUE_READY_NS,
	VALUE_COUNT
};

/* How a value is named elsewhere. */
struct weft_value_name {
	const char *name;	/* in the answer, and in JSON */
	const char *metric;	/* for Prometheus; NULL: it is left out */
	const char *help;
	int is_total;		/* it only grows */
};

extern const struct weft_value_name weft_values[VALUE_COUNT];

#define WEFT_KIND_BYTES		16
/* The room that a text of so many bytes needs when it is shown (base/shown.h). */
#define WEFT_SHOWN_BYTES(bytes)	(4 * (bytes) + 5)
#define WEFT_NAME_BYTES		WEFT_SHOWN_BYTES(31)

struct weft_parked {
	char kind[WEFT_KIND_BYTES];
	uint64_t count;
};

struct weft_vcpu_figures {
	unsigned index;
	int kthread;
	unsigned ready;
	uint64_t busy_ns, switches, steals;
	uint64_t thread;	/* its id; 0: none */
};

struct weft_thread_figures {
	uint64_t id, run_ns;
	char state[WEFT_KIND_BYTES], kind[WEFT_KIND_BYTES], name[WEFT_NAME_BYTES];
};

struct weft_object_figures {
	char kind[WEFT_KIND_BYTES], object[24];
	uint64_t waiting, longest_ns;
	uint64_t owner;		/* its id; 0: none, or not known */
	char name[WEFT_NAME_BYTES];
};

#define WEFT_PARKED_MOST	32u
#define WEFT_VCPUS_MOST		256u
#define WEFT_ROWS_MOST		512u

/* How long threads were ready before they ran. */
struct weft_latency {
	uint64_t count;		/* runs that it is known of; 0: nothing is recorded */
	uint64_t half_ns;	/* half of them were ready for no longer: the median */
	uint64_t most_ns;	/* the same for 99 of 100 */
};

/* More rows than these are passed over. */
struct weft_figures {
	struct weft_latency latency;	/* not of the answer: see weft_cli_latency() */
	uint64_t value[VALUE_COUNT];
	size_t parked_count, vcpu_count, thread_count, object_count;
	struct weft_parked parked[WEFT_PARKED_MOST];
	struct weft_vcpu_figures vcpu[WEFT_VCPUS_MOST];
	struct weft_thread_figures thread[WEFT_ROWS_MOST];
	struct weft_object_figures object[WEFT_ROWS_MOST];
};

/*
 * Asks the process: for its counters and levels, or (request "top") for its threads and
 * objects too. Returns 0, or 1 after a line that says why there is no answer.
 */
int weft_cli_figures(long pid, const char *request, struct weft_figures *f);

/* Reads an answer. Returns 0, EPROTO: it is none; EPIPE: not all of one; or an error. */
int weft_cli_figures_read(FILE *from, struct weft_figures *f);

/* The share of its time, from 0 to 1, that VCPU i was busy since before (NULL: at all). */
double weft_cli_busy(const struct weft_figures *now, const struct weft_figures *before,
		     size_t i);

/* The seconds from before to now; since the start if before is NULL. */
double weft_cli_elapsed(const struct weft_figures *now, const struct weft_figures *before);

/* By how much a value grew in each second. */
double weft_cli_rate(const struct weft_figures *now, const struct weft_figures *before,
		     enum weft_value value);

/*
 * How many threads there are, main's and the foreign ones that wait too. VALUE_THREADS has
 * only those that were spawned.
 */
uint64_t weft_cli_threads(const struct weft_figures *f);
uint64_t weft_cli_parked(const struct weft_figures *f);

/* The mean time in ms that a thread waited for a VCPU before it ran. */
double weft_cli_wait_ms(const struct weft_figures *now, const struct weft_figures *before);

/*
 * cli/trace/latency.c: by the events that the process's rings hold, if it records now.
 * since: those before it (CLOCK_MONOTONIC, ns) do not count.
 */
void weft_cli_latency(long pid, int64_t since, struct weft_latency *l);

/*
 * Asks the process to record for so long, and a few seconds more. 0: no more. begin waits
 * until it does. Returns 0, or 1 after a line that says why not.
 */
void weft_cli_latency_ask(long pid, double seconds);
int weft_cli_latency_begin(long pid, double seconds);

/* Sleeps for so long. Returns 0, or -1: the process has ended meanwhile. */
int weft_cli_pause(long pid, double seconds);

/* Writes the figures as Prometheus reads them. */
void weft_cli_prometheus(FILE *to, const struct weft_figures *f);

/*
 * Answers GET /metrics on this port of the loopback address, until the process has ended.
 * Port 0: any, which a line names. latency: the process records meanwhile. Returns the exit
 * status.
 */
int weft_cli_listen(long pid, int port, int latency);

/* --- weft top ----------------------------------------------------------- */

struct weft_screen {
	long pid;
	double every;
	int by_longest;		/* objects: by the longest wait, not by their number */
};

/* Writes one picture: what happened from before to now. */
void weft_cli_picture(FILE *to, const struct weft_screen *s, const struct weft_figures *now,
		      const struct weft_figures *before);

/* Shows pictures in the terminal until a key ends it. Returns the exit status. */
int weft_cli_screen(struct weft_screen *s);

#endif

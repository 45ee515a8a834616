/* SPDX-License-Identifier: MIT */
/*
 * base/settings.h - all WEFT_* environment variables
 *
 * The table in settings.c has the name, type, range, default and meaning of each. No
 * other code in weft reads the environment.
 */
#ifndef WEFT_BASE_SETTINGS_H
#define WEFT_BASE_SETTINGS_H

#include <stdint.h>

/* Values of the words of a setting, in the table's order. */
enum wefti_set_sched { WEFTI_SCHED_STEAL, WEFTI_SCHED_SHARED, WEFTI_SCHED_EXPLORE };
enum wefti_set_tls { WEFTI_TLS_AUTO, WEFTI_TLS_OWN, WEFTI_TLS_SHARED };
enum wefti_set_malloc { WEFTI_MALLOC_LIBC, WEFTI_MALLOC_KNOWN };
enum wefti_set_io_uring {
	WEFTI_IO_URING_AUTO,
	WEFTI_IO_URING_NO,
	WEFTI_IO_URING_YES,
};
/* Each level shows what the levels before it show, and more. */
enum wefti_set_log {
	WEFTI_LOG_ERROR,
	WEFTI_LOG_WARNING,
	WEFTI_LOG_INFO,
	WEFTI_LOG_DEBUG,
};
enum wefti_set_deadlock {
	WEFTI_DEADLOCK_EXIT,
	WEFTI_DEADLOCK_REPORT,
	WEFTI_DEADLOCK_OFF,
	WEFTI_DEADLOCK_WATCH,	/* as REPORT; and cycles while the program goes on */
};

enum wefti_set_crash { WEFTI_CRASH_TELL, WEFTI_CRASH_DUMP };

/* Else how many bytes the events may take. */
enum wefti_set_trace { WEFTI_TRACE_OFF, WEFTI_TRACE_FLIGHT };

/* All of one type, so that the table can point to them. */
struct wefti_settings {
	int64_t vcpus;		/* 0: as many as the CPUs that may be used */
	int64_t sched;		/* enum wefti_set_sched */
	int64_t seed;		/* of WEFTI_SCHED_EXPLORE */
	int64_t slice_ns;	/* 0: no preemption */
	int64_t spare_max;	/* kernel threads besides those of VCPUs */
	int64_t stack;		/* bytes */
	int64_t tls;		/* enum wefti_set_tls */
	int64_t malloc;		/* enum wefti_set_malloc */
	int64_t io_uring;	/* enum wefti_set_io_uring */
	int64_t log;		/* enum wefti_set_log; see base/log.h */
	int64_t deadlock;	/* enum wefti_set_deadlock */
	int64_t crash;		/* enum wefti_set_crash */
	int64_t dump;		/* 0 or 1 */
	int64_t stats;		/* 0 or 1; read by the preload library */
	int64_t perf_names;	/* 0 or 1 */
	int64_t trace;		/* enum wefti_set_trace, or bytes */
	int64_t trace_pid;	/* the process for which `trace` is meant; 0: any */
	/* Read by libweft-mpi. */
	int64_t mpi_spin_ns;	/* of looks that find nothing, before a pause */
	int64_t mpi_pause_ns;	/* the longest */
	int64_t mpi_idle_ns;	/* the longest, where nothing has come for long */
	int64_t mpi_want;	/* waiting threads from which receives are deferred */
};

/*
 * Fills *s from the environment. A value that is not accepted is reported in one line
 * on stderr, unless WEFT_LOG is error, and the default is used. An empty value counts
 * as not set. In a program with more privileges than its caller (AT_SECURE) all
 * settings are defaults.
 */
void wefti_settings_load(struct wefti_settings *s);

/*
 * The value of one setting, before wefti_settings_load(). A wrong value counts as the
 * default, and is not reported.
 */
int64_t wefti_settings_peek(const char *name);

/*
 * Would this text be accepted for the setting? If not, returns 0 and prints one line on
 * stderr that says what would be. An empty text is not accepted.
 */
int wefti_settings_accepts(const char *name, const char *text);

/* Is it set to anything? For a layer above that has its own default. */
int wefti_settings_is_given(const char *name);

/* Prints the table for people, with the defaults and the present values. */
void wefti_settings_print(int fd);

#endif

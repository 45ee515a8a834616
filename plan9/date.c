/* SPDX-License-Identifier: MIT */
/*
 * plan9/date.c - dates, and how long the program has run
 *
 * The next call of gmtime() or localtime() overwrites what the last one returned, and so
 * do asctime() and ctime(). Each thread has its own.
 */
#include "plan9.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <weft/plan9/libc.h>

static _Thread_local Tm last;
static _Thread_local char last_text[64];

static Tm *tm_of(const struct tm *t)
{
	last = (Tm){
		.sec = t->tm_sec, .min = t->tm_min, .hour = t->tm_hour,
		.mday = t->tm_mday, .mon = t->tm_mon, .year = t->tm_year,
		.wday = t->tm_wday, .yday = t->tm_yday,
		.tzoff = (int)t->tm_gmtoff,
	};
	snprintf(last.zone, sizeof(last.zone), "%.3s", t->tm_zone ? t->tm_zone : "");
	return &last;
}

Tm *weft_plan9_gmtime(long seconds)
{
	time_t at = seconds;
	struct tm t;

	memset(&t, 0, sizeof(t));
	return tm_of(gmtime_r(&at, &t) ? &t : &(struct tm){ .tm_zone = "GMT" });
}

Tm *weft_plan9_localtime(long seconds)
{
	time_t at = seconds;
	struct tm t;

	memset(&t, 0, sizeof(t));
	tzset();
	return tm_of(localtime_r(&at, &t) ? &t : &(struct tm){ .tm_zone = "GMT" });
}

char *weft_plan9_asctime(const Tm *t)
{
	static const char days[] = "SunMonTueWedThuFriSat";
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	unsigned day = (unsigned)t->wday % 7, month = (unsigned)t->mon % 12;

	weft_plan9_snprint(last_text, sizeof(last_text),
			   "%.3s %.3s %2d %02d:%02d:%02d %s %d\n", days + 3 * day,
			   months + 3 * month, t->mday, t->hour, t->min, t->sec,
			   t->zone, 1900 + t->year);
	return last_text;
}

char *weft_plan9_ctime(long seconds)
{
	return weft_plan9_asctime(weft_plan9_localtime(seconds));
}

/* A local date is meant, unless the zone is GMT. */
long weft_plan9_tm2sec(const Tm *t)
{
	struct tm date = {
		.tm_sec = t->sec, .tm_min = t->min, .tm_hour = t->hour,
		.tm_mday = t->mday, .tm_mon = t->mon, .tm_year = t->year,
		.tm_isdst = -1,
	};

	return strcmp(t->zone, "GMT") == 0 ? timegm(&date) : mktime(&date);
}

static long ms_of(struct timeval t)
{
	return (long)t.tv_sec * 1000 + (long)t.tv_usec / 1000;
}

/* In ms: user and system, of the process and of its children. Returns the real time. */
long weft_plan9_times(long t[4])
{
	struct rusage own, children;
	struct timespec now;

	(void)getrusage(RUSAGE_SELF, &own);
	(void)getrusage(RUSAGE_CHILDREN, &children);
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	if (t) {
		t[0] = ms_of(own.ru_utime);
		t[1] = ms_of(own.ru_stime);
		t[2] = ms_of(children.ru_utime);
		t[3] = ms_of(children.ru_stime);
	}
	return (long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

double weft_plan9_cputime(void)
{
	long t[4];

	(void)weft_plan9_times(t);
	return (double)(t[0] + t[1] + t[2] + t[3]) / 1000;
}

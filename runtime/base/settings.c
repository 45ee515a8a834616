/* SPDX-License-Identifier: MIT */
/* base/settings.c - all WEFT_* environment variables */
#include "base/settings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"

#define STDERR	2

#define US	INT64_C(1000)
#define MS	(1000 * US)
#define S	(1000 * MS)
#define KB	INT64_C(1024)
#define MB	(1024 * KB)
#define GB	(1024 * MB)

struct unit {
	const char *name;
	int64_t factor;
};

/*
 * The empty unit comes last. A value is printed with the largest unit that divides it.
 */
static const struct unit plain[] = { { "", 1 } };
static const struct unit sizes[] = {
	{ "G", GB }, { "M", MB }, { "K", KB },
	{ "g", GB }, { "m", MB }, { "k", KB }, { "", 1 }
};
/* No empty unit: a bare 10 would be ambiguous. */
static const struct unit times[] = {
	{ "s", S }, { "ms", MS }, { "us", US }, { "ns", 1 }
};

/*
 * "a|b|c" are 0, 1 and 2. A boolean has four spellings of each. With units too, the last
 * word may be followed by a colon and a number, which is then the value.
 */
#define BOOLEAN	"off|on|0|1|no|yes|false|true"

struct setting {
	const char *name;
	size_t offset;		/* in struct wefti_settings */
	const char *words;	/* NULL: a number */
	const struct unit *units;
	unsigned unit_count;
	bool zero;		/* 0 is accepted, whatever min is */
	int64_t min, max;
	int64_t fallback;
	const char *help;
};

#define FIELD(f)	offsetof(struct wefti_settings, f)
#define WORDS(w)	.words = (w)
#define UNITS(u)	.units = (u), .unit_count = sizeof(u) / sizeof((u)[0])

static const struct setting settings[] = {
	{ "WEFT_VCPUS", FIELD(vcpus), UNITS(plain), .zero = true,
	  .min = 1, .max = 256, .fallback = 0,
	  .help = "how many threads run at a time; 0: one for each CPU allowed" },
	{ "WEFT_SCHED", FIELD(sched), WORDS("steal|shared|explore"),
	  .fallback = WEFTI_SCHED_STEAL,
	  .help = "steal: a ready queue for each VCPU; shared: one for all; explore: one "
		  "VCPU, and WEFT_SEED says which thread is next" },
	{ "WEFT_SEED", FIELD(seed), UNITS(plain), .zero = true,
	  .min = 1, .max = INT64_C(1000000000000), .fallback = 1,
	  .help = "with WEFT_SCHED=explore: which order of threads" },
	{ "WEFT_SLICE", FIELD(slice_ns), UNITS(times), .zero = true,
	  .min = 100 * US, .max = 10 * S, .fallback = 10 * MS,
	  .help = "how long a thread runs while others wait; 0: for ever" },
	{ "WEFT_SPARE_MAX", FIELD(spare_max), UNITS(plain),
	  .min = 0, .max = 32768, .fallback = 256,
	  .help = "how many kernel threads may stand in for blocked ones" },
	{ "WEFT_STACK", FIELD(stack), UNITS(sizes),
	  .min = 16 * KB, .max = 1 * GB, .fallback = 64 * KB,
	  .help = "the stack size of a thread that asks for none" },
	{ "WEFT_TLS", FIELD(tls), WORDS("auto|own|shared"),
	  .fallback = WEFTI_TLS_AUTO,
	  .help = "own: each thread has thread-local storage; shared: its VCPU's" },
	{ "WEFT_MALLOC", FIELD(malloc), WORDS("libc|known"),
	  .fallback = WEFTI_MALLOC_KNOWN,
	  .help = "weft run: the malloc with which threads are green" },
	{ "WEFT_IO_URING", FIELD(io_uring), WORDS("auto|no|yes"),
	  .fallback = WEFTI_IO_URING_AUTO,
	  .help = "weft run: whether the program may use io_uring" },
	{ "WEFT_LOG", FIELD(log), WORDS("error|warning|info|debug"),
	  .fallback = WEFTI_LOG_WARNING,
	  .help = "how much goes to stderr; info: what the runtime chose, and why" },
	{ "WEFT_DEADLOCK", FIELD(deadlock), WORDS("exit|report|off|watch"),
	  .fallback = WEFTI_DEADLOCK_EXIT,
	  .help = "what to do when no thread can run again: dump and exit, or dump; "
		  "watch: report cycles of locks too, while others run" },
	{ "WEFT_CRASH", FIELD(crash), WORDS("tell|dump"), .fallback = WEFTI_CRASH_TELL,
	  .help = "what to do before a fault ends the program: one line, or a dump too" },
	{ "WEFT_DUMP", FIELD(dump), WORDS(BOOLEAN), .fallback = 1,
	  .help = "whether SIGQUIT prints all threads" },
	{ "WEFT_STATS", FIELD(stats), WORDS(BOOLEAN), .fallback = 0,
	  .help = "weft run: whether the program prints counters at its end" },
	{ "WEFT_PERF_NAMES", FIELD(perf_names), WORDS(BOOLEAN), .fallback = 0,
	  .help = "whether kernel threads have the names of the threads that they run" },
	{ "WEFT_TRACE", FIELD(trace), WORDS("off|flight"), UNITS(sizes),
	  .min = 64 * KB, .max = 64 * GB, .fallback = WEFTI_TRACE_OFF,
	  .help = "flight[:SIZE]: the last events are recorded, in SIZE bytes" },
	{ "WEFT_TRACE_PID", FIELD(trace_pid), UNITS(plain), .zero = true,
	  .min = 1, .max = INT32_MAX, .fallback = 0,
	  .help = "the only process that obeys WEFT_TRACE; 0: each" },
	{ "WEFT_MPI_SPIN", FIELD(mpi_spin_ns), UNITS(times), .zero = true,
	  .min = 1 * US, .max = 1 * S, .fallback = 100 * US,
	  .help = "libweft-mpi: for how long looks go on that find nothing" },
	{ "WEFT_MPI_PAUSE", FIELD(mpi_pause_ns), UNITS(times),
	  .min = 5 * US, .max = 100 * MS, .fallback = 200 * US,
	  .help = "libweft-mpi: the longest pause between two looks, then" },
	{ "WEFT_MPI_IDLE", FIELD(mpi_idle_ns), UNITS(times),
	  .min = 5 * US, .max = 100 * MS, .fallback = 3 * MS,
	  .help = "libweft-mpi: the longest pause of a rank to which nothing comes for long" },
	{ "WEFT_MPI_DEFER", FIELD(mpi_want), UNITS(plain), .zero = true,
	  .min = 1, .max = 1000000, .fallback = 16,
	  .help = "libweft-mpi: waiting threads from which receives are deferred; 0: never" },
};

#define SETTINGS	(sizeof(settings) / sizeof(settings[0]))

static bool is_boolean(const struct setting *st)
{
	return st->words && strcmp(st->words, BOOLEAN) == 0;
}

/* Returns word number `index`, not terminated by NUL; NULL if there are not so many. */
static const char *word_at(const char *words, int64_t index, size_t *length)
{
	while (index-- > 0) {
		words = strchr(words, '|');
		if (!words)
			return NULL;
		words++;
	}
	*length = strcspn(words, "|");
	return words;
}

static bool parse_word(const struct setting *st, const char *text,
		       int64_t *value)
{
	size_t length;
	const char *word;

	for (int64_t i = 0; (word = word_at(st->words, i, &length)); i++)
		if (strlen(text) == length && !strncmp(text, word, length)) {
			*value = is_boolean(st) ? i % 2 : i;
			return true;
		}
	return false;
}

/* By hand: strtoll accepts blanks, signs and what the locale adds. */
static bool parse_number(const struct setting *st, const char *text,
			 int64_t *value)
{
	int64_t n = 0;

	if (*text < '0' || *text > '9')
		return false;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, *text - '0', &n))
			return false;
	if (n == 0 && !*text) {			/* needs no unit */
		*value = 0;
		return st->zero || st->min <= 0;
	}
	for (unsigned i = 0; i < st->unit_count; i++) {
		if (strcmp(text, st->units[i].name) != 0)
			continue;
		if (__builtin_mul_overflow(n, st->units[i].factor, value))
			return false;
		return (*value == 0 && st->zero) ||
		       (*value >= st->min && *value <= st->max);
	}
	return false;
}

static const char *last_word(const struct setting *st)
{
	const char *bar = strrchr(st->words, '|');

	return bar ? bar + 1 : st->words;
}

/* "word:number", with the last word. */
static bool parse_both(const struct setting *st, const char *text, int64_t *value)
{
	const char *word = last_word(st);
	size_t length = strlen(word);

	return st->units && strncmp(text, word, length) == 0 && text[length] == ':' &&
	       parse_number(st, text + length + 1, value);
}

static bool parse(const struct setting *st, const char *text, int64_t *value)
{
	return st->words ? parse_word(st, text, value) || parse_both(st, text, value) :
			   parse_number(st, text, value);
}

static size_t print_number(const struct setting *st, int64_t value, char *buf,
			   size_t size)
{
	const struct unit *u = st->units;

	if (value == 0)
		return wefti_format(buf, size, "0");
	while (value % u->factor != 0)
		u++;
	return wefti_format(buf, size, "%ld%s", value / u->factor, u->name);
}

static void print_value(const struct setting *st, int64_t value, char *buf,
			size_t size)
{
	size_t length = 0;

	const char *word = st->words ? word_at(st->words, value, &length) : NULL;

	if (word) {
		wefti_format(buf, size, "%.*s", (int)length, word);
	} else if (st->words) {
		length = wefti_format(buf, size, "%s:", last_word(st));
		print_number(st, value, buf + length, size - length);
	} else {
		print_number(st, value, buf, size);
	}
}

/* "0 or 1 to 256", "steal or shared". */
static void print_accepted(const struct setting *st, char *buf, size_t size)
{
	const char *words = is_boolean(st) ? "off|on" : st->words;
	size_t at = 0;

	if (!words) {
		if (st->zero)
			at += wefti_format(buf, size, "0 or ");
		at += print_number(st, st->min, buf + at, size - at);
		at += wefti_format(buf + at, size - at, " to ");
		print_number(st, st->max, buf + at, size - at);
		return;
	}
	for (; *words; words++)
		at += *words == '|' ?
		      wefti_format(buf + at, size - at, " or ") :
		      wefti_format(buf + at, size - at, "%c", *words);
	if (st->words && st->units)
		wefti_format(buf + at, size - at, "[:SIZE]");
}

/* with_fallback: also prints the value that is used instead. */
static void report(const struct setting *st, const char *text,
		   int with_fallback)
{
	char accepted[96], fallback[32], shown[64];
	size_t i;

	/* One line, whatever control characters the value has. */
	for (i = 0; text[i] && i < sizeof(shown) - 1; i++)
		shown[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	shown[i] = 0;
	print_accepted(st, accepted, sizeof(accepted));
	print_value(st, st->fallback, fallback, sizeof(fallback));
	wefti_print(STDERR, "weft: %s=%s%s: not accepted%s%s; give %s%s\n",
		    st->name, shown, text[i] ? "..." : "",
		    with_fallback ? ", using " : "",
		    with_fallback ? fallback : "", accepted,
		    st->units == sizes ? ", with K, M or G" :
		    st->units == times ? ", with ns, us, ms or s" : "");
}

int wefti_settings_accepts(const char *name, const char *text)
{
	int64_t value;

	for (size_t i = 0; i < SETTINGS; i++) {
		if (strcmp(settings[i].name, name) != 0)
			continue;
		if (parse(&settings[i], text, &value))
			return 1;
		report(&settings[i], text, 0);
	}
	return 0;
}

int64_t wefti_settings_peek(const char *name)
{
	for (size_t i = 0; i < SETTINGS; i++) {
		const char *text;
		int64_t value;

		if (strcmp(settings[i].name, name) != 0)
			continue;
		text = secure_getenv(name);
		return text && *text && parse(&settings[i], text, &value) ?
			       value : settings[i].fallback;
	}
	return 0;
}

void wefti_settings_load(struct wefti_settings *s)
{
	const int tells = wefti_settings_peek("WEFT_LOG") >= WEFTI_LOG_WARNING;

	for (size_t i = 0; i < SETTINGS; i++) {
		const struct setting *st = &settings[i];
		const char *text = secure_getenv(st->name);
		int64_t *value = (int64_t *)((char *)s + st->offset);

		if (text && *text && !parse(st, text, value)) {
			if (tells)
				report(st, text, 1);
			text = NULL;
		}
		if (!text || !*text)
			*value = st->fallback;
	}
}

int wefti_settings_is_given(const char *name)
{
	const char *text = secure_getenv(name);

	return text && *text;
}

void wefti_settings_print(int fd)
{
	struct wefti_settings now;
	char value[32], fallback[32], accepted[96];

	wefti_settings_load(&now);
	wefti_print(fd, "%-15s %-8s %-8s %-24s %s\n", "variable", "now",
		    "default", "accepted", "meaning");
	for (size_t i = 0; i < SETTINGS; i++) {
		const struct setting *st = &settings[i];

		print_value(st, *(int64_t *)((char *)&now + st->offset), value,
			    sizeof(value));
		print_value(st, st->fallback, fallback, sizeof(fallback));
		print_accepted(st, accepted, sizeof(accepted));
		wefti_print(fd, "%-15s %-8s %-8s %-24s %s\n", st->name, value,
			    fallback, accepted, st->help);
	}
}

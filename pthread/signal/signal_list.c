/* SPDX-License-Identifier: MIT */
/*
 * pthread/signal/signal_list.c - the signals that wait, in order
 *
 * There is a list for each number, one set for the process and one for the threads. The
 * memory for a few signals is here. Memory for more, for as many as the kernel would
 * keep, is mapped when they come: malloc() may not be called where a handler may run.
 */
#include "pthread/signal/signal_list.h"

#include <errno.h>
#include <sys/resource.h>

#include "os/call/vm.h"

#define SIGNALS		64
#define FIRST_RT	32
#define FEW		256
#define MOST		(1u << 20)

/* Room kept for signals that were received, and for numbers that wait only once. */
#define SPARE		64

struct waiting {
	struct waiting *next;
	struct wefti_thread *to;	/* NULL: the process */
	uint32_t gen;			/* that thread's generation */
	siginfo_t info;
};

struct list {
	struct waiting *first, *last;
};

/* A list for each number, and a bit for each list that is not empty. */
struct lists {
	uint64_t numbers;
	struct list of[SIGNALS];
};

static struct lists processs, threads;
static unsigned count;

/* Memory: first the few, then the mapping; unused: what is free again. */
static struct waiting few[FEW] TABLE, *more, *unused;
static unsigned touched, more_count;
static unsigned limit = FEW - SPARE;
static unsigned kernels_limit;		/* 0: nothing more can be mapped */

void wefti_signal_list_begin(void)
{
	struct rlimit r;

	if (more || getrlimit(RLIMIT_SIGPENDING, &r) != 0 || r.rlim_cur <= FEW)
		return;
	kernels_limit = r.rlim_cur < MOST ? (unsigned)r.rlim_cur : MOST;
}

static void map_more(void)
{
	const size_t page = wefti_os_page_size();
	const size_t bytes = kernels_limit * sizeof(*more);

	more = wefti_os_vm_reserve((bytes + page - 1) & ~(page - 1));
	if (more) {
		more_count = kernels_limit;
		limit = kernels_limit;
	}
	kernels_limit = 0;
}

int wefti_signal_list_has_room(void)
{
	if (count >= limit && kernels_limit)
		map_more();
	return count < limit;
}

static struct waiting *take_memory(void)
{
	struct waiting *w = unused;

	if (w)
		unused = w->next;
	else if (touched < FEW)
		w = &few[touched++];
	else if (touched < FEW + more_count)
		w = &more[touched++ - FEW];
	return w;
}

static int is_for(const struct waiting *w, const struct wefti_thread *t)
{
	return !w->to || (w->to == t && w->gen == load_relaxed(&t->gen));
}

static int waits_already(const struct list *l, const struct wefti_thread *to)
{
	for (const struct waiting *w = l->first; w; w = w->next)
		if (is_for(w, to))
			return 1;
	return 0;
}

/* A timer has only one pending signal, which counts the expirations after it. */
static int joins_other(const struct list *l, const siginfo_t *info)
{
	if (info->si_code != SI_TIMER)
		return 0;
	for (struct waiting *w = l->first; w; w = w->next) {
		if (w->info.si_code != SI_TIMER ||
		    w->info.si_timerid != info->si_timerid)
			continue;
		w->info.si_overrun += info->si_overrun + 1;
		return 1;
	}
	return 0;
}

/* Adds w at the end of its list. */
static void append(struct lists *in, struct waiting *w)
{
	const int signal = w->info.si_signo;
	struct list *l = &in->of[signal - 1];

	w->next = NULL;
	if (l->first)
		l->last->next = w;
	else
		l->first = w;
	l->last = w;
	in->numbers |= WEFTI_SIGNAL_BIT(signal);
	count++;
}

/* Removes the signal behind `before` (NULL: the first) from its list. */
static void cut_out(struct lists *from, int signal, struct waiting *before)
{
	struct list *l = &from->of[signal - 1];
	struct waiting *w = before ? before->next : l->first;

	if (before)
		before->next = w->next;
	else
		l->first = w->next;
	if (l->last == w)
		l->last = before;
	if (!l->first)
		from->numbers &= ~WEFTI_SIGNAL_BIT(signal);
	w->next = unused;
	unused = w;
	count--;
}

int wefti_signal_list_put(struct wefti_thread *to, const siginfo_t *info,
			  int is_received)
{
	struct lists *in = to ? &threads : &processs;
	const int is_plain = info->si_signo < FIRST_RT;
	const struct list *l = &in->of[info->si_signo - 1];
	struct waiting *w;

	if (joins_other(l, info) || (is_plain && waits_already(l, to)))
		return 0;
	if (!wefti_signal_list_has_room() && !is_plain && !is_received)
		return EAGAIN;
	w = take_memory();
	if (!w)
		return EAGAIN;
	w->to = to;
	w->gen = to ? load_relaxed(&to->gen) : 0;
	w->info = *info;
	append(in, w);
	return 0;
}

static int get_from(struct lists *from, const struct wefti_thread *t,
		    uint64_t set, siginfo_t *info)
{
	for (set &= from->numbers; set; set &= set - 1) {
		const int signal = __builtin_ctzll(set) + 1;
		struct waiting *before = NULL, *w = from->of[signal - 1].first;

		for (; w && !is_for(w, t); w = w->next)
			before = w;
		if (!w)
			continue;
		*info = w->info;
		cut_out(from, signal, before);
		return signal;
	}
	return 0;
}

int wefti_signal_list_get(const struct wefti_thread *t, uint64_t set,
			  siginfo_t *info)
{
	const int signal = get_from(&threads, t, set, info);

	return signal ? signal : get_from(&processs, t, set, info);
}

uint64_t wefti_signal_list_for(const struct wefti_thread *t)
{
	uint64_t numbers = processs.numbers;

	for (uint64_t set = threads.numbers; set; set &= set - 1)
		if (waits_already(&threads.of[__builtin_ctzll(set)], t))
			numbers |= set & -set;
	return numbers;
}

uint64_t wefti_signal_list_for_process(void)
{
	return processs.numbers;
}

void wefti_signal_list_discard(int signal)
{
	while (processs.of[signal - 1].first)
		cut_out(&processs, signal, NULL);
	while (threads.of[signal - 1].first)
		cut_out(&threads, signal, NULL);
}

/* Also drops signals that came for other threads after their end. */
void wefti_signal_list_end_thread(const struct wefti_thread *t)
{
	for (uint64_t set = threads.numbers; set; set &= set - 1) {
		const int signal = __builtin_ctzll(set) + 1;
		struct waiting *before = NULL, *next;

		for (struct waiting *w = threads.of[signal - 1].first; w; w = next) {
			next = w->next;
			if (w->to == t || !is_for(w, w->to))
				cut_out(&threads, signal, before);
			else
				before = w;
		}
	}
}

void wefti_signal_list_forget(void)
{
	processs = threads = (struct lists){ .numbers = 0 };
	count = touched = 0;
	unused = NULL;
}

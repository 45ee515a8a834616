/* SPDX-License-Identifier: MIT */
/*
 * observe/graph.c - which thread waits for which other one, as text or for Graphviz
 *
 * Threads run meanwhile. A cycle existed at one moment (cycle.c). A chain is what was seen
 * from link to link, and may have changed on the way. Nothing here allocates: the threads
 * in cycles are kept in a table of fixed size, and the chains of those that have no room
 * are followed to their beginning.
 */
#include "observe/graph.h"

#include <string.h>

#include "base/shown.h"
#include "observe/cycle.h"
#include "observe/dump.h"
#include "observe/gate.h"
#include "observe/waiting.h"
#include "thread/name.h"
#include "thread/peek.h"

#define MEMBERS	512u

/* The observer's: one graph at a time. */
static struct {
	struct wefti_out out;
	uint64_t member[MEMBERS];	/* ids of threads in cycles */
	unsigned cycle[MEMBERS];
	unsigned members, cycles, threads, waiting;
	unsigned parked[WEFTI_WHY_COUNT];	/* for what no known thread owns */
	int is_dot;
} g TABLE;

/* Returns the number of the thread's cycle; 0: none that is known. */
static unsigned cycle_of(uint64_t id)
{
	for (unsigned i = 0; i < g.members; i++)
		if (g.member[i] == id)
			return g.cycle[i];
	return 0;
}

static void note(const struct wefti_edge *e, unsigned n)
{
	g.cycles++;
	for (unsigned i = 0; i < n && g.members < MEMBERS; i++) {
		g.member[g.members] = e[i].id;
		g.cycle[g.members++] = g.cycles;
	}
}

static void tell_link(const struct wefti_view *view, const char *before)
{
	wefti_out(&g.out, "%s", before);
	wefti_tell_name(&g.out, view);
	wefti_out(&g.out, ": ");
}

static void tell_cycle(const struct wefti_edge *e, unsigned n)
{
	wefti_out(&g.out, "\ncycle %u: ", g.cycles);
	if (n == 1)
		wefti_out(&g.out, "a thread waits for itself");
	else
		wefti_out(&g.out, "%u threads wait for each other", n);
	wefti_out(&g.out, wefti_cycle_is_timed(e, n) ? ", until a deadline\n" : "\n");
	for (unsigned i = 0; i < n; i++) {
		struct wefti_view view;

		wefti_view_thread(e[i].from, &view);
		tell_link(&view, "    ");
		wefti_tell_state(&g.out, &view);
		wefti_out(&g.out, "\n");
	}
}

static void find_cycles(void)
{
	struct wefti_edge e[WEFTI_CYCLE_MOST];
	unsigned steps = 0;

	for (uint32_t i = 1; i < wefti_slot_limit() && !g.out.failed; i++) {
		struct wefti_thread *t = wefti_slot_get(i);
		const unsigned n = t ? wefti_cycle_from(t, e, &steps) : 0;

		if (n == 0)
			continue;
		note(e, n);
		if (!g.is_dot)
			tell_cycle(e, n);
	}
}

/* From the thread behind e to a thread that waits for none, or is in a cycle. */
static void tell_chain(struct wefti_edge e, uint64_t id)
{
	struct wefti_view view;

	for (unsigned n = 0; n < WEFTI_CYCLE_MOST; n++) {
		unsigned cycle;

		wefti_view_thread(e.to, &view);
		if (view.state == WEFTI_VIEW_NONE)
			return;
		tell_link(&view, "    ");
		cycle = cycle_of(view.id);
		if (cycle) {
			wefti_out(&g.out, "in cycle %u\n", cycle);
			return;
		}
		wefti_tell_state(&g.out, &view);
		wefti_out(&g.out, "\n");
		if (view.id == id || !wefti_edge_of(&view, &e))
			return;
	}
	wefti_out(&g.out, "    ...\n");
}

/* A label may end neither early nor its line. */
static void put_quoted(const char *text)
{
	for (; *text; text++)
		wefti_out(&g.out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
}

static void tell_node(const struct wefti_view *view)
{
	char name[WEFTI_NAME_SHOWN];

	wefti_out(&g.out, "    \"%lu\" [label=\"", view->id);
	put_quoted(wefti_format_shown(name, sizeof(name), view->name));
	wefti_out(&g.out, "%sid %lu\\n%s\"%s];\n", *name ? "\\n" : "", view->id,
		  wefti_figures_state(view->state), cycle_of(view->id) ? ", color=red" : "");
}

static void tell_edge(const struct wefti_view *from, const struct wefti_edge *e)
{
	struct wefti_view to;

	wefti_view_thread(e->to, &to);
	if (to.state == WEFTI_VIEW_NONE)
		return;
	tell_node(from);
	tell_node(&to);
	wefti_out(&g.out, "    \"%lu\" -> \"%lu\" [label=\"%s", from->id, to.id,
		  wefti_figures_kind(e->why));
	if (e->why != WEFTI_WHY_JOIN)
		wefti_out(&g.out, " %p", wefti_view_lock(e->object));
	wefti_out(&g.out, "\"%s];\n", cycle_of(from->id) ? ", color=red" : "");
}

static void see(const struct wefti_view *view)
{
	struct wefti_edge e;

	g.threads++;
	if (!wefti_edge_of(view, &e)) {
		if (view->state == WEFTI_VIEW_PARKED && view->why < WEFTI_WHY_COUNT)
			g.parked[view->why]++;
		return;
	}
	g.waiting++;
	if (g.is_dot) {
		tell_edge(view, &e);
	} else if (!cycle_of(view->id)) {
		tell_link(view, "\n");
		wefti_tell_state(&g.out, view);
		wefti_out(&g.out, "\n");
		tell_chain(e, view->id);
	}
}

static void tell_sum(void)
{
	const char *before = "; parked otherwise: ";

	wefti_out(&g.out, "\nweft: %u threads, %u wait for another one, %u cycle%s",
		  g.threads, g.waiting, g.cycles, g.cycles == 1 ? "" : "s");
	for (unsigned i = 0; i < WEFTI_WHY_COUNT; i++) {
		if (!g.parked[i])
			continue;
		wefti_out(&g.out, "%s%s %u", before, wefti_figures_kind(i), g.parked[i]);
		before = ", ";
	}
	wefti_out(&g.out, "\nweft: end of graph\n");
}

static void tell(void)
{
	struct wefti_view view;

	wefti_out(&g.out, g.is_dot ? "digraph weft {\n    node [shape=box];\n" :
				     "weft: which thread waits for which\n");
	find_cycles();
	for (uint32_t i = 1; i < wefti_slot_limit() && !g.out.failed; i++) {
		wefti_view_slot(i, &view);
		if (view.state != WEFTI_VIEW_NONE)
			see(&view);
	}
	if (g.is_dot)
		wefti_out(&g.out, "}\n");
	else
		tell_sum();
	wefti_out_flush(&g.out);
}

void wefti_graph(int fd, const char *form)
{
	if (wefti_observe_begin() != 0)
		return;
	memset(&g, 0, sizeof(g));
	g.out.fd = fd;
	g.out.is_strangers = 1;
	g.is_dot = strcmp(form, "dot") == 0;
	tell();
	wefti_observe_end();
}

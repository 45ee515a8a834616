/* SPDX-License-Identifier: MIT */
/*
 * observe/figures.h - the runtime's counters and levels as lines, for another process
 *
 * Each line is a name and its values, with a space between each two:
 *
 *   weft-figures VERSION		the first line
 *   NAME VALUE				a count since the start, or a level
 *   parked KIND NUMBER			threads parked for objects of this kind
 *   vcpu INDEX KTHREAD READY BUSY_NS SWITCHES STEALS ID
 *					ID: of the thread that it runs; 0: none
 *   thread ID RUN_NS STATE KIND NAME	RUN_NS: by the monitor's looks (sched/sample.h)
 *   object KIND OBJECT WAITING LONGEST_NS ID NAME
 *					ID, NAME: of the owner; 0: none, or not known
 *   end				the last line
 *
 * A name of a thread goes on to the end of the line, and may be empty. OBJECT is a
 * descriptor's number or an address. A reader passes over lines that it does not know.
 * Only the second of the functions writes threads and objects.
 */
#ifndef WEFT_OBSERVE_FIGURES_H
#define WEFT_OBSERVE_FIGURES_H

#define WEFTI_FIGURES_VERSION	1
#define WEFTI_FIGURES_BEGIN	"weft-figures "

/*
 * Called by the observer, for another process: nothing is written if the runtime is off.
 * The second has the monitor count the time of threads for the next ten seconds, so it is
 * called again before that.
 */
void wefti_figures(int fd);
void wefti_figures_all(int fd);

#endif

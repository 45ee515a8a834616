/* SPDX-License-Identifier: MIT */
/* observe/graph.h - which thread waits for which other one */
#ifndef WEFT_OBSERVE_GRAPH_H
#define WEFT_OBSERVE_GRAPH_H

/*
 * Writes the cycles, and the chain of each other thread that waits for one; as text, or
 * in Graphviz's language if form is "dot". Called by the observer.
 */
void wefti_graph(int fd, const char *form);

#endif

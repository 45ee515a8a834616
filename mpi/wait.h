/* SPDX-License-Identifier: MIT */
/* mpi/wait.h - a thread that waits for MPI, and the progress that is made for it */
#ifndef WEFT_MPI_WAIT_H
#define WEFT_MPI_WAIT_H

#include <mpi.h>

#include "threads.h"

struct wefti_mpi_wait;

/* Is MPI between Init and Finalize? If not, its own call says what is wrong. */
extern _Atomic int wefti_mpi_is_on;

/*
 * Looks once whether what w waits for is there, by calls of MPI that do not wait. Returns 1
 * if w is done, with its error. The lock is held.
 */
typedef int wefti_mpi_look_fn(struct wefti_mpi_wait *w);

struct wefti_mpi_link {
	struct wefti_mpi_wait *next, *prev;
};

enum wefti_mpi_place {
	WEFTI_MPI_NOWHERE,
	WEFTI_MPI_TABLE,	/* its request is in the table */
	WEFTI_MPI_LOOKS,	/* its look is called */
	WEFTI_MPI_WANTS,	/* it wants a message that is not asked for yet */
};

/* On the stack of the waiting thread. The lock protects it. */
struct wefti_mpi_wait {
	union wefti_mpi_sem sem;	/* posted once for each wake-up */
	MPI_Request request;
	MPI_Status status;
	int error;			/* MPI's, when it is done */
	unsigned char done, leads, sleeps, place;
	unsigned index;			/* in the table */
	wefti_mpi_look_fn *look;
	void *data;			/* for look */
	struct wefti_mpi_link link;	/* of looks, or of the comm's wants */
	struct wefti_mpi_link chain;	/* of wants, by comm and tag */
	struct wefti_mpi_wait *after;	/* in the list of those that are woken */
	/* of a want: the receive that is still to be made */
	void *buffer;
	MPI_Count count;
	MPI_Datatype type;
	int source, tag;
	MPI_Comm comm;
	int large;			/* count is for the call with MPI_Count */
};

struct wefti_mpi_list {
	struct wefti_mpi_wait *first, *last;
};

#define WEFTI_MPI_LIST(member)						\
	WEFTI_MPI_LIST_(wefti_mpi_##member##_append, wefti_mpi_##member##_remove, \
			member)
#define WEFTI_MPI_LIST_(append, remove, member)				\
static inline __attribute__((unused)) void				\
append(struct wefti_mpi_list *list, struct wefti_mpi_wait *w)		\
{									\
	w->member.next = NULL;						\
	w->member.prev = list->last;					\
	*(list->last ? &list->last->member.next : &list->first) = w;	\
	list->last = w;							\
}									\
static inline __attribute__((unused)) void				\
remove(struct wefti_mpi_list *list, struct wefti_mpi_wait *w)		\
{									\
	*(w->member.prev ? &w->member.prev->member.next : &list->first) =	\
		w->member.next;						\
	*(w->member.next ? &w->member.next->member.prev : &list->last) =	\
		w->member.prev;						\
}
WEFTI_MPI_LIST(link)
WEFTI_MPI_LIST(chain)

/* The pauses, in nanoseconds. MPI_Init() sets them by the settings. */
extern int64_t wefti_mpi_spin_ns, wefti_mpi_pause_ns, wefti_mpi_idle_ns;

/*
 * MPI_Test(). With MPICH an error may have called no handler yet, which
 * wefti_mpi_result() then does. The lock is held.
 */
int wefti_mpi_test(MPI_Request *request, int *flag, MPI_Status *status);

/*
 * The error with which a request of this communicator, or MPI_COMM_NULL, ended. Calls the
 * handler that has not been called yet. The lock is not held. Returns the error.
 */
int wefti_mpi_result(MPI_Comm comm, int error);

/* With MPICH: has the program given a communicator a handler? */
extern _Atomic int wefti_mpi_has_handlers;

/*
 * Unlocks at the end of a call that did not have to wait. Threads that were woken have their
 * turn now and then, so a thread whose calls all end so does not run on before them.
 */
void wefti_mpi_end_at_once(void);

/*
 * The program has processes of another MPI_COMM_WORLD, which may be without this library.
 * Then: does a communicator have some? Its collective calls are MPI's own (mpi/guests.c).
 */
extern _Atomic int wefti_mpi_may_have_guests;
void wefti_mpi_note_guests(void);
int wefti_mpi_look_for_guests(MPI_Comm comm);

/* The program has so many more windows. MPI may need this rank for a put of another one. */
void wefti_mpi_count_windows(int more);

/* How many threads wait, or were woken and have not gone on. The lock is held. */
unsigned wefti_mpi_waiting(void);

/* Does no thread wait, and has each one that was woken gone on? The lock is held. */
int wefti_mpi_is_alone(void);

/*
 * The end of a call whose non-blocking form was called with the lock held and returned
 * `error`, with the request in w. w->comm is the communicator whose handler is called if
 * the request ends with an error, or MPI_COMM_NULL. Waits, unlocks, and returns the call's
 * result. status may be MPI_STATUS_IGNORE.
 */
int wefti_mpi_finish(struct wefti_mpi_wait *w, int error, MPI_Status *status);

/* Waits until w's look says that it is done. The lock is held, and is unlocked. */
int wefti_mpi_finish_look(struct wefti_mpi_wait *w, wefti_mpi_look_fn *look,
			  void *data);

/*
 * Puts w where progress is made for it, and waits until the deadline. Its request has been
 * tested in vain. Unlocks. Returns 0: w is done; -ETIMEDOUT or -ECANCELED: the request
 * is in w->request as before.
 */
int wefti_mpi_park(struct wefti_mpi_wait *w, enum wefti_mpi_place place,
		   int64_t deadline);

/* w's request goes into the table. The lock is held. */
void wefti_mpi_to_table(struct wefti_mpi_wait *w);

/* w is done: it will be woken when the lock is given up. The lock is held. */
void wefti_mpi_done(struct wefti_mpi_wait *w, int error);

/* Copies what single calls set of a status: not MPI_ERROR. */
void wefti_mpi_status(MPI_Status *to, const MPI_Status *from);

#endif

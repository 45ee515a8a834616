/* SPDX-License-Identifier: MIT */
/*
 * mpi/guests.c - communicators with processes that may be without this library
 *
 * MPI_Barrier() of one process does not meet MPI_Ibarrier() of another. The ranks that a
 * launcher starts agree in that. A process of another MPI_COMM_WORLD may have the library
 * or not: under weft run, what MPI_Comm_spawn() starts has not. So collective calls of a
 * communicator with such guests are MPI's own, on both sides.
 *
 * Whether there are guests is an attribute of the communicator. MPI does not copy it.
 *
 * Writers
 *   wefti_mpi_may_have_guests  wefti_mpi_note_guests
 */
#include "call.h"

_Atomic int wefti_mpi_may_have_guests;

static int key = MPI_KEYVAL_INVALID;	/* the lock protects it */
static int with_guests = 1, without_guests;

void wefti_mpi_note_guests(void)
{
	store_relaxed(&wefti_mpi_may_have_guests, 1);
}

/* Are some of the group's processes not in MPI_COMM_WORLD? Frees the group. */
static int is_from_elsewhere(MPI_Group group)
{
	MPI_Group world, rest;
	int count = 1;

	if (PMPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
		if (PMPI_Group_difference(group, world, &rest) == MPI_SUCCESS) {
			(void)PMPI_Group_size(rest, &count);
			if (rest != MPI_GROUP_EMPTY)
				(void)PMPI_Group_free(&rest);
		}
		(void)PMPI_Group_free(&world);
	}
	if (group != MPI_GROUP_EMPTY)
		(void)PMPI_Group_free(&group);
	return count > 0;
}

static int look_for_guests(MPI_Comm comm)
{
	MPI_Group group;
	int is_inter = 0;

	if (PMPI_Comm_test_inter(comm, &is_inter) == MPI_SUCCESS && is_inter &&
	    PMPI_Comm_remote_group(comm, &group) == MPI_SUCCESS && is_from_elsewhere(group))
		return 1;
	return PMPI_Comm_group(comm, &group) != MPI_SUCCESS || is_from_elsewhere(group);
}

/* Not those of MPI: the program may have functions of the same names. */
static int not_copied(MPI_Comm comm, int of, void *extra, void *from, void *to, int *is_copied)
{
	(void)comm;
	(void)of;
	(void)extra;
	(void)from;
	(void)to;
	*is_copied = 0;
	return MPI_SUCCESS;
}

static int dropped(MPI_Comm comm, int of, void *from, void *extra)
{
	(void)comm;
	(void)of;
	(void)from;
	(void)extra;
	return MPI_SUCCESS;
}

/* As the attribute says. If there is none, it is made. */
static int find_guests(MPI_Comm comm)
{
	int *answer, is_there = 0;

	if (key == MPI_KEYVAL_INVALID &&
	    PMPI_Comm_create_keyval(not_copied, dropped, &key, NULL) != MPI_SUCCESS)
		return look_for_guests(comm);
	if (PMPI_Comm_get_attr(comm, key, &answer, &is_there) != MPI_SUCCESS)
		return 1;	/* it is none */
	if (!is_there) {
		answer = look_for_guests(comm) ? &with_guests : &without_guests;
		(void)PMPI_Comm_set_attr(comm, key, answer);
	}
	return *answer;
}

int wefti_mpi_look_for_guests(MPI_Comm comm)
{
	int has_guests, has_world = 0;

	/* A program with sessions alone has no MPI_COMM_WORLD. */
	if (comm == MPI_COMM_NULL || comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF ||
	    PMPI_Initialized(&has_world) != MPI_SUCCESS || !has_world || !wefti_mpi_enter())
		return 0;
	has_guests = find_guests(comm);
	wefti_mpi_unlock();
	return has_guests;
}

/* SPDX-License-Identifier: MIT */
/*
 * mpi/init.c - the begin and the end: the thread level, the settings, the number of VCPUs
 *
 * The level below is always MPI_THREAD_MULTIPLE. With MPI_THREAD_SERIALIZED, all calls of
 * the program would have to take the library's lock. A call that has no non-blocking form
 * (MPI_Comm_split()) would keep it until all ranks have come, and the thread that must make
 * another rank come might need it: MPI_THREAD_MULTIPLE promises that this works.
 */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/settings.h"
#include "call.h"
#include "receive.h"

/* Ranks of this program on this machine, as the launcher says; 0: it does not. */
static int local_ranks(void)
{
	static const char *const names[] = {
		"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *text = getenv(names[i]);

		if (text && atoi(text) > 0)
			return atoi(text);
	}
	return 0;
}

static int cpus_allowed(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) :
	       (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* The vendor that the loader has found, which may not be the one that this is built for. */
static void check_vendor(void)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	int length = 0;

	(void)PMPI_Get_library_version(version, &length);
	if (strncmp(version, WEFT_MPI_BEGINS, sizeof(WEFT_MPI_BEGINS) - 1) == 0)
		return;
	version[strcspn(version, "\n,:")] = 0;
	fprintf(stderr, "weft: " WEFT_MPI_NAME " is for %s, and the program's MPI is %s\n",
		WEFT_MPI_VENDOR, version);
	_exit(125);
}

/*
 * Before main(), and before the runtime looks. If the launcher bound the ranks to CPUs, the
 * runtime takes these. If not, the ranks of a machine share its CPUs.
 */
__attribute__((constructor)) static void begin(void)
{
	const int ranks = local_ranks(), cpus = cpus_allowed();
	char text[16];

	check_vendor();
	if (ranks <= 1 || cpus < (int)sysconf(_SC_NPROCESSORS_ONLN) ||
	    getenv("WEFT_VCPUS"))
		return;
	snprintf(text, sizeof(text), "%d", cpus / ranks > 0 ? cpus / ranks : 1);
	setenv("WEFT_VCPUS", text, 1);
}

static void tell(int below)
{
	static const struct { int level; const char *name; } levels[] = {
		{ MPI_THREAD_SINGLE, "SINGLE" }, { MPI_THREAD_FUNNELED, "FUNNELED" },
		{ MPI_THREAD_SERIALIZED, "SERIALIZED" }, { MPI_THREAD_MULTIPLE, "MULTIPLE" },
	};
	const char *name = "?", *vcpus = getenv("WEFT_VCPUS");
	const int ranks = local_ranks(), cpus = cpus_allowed();
	int each = wefti_mpi_is_native() ? (int)weft_vcpus() : vcpus ? atoi(vcpus) : cpus;

	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++)
		if (levels[i].level == below)
			name = levels[i].name;
	wefti_log(WEFTI_LOG_INFO, "weft: MPI: %s, MPI_THREAD_%s below; %d of %ld CPUs, "
		  "%d VCPUs, %d ranks on this machine\n", WEFT_MPI_VENDOR, name, cpus,
		  sysconf(_SC_NPROCESSORS_ONLN), each, ranks);
	if (ranks * each > (int)sysconf(_SC_NPROCESSORS_ONLN))
		wefti_log(WEFTI_LOG_INFO, "weft: MPI: the ranks of this machine have more "
			  "VCPUs than it has CPUs\n");
}

static void child(void)
{
	wefti_mpi_lock_forget();
	store_seq_cst(&wefti_mpi_is_on, 0);
}

static void settle(void)
{
	struct wefti_settings s;

	wefti_settings_load(&s);
	wefti_mpi_spin_ns = s.mpi_spin_ns;
	wefti_mpi_pause_ns = s.mpi_pause_ns;
	wefti_mpi_idle_ns = s.mpi_idle_ns;
	wefti_mpi_want_from = (int)s.mpi_want;
}

/* Ranks that share CPUs must not be asked by MPI itself to give them away, under the lock. */
static void before_init(void)
{
	setenv("OMPI_MCA_mpi_yield_when_idle", "0", 0);
}

static int after_init(int error)
{
	int below = MPI_THREAD_SINGLE;

	if (error != MPI_SUCCESS)
		return error;
	settle();
	(void)PMPI_Query_thread(&below);
	tell(below);
	(void)pthread_atfork(NULL, NULL, child);
	/* With less below, all calls are MPI's own. */
	if (below == MPI_THREAD_MULTIPLE)
		store_seq_cst(&wefti_mpi_is_on, 1);
	else
		wefti_log(WEFTI_LOG_WARNING, "weft: MPI: no MPI_THREAD_MULTIPLE below: "
			  "threads that wait in MPI hold their VCPUs\n");
	return error;
}

WEFTI_MPI_EXPORT int MPI_Init(int *argc, char ***argv)
{
	int below;

	before_init();
	return after_init(PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &below));
}

WEFTI_MPI_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required,
				     int *provided)
{
	(void)required;
	before_init();
	return after_init(PMPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, provided));
}

WEFTI_MPI_EXPORT int MPI_Finalize(void)
{
	int error;

	store_seq_cst(&wefti_mpi_is_on, 0);
	wefti_mpi_block_begin();
	error = PMPI_Finalize();
	wefti_mpi_block_end();
	return error;
}

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

static unsigned users;		/* MPI_Init() and sessions; the lock protects it */
static uint64_t main_thread;	/* of weft, that has called MPI_Init(); 0: none */

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

#ifdef WEFTI_MPI_HAS_SESSIONS
/*
 * The level that a session asks for stands in its info. Without it, Open MPI's have
 * MPI_THREAD_SINGLE, and MPICH's have MPI_THREAD_MULTIPLE in any case. Wrong arguments stay as
 * they are. Returns an info that the caller frees, or MPI_INFO_NULL.
 */
static MPI_Info ask_for_multiple(MPI_Info info)
{
	MPI_Info own = MPI_INFO_NULL;
	int error = info == MPI_INFO_NULL ? PMPI_Info_create(&own) : PMPI_Info_dup(info, &own);

	if (error != MPI_SUCCESS)
		return MPI_INFO_NULL;
	(void)PMPI_Info_set(own, "thread_level", "MPI_THREAD_MULTIPLE");
	return own;
}

/* Open MPI tells what was asked for. MPI_Query_thread() is about MPI_Init(). */
static int level_of(MPI_Session session)
{
	char text[32] = "";
	int length = sizeof(text), is_there = 0;
	MPI_Info info;

	if (PMPI_Session_get_info(session, &info) == MPI_SUCCESS) {
		(void)PMPI_Info_get_string(info, "thread_level", &length, text, &is_there);
		(void)PMPI_Info_free(&info);
	}
	return strcmp(text, "MPI_THREAD_MULTIPLE") == 0 ? MPI_THREAD_MULTIPLE :
	       MPI_THREAD_SINGLE;
}
#endif

static void child(void)
{
	wefti_mpi_lock_forget();
	users = 0;
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

/*
 * The library is on from the first begin to the last end. The lock, because a thread whose
 * session begins second must not go on before it is on: its MPI_Barrier() would meet another
 * rank's MPI_Ibarrier().
 */
static void begin_use(int below)
{
	static int is_told;
	int tells;

	wefti_mpi_lock();
	if (users++ == 0) {
		settle();
		/* With less below, all calls are MPI's own. */
		store_seq_cst(&wefti_mpi_is_on, below == MPI_THREAD_MULTIPLE);
	}
	tells = !is_told;
	is_told = 1;
	wefti_mpi_unlock();
	if (!tells)
		return;
	(void)pthread_atfork(NULL, NULL, child);
	tell(below);
	if (below != MPI_THREAD_MULTIPLE)
		wefti_log(WEFTI_LOG_WARNING, "weft: MPI: no MPI_THREAD_MULTIPLE below: "
			  "threads that wait in MPI hold their VCPUs\n");
}

/* A thread that still waits gets nothing any more: wefti_mpi_look() calls no MPI. */
static void end_use(void)
{
	wefti_mpi_lock();
	if (users > 0 && --users == 0)
		store_seq_cst(&wefti_mpi_is_on, 0);
	wefti_mpi_unlock();
}

static int after_init(int error)
{
	int below = MPI_THREAD_SINGLE;

	if (error != MPI_SUCCESS)
		return error;
	if (wefti_mpi_is_native())
		main_thread = weft_self();
	(void)PMPI_Query_thread(&below);
	begin_use(below);
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

/* A thread of weft changes its kernel thread, by which MPI would answer. */
WEFTI_MPI_EXPORT int MPI_Is_thread_main(int *flag)
{
	if (!wefti_mpi_is_native() || !main_thread || !flag)
		return PMPI_Is_thread_main(flag);
	*flag = weft_self() == main_thread;
	return MPI_SUCCESS;
}

WEFTI_MPI_EXPORT int MPI_Finalize(void)
{
	int error, in_region;

	end_use();
	in_region = wefti_mpi_enter_region();
	error = PMPI_Finalize();
	wefti_mpi_leave_region(in_region);
	return error;
}

#ifdef WEFTI_MPI_HAS_SESSIONS
WEFTI_MPI_EXPORT int MPI_Session_init(MPI_Info info, MPI_Errhandler errhandler,
				      MPI_Session *session)
{
	int error, in_region = wefti_mpi_enter_region();
	MPI_Info own = ask_for_multiple(info);

	error = PMPI_Session_init(own == MPI_INFO_NULL ? info : own, errhandler, session);
	if (own != MPI_INFO_NULL)
		(void)PMPI_Info_free(&own);
	wefti_mpi_leave_region(in_region);
	if (error == MPI_SUCCESS)
		begin_use(level_of(*session));
	return error;
}

WEFTI_MPI_EXPORT int MPI_Session_finalize(MPI_Session *session)
{
	int error, in_region;

	end_use();
	in_region = wefti_mpi_enter_region();
	error = PMPI_Session_finalize(session);
	wefti_mpi_leave_region(in_region);
	return error;
}
#endif

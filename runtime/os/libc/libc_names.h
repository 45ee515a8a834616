/* SPDX-License-Identifier: MIT */
/*
 * os/libc/libc_names.h - the functions of libc that weft's libraries call
 *
 * A program may define a function of such a name, and the loader would bind weft's call
 * to it. So no call goes by these names: os/libc/libc_rename.h renames them,
 * os/libc/libc.c finds what they mean, and tools/check-relocs shows that no other name
 * is left.
 *
 * Only macros: C and assembler include this. The order is that of the table in
 * arch/<cpu>/libc_entry.S.
 */
#ifndef WEFT_OS_LIBC_LIBC_NAMES_H
#define WEFT_OS_LIBC_LIBC_NAMES_H

/* These are libc's everywhere. */
#define WEFTI_LIBC_ONLY(X) \
	X(__ctype_b_loc) \
	X(__cxa_thread_atexit_impl) \
	X(__errno_location) \
	X(__libc_current_sigrtmin) \
	X(__pthread_register_cancel) \
	X(__pthread_unregister_cancel) \
	X(__pthread_unwind_next) \
	X(__sched_cpucount) \
	X(_exit) \
	X(bind) \
	X(chmod) \
	X(closedir) \
	X(dl_iterate_phdr) \
	X(dladdr) \
	X(dladdr1) \
	X(dlerror) \
	X(dlclose) \
	X(dlinfo) \
	X(dlsym) \
	X(exit) \
	X(fchmod) \
	X(fdopen) \
	X(fdopendir) \
	X(fprintf) \
	X(freeaddrinfo) \
	X(freelocale) \
	X(fstat) \
	X(fstatfs) \
	X(ftruncate) \
	X(futimens) \
	X(gai_strerror) \
	X(getauxval) \
	X(getcontext) \
	X(getdents64) \
	X(getentropy) \
	X(getenv) \
	X(gethostname) \
	X(getpid) \
	X(getppid) \
	X(getpwuid_r) \
	X(getrlimit) \
	X(getsockopt) \
	X(getuid) \
	X(gmtime_r) \
	X(isatty) \
	X(iswalpha_l) \
	X(iswlower_l) \
	X(iswspace_l) \
	X(iswupper_l) \
	X(listen) \
	X(localtime_r) \
	X(makecontext) \
	X(mkdir) \
	X(mkostemp) \
	X(mktime) \
	X(mmap) \
	X(mprotect) \
	X(munmap) \
	X(newlocale) \
	X(posix_spawn_file_actions_addchdir_np) \
	X(posix_spawn_file_actions_addclose) \
	X(posix_spawn_file_actions_adddup2) \
	X(posix_spawn_file_actions_destroy) \
	X(posix_spawn_file_actions_init) \
	X(posix_spawnattr_destroy) \
	X(posix_spawnattr_init) \
	X(posix_spawnattr_setflags) \
	X(posix_spawnattr_setpgroup) \
	X(posix_spawnattr_setsigmask) \
	X(pthread_attr_destroy) \
	X(pthread_attr_getaffinity_np) \
	X(pthread_attr_getdetachstate) \
	X(pthread_attr_getinheritsched) \
	X(pthread_attr_getschedparam) \
	X(pthread_attr_getschedpolicy) \
	X(pthread_attr_getsigmask_np) \
	X(pthread_attr_getstack) \
	X(pthread_attr_getguardsize) \
	X(pthread_attr_getstacksize) \
	X(pthread_attr_init) \
	X(pthread_attr_setaffinity_np) \
	X(pthread_attr_setdetachstate) \
	X(pthread_attr_setguardsize) \
	X(pthread_attr_setinheritsched) \
	X(pthread_attr_setschedparam) \
	X(pthread_attr_setschedpolicy) \
	X(pthread_attr_setstack) \
	X(pthread_attr_setstacksize) \
	X(pthread_getattr_default_np) \
	X(pthread_key_create) \
	X(pthread_key_delete) \
	X(pthread_self) \
	X(pthread_setspecific) \
	X(pthread_spin_trylock) \
	X(random) \
	X(readdir) \
	X(rename) \
	X(sched_get_priority_max) \
	X(sched_get_priority_min) \
	X(secure_getenv) \
	X(setenv) \
	X(setitimer) \
	X(shutdown) \
	X(sigaddset) \
	X(sigdelset) \
	X(sigemptyset) \
	X(sigismember) \
	X(snprintf) \
	X(srandom) \
	X(strcasecmp) \
	X(strdup) \
	X(strerror) \
	X(strncasecmp) \
	X(strnlen) \
	X(swapcontext) \
	X(sysconf) \
	X(timegm) \
	X(towlower_l) \
	X(towupper_l) \
	X(truncate) \
	X(tzset) \
	X(uselocale) \
	X(utimensat) \
	X(vsnprintf)

/*
 * The preload library defines these for the program. In pthread/ the plain name means
 * that definition, and REAL(name) libc's; in all other code they are libc's.
 */
#define WEFTI_LIBC_INTERPOSED(X) \
	X(__register_atfork) \
	X(abort) \
	X(clock_gettime) \
	X(close) \
	X(execvp) \
	X(fallocate) \
	X(fcntl) \
	X(fstatat) \
	X(getaddrinfo) \
	X(getpgid) \
	X(getrandom) \
	X(getrusage) \
	X(kill) \
	X(open) \
	X(posix_spawnp) \
	X(pthread_create) \
	X(pthread_detach) \
	X(pthread_getattr_np) \
	X(pthread_join) \
	X(pthread_once) \
	X(pthread_setcancelstate) \
	X(pthread_setcanceltype) \
	X(read) \
	X(readlink) \
	X(sched_getcpu) \
	X(setpgid) \
	X(setsockopt) \
	X(sigaction) \
	X(socket) \
	X(write)

#endif

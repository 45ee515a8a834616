/* SPDX-License-Identifier: MIT */
/* pthread/core/prototypes.h - prototypes of the functions that this library defines */
#ifndef WEFT_PTHREAD_CORE_PROTOTYPES_H
#define WEFT_PTHREAD_CORE_PROTOTYPES_H

#include <aio.h>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <mqueue.h>
#include <linux/aio_abi.h>
#include <linux/capability.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* Functions of libaio and liburing. */
struct io_uring;
struct io_uring_params;
int io_setup(int requests, aio_context_t *context);
int io_submit(aio_context_t context, long n, struct iocb **list);
int io_destroy(aio_context_t context);
int io_getevents(aio_context_t context, long min, long most,
		 struct io_event *events, struct timespec *time);
int io_uring_queue_init(unsigned entries, struct io_uring *ring,
			unsigned flags);
int io_uring_queue_init_params(unsigned entries, struct io_uring *ring,
			       struct io_uring_params *params);
int io_uring_register_ring_fd(struct io_uring *ring);

/* In libc since 2.34, 2.35, 2.36, and since 2.41. */
int close_range(unsigned first, unsigned last, int flags);
void closefrom(int first);
int epoll_pwait2(int epoll, struct epoll_event *events, int most,
		 const struct timespec *time, const sigset_t *mask);
struct sched_attr;
int pidfd_send_signal(int fd, int signal, siginfo_t *given, unsigned flags);
int pidfd_open(pid_t id, unsigned flags);
int sched_setattr(pid_t id, struct sched_attr *attr, unsigned flags);
int sched_getattr(pid_t id, struct sched_attr *attr, unsigned bytes,
		  unsigned flags);

/* In libc since 2.32, 2.39, 2.42, and since 2.43. */
int pthread_attr_getsigmask_np(const pthread_attr_t *attr, sigset_t *mask);
int pidfd_spawn(int *pidfd, const char *path,
		const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);
int pidfd_spawnp(int *pidfd, const char *file,
		 const posix_spawn_file_actions_t *actions,
		 const posix_spawnattr_t *attr, char *const argv[], char *const envp[]);
pid_t pthread_gettid_np(pthread_t thread);
struct open_how;
int openat2(int dir, const char *path, const struct open_how *how, size_t bytes);

/* In libc since 2.34. */
pid_t _Fork(void);
int execveat(int dirfd, const char *path, char *const argv[],
	     char *const envp[], int flags);

/* libc's own, which leaves its prototype to libcap. */
int __xstat(int version, const char *path, struct stat *to);
int __lxstat(int version, const char *path, struct stat *to);
int __fxstatat(int version, int dir, const char *path, struct stat *to, int flags);
int capset(cap_user_header_t head, const cap_user_data_t data);
int capget(cap_user_header_t head, cap_user_data_t data);

/* What programs with long file offsets call. Here all offsets are long. */
int fcntl64(int fd, int command, ...);

/* What calls become with _FORTIFY_SOURCE, where <features.h> says so. */
ssize_t __read_chk(int fd, void *buf, size_t bytes, size_t room);
ssize_t __pread_chk(int fd, void *buf, size_t bytes, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *buf, size_t bytes, off_t at, size_t room);
ssize_t __recv_chk(int fd, void *buf, size_t bytes, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *buf, size_t bytes, size_t room, int flags,
		       __SOCKADDR_ARG from, socklen_t *length);
int __poll_chk(struct pollfd *fds, nfds_t count, int timeout, size_t room);
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *time,
		const sigset_t *mask, size_t room);
_Noreturn void __longjmp_chk(struct __jmp_buf_tag env[1], int value);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);

/* Old names that no header declares any more. */
int __pthread_mutex_lock(pthread_mutex_t *m);
int __pthread_mutex_trylock(pthread_mutex_t *m);
int __pthread_mutex_unlock(pthread_mutex_t *m);
int __pthread_mutex_destroy(pthread_mutex_t *m);
int __pthread_rwlock_rdlock(pthread_rwlock_t *rwlock);
int __pthread_rwlock_wrlock(pthread_rwlock_t *rwlock);
int __pthread_rwlock_tryrdlock(pthread_rwlock_t *rwlock);
int __pthread_rwlock_trywrlock(pthread_rwlock_t *rwlock);
int __pthread_rwlock_unlock(pthread_rwlock_t *rwlock);

/* What <pthread.h> declares for compilers without exceptions only. */
void __pthread_register_cancel(__pthread_unwind_buf_t *buf);
void __pthread_unregister_cancel(__pthread_unwind_buf_t *buf);
_Noreturn void __pthread_unwind_next(__pthread_unwind_buf_t *buf);
int wefti_setjmp_cancel(__pthread_unwind_buf_t *buf, int mask)
	__asm__("__sigsetjmp") __attribute__((returns_twice));

/* What sigpause() becomes in the headers. */
int __sigpause(int which, int is_signal);
int __xpg_sigpause(int signal);

sighandler_t bsd_signal(int signal, sighandler_t handler);
sighandler_t ssignal(int signal, sighandler_t handler);
sighandler_t sysv_signal(int signal, sighandler_t handler);
sighandler_t __sysv_signal(int signal, sighandler_t handler);

int __register_atfork(void (*prepare)(void), void (*parent)(void),
		      void (*child)(void), void *object);
int __libc_start_main(int (*main)(int argc, char **argv, char **envp), int argc,
		      char **argv, void (*init)(void), void (*fini)(void),
		      void (*rtld_fini)(void), void *stack_end);

#endif

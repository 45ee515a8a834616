/* SPDX-License-Identifier: MIT */
/*
 * weft/plan9.h - the thread library of Plan 9, on weft
 *
 * For programs written for thread(3) of Plan 9 from User Space: threadmain() in place
 * of main(), procs and threads, channels and alt, locks, rendezvous. Link with
 * -lweft-plan9 -lweft. weft-plan9(7) lists the differences.
 *
 * The threads of one proc never run at the same time. One gives way to another only
 * where it waits, or in yield(). Procs run in parallel. A thread that blocks in the
 * kernel holds up only its own proc.
 *
 * The short names are macros. Define WEFT_PLAN9_NO_NAMES to have only the long names.
 * Include <sys/socket.h> before this header if a file needs both.
 */
#ifndef WEFT_PLAN9_H
#define WEFT_PLAN9_H

#include <stdarg.h>
#include <weft/cond.h>
#include <weft/mutex.h>
#include <weft/rwlock.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_plan9_channel;
struct weft_plan9_ioproc;

/* Kinds of alternatives; the op of the last one is END or NOBLK. */
enum weft_plan9_op {
	WEFT_PLAN9_END, WEFT_PLAN9_SND, WEFT_PLAN9_RCV, WEFT_PLAN9_NOP,
	WEFT_PLAN9_NOBLK
};

struct weft_plan9_alt {
	struct weft_plan9_channel *c;
	void *v;
	int op;			/* enum weft_plan9_op */
};

struct weft_plan9_qlock {	/* zero-filled is unlocked */
	struct weft_mutex mutex;
};

struct weft_plan9_rwlock {	/* the same */
	struct weft_rwlock lock;
};

struct weft_plan9_rendez {	/* l is set by the user */
	struct weft_plan9_qlock *l;
	struct weft_cond cond;
	int waiting;		/* protected by l */
};

struct weft_plan9_ref {
	long ref;
};

/* Defined by the program. */
extern int weft_plan9_stack;	/* of the first thread; 0 if not defined */
void threadmain(int argc, char **argv);

int weft_plan9_threadcreate(void (*fn)(void *), void *arg, unsigned stack);
int weft_plan9_proccreate(void (*fn)(void *), void *arg, unsigned stack);
void weft_plan9_threadexits(const char *status) __attribute__((noreturn));
void weft_plan9_threadexitsall(const char *status) __attribute__((noreturn));
int weft_plan9_yield(void);
void weft_plan9_threadpin(void);
void weft_plan9_threadunpin(void);
int weft_plan9_threadid(void);
void **weft_plan9_threaddata(void);
void **weft_plan9_procdata(void);
void weft_plan9_threadname(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
char *weft_plan9_threadgetname(void);

struct weft_plan9_channel *weft_plan9_chancreate(int elem_bytes, int capacity);
void weft_plan9_chanfree(struct weft_plan9_channel *c);
int weft_plan9_chanclose(struct weft_plan9_channel *c);
void weft_plan9_chansetname(struct weft_plan9_channel *c, const char *format,
			    ...) __attribute__((format(printf, 2, 3)));
int weft_plan9_alt(struct weft_plan9_alt *alts);
int weft_plan9_send(struct weft_plan9_channel *c, void *v);
int weft_plan9_recv(struct weft_plan9_channel *c, void *v);
int weft_plan9_nbsend(struct weft_plan9_channel *c, void *v);
int weft_plan9_nbrecv(struct weft_plan9_channel *c, void *v);
int weft_plan9_sendp(struct weft_plan9_channel *c, void *v);
void *weft_plan9_recvp(struct weft_plan9_channel *c);
int weft_plan9_nbsendp(struct weft_plan9_channel *c, void *v);
void *weft_plan9_nbrecvp(struct weft_plan9_channel *c);
int weft_plan9_sendul(struct weft_plan9_channel *c, unsigned long v);
unsigned long weft_plan9_recvul(struct weft_plan9_channel *c);
int weft_plan9_nbsendul(struct weft_plan9_channel *c, unsigned long v);
unsigned long weft_plan9_nbrecvul(struct weft_plan9_channel *c);

void weft_plan9_lock(struct weft_plan9_qlock *l);
int weft_plan9_canlock(struct weft_plan9_qlock *l);
void weft_plan9_unlock(struct weft_plan9_qlock *l);
void weft_plan9_rlock(struct weft_plan9_rwlock *l);
int weft_plan9_canrlock(struct weft_plan9_rwlock *l);
void weft_plan9_wlock(struct weft_plan9_rwlock *l);
int weft_plan9_canwlock(struct weft_plan9_rwlock *l);
void weft_plan9_rwunlock(struct weft_plan9_rwlock *l);
void weft_plan9_rsleep(struct weft_plan9_rendez *r);
int weft_plan9_rwakeup(struct weft_plan9_rendez *r);
int weft_plan9_rwakeupall(struct weft_plan9_rendez *r);
void weft_plan9_incref(struct weft_plan9_ref *r);
long weft_plan9_decref(struct weft_plan9_ref *r);
void *weft_plan9_rendezvous(void *tag, void *value);

struct weft_plan9_ioproc *weft_plan9_ioproc(void);
void weft_plan9_closeioproc(struct weft_plan9_ioproc *io);
long weft_plan9_iocall(struct weft_plan9_ioproc *io, long (*op)(va_list *),
		       ...);
long weft_plan9_ioread(struct weft_plan9_ioproc *io, int fd, void *p, long n);
long weft_plan9_ioreadn(struct weft_plan9_ioproc *io, int fd, void *p, long n);
long weft_plan9_iowrite(struct weft_plan9_ioproc *io, int fd, const void *p,
			long n);
int weft_plan9_ioopen(struct weft_plan9_ioproc *io, const char *path, int mode);
int weft_plan9_ioclose(struct weft_plan9_ioproc *io, int fd);
int weft_plan9_iosleep(struct weft_plan9_ioproc *io, long ms);

#ifdef __cplusplus
}
#endif

#ifndef WEFT_PLAN9_NO_NAMES

typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned char uchar;
typedef long long vlong;
typedef unsigned long long uvlong;

typedef struct weft_plan9_channel Channel;
typedef struct weft_plan9_alt Alt;
typedef struct weft_plan9_qlock QLock;
typedef struct weft_plan9_rwlock RWLock;
typedef struct weft_plan9_rendez Rendez;
typedef struct weft_plan9_ref Ref;
typedef struct weft_plan9_ioproc Ioproc;

#ifndef nil
#define nil		((void *)0)
#endif
#ifndef USED
#define USED(x)		((void)(x))
#endif

#define CHANEND		WEFT_PLAN9_END
#define CHANSND		WEFT_PLAN9_SND
#define CHANRCV		WEFT_PLAN9_RCV
#define CHANNOP		WEFT_PLAN9_NOP
#define CHANNOBLK	WEFT_PLAN9_NOBLK

#define mainstacksize	weft_plan9_stack
#define threadcreate	weft_plan9_threadcreate
#define proccreate	weft_plan9_proccreate
#define threadexits	weft_plan9_threadexits
#define threadexitsall	weft_plan9_threadexitsall
#define yield		weft_plan9_yield
#define threadpin	weft_plan9_threadpin
#define threadunpin	weft_plan9_threadunpin
#define threadid	weft_plan9_threadid
#define threaddata	weft_plan9_threaddata
#define procdata	weft_plan9_procdata
#define threadname	weft_plan9_threadname
#define threadsetname	weft_plan9_threadname
#define threadgetname	weft_plan9_threadgetname
#define chancreate	weft_plan9_chancreate
#define chanfree	weft_plan9_chanfree
#define chanclose	weft_plan9_chanclose
#define chansetname	weft_plan9_chansetname
#define alt		weft_plan9_alt
#define send		weft_plan9_send
#define recv		weft_plan9_recv
#define nbsend		weft_plan9_nbsend
#define nbrecv		weft_plan9_nbrecv
#define sendp		weft_plan9_sendp
#define recvp		weft_plan9_recvp
#define nbsendp		weft_plan9_nbsendp
#define nbrecvp		weft_plan9_nbrecvp
#define sendul		weft_plan9_sendul
#define recvul		weft_plan9_recvul
#define nbsendul	weft_plan9_nbsendul
#define nbrecvul	weft_plan9_nbrecvul
#define qlock		weft_plan9_lock
#define canqlock	weft_plan9_canlock
#define qunlock		weft_plan9_unlock
#define rlock		weft_plan9_rlock
#define canrlock	weft_plan9_canrlock
#define runlock		weft_plan9_rwunlock
#define wlock		weft_plan9_wlock
#define canwlock	weft_plan9_canwlock
#define wunlock		weft_plan9_rwunlock
#define rsleep		weft_plan9_rsleep
#define rwakeup		weft_plan9_rwakeup
#define rwakeupall	weft_plan9_rwakeupall
#define incref		weft_plan9_incref
#define decref		weft_plan9_decref
#define rendezvous	weft_plan9_rendezvous
#define ioproc		weft_plan9_ioproc
#define closeioproc	weft_plan9_closeioproc
#define iocall		weft_plan9_iocall
#define ioread		weft_plan9_ioread
#define ioreadn		weft_plan9_ioreadn
#define iowrite		weft_plan9_iowrite
#define ioopen		weft_plan9_ioopen
#define ioclose		weft_plan9_ioclose
#define iosleep		weft_plan9_iosleep

#endif
#endif

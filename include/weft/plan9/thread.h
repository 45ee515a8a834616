/* SPDX-License-Identifier: MIT */
/* thread.h - Plan 9's thread library, for programs compiled by weft 9c */
#ifndef WEFT_PLAN9_THREAD_H
#define WEFT_PLAN9_THREAD_H

#include "libc.h"

#ifdef __cplusplus
extern "C" {
#endif

void weft_plan9_threadsetname(const char *format, ...);
void weft_plan9_chanprintname(struct weft_plan9_channel *c, const char *format,
			      ...);
int weft_plan9_chanprint(struct weft_plan9_channel *c, const char *format, ...);
int weft_plan9_threadspawn(int fd[3], const char *file, char *argv[]);
int weft_plan9_threadspawnd(int fd[3], const char *file, char *argv[],
			    const char *dir);
int weft_plan9_threadspawnl(int fd[3], const char *file, ...);
void weft_plan9_threadexec(struct weft_plan9_channel *pid, int fd[3],
			   const char *file, char *argv[]);
void weft_plan9_threadexecl(struct weft_plan9_channel *pid, int fd[3],
			    const char *file, ...);
struct weft_plan9_channel *weft_plan9_threadwaitchan(void);
int weft_plan9_iodial(struct weft_plan9_ioproc *io, const char *address,
		      const char *local, char *dir, int *control);

#ifdef __cplusplus
}
#endif

#ifndef WEFT_PLAN9_NO_NAMES

#undef threadname
#undef threadsetname
#undef chansetname
#define threadname	weft_plan9_threadsetname
#define threadsetname	weft_plan9_threadsetname
#define chansetname	weft_plan9_chanprintname
#define chanprint	weft_plan9_chanprint
#define threadspawn	weft_plan9_threadspawn
#define threadspawnd	weft_plan9_threadspawnd
#define threadspawnl	weft_plan9_threadspawnl
#define threadexec	weft_plan9_threadexec
#define threadexecl	weft_plan9_threadexecl
#define threadwaitchan	weft_plan9_threadwaitchan

#define iodial		weft_plan9_iodial
#define threadnotify	weft_plan9_atnotify

/* There is nothing to do for these. */
#define threadsetstate(...)	((void)0)
#define threadneedbackground()	((void)0)
#define _threadsetsysproc()	((void)0)

#define threadyield	weft_plan9_yield
#define threadidle	weft_plan9_yield
#define _threadpin	weft_plan9_threadpin
#define _threadunpin	weft_plan9_threadunpin
#define chanalt		weft_plan9_alt
#define chansend	weft_plan9_send
#define chanrecv	weft_plan9_recv
#define channbsend	weft_plan9_nbsend
#define channbrecv	weft_plan9_nbrecv
#define chansendp	weft_plan9_sendp
#define chanrecvp	weft_plan9_recvp
#define channbsendp	weft_plan9_nbsendp
#define channbrecvp	weft_plan9_nbrecvp
#define chansendul	weft_plan9_sendul
#define chanrecvul	weft_plan9_recvul
#define channbsendul	weft_plan9_nbsendul
#define channbrecvul	weft_plan9_nbrecvul

#endif
#endif

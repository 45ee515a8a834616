/* SPDX-License-Identifier: MIT */
/* weft.h - all of weft: threads without the kernel */
#ifndef WEFT_H
#define WEFT_H

#include <weft/base.h>
#include <weft/barrier.h>
#include <weft/chan.h>
#include <weft/cond.h>
#include <weft/group.h>
#include <weft/io.h>
#include <weft/key.h>
#include <weft/lock.h>
#include <weft/mutex.h>
#include <weft/net.h>
#include <weft/observe.h>
#include <weft/once.h>
#include <weft/process.h>
#include <weft/reader.h>
#include <weft/runtime.h>
#include <weft/ring.h>
#include <weft/rwlock.h>
#include <weft/sem.h>
#include <weft/slab.h>
#include <weft/spsc.h>
#include <weft/stack.h>
#include <weft/thread.h>
#include <weft/timer.h>
#include <weft/trace.h>

#endif

/* SPDX-License-Identifier: MIT */
/* init/chosen.c - prints what the runtime chose at its start, and why */
#include "init/chosen.h"

#include <errno.h>

#include "base/format.h"
#include "base/log.h"
#include "os/call/cpus.h"
#include "os/call/lacks.h"
#include "os/tls/tls.h"
#include "sched/vcpu.h"

#define STDERR		2
#define NS_PER_US	1000

static void say(const char *what, const char *why)
{
	wefti_log(WEFTI_LOG_INFO, "weft: %s%s%s\n", what, why ? ": " : "",
		  why ? why : "");
}

static void tell_vcpus(const struct weft_options *options)
{
	const unsigned quota = wefti_os_cpus_quota("");
	const char *why = wefti_rt.settings.sched == WEFTI_SCHED_EXPLORE ?
				"WEFT_SCHED=explore" :
			  options && options->vcpus ? "the program asks for them" :
			  wefti_rt.settings.vcpus ? "WEFT_VCPUS" :
						    "one for each CPU allowed";

	wefti_log(WEFTI_LOG_INFO, "weft: VCPUs: %u (%s); CPUs allowed: %u of %u%s\n",
		  wefti_rt.vcpu_count, why, wefti_os_cpus_allowed(""),
		  wefti_os_cpus_online(), quota ? ", with a quota" : "");
}

static void tell_slices(void)
{
	if (wefti_rt.slice_ns == 0)
		say("slices: none", "a thread runs until it waits");
	else
		wefti_log(WEFTI_LOG_INFO, "weft: slices: %ld us\n",
			  (long)wefti_rt.slice_ns / NS_PER_US);
}

static void tell_tls(void)
{
	if (wefti_rt.own_tls)
		say("thread-local storage: each thread's own, unless it is light",
		    NULL);
	else
		say("thread-local storage: that of the kernel thread which carries "
		    "the thread", wefti_rt.settings.tls == WEFTI_TLS_SHARED ?
		    "WEFT_TLS" : wefti_tls_reason());
}

static void tell_lack(const struct wefti_os_lack *lack, void *unused)
{
	(void)unused;
	if (!lack->is_run && !lack->is_told_later)
		wefti_log(WEFTI_LOG_INFO, "weft: without %s, %s\n", lack->name,
			  lack->without);
}

void wefti_tell_start(const struct weft_options *options)
{
	if (!wefti_log_shows(WEFTI_LOG_INFO))
		return;
	tell_vcpus(options);
	tell_slices();
	say(wefti_rt.settings.sched == WEFTI_SCHED_EXPLORE ?
	    "ready threads: in one queue, in an order by WEFT_SEED" :
	    wefti_rt.settings.sched == WEFTI_SCHED_SHARED ?
	    "ready threads: in one queue" :
	    "ready threads: in a queue for each VCPU, from which others steal", NULL);
	tell_tls();
	wefti_log(WEFTI_LOG_INFO, "weft: kernel threads: %u, and up to %ld for threads "
		  "that block in the kernel\n", wefti_rt.vcpu_count,
		  (long)wefti_rt.settings.spare_max);
	if (load_relaxed(&wefti_rt.fence_on_entry))
		say("each call of the runtime has a fence",
		    "the kernel has no membarrier()");
	wefti_os_lacks(tell_lack, NULL);
}

int wefti_check_sanitizer(void)
{
	switch (wefti_tls_sanitizer()) {
	case WEFTI_SANITIZER_THREAD:
		wefti_print(STDERR, "weft: cannot start: the program has "
			    "ThreadSanitizer, and this libweft is not built for it; "
			    "link one that is (./configure --with-sanitizer=thread)\n");
		return -ENOTSUP;
	case WEFTI_SANITIZER_ADDRESS:
		wefti_log(WEFTI_LOG_WARNING, "weft: AddressSanitizer may report errors "
			  "that are none after exceptions and longjmp(), unless "
			  "libweft is built for it (./configure "
			  "--with-sanitizer=address)\n");
		return 0;
	default:
		return 0;
	}
}

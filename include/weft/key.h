/* SPDX-License-Identifier: MIT */
/*
 * weft/key.h - a value for each thread, under a key
 *
 * Keys are for light threads, and for values that need a destructor. A thread with
 * thread-local storage of its own can also use _Thread_local.
 */
#ifndef WEFT_KEY_H
#define WEFT_KEY_H

#include <weft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_KEYS_MAX	256

/*
 * weft_key_create - make a key
 *
 *   key      receives the key
 *   destroy  called at the end of each thread with the thread's value, unless the
 *            value is NULL. The pointer may be NULL: no destructor. Destructors
 *            that set values again are called again, in up to four rounds. For the
 *            first thread no destructor is called, neither by weft_stop() nor by
 *            weft_exit().
 *
 * Returns 0, or -EAGAIN: there are WEFT_KEYS_MAX keys already.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_key_create(unsigned *key,
	void (*destroy)(void *value));

/*
 * weft_key_delete - give a key back
 *
 * No destructor is called, and no thread may use the key any more. Values that threads
 * still have under the key are forgotten.
 *
 * Returns 0, or -EINVAL: there is no such key.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API int weft_key_delete(unsigned key);

/*
 * weft_key_set - give the calling thread a value
 *
 * Returns 0, else
 *   -EINVAL  there is no such key
 *   -ENOMEM  no memory for the thread's table
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_key_set(unsigned key, void *value);

/*
 * weft_key_get - the calling thread's value
 *
 * Returns the value that the thread set last. NULL: it set none, or there is no such
 * key.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API void *weft_key_get(unsigned key);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: MIT */
/*
 * weft/key.h - values that each thread has for itself, under a key
 *
 * For light threads, and for values that want a destructor. A thread with its
 * own thread-local storage can use _Thread_local as well.
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
 *   key      where it goes
 *   destroy  called at the end of each thread with its value, where that is not
 *            NULL; may be NULL. Destructors that set values again are run up to
 *            four rounds.
 *
 * Returns 0, or -EAGAIN: there are WEFT_KEYS_MAX keys.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_key_create(unsigned *key,
	void (*destroy)(void *value));

/*
 * weft_key_delete - give a key back
 *
 * No destructor runs, and no thread may use the key any more. Values that
 * threads still have under it are forgotten.
 *
 * Returns 0, or -EINVAL: there is no such key.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API WEFT_MUST_USE int weft_key_delete(unsigned key);

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
 * Returns what it set last, NULL if nothing or if there is no such key.
 *
 * Blocks     never.
 * Since      0.1
 */
WEFT_API void *weft_key_get(unsigned key);

#ifdef __cplusplus
}
#endif
#endif

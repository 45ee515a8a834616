/* SPDX-License-Identifier: MIT */
/*
 * light.h - included before each file of pthread/ where its threads are light
 *
 * light.sed puts these in the place of what a light thread does not have: TLS and a
 * control block of its own. light.c says more.
 */
#ifndef WEFT_TESTS_LIGHT_H
#define WEFT_TESTS_LIGHT_H

#include "hidden_errno.h"

struct wefti_pt;
struct wefti_thread;

/* Fields of glibc's struct pthread. */
enum wefti_light_field {
	WEFTI_LIGHT_CANCELHANDLING,
	WEFTI_LIGHT_ROBUST,
	WEFTI_LIGHT_TID,
	WEFTI_LIGHT_FIELDS,
};

struct wefti_pt *wefti_light_pt(void);		/* the caller's */
struct wefti_pt *wefti_light_of(const struct wefti_thread *t);
int wefti_light_begin(struct wefti_thread *t);	/* returns its id as an owner of locks */
void wefti_light_end(void);			/* destructors of the caller's keys */
void *wefti_light_field(enum wefti_light_field field);
void *wefti_light_field_of(const struct wefti_thread *t, enum wefti_light_field field);
void *wefti_light_libc(const char *name);

#endif

/* SPDX-License-Identifier: MIT */
/* record_mark.c - scenario: the recorder's memory is made while another thread looks */
#include "model.h"

#include "os/call/shared_file.h"
#include "os/call/tid.h"
#include "os/call/vm.h"
#include "record/memory.h"

static struct wefti_record_mark page;
static struct wefti_record_head memory;

/* The kernel's answers. */
void *wefti_os_vm_wiped(void)
{
	return &page;
}

void wefti_os_vm_unmap(void *start, size_t bytes)
{
	(void)start, (void)bytes;
}

size_t wefti_os_page_size(void)
{
	return 4096;
}

int wefti_os_file_sealed(const char *name, uint64_t bytes)
{
	(void)name, (void)bytes;
	return 3;
}

void wefti_os_file_seal_writes(int fd)
{
	(void)fd;
}

void *wefti_os_file_map(int fd, uint64_t bytes)
{
	(void)fd, (void)bytes;
	return &memory;
}

void wefti_os_file_unmap(void *start, uint64_t bytes)
{
	(void)start, (void)bytes;
}

struct wefti_os_file_id wefti_os_file_identify(int fd)
{
	(void)fd;
	return (struct wefti_os_file_id){ 1, 1 };
}

int wefti_os_file_is(int fd, struct wefti_os_file_id id)
{
	(void)fd, (void)id;
	return 1;
}

void wefti_os_file_close(int fd)
{
	(void)fd;
}

int wefti_os_cycles_are_reliable(void)
{
	return 0;
}

uint64_t wefti_os_cycles_to_ns(uint64_t cycles)
{
	return cycles;
}

int64_t wefti_os_now_ns(void)
{
	return 1;
}

int64_t wefti_os_real_ns(void)
{
	return 1;
}

int wefti_os_pid(void)
{
	return 1;
}

/* As it is before the first recording. The page is as the kernel gives it. */
static void init(void)
{
	wefti_record_disown();
	store_relaxed(&load_relaxed(&wefti_recorder.mark)->is_ours, 1);
	store_relaxed(&page.is_ours, 0);
}

static void make(void)
{
	m_check(wefti_record_make(1, 0) == 0);
}

static void look(void)
{
	m_check(!wefti_record_is_parents());
}

SCENARIO(record_mark) = { init, { make, look }, look };

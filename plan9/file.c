/* SPDX-License-Identifier: MIT */
/*
 * plan9/file.c - files and folders: readn, create, and what a Dir says
 *
 * Each Dir, or array of them, is one piece of memory with its names behind it. A free()
 * frees all of it.
 */
#include "plan9.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/plan9/libc.h>

/* Reads until n bytes are there, or the file ends. */
long weft_plan9_readn(int fd, void *to, long n)
{
	long got = 0, one = 1;

	while (got < n && one > 0) {
		one = read(fd, (char *)to + got, (size_t)(n - got));
		got += one > 0 ? one : 0;
	}
	return one < 0 && !got ? -1 : got;
}

/* With DMDIR a folder is made, and opened. */
int weft_plan9_create(const char *path, int mode, ulong perm)
{
	if (!(perm & DMDIR))
		return open(path, mode | O_CREAT | O_TRUNC, (mode_t)(perm & 0777));
	if (mkdir(path, (mode_t)(perm & 0777)) != 0)
		return -1;
	return open(path, O_RDONLY | O_DIRECTORY | (mode & O_CLOEXEC));
}

/* Fills in the last X's, as mktemp() does; the file is closed at exec with OCEXEC. */
int weft_plan9_opentemp(char *path, int mode)
{
	return mkostemp(path, mode & ~O_ACCMODE);
}

static ulong mode_of(const struct stat *st)
{
	ulong mode = st->st_mode & 0777;

	switch (st->st_mode & S_IFMT) {
	case S_IFDIR:
		return mode | DMDIR;
	case S_IFLNK:
		return mode | DMSYMLINK;
	case S_IFIFO:
		return mode | DMNAMEDPIPE;
	case S_IFSOCK:
		return mode | DMSOCKET;
	case S_IFCHR:
	case S_IFBLK:
		return mode | DMDEVICE;
	}
	return mode;
}

/* The names of users and groups are their numbers. */
#define NUMBER	16

static size_t bytes_of(const char *name)
{
	return strlen(name) + 1 + 2 * NUMBER;
}

/* Fills in d; its texts come to `at`. Returns what is behind them. */
static char *fill(Dir *d, char *at, const char *name, const struct stat *st)
{
	*d = (Dir){
		.type = 'M', .dev = (uint)st->st_dev,
		.qid = { .path = st->st_ino, .vers = (ulong)st->st_mtime,
			 .type = S_ISDIR(st->st_mode) ? QTDIR : QTFILE },
		.mode = mode_of(st), .atime = (ulong)st->st_atime,
		.mtime = (ulong)st->st_mtime,
		.length = S_ISDIR(st->st_mode) ? 0 : st->st_size,
		.name = at, .uid = at + strlen(name) + 1,
	};
	strcpy(d->name, name);
	d->gid = d->uid + NUMBER;
	d->muid = d->uid;
	weft_plan9_snprint(d->uid, NUMBER, "%ud", st->st_uid);
	weft_plan9_snprint(d->gid, NUMBER, "%ud", st->st_gid);
	return d->gid + NUMBER;
}

static Dir *new_dir(const char *path, const struct stat *st)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash && slash[1] ? slash + 1 : path;
	Dir *d = malloc(sizeof(*d) + bytes_of(name));

	if (d)
		(void)fill(d, (char *)(d + 1), name, st);
	return d;
}

Dir *weft_plan9_dirstat(const char *path)
{
	struct stat st;

	return fstatat(AT_FDCWD, path, &st, 0) == 0 ? new_dir(path, &st) : NULL;
}

Dir *weft_plan9_dirfstat(int fd)
{
	char path[4096], link[40];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) != 0)
		return NULL;
	weft_plan9_snprint(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = 0;
	return new_dir(path, &st);
}

/* Every field says: leave it as it is. */
void weft_plan9_nulldir(Dir *d)
{
	memset(d, 0xff, sizeof(*d));
	d->name = d->uid = d->gid = d->muid = (char *)(uintptr)"";
}

/*
 * The length, the permissions and the times: of the path, or of fd if there is none. The
 * path's are changed by the path, as the caller may have no permission to open the file.
 */
static int change(const char *path, int fd, const Dir *d)
{
	const struct timespec as_it_is = { .tv_nsec = UTIME_OMIT };
	const mode_t mode = (mode_t)(d->mode & 0777);
	struct timespec t[2] = { as_it_is, as_it_is };

	if (*d->uid || *d->gid || *d->muid) {
		errno = EPERM;
		return -1;
	}
	if (d->length != -1 &&
	    (path ? truncate(path, d->length) : ftruncate(fd, d->length)) != 0)
		return -1;
	if ((uint)d->mode != ~0u && (path ? chmod(path, mode) : fchmod(fd, mode)) != 0)
		return -1;
	if ((uint)d->atime != ~0u)
		t[0] = (struct timespec){ .tv_sec = (time_t)d->atime };
	if ((uint)d->mtime != ~0u)
		t[1] = (struct timespec){ .tv_sec = (time_t)d->mtime };
	return path ? utimensat(AT_FDCWD, path, t, 0) : futimens(fd, t);
}

/* A descriptor has no name that could be changed. */
int weft_plan9_dirfwstat(int fd, const Dir *d)
{
	if (*d->name) {
		errno = EPERM;
		return -1;
	}
	return change(NULL, fd, d);
}

/* A new name may be given too, for a file that stays in its folder. */
int weft_plan9_dirwstat(const char *path, const Dir *d)
{
	const char *slash = strrchr(path, '/');
	char *to;
	int error = change(path, -1, d);

	if (error || !*d->name)
		return error;
	to = weft_plan9_smprint("%.*s%s", slash ? (int)(slash + 1 - path) : 0, path,
				d->name);
	error = to ? rename(path, to) : -1;
	free(to);
	return error;
}

struct found {
	struct stat st;
	char name[256];
};

/* Adds what the entry names. Returns 0, also if it is gone. */
static int add(struct found **all, size_t *n, int fd, const char *name)
{
	struct found *f;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return 0;
	if ((*n & (*n - 1)) == 0) {		/* each power of two: twice the room */
		f = realloc(*all, (*n ? 2 * *n : 1) * sizeof(*f));
		if (!f)
			return -1;
		*all = f;
	}
	f = &(*all)[*n];
	if (fstatat(fd, name, &f->st, AT_SYMLINK_NOFOLLOW) == 0) {
		weft_plan9_snprint(f->name, sizeof(f->name), "%s", name);
		++*n;
	}
	return 0;
}

/* What the folder has from where fd stands on. Returns -1 and errno if it has no list. */
static long read_folder(int fd, struct found **all)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0), error = 0;
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;
	size_t n = 0;

	if (!dir) {
		error = errno;
		if (copy >= 0)
			(void)close(copy);
		errno = error;
		return -1;
	}
	do {
		errno = 0;
		entry = readdir(dir);
		if (entry ? add(all, &n, fd, entry->d_name) != 0 : errno != 0)
			error = errno;
	} while (entry && !error);
	(void)closedir(dir);
	errno = error;
	return error ? -1 : (long)n;
}

long weft_plan9_dirreadall(int fd, Dir **to)
{
	struct found *all = NULL;
	long n = read_folder(fd, &all);
	size_t bytes = 0;
	char *at;

	*to = NULL;
	for (long i = 0; i < n; i++)
		bytes += sizeof(Dir) + bytes_of(all[i].name);
	if (n > 0)
		*to = malloc(bytes);
	at = *to ? (char *)(*to + n) : NULL;
	for (long i = 0; *to && i < n; i++)
		at = fill(&(*to)[i], at, all[i].name, &all[i].st);
	free(all);
	return n > 0 && !*to ? -1 : n;
}

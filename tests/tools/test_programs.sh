#!/bin/sh
# SPDX-License-Identifier: MIT
# test_programs.sh - programs of all kinds under weft run, and started by others; what
# --check says of each
# shellcheck source-path=SCRIPTDIR source=common.sh disable=SC2317
. "$(dirname "$0")/common.sh"

weft=${WEFT_TEST_CLI-cli/weft}
CC=${CC-cc}
if [ ! -x "$weft" ] || [ ! -f .libs/libweft-pthread.so ] ||
    ! command -v "$CC" >/dev/null; then
	echo "test_programs.sh: skipped, there is no $weft with its library here"
	exit 0
fi
weft=$(realpath "$weft")

# status_is N COMMAND...: it exits so; what it said is in $work/said
status_is()
{
	want=$1
	shift
	timeout 60 "$@" >"$work/said" 2>&1
	status=$?
	[ "$status" = "$want" ]
}

said_is()
{
	[ "$(cat "$work/said")" = "$1" ]
}

cat >"$work/threads.c" <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *body(void *arg)
{
	char *bytes = malloc(10);

	bytes[0] = 1;
	free(bytes);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (pthread_create(&t, NULL, body, NULL) != 0 ||
	    pthread_join(t, NULL) != 0)
		return 1;
	printf("%s\n", argc > 1 ? argv[1] : "fine");
	return 5;
}
END
cat >"$work/plain.c" <<'END'
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	const char *preload = getenv("LD_PRELOAD");

	printf("%s\n", preload ? preload : "none");
	return 5;
}
END

# build NAME SOURCE OPTION...: skips with a line what cannot be built and run here
build()
{
	name=$1 source=$2
	shift 2
	if "${compiler-$CC}" -O1 -w "$@" -o "$work/$name" "$work/$source" -pthread \
	    >/dev/null 2>&1 && { "$work/$name" >/dev/null 2>&1; [ $? = 5 ]; }; then
		return 0
	fi
	echo "test_programs.sh: skipped: $name cannot be built and run here"
	return 1
}

# --- sanitizers: their threads are libc's, and one line says so
for kind in address thread leak; do
	build "san-$kind" threads.c "-fsanitize=$kind" || continue
	passes "a program with $kind" status_is 5 "$weft" run "$work/san-$kind"
	passes "it runs" says '^fine$'
	passes "a line" says '^weft: threads stay kernel threads: '
	passes "one line" test "$(grep -c '^weft:' "$work/said")" = 1
	passes "a check of $kind" status_is 0 "$weft" run --check "$work/san-$kind"
	passes "says the same" says '^Its threads stay kernel threads: '
	passes "a child with $kind" status_is 5 "$weft" run \
		sh -c "$work/san-$kind; exit \$?"
	passes "it runs, too" says '^fine$'
done
if build san-static threads.c -fsanitize=address -static-libasan; then
	passes "the sanitizer in the program" status_is 5 \
		"$weft" run "$work/san-static"
	passes "a check" status_is 0 "$weft" run --check "$work/san-static"
	passes "says so" says '^Its threads stay kernel threads: '
fi

# What a sanitizer does while it starts: functions of its own have names of libc's, and
# cannot be called yet. It calls dlsym(), which called pthread_once() before glibc 2.34.
cat >"$work/starting.c" <<'END'
#include <pthread.h>
#include <stdlib.h>
static int starting;
int strcmp(const char *a, const char *b)
{
	if (starting)
		abort();
	for (; *a && *a == *b; a++)
		b++;
	return (unsigned char)*a - (unsigned char)*b;
}
int strncmp(const char *a, const char *b, size_t n)
{
	if (starting)
		abort();
	for (; n && *a && *a == *b; a++, n--)
		b++;
	return n ? (unsigned char)*a - (unsigned char)*b : 0;
}
static void nothing(void)
{
}
__attribute__((constructor)) static void start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	starting = 1;
	pthread_once(&once, nothing);
	starting = 0;
}
END
if "$CC" -O1 -fno-builtin -fPIC -shared -o "$work/starting.so" "$work/starting.c" \
    2>/dev/null && build starting threads.c; then
	passes "before a library has started" status_is 5 env \
		LD_PRELOAD="$PWD/.libs/libweft-pthread.so:$work/starting.so" "$work/starting"
fi

# --- a malloc of the program's own
cat >"$work/own.c" <<'END'
#include <stddef.h>
static _Alignas(16) char heap[1 << 20];
static size_t used;
void *malloc(size_t n)
{
	size_t at = __atomic_fetch_add(&used, (n + 31) & ~(size_t)15, __ATOMIC_SEQ_CST);
	*(size_t *)(heap + at) = n;
	return heap + at + 16;
}
void free(void *p)
{
	(void)p;
}
void *calloc(size_t a, size_t b)
{
	return malloc(a * b);
}
void *realloc(void *p, size_t n)
{
	char *to = malloc(n), *from = p;
	for (size_t i = 0; p && i < n && i < ((size_t *)p)[-2]; i++)
		to[i] = from[i];
	return to;
}
END
cat "$work/own.c" "$work/threads.c" >"$work/malloc.c"
if build malloc malloc.c -fno-builtin; then
	passes "a malloc of its own" status_is 5 "$weft" run "$work/malloc"
	passes "a line" says '^weft: threads stay kernel threads: malloc is not'
	passes "a check" status_is 0 "$weft" run --check "$work/malloc"
	passes "says the same" says '^Its threads stay kernel threads: malloc is'
fi
if build green threads.c && has_green "$work/green"; then
	passes "threads" status_is 5 "$weft" run "$work/green"
	passes "no line" said_is fine
	passes "a check" status_is 0 "$weft" run --check "$work/green"
	passes "says nothing of it" sh -c "! grep -q 'stay kernel' $work/said"
fi

# --- children that cannot take the library: no line of a loader's, and no variable
child()
{
	passes "a $1 program, from a shell" status_is 5 \
		"$weft" run sh -c "$work/$1; exit \$?"
	passes "has no library" said_is none
	passes "a $1 program, in a program's place" status_is 5 \
		"$weft" run env "$work/$1"
	passes "has none" said_is none
	printf '#!%s/%s\n' "$work" "$1" >"$work/script" && chmod +x "$work/script"
	passes "a script of it" status_is 5 "$weft" run env "$work/script"
	passes "has none either" said_is none
	LD_PRELOAD="$work/other.so" passes "with another library" status_is 5 \
		"$weft" run env "$work/$1"
	passes "that stays" says "^$work/other.so\$"
}

echo 'int other;' >"$work/other.c"
"$CC" -shared -fPIC -o "$work/other.so" "$work/other.c"
build static plain.c -static && child static
build 32-bit plain.c -m32 && LD_PRELOAD='' child 32-bit
if command -v musl-gcc >/dev/null; then
	compiler=musl-gcc build musl plain.c && child musl
else
	echo "test_programs.sh: skipped: musl-gcc is not installed"
fi
build asan plain.c -fsanitize=address && ASAN_OPTIONS=verify_asan_link_order=0 \
	child asan
build glibc plain.c && passes "a child that can take it" status_is 5 \
	"$weft" run env "$work/glibc" && passes "has it" says libweft-pthread.so

# Each way to start a program.
cat >"$work/start.c" <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void become(int way, char *path)
{
	char *argv[] = { path, NULL };

	switch (way) {
	case 0: execve(path, argv, environ); break;
	case 1: execv(path, argv); break;
	case 2: execvp(strrchr(path, '/') + 1, argv); break;
	case 3: execvpe(strrchr(path, '/') + 1, argv, environ); break;
	case 4: fexecve(open(path, O_RDONLY), argv, environ); break;
	case 5: execl(path, path, NULL); break;
	case 6: execlp(strrchr(path, '/') + 1, path, NULL); break;
	case 7: execle(path, path, NULL, environ); break;
	case 8: execveat(AT_FDCWD, path, argv, environ, 0); break;
	}
	_exit(99);
}

int main(int argc, char **argv)
{
	char *args[] = { argv[1], NULL };
	char **before = environ;
	int status;
	pid_t child;

	for (int way = 0; way < 20; way++) {
		if (way < 9)
			child = fork();
		else if (way < 18)
			child = vfork();
		else if (way == 18)
			status = posix_spawn(&child, argv[1], NULL, NULL, args,
					     environ);
		else
			status = posix_spawnp(&child, strrchr(argv[1], '/') + 1,
					      NULL, NULL, args, environ);
		if (way < 18 && child == 0)
			become(way % 9, argv[1]);
		if (waitpid(child, &status, 0) < 0 || WEXITSTATUS(status) != 5)
			return 1;
	}
	return environ == before && getenv("LD_PRELOAD") ? 6 : 2;
}
END
if "$CC" -O1 -w -o "$work/start" "$work/start.c" && [ -x "$work/static" ]; then
	passes "all ways to start a program" status_is 6 \
		env PATH="$work:$PATH" "$weft" run "$work/start" "$work/static"
	passes "start it without" test "$(grep -c '^none$' "$work/said")" = 20
	passes "all ways for one that takes it" status_is 6 \
		env PATH="$work:$PATH" "$weft" run "$work/start" "$work/glibc"
	passes "start it with" \
		test "$(grep -c 'libweft-pthread.so$' "$work/said")" = 20
fi

# --- another root, where the library is not
if [ "$(id -u)" = 0 ] && "$CC" -O1 -w -o "$work/glibc" "$work/plain.c"; then
	mkdir -p "$work/root/bin"
	cp "$work/glibc" /bin/sh "$work/root/bin"
	for library in $(ldd "$work/glibc" /bin/sh | grep -o '/[^ :]*\.so[^ :]*'); do
		mkdir -p "$work/root${library%/*}" && cp -L "$library" \
			"$work/root$library"
	done
	cat >"$work/jail.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	FILE *f;
	int status;

	if (chroot(argv[1]) != 0 || chdir("/") != 0)
		return 1;
	status = system("/bin/glibc; exit 3");
	f = popen("/bin/glibc", "w");
	if (WEXITSTATUS(status) != 3 || WEXITSTATUS(pclose(f)) != 5)
		return 2;
	execl("/bin/glibc", "glibc", NULL);
	return 4;
}
END
	"$CC" -O1 -w -o "$work/jail" "$work/jail.c"
	if chroot "$work/root" /bin/glibc >/dev/null; [ $? = 5 ]; then
		passes "another root" status_is 5 \
			"$weft" run chroot "$work/root" /bin/glibc
		passes "has no library" said_is none
		passes "a program in another root" status_is 5 \
			"$weft" run "$work/jail" "$work/root"
		passes "starts others without" said_is "none
none
none"
	fi
else
	echo "test_programs.sh: skipped: another root is for root"
fi

# --- Go
cat >"$work/go.go" <<'END'
package main

/*
#include <pthread.h>
static void *body(void *p) { return p; }
static int threads(void)
{
	pthread_t t[4];
	int n = 0;
	void *r;
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], 0, body, (void *)1);
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], &r);
		n += r != 0;
	}
	return n;
}
*/
import "C"
import "runtime"

var never *int

//export GoCount
func GoCount(n C.int) C.int {
	results := make(chan C.int)
	for i := 0; i < int(n); i++ {
		go func() { results <- C.threads() }()
	}
	sum := C.int(0)
	for i := 0; i < int(n); i++ {
		sum += <-results
	}
	func() {
		defer func() { recover() }()
		*never = 1
	}()
	go func() {
		for {
		}
	}()
	runtime.GC()
	return sum
}

func main() {
	println(GoCount(10))
}
END
cat >"$work/use.c" <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static int (*count)(int);
static void *nothing(void *p)
{
	return p;
}
static void *call(void *p)
{
	*(int *)p = count(5);
	return p;
}
int main(int argc, char **argv)
{
	pthread_t t[4];
	int r[4] = { 0 };

	if (argc > 2) {
		pthread_create(&t[0], NULL, nothing, NULL);
		pthread_join(t[0], NULL);
	}
	count = (int (*)(int))dlsym(dlopen(argv[1], RTLD_NOW), "GoCount");
	r[0] = count(10);
	printf("%d\n", r[0]);
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, call, &r[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	printf("%d\n", r[0] + r[1] + r[2] + r[3]);
	return 5;
}
END
if command -v go >/dev/null && CGO_ENABLED=1 GO111MODULE=off go build \
    -o "$work/go" "$work/go.go" 2>/dev/null; then
	passes "Go" status_is 0 "$weft" run "$work/go"
	passes "counts" says '^40$'
	passes "a line" says "kernel threads: Go's runtime is in"
	passes "a check" status_is 0 "$weft" run --check "$work/go"
	passes "says the same" says "stay kernel threads: Go's runtime is in go"
	CGO_ENABLED=1 GO111MODULE=off go build -buildmode=c-shared \
		-o "$work/libgo.so" "$work/go.go" &&
	"$CC" -O1 -w -o "$work/use" "$work/use.c" -pthread -ldl
	passes "a library of Go's" status_is 5 "$weft" run "$work/use" "$work/libgo.so"
	passes "counts too" says '^80$'
	passes "a line of it" says "stay kernel threads: Go's runtime is in"
	passes "one that comes later" status_is 5 \
		"$weft" run "$work/use" "$work/libgo.so" later
	passes "counts as well" says '^80$'
	passes "a line of that" says "kernel threads from here on: Go's"
	passes "one line" test "$(grep -c '^weft:' "$work/said")" = 1
else
	echo "test_programs.sh: skipped: there is no go that builds with cgo"
fi
finish

/* SPDX-License-Identifier: MIT */
/* bench-echo - what does a server with a thread a connection let through? */
#include "echo/echo.h"

static const struct bench_case cases[] = {
	{ .name = "echo", .threads = { 1000 } },
	{ .name = NULL },
};

static const struct bench_variant *const variants[] = {
	&bench_echo_light, &bench_echo_tls, &bench_echo_pthreads,
	&bench_echo_go, &bench_echo_epoll, NULL,
};

static const unsigned vcpus[] = { 1, 2, 0 };

int main(int argc, char **argv)
{
	static const struct bench_suite suite = {
		.name = "echo",
		.about = "A TCP echo server, 64 bytes, a thread a connection; "
			 "weft's against Linux's, Go's and event loops.",
		.cases = cases,
		.variants = variants,
		.vcpus = vcpus,
		.target_ms = 2000,
		.base = "go",
	};

	return bench_main(argc, argv, &suite);
}

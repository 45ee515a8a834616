/* SPDX-License-Identifier: MIT */
/* tls_static_module.c - a library that wants room in every static TLS */

int *weft_test_static_address(void);

__attribute__((tls_model("initial-exec")))
static _Thread_local int variable = 777;

int *weft_test_static_address(void)
{
	return &variable;
}

/* SPDX-License-Identifier: MIT */
/* tls_dynamic_module.c - a library whose TLS is made at its first use */

char *weft_test_dynamic_address(void);

static _Thread_local char variable[3000] = "dynamic";

char *weft_test_dynamic_address(void)
{
	return variable;
}

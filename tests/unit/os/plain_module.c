/* SPDX-License-Identifier: MIT */
/* plain_module.c - a library of one function and nothing else */

int weft_test_plain(void);

int weft_test_plain(void)
{
	return 42;
}

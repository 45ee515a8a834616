/* SPDX-License-Identifier: MIT */
/* smoke_omp.c - teams of OpenMP's threads */
#include <omp.h>
#include <stdio.h>

int main(void)
{
	long sum = 0;
	int most = 0;

	for (int round = 0; round < 50; round++) {
#pragma omp parallel for num_threads(8) reduction(+ : sum)
		for (int i = 0; i < 1000; i++)
			sum += i;
#pragma omp parallel num_threads(8) reduction(max : most)
		most = omp_get_num_threads();
	}
	printf("sum %ld threads %d\n", sum, most);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* os/quiescent.c - grace periods, by liburcu's quiescent states */
#include "os/quiescent.h"

#include <urcu/urcu-qsbr.h>

void wefti_os_quiescent_register(void)
{
	urcu_qsbr_register_thread();
}

void wefti_os_quiescent_unregister(void)
{
	urcu_qsbr_unregister_thread();
}

void wefti_os_quiescent(void)
{
	urcu_qsbr_quiescent_state();
}

void wefti_os_quiescent_offline(void)
{
	urcu_qsbr_thread_offline();
}

void wefti_os_quiescent_online(void)
{
	urcu_qsbr_thread_online();
}

void wefti_os_quiescent_wait(void)
{
	urcu_qsbr_synchronize_rcu();
}

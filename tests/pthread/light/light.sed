# SPDX-License-Identifier: MIT
# light.sed - pthread/ where its threads are light: light.c says more
/^static inline struct wefti_pt \*wefti_pt_of/,/^}/d
s/\<wefti_pt_of(/wefti_light_of(/g
s/\<wefti_pt\./wefti_light_pt()->/g
s/&wefti_pt\>/wefti_light_pt()/g
s/\<wefti_tls_tid(t->tp)/wefti_light_begin(t)/
s/\<wefti_tls_thread_exit()/wefti_light_end()/
s/!t->tp\>/0/
s/\<wefti_peek_tp(t)/(uintptr_t)1/
s/\<wefti_pt_at(tp)/wefti_light_of(t)/
s/ && t->tp;/;/
s/\<to->tp && (/(/
s/ && t->tp &&$/ \&\&/
s/\<wefti_tls_field(wefti_arch_tp_get(),/wefti_light_field(/
s/\<wefti_tls_field(t->tp,/wefti_light_field_of(t,/
s/\<wefti_tls_layout\.pthread_cancelhandling/WEFTI_LIGHT_CANCELHANDLING/
s/\<wefti_tls_layout\.pthread_robust/WEFTI_LIGHT_ROBUST/
s/\<wefti_tls_layout\.pthread_tid/WEFTI_LIGHT_TID/
s/\<wefti_tls_init() != 0/0/
s/\<wefti_tls_refusal()/(const char *)NULL/
s/!wefti_rt\.own_tls/0/
s/= find(wanted/= wefti_light_libc(wanted/
s/= wefti_os_libc(wanted/= wefti_light_libc(wanted/
/^struct wefti_thread \*wefti_pt_was_thread(pthread_t thread)$/,/^}/d
/^pthread_t wefti_pt_handle(.*)$/,/^}/d

/* SPDX-License-Identifier: MIT */
/* pthread/core/table_io.h - the part of pthread/core/table.h about descriptors */
#ifndef WEFT_PTHREAD_CORE_TABLE_IO_H
#define WEFT_PTHREAD_CORE_TABLE_IO_H

#define WEFTI_TABLE_IO(OURS, LIBC, PLANNED) \
	/* io/io.c */ \
	OURS(read, "") \
	OURS(readv, "") \
	OURS(write, "") \
	OURS(writev, "") \
	/* io/file.c */ \
	OURS(pread, "") \
	OURS(pread64, "") \
	OURS(preadv, "") \
	OURS(preadv64, "") \
	OURS(preadv2, "") \
	OURS(preadv64v2, "") \
	OURS(pwrite, "") \
	OURS(pwrite64, "") \
	OURS(pwritev, "") \
	OURS(pwritev64, "") \
	OURS(pwritev2, "") \
	OURS(pwritev64v2, "") \
	/* io/open.c */ \
	OURS(open, "in a region, if the file is a FIFO") \
	OURS(open64, "") \
	OURS(openat, "in a region, if the file is a FIFO") \
	OURS(openat64, "") \
	OURS(openat2, "in a region, if the file is a FIFO") \
	OURS(open_by_handle_at, "in a region") \
	OURS(creat, "") \
	OURS(creat64, "") \
	/* io/splice.c */ \
	OURS(splice, "in a region") \
	OURS(tee, "in a region") \
	OURS(vmsplice, "in a region") \
	OURS(sendfile, "in a region") \
	OURS(sendfile64, "in a region") \
	OURS(copy_file_range, "in a region") \
	/* io/socket.c */ \
	OURS(recv, "") \
	OURS(recvfrom, "") \
	OURS(recvmsg, "") \
	OURS(send, "") \
	OURS(sendto, "") \
	OURS(sendmsg, "") \
	OURS(accept, "") \
	OURS(accept4, "") \
	/* io/mmsg.c */ \
	OURS(recvmmsg, "") \
	OURS(sendmmsg, "calls sendmsg() for each message") \
	/* io/connect.c */ \
	OURS(connect, "sets O_NONBLOCK while the call lasts") \
	/* io/fd.c */ \
	OURS(socket, "") \
	OURS(socketpair, "") \
	OURS(setsockopt, "") \
	OURS(close, "EBADF for the runtime's own descriptors") \
	OURS(close_range, "leaves the runtime's own descriptors open") \
	OURS(closefrom, "leaves the runtime's own descriptors open") \
	OURS(dup2, "EBADF if the new number is one of the runtime's own") \
	OURS(dup3, "EBADF if the new number is one of the runtime's own") \
	OURS(ioctl, "") \
	/* io/filelock.c */ \
	OURS(fcntl, "F_SETLKW and F_OFD_SETLKW: in a region") \
	OURS(fcntl64, "") \
	OURS(flock, "in a region") \
	/* io/ipc.c */ \
	OURS(mq_receive, "") \
	OURS(mq_timedreceive, "") \
	OURS(mq_send, "") \
	OURS(mq_timedsend, "") \
	OURS(msgrcv, "in a region") \
	OURS(msgsnd, "in a region") \
	OURS(semop, "in a region") \
	OURS(semtimedop, "in a region") \
	/* io/in_region.c */ \
	OURS(getaddrinfo, "in a region") \
	OURS(getnameinfo, "in a region") \
	OURS(gethostbyname, "in a region") \
	OURS(gethostbyname2, "in a region") \
	OURS(gethostbyaddr, "in a region") \
	OURS(gethostbyname_r, "in a region") \
	OURS(gethostbyname2_r, "in a region") \
	OURS(gethostbyaddr_r, "in a region") \
	OURS(gai_suspend, "in a region") \
	OURS(aio_suspend, "in a region") \
	OURS(aio_suspend64, "in a region") \
	OURS(lio_listio, "LIO_WAIT: in a region") \
	OURS(lio_listio64, "LIO_WAIT: in a region") \
	OURS(msync, "in a region") \
	OURS(sync_file_range, "in a region") \
	OURS(sync, "in a region") \
	OURS(syncfs, "in a region") \
	OURS(fallocate, "in a region") \
	OURS(fallocate64, "in a region") \
	OURS(posix_fallocate, "in a region") \
	OURS(posix_fallocate64, "in a region") \
	OURS(tcdrain, "in a region") \
	OURS(getrandom, "libc's, and a cancellation point") \
	OURS(lockf, "in a region") \
	OURS(lockf64, "in a region") \
	/* io/kaio.c */ \
	OURS(io_setup, "replaces libaio's") \
	OURS(io_submit, \
		"replaces libaio's; a request without an eventfd gets one of weft's") \
	OURS(io_getevents, "replaces libaio's") \
	OURS(io_destroy, "replaces libaio's, in a region") \
	/* io/uring.c */ \
	OURS(io_uring_queue_init, \
		"replaces liburing's: ENOSYS if libaio is loaded too; see WEFT_IO_URING") \
	OURS(io_uring_queue_init_params, \
		"replaces liburing's: ENOSYS if libaio is loaded too; see WEFT_IO_URING") \
	OURS(io_uring_register_ring_fd, "replaces liburing's: EINVAL") \
	/* io/disk.c */ \
	OURS(fsync, "in a region, or a request that the kernel completes") \
	OURS(fdatasync, "in a region, or a request that the kernel completes") \
	/* io/poll.c */ \
	OURS(poll, "") \
	OURS(ppoll, "") \
	OURS(epoll_wait, "") \
	OURS(epoll_pwait, "") \
	OURS(epoll_pwait2, "") \
	/* io/select.c */ \
	OURS(select, "") \
	OURS(pselect, "") \
	/* io/fortify.c */ \
	OURS(__read_chk, "_FORTIFY_SOURCE turns read() into this") \
	OURS(__pread_chk, "") \
	OURS(__pread64_chk, "") \
	OURS(__recv_chk, "") \
	OURS(__recvfrom_chk, "") \
	OURS(__poll_chk, "") \
	OURS(__ppoll_chk, "") \
	OURS(__open_2, "") \
	OURS(__open64_2, "") \
	OURS(__openat_2, "") \
	OURS(__openat64_2, "")

#endif

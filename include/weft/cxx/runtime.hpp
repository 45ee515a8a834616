/* SPDX-License-Identifier: MIT */
/* weft/cxx/runtime.hpp - the runtime runs while an object lives */
#ifndef WEFT_CXX_RUNTIME_HPP
#define WEFT_CXX_RUNTIME_HPP

#include <exception>

#include <weft/cxx/error.hpp>

namespace weft {

/*
 * The constructor starts the runtime: the calling kernel thread becomes a thread of weft.
 * The destructor stops it. All other threads must have ended by then; otherwise it calls
 * std::terminate(), as std::thread does. Both run in the same thread.
 */
class runtime {
public:
	runtime() : runtime(weft_options{})
	{
	}

	explicit runtime(unsigned vcpus) : runtime(with_vcpus(vcpus))
	{
	}

	explicit runtime(const weft_options &options)
	{
		detail::check(weft_start(&options), "weft::runtime");
	}

	runtime(const runtime &) = delete;
	runtime &operator=(const runtime &) = delete;

	~runtime()
	{
		if (runs_ && weft_stop() != 0)
			std::terminate();
	}

	/* As the destructor, but tells errors: threads that run have not ended. */
	void stop()
	{
		detail::check(weft_stop(), "weft::runtime::stop");
		runs_ = false;
	}

	static unsigned vcpus() noexcept
	{
		return weft_vcpus();
	}

private:
	static weft_options with_vcpus(unsigned vcpus) noexcept
	{
		weft_options options = {};

		options.vcpus = vcpus;
		return options;
	}

	bool runs_ = true;
};

/* Encloses calls that may block in the kernel: weft_block_begin(3). */
class blocking_region {
public:
	blocking_region() noexcept
	{
		weft_block_begin();
	}

	blocking_region(const blocking_region &) = delete;
	blocking_region &operator=(const blocking_region &) = delete;

	~blocking_region()
	{
		weft_block_end();
	}
};

/* Calls of this thread are not cancelled while such an object lives. */
class cancel_hold {
public:
	cancel_hold() noexcept
	{
		weft_cancel_hold();
	}

	cancel_hold(const cancel_hold &) = delete;
	cancel_hold &operator=(const cancel_hold &) = delete;

	~cancel_hold()
	{
		weft_cancel_release();
	}
};

} /* namespace weft */

#endif

/* SPDX-License-Identifier: MIT */
/* weft/cxx/group.hpp - threads that begin and end together: weft_group_spawn(3) */
#ifndef WEFT_CXX_GROUP_HPP
#define WEFT_CXX_GROUP_HPP

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include <weft/cxx/mutex.hpp>
#include <weft/cxx/runtime.hpp>
#include <weft/cxx/thread.hpp>

namespace weft {

/*
 * No thread outlives its group. The first exception that leaves a thread's function
 * cancels the others, and wait() throws it. The destructor cancels the group and waits,
 * unless wait() has done so.
 */
class group {
public:
	group() noexcept : group_(WEFT_GROUP_INIT)
	{
	}

	group(const group &) = delete;
	group &operator=(const group &) = delete;

	~group()
	{
		cancel();
		static_cast<void>(!weft_group_wait(&group_, WEFT_FOREVER, nullptr));
	}

	/* False: the group is cancelled, and f is not run. */
	template <class F> bool spawn(F &&f)
	{
		return start(nullptr, std::forward<F>(f));
	}

	template <class F> bool spawn(const thread_options &options, F &&f)
	{
		weft_attr attr = {};

		attr.stack_bytes = options.stack_bytes;
		attr.name = options.name;
		attr.flags = options.light ? WEFT_LIGHT : 0;
		return start(&attr, std::forward<F>(f));
	}

	/* Asks all threads of the group to end. */
	void cancel() noexcept
	{
		weft_group_cancel(&group_);
	}

	/*
	 * Waits until all threads have ended. Throws what a thread has thrown first, or
	 * canceled if the group or the caller was cancelled. The group is new then.
	 */
	void wait()
	{
		end(WEFT_FOREVER);
	}

	/* The same. At its time the threads are cancelled: false, after they have ended. */
	template <class Rep, class Period>
	bool wait_for(const std::chrono::duration<Rep, Period> &d)
	{
		return end(detail::deadline_in(d));
	}

	template <class Clock, class Duration>
	bool wait_until(const std::chrono::time_point<Clock, Duration> &t)
	{
		return end(detail::deadline_at(t));
	}

	weft_group *native_handle() noexcept
	{
		return &group_;
	}

private:
	template <class F> struct job {
		group *of;
		F f;
	};

	template <class F> static int run(void *arg) noexcept
	{
		std::unique_ptr<job<F>> j(static_cast<job<F> *>(arg));
#if defined(__cpp_exceptions)
		std::exception_ptr thrown;
		bool is_cancelled = false;

		try {
			std::invoke(std::move(j->f));
		} catch (const canceled &) {
			is_cancelled = true;
		} catch (...) {
			thrown = std::current_exception();
		}
		/* Not in the handler: a light thread must not wait there. */
		if (thrown)
			j->of->keep(thrown);
		return is_cancelled || thrown ? -ECANCELED : 0;
#else
		std::invoke(std::move(j->f));
		return 0;
#endif
	}

	template <class F> bool start(const weft_attr *attr, F &&f)
	{
		using function = std::decay_t<F>;
		static_assert(std::is_invocable_v<function>,
			      "the function is called without arguments");
		auto j = std::unique_ptr<job<function>>(
			new job<function>{ this, std::forward<F>(f) });
		int error = weft_group_spawn(&group_, nullptr, attr, run<function>,
					     j.get());

		if (error == 0)
			static_cast<void>(j.release());
		else if (error != -ECANCELED)
			detail::fail(error, "weft::group::spawn");
		return error == 0;
	}

#if defined(__cpp_exceptions)
	/* The first one; the others follow from it, or are lost. */
	void keep(std::exception_ptr thrown) noexcept
	{
		std::lock_guard<mutex> lock(mutex_);

		if (!thrown_)
			thrown_ = std::move(thrown);
	}
#endif

	bool end(std::int64_t deadline)
	{
		int error = weft_group_wait(&group_, deadline, nullptr);

#if defined(__cpp_exceptions)
		if (thrown_)
			std::rethrow_exception(std::exchange(thrown_, nullptr));
#endif
		if (error == -ETIMEDOUT)
			return false;
		detail::check(error, "weft::group::wait");
		return true;
	}

	weft_group group_;
#if defined(__cpp_exceptions)
	mutex mutex_;
	std::exception_ptr thrown_;
#endif
};

} /* namespace weft */

#endif

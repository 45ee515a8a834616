/* SPDX-License-Identifier: MIT */
/*
 * weft/cxx/condition.hpp - condition variables
 *
 * A wait of a thread that is asked to end throws canceled; the lock is locked again
 * then, and no notification was consumed.
 */
#ifndef WEFT_CXX_CONDITION_HPP
#define WEFT_CXX_CONDITION_HPP

#include <condition_variable>
#include <memory>

#include <weft/cxx/mutex.hpp>

namespace weft {

using cv_status = std::cv_status;

/* With weft::mutex only, and cheaper than condition_variable_any. */
class condition_variable {
public:
	using native_handle_type = weft_cond *;

	constexpr condition_variable() noexcept : cond_(WEFT_COND_INIT)
	{
	}

	condition_variable(const condition_variable &) = delete;
	condition_variable &operator=(const condition_variable &) = delete;

	void notify_one() noexcept
	{
		weft_cond_signal(&cond_);
	}

	void notify_all() noexcept
	{
		weft_cond_broadcast(&cond_);
	}

	void wait(std::unique_lock<mutex> &lock)
	{
		detail::check(weft_cond_wait(&cond_, lock.mutex()->native_handle()),
			      "weft::condition_variable::wait");
	}

	template <class Predicate>
	void wait(std::unique_lock<mutex> &lock, Predicate is_true)
	{
		while (!is_true())
			wait(lock);
	}

	template <class Clock, class Duration>
	cv_status wait_until(std::unique_lock<mutex> &lock,
			     const std::chrono::time_point<Clock, Duration> &t)
	{
		return wait_until_deadline(lock, detail::deadline_at(t)) ||
		       (!Clock::is_steady && Clock::now() < t) ?
		       cv_status::no_timeout : cv_status::timeout;
	}

	template <class Clock, class Duration, class Predicate>
	bool wait_until(std::unique_lock<mutex> &lock,
			const std::chrono::time_point<Clock, Duration> &t,
			Predicate is_true)
	{
		while (!is_true())
			if (wait_until(lock, t) == cv_status::timeout)
				return is_true();
		return true;
	}

	template <class Rep, class Period>
	cv_status wait_for(std::unique_lock<mutex> &lock,
			   const std::chrono::duration<Rep, Period> &d)
	{
		return wait_until_deadline(lock, detail::deadline_in(d)) ?
		       cv_status::no_timeout : cv_status::timeout;
	}

	template <class Rep, class Period, class Predicate>
	bool wait_for(std::unique_lock<mutex> &lock,
		      const std::chrono::duration<Rep, Period> &d, Predicate is_true)
	{
		std::int64_t deadline = detail::deadline_in(d);

		while (!is_true())
			if (!wait_until_deadline(lock, deadline))
				return is_true();
		return true;
	}

	native_handle_type native_handle() noexcept
	{
		return &cond_;
	}

private:
	bool wait_until_deadline(std::unique_lock<mutex> &lock, std::int64_t deadline)
	{
		return detail::got(weft_cond_wait_until(&cond_,
					lock.mutex()->native_handle(), deadline),
				   "weft::condition_variable::wait");
	}

	weft_cond cond_;
};

/* With any lock: std::shared_lock<weft::shared_mutex>, a lock of one's own. */
class condition_variable_any {
public:
	condition_variable_any() : mutex_(std::make_shared<mutex>())
	{
	}

	condition_variable_any(const condition_variable_any &) = delete;
	condition_variable_any &operator=(const condition_variable_any &) = delete;

	void notify_one() noexcept
	{
		std::lock_guard<mutex> inner(*mutex_);

		cond_.notify_one();
	}

	void notify_all() noexcept
	{
		std::lock_guard<mutex> inner(*mutex_);

		cond_.notify_all();
	}

	template <class Lock> void wait(Lock &lock)
	{
		open<Lock> o(*this, lock);

		cond_.wait(o.inner);
	}

	template <class Lock, class Predicate> void wait(Lock &lock, Predicate is_true)
	{
		while (!is_true())
			wait(lock);
	}

	template <class Lock, class Clock, class Duration>
	cv_status wait_until(Lock &lock,
			     const std::chrono::time_point<Clock, Duration> &t)
	{
		open<Lock> o(*this, lock);

		return cond_.wait_until(o.inner, t);
	}

	template <class Lock, class Clock, class Duration, class Predicate>
	bool wait_until(Lock &lock, const std::chrono::time_point<Clock, Duration> &t,
			Predicate is_true)
	{
		while (!is_true())
			if (wait_until(lock, t) == cv_status::timeout)
				return is_true();
		return true;
	}

	template <class Lock, class Rep, class Period>
	cv_status wait_for(Lock &lock, const std::chrono::duration<Rep, Period> &d)
	{
		open<Lock> o(*this, lock);

		return cond_.wait_for(o.inner, d);
	}

	template <class Lock, class Rep, class Period, class Predicate>
	bool wait_for(Lock &lock, const std::chrono::duration<Rep, Period> &d,
		      Predicate is_true)
	{
		return wait_until(lock, detail::time_in(d), std::move(is_true));
	}

private:
	/*
	 * The caller's lock is open while this lives, under the inner mutex until the
	 * wait. A woken thread may destroy the condition variable, but not this mutex.
	 */
	template <class Lock> struct open {
		open(condition_variable_any &c, Lock &lock)
			: outer(lock), keep(c.mutex_), inner(*keep)
		{
			outer.unlock();
		}

		~open()
		{
			inner.unlock();
			outer.lock();
		}

		Lock &outer;
		std::shared_ptr<mutex> keep;
		std::unique_lock<mutex> inner;
	};

	std::shared_ptr<mutex> mutex_;
	condition_variable cond_;
};

} /* namespace weft */

#endif

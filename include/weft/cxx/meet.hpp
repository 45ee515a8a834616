/* SPDX-License-Identifier: MIT */
/*
 * weft/cxx/meet.hpp - counting_semaphore, latch, barrier
 *
 * As in C++20, for C++17 too. A wait of a thread that is asked to end throws canceled.
 */
#ifndef WEFT_CXX_MEET_HPP
#define WEFT_CXX_MEET_HPP

#include <cstddef>
#include <limits>
#include <mutex>

#include <weft/cxx/condition.hpp>

namespace weft {

template <std::ptrdiff_t LeastMax = WEFT_SEM_MAX> class counting_semaphore {
	static_assert(LeastMax >= 0 && LeastMax <= WEFT_SEM_MAX,
		      "a semaphore counts to WEFT_SEM_MAX");

public:
	explicit counting_semaphore(std::ptrdiff_t value)
	{
		detail::check(value < 0 || value > max() ? -EINVAL :
			      weft_sem_init(&sem_, static_cast<unsigned>(value)),
			      "weft::counting_semaphore");
	}

	counting_semaphore(const counting_semaphore &) = delete;
	counting_semaphore &operator=(const counting_semaphore &) = delete;

	static constexpr std::ptrdiff_t max() noexcept
	{
		return WEFT_SEM_MAX;
	}

	/* A signal handler may call it, as weft_sem_post(3). */
	void release(std::ptrdiff_t n = 1)
	{
		for (; n > 0; n--)
			detail::check(weft_sem_post(&sem_),
				      "weft::counting_semaphore::release");
	}

	void acquire()
	{
		detail::check(weft_sem_wait(&sem_),
			      "weft::counting_semaphore::acquire");
	}

	bool try_acquire() noexcept
	{
		return weft_sem_try_wait(&sem_) == 0;
	}

	template <class Rep, class Period>
	bool try_acquire_for(const std::chrono::duration<Rep, Period> &d)
	{
		return detail::got(weft_sem_wait_until(&sem_, detail::deadline_in(d)),
				   "weft::counting_semaphore::try_acquire_for");
	}

	template <class Clock, class Duration>
	bool try_acquire_until(const std::chrono::time_point<Clock, Duration> &t)
	{
		return detail::got(detail::wait_until(t, [this](std::int64_t deadline) {
			return weft_sem_wait_until(&sem_, deadline);
		}), "weft::counting_semaphore::try_acquire_until");
	}

private:
	weft_sem sem_;
};

using binary_semaphore = counting_semaphore<1>;

/* Opens once, when the count is 0. A thread that it let through may destroy it. */
class latch {
public:
	explicit latch(std::ptrdiff_t count) : count_(count)
	{
	}

	latch(const latch &) = delete;
	latch &operator=(const latch &) = delete;

	static constexpr std::ptrdiff_t max() noexcept
	{
		return std::numeric_limits<std::ptrdiff_t>::max();
	}

	void count_down(std::ptrdiff_t n = 1)
	{
		std::lock_guard<mutex> lock(mutex_);

		count_ -= n;
		if (count_ == 0)
			cond_.notify_all();
	}

	bool try_wait()
	{
		std::lock_guard<mutex> lock(mutex_);

		return count_ == 0;
	}

	void wait()
	{
		std::unique_lock<mutex> lock(mutex_);

		cond_.wait(lock, [this] { return count_ == 0; });
	}

	void arrive_and_wait(std::ptrdiff_t n = 1)
	{
		count_down(n);
		wait();
	}

private:
	mutex mutex_;
	condition_variable cond_;
	std::ptrdiff_t count_;
};

namespace detail {

struct no_completion {
	void operator()() const noexcept
	{
	}
};

} /* namespace detail */

/* The thread that arrives last in a round calls the completion, before all return. */
template <class Completion = detail::no_completion> class barrier {
public:
	class arrival_token {
		friend class barrier;

		explicit arrival_token(std::size_t round) noexcept : round_(round)
		{
		}

		std::size_t round_;
	};

	explicit barrier(std::ptrdiff_t count, Completion completion = Completion())
		: completion_(std::move(completion)), count_(count), left_(count)
	{
	}

	barrier(const barrier &) = delete;
	barrier &operator=(const barrier &) = delete;

	static constexpr std::ptrdiff_t max() noexcept
	{
		return std::numeric_limits<std::ptrdiff_t>::max();
	}

	[[nodiscard]] arrival_token arrive(std::ptrdiff_t n = 1)
	{
		std::lock_guard<mutex> lock(mutex_);

		return arrive_locked(n);
	}

	/* Canceled: the caller has arrived all the same. */
	void wait(arrival_token &&token)
	{
		std::unique_lock<mutex> lock(mutex_);

		wait_locked(lock, token);
	}

	void arrive_and_wait()
	{
		std::unique_lock<mutex> lock(mutex_);

		wait_locked(lock, arrive_locked(1));
	}

	void arrive_and_drop()
	{
		std::lock_guard<mutex> lock(mutex_);

		count_--;
		static_cast<void>(arrive_locked(1));
	}

private:
	arrival_token arrive_locked(std::ptrdiff_t n)
	{
		arrival_token token(round_);

		left_ -= n;
		if (left_ == 0) {
			completion_();
			left_ = count_;
			round_++;
			cond_.notify_all();
		}
		return token;
	}

	void wait_locked(std::unique_lock<mutex> &lock, const arrival_token &token)
	{
		cond_.wait(lock, [this, &token] { return round_ != token.round_; });
	}

	mutex mutex_;
	condition_variable cond_;
	Completion completion_;
	std::ptrdiff_t count_, left_;
	std::size_t round_ = 0;
};

} /* namespace weft */

#endif

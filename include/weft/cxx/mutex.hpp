/* SPDX-License-Identifier: MIT */
/*
 * weft/cxx/mutex.hpp - mutex, shared_mutex, call_once
 *
 * mutex meets the requirements of a TimedLockable, shared_mutex those of a
 * SharedTimedLockable too. Locking is never cancelled.
 */
#ifndef WEFT_CXX_MUTEX_HPP
#define WEFT_CXX_MUTEX_HPP

#include <exception>
#include <functional>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include <weft/cxx/error.hpp>
#include <weft/cxx/time.hpp>

namespace weft {
namespace detail {

/* What a lock says: true, or false for an error that only means "not now". */
inline bool got(int error, const char *what)
{
	if (error == -EBUSY || error == -ETIMEDOUT || error == -EAGAIN)
		return false;
	check(error, what);
	return true;
}

} /* namespace detail */

/* strict: each unlock hands the mutex to the next thread in order of arrival. */
enum class mutex_policy : unsigned {
	adaptive = WEFT_MUTEX_ADAPTIVE,
	strict = WEFT_MUTEX_STRICT,
};

class mutex {
public:
	using native_handle_type = weft_mutex *;

	constexpr mutex() noexcept : mutex_(WEFT_MUTEX_INIT)
	{
	}

	explicit mutex(mutex_policy policy)
	{
		detail::check(weft_mutex_init(&mutex_, static_cast<unsigned>(policy)),
			      "weft::mutex");
	}

	mutex(const mutex &) = delete;
	mutex &operator=(const mutex &) = delete;

	void lock()
	{
		detail::check(weft_mutex_lock(&mutex_), "weft::mutex::lock");
	}

	bool try_lock()
	{
		return weft_mutex_try_lock(&mutex_) == 0;
	}

	template <class Rep, class Period>
	bool try_lock_for(const std::chrono::duration<Rep, Period> &d)
	{
		return detail::got(weft_mutex_lock_until(&mutex_, detail::deadline_in(d)),
				   "weft::mutex::try_lock_for");
	}

	template <class Clock, class Duration>
	bool try_lock_until(const std::chrono::time_point<Clock, Duration> &t)
	{
		return detail::got(detail::wait_until(t, [this](std::int64_t deadline) {
			return weft_mutex_lock_until(&mutex_, deadline);
		}), "weft::mutex::try_lock_until");
	}

	void unlock() noexcept
	{
		weft_mutex_unlock(&mutex_);
	}

	native_handle_type native_handle() noexcept
	{
		return &mutex_;
	}

private:
	weft_mutex mutex_;
};

/* First come, first served: neither readers nor writers starve. */
class shared_mutex {
public:
	using native_handle_type = weft_rwlock *;

	constexpr shared_mutex() noexcept : lock_(WEFT_RWLOCK_INIT)
	{
	}

	shared_mutex(const shared_mutex &) = delete;
	shared_mutex &operator=(const shared_mutex &) = delete;

	void lock()
	{
		detail::check(weft_rwlock_write(&lock_), "weft::shared_mutex::lock");
	}

	bool try_lock()
	{
		return weft_rwlock_try_write(&lock_) == 0;
	}

	template <class Rep, class Period>
	bool try_lock_for(const std::chrono::duration<Rep, Period> &d)
	{
		return detail::got(weft_rwlock_write_until(&lock_, detail::deadline_in(d)),
				   "weft::shared_mutex::try_lock_for");
	}

	template <class Clock, class Duration>
	bool try_lock_until(const std::chrono::time_point<Clock, Duration> &t)
	{
		return detail::got(detail::wait_until(t, [this](std::int64_t deadline) {
			return weft_rwlock_write_until(&lock_, deadline);
		}), "weft::shared_mutex::try_lock_until");
	}

	void unlock() noexcept
	{
		weft_rwlock_unlock(&lock_);
	}

	void lock_shared()
	{
		detail::check(weft_rwlock_read(&lock_),
			      "weft::shared_mutex::lock_shared");
	}

	bool try_lock_shared()
	{
		return weft_rwlock_try_read(&lock_) == 0;
	}

	template <class Rep, class Period>
	bool try_lock_shared_for(const std::chrono::duration<Rep, Period> &d)
	{
		return detail::got(weft_rwlock_read_until(&lock_, detail::deadline_in(d)),
				   "weft::shared_mutex::try_lock_shared_for");
	}

	template <class Clock, class Duration>
	bool try_lock_shared_until(const std::chrono::time_point<Clock, Duration> &t)
	{
		return detail::got(detail::wait_until(t, [this](std::int64_t deadline) {
			return weft_rwlock_read_until(&lock_, deadline);
		}), "weft::shared_mutex::try_lock_shared_until");
	}

	void unlock_shared() noexcept
	{
		weft_rwlock_unlock(&lock_);
	}

	native_handle_type native_handle() noexcept
	{
		return &lock_;
	}

private:
	weft_rwlock lock_;
};

class once_flag {
public:
	constexpr once_flag() noexcept : once_(WEFT_ONCE_INIT)
	{
	}

	once_flag(const once_flag &) = delete;
	once_flag &operator=(const once_flag &) = delete;

	struct weft_once *native_handle() noexcept
	{
		return &once_;
	}

private:
	struct weft_once once_;
};

/* If f throws, its caller gets the exception, and another caller runs f again. */
template <class F, class... Args> void call_once(once_flag &flag, F &&f, Args &&...args)
{
	struct {
		void (*run)(void *call);
		void *call;
#if defined(__cpp_exceptions)
		std::exception_ptr thrown;
#endif
	} state = {};
	auto call = [&] {
		std::invoke(std::forward<F>(f), std::forward<Args>(args)...);
	};
	using state_type = decltype(state);

	state.run = [](void *c) {
		(*static_cast<decltype(call) *>(c))();
	};
	state.call = &call;

	int error = ::weft_once(flag.native_handle(), [](void *arg) {
		state_type *s = static_cast<state_type *>(arg);
#if defined(__cpp_exceptions)
		try {
			s->run(s->call);
		} catch (...) {
			s->thrown = std::current_exception();
			return -ECANCELED;
		}
#else
		s->run(s->call);
#endif
		return 0;
	}, &state);

#if defined(__cpp_exceptions)
	if (state.thrown)
		std::rethrow_exception(state.thrown);
#endif
	detail::check(error, "weft::call_once");
}

} /* namespace weft */

#endif

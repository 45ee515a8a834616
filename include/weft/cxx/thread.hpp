/* SPDX-License-Identifier: MIT */
/* weft/cxx/thread.hpp - threads that are joined, in the manner of std::jthread */
#ifndef WEFT_CXX_THREAD_HPP
#define WEFT_CXX_THREAD_HPP

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <ostream>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/cxx/error.hpp>
#include <weft/cxx/runtime.hpp>
#include <weft/cxx/time.hpp>

namespace weft {

/* How a thread is made. A light thread has no thread-local variables of its own. */
struct thread_options {
	std::size_t stack_bytes = 0;	/* 0: WEFT_STACK, else 64 KiB */
	const char *name = nullptr;	/* copied */
	bool light = false;
};

namespace detail {

/* A function and its arguments, called once. */
template <class F, class... Args> struct bound {
	std::tuple<F, Args...> parts;

	void operator()()
	{
		std::apply([](F &f, Args &...args) {
			std::invoke(std::move(f), std::move(args)...);
		}, parts);
	}
};

/* A pointer's worth of bytes is passed in the place of the pointer. */
template <class F>
constexpr bool fits_pointer = sizeof(F) <= sizeof(void *) &&
	std::is_trivially_copyable_v<F> && std::is_trivially_destructible_v<F>;

template <class F> void run_to_end(F &f)
{
#if defined(__cpp_exceptions)
	try {
		std::invoke(std::move(f));
	} catch (const canceled &) {
		/* It was asked to end, and ends. */
	}
#else
	std::invoke(std::move(f));
#endif
}

/* Any other exception that leaves f ends the program by std::terminate(). */
template <class F> void *thread_main(void *arg) noexcept
{
	if constexpr (fits_pointer<F>) {
		alignas(F) unsigned char bytes[sizeof(F)];

		std::memcpy(bytes, &arg, sizeof(F));
		run_to_end(*std::launder(reinterpret_cast<F *>(bytes)));
	} else {
		std::unique_ptr<F> f(static_cast<F *>(arg));

		run_to_end(*f);
	}
	return nullptr;
}

template <class F> int spawn(std::uint64_t *id, const weft_attr *attr, F &&f)
{
	using function = std::decay_t<F>;

	if constexpr (fits_pointer<function>) {
		void *arg = nullptr;

		std::memcpy(&arg, &f, sizeof(function));
		return weft_spawn(id, attr, thread_main<function>, arg);
	} else {
		auto copy = std::make_unique<function>(std::forward<F>(f));
		int error = weft_spawn(id, attr, thread_main<function>, copy.get());

		if (error == 0)
			static_cast<void>(copy.release());
		return error;
	}
}

} /* namespace detail */

/*
 * The destructor asks the thread to end (request_stop()) and joins it. Nothing is
 * allocated for a function of a pointer's size, as a lambda that captures one reference
 * is.
 */
class thread {
public:
	class id {
	public:
		constexpr id() noexcept = default;

		explicit constexpr id(std::uint64_t value) noexcept : value_(value)
		{
		}

		/* As in weft_join(3) and its like; 0: no thread. */
		constexpr std::uint64_t native() const noexcept
		{
			return value_;
		}

		friend constexpr bool operator==(id a, id b) noexcept
		{
			return a.value_ == b.value_;
		}

		friend constexpr bool operator!=(id a, id b) noexcept
		{
			return a.value_ != b.value_;
		}

		friend constexpr bool operator<(id a, id b) noexcept
		{
			return a.value_ < b.value_;
		}

		friend std::ostream &operator<<(std::ostream &to, id i)
		{
			return to << i.value_;
		}

	private:
		std::uint64_t value_ = 0;
	};

	thread() noexcept = default;

	template <class F, class... Args,
		  class = std::enable_if_t<
			  !std::is_same_v<std::decay_t<F>, thread> &&
			  !std::is_same_v<std::decay_t<F>, thread_options>>>
	explicit thread(F &&f, Args &&...args)
	{
		start(nullptr, std::forward<F>(f), std::forward<Args>(args)...);
	}

	template <class F, class... Args>
	thread(const thread_options &options, F &&f, Args &&...args)
	{
		weft_attr attr = {};

		attr.stack_bytes = options.stack_bytes;
		attr.name = options.name;
		attr.flags = options.light ? WEFT_LIGHT : 0;
		start(&attr, std::forward<F>(f), std::forward<Args>(args)...);
	}

	thread(thread &&other) noexcept : id_(std::exchange(other.id_, 0))
	{
	}

	thread &operator=(thread &&other) noexcept
	{
		if (this != &other) {
			end();
			id_ = std::exchange(other.id_, 0);
		}
		return *this;
	}

	~thread()
	{
		end();
	}

	void swap(thread &other) noexcept
	{
		std::swap(id_, other.id_);
	}

	bool joinable() const noexcept
	{
		return id_ != 0;
	}

	id get_id() const noexcept
	{
		return id(id_);
	}

	/* Throws canceled, and the thread is still joinable, if the caller is cancelled. */
	void join()
	{
		detail::check(weft_join(id_, nullptr), "weft::thread::join");
		id_ = 0;
	}

	/* False: the thread has not ended by then. */
	template <class Clock, class Duration>
	bool try_join_until(const std::chrono::time_point<Clock, Duration> &t)
	{
		return joined(detail::wait_until(t, [this](std::int64_t deadline) {
			return weft_join_until(id_, nullptr, deadline);
		}));
	}

	template <class Rep, class Period>
	bool try_join_for(const std::chrono::duration<Rep, Period> &d)
	{
		return joined(weft_join_until(id_, nullptr, detail::deadline_in(d)));
	}

	void detach()
	{
		detail::check(weft_detach(id_), "weft::thread::detach");
		id_ = 0;
	}

	/*
	 * Asks the thread to end: waits of it throw canceled, and
	 * this_thread::stop_requested() is true there. False: it has ended already.
	 */
	bool request_stop() noexcept
	{
		return weft_cancel(id_) == 0;
	}

	static unsigned hardware_concurrency() noexcept
	{
		return weft_vcpus();
	}

private:
	template <class F, class... Args>
	void start(const weft_attr *attr, F &&f, Args &&...args)
	{
		static_assert(std::is_invocable_v<std::decay_t<F>,
						  std::decay_t<Args>...>,
			      "the function cannot be called with these arguments");
		int error;

		if constexpr (sizeof...(Args) == 0)
			error = detail::spawn(&id_, attr, std::forward<F>(f));
		else
			error = detail::spawn(&id_, attr,
				detail::bound<std::decay_t<F>, std::decay_t<Args>...>{
					{ std::forward<F>(f),
					  std::forward<Args>(args)... } });
		detail::check(error, "weft::thread");
	}

	bool joined(int error)
	{
		if (error == -ETIMEDOUT)
			return false;
		detail::check(error, "weft::thread::try_join");
		id_ = 0;
		return true;
	}

	void end() noexcept
	{
		if (!id_)
			return;

		cancel_hold hold;	/* also a caller that is cancelled waits */

		request_stop();
		if (weft_join(id_, nullptr) != 0)
			std::terminate();	/* it would wait for itself */
		id_ = 0;
	}

	std::uint64_t id_ = 0;
};

inline void swap(thread &a, thread &b) noexcept
{
	a.swap(b);
}

namespace this_thread {

inline void yield() noexcept
{
	weft_yield();
}

inline thread::id get_id() noexcept
{
	return thread::id(weft_self());
}

inline bool stop_requested() noexcept
{
	return weft_is_cancelled() != 0;
}

template <class Rep, class Period>
void sleep_for(const std::chrono::duration<Rep, Period> &d)
{
	detail::check(weft_sleep(detail::nanoseconds_of(d)),
		      "weft::this_thread::sleep_for");
}

template <class Clock, class Duration>
void sleep_until(const std::chrono::time_point<Clock, Duration> &t)
{
	do
		detail::check(weft_sleep_until(detail::deadline_at(t)),
			      "weft::this_thread::sleep_until");
	while (!Clock::is_steady && Clock::now() < t);
}

} /* namespace this_thread */
} /* namespace weft */

template <> struct std::hash<weft::thread::id> {
	std::size_t operator()(weft::thread::id i) const noexcept
	{
		return std::hash<std::uint64_t>()(i.native());
	}
};

#endif

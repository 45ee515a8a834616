/* SPDX-License-Identifier: MIT */
/*
 * weft/cxx/message.hpp - how a value travels through a channel
 *
 * A value of a trivially copyable type travels as its bytes. Any other value is moved
 * to the heap for its journey, and the channel carries the pointer.
 */
#ifndef WEFT_CXX_MESSAGE_HPP
#define WEFT_CXX_MESSAGE_HPP

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace weft {
namespace detail {

/* How a value is sent: what the channel copies is at bytes(). */
template <class T, bool = std::is_trivially_copyable_v<T>> class parcel {
public:
	static constexpr std::size_t size = sizeof(T);

	explicit parcel(const T &value) noexcept : value_(&value)
	{
	}

	const void *bytes() const noexcept
	{
		return value_;
	}

	void sent() noexcept
	{
	}

private:
	const T *value_;
};

template <class T> class parcel<T, false> {
public:
	static constexpr std::size_t size = sizeof(T *);

	explicit parcel(const T &value) : boxed_(new T(value))
	{
	}

	explicit parcel(T &&value) : boxed_(new T(std::move(value))), from_(&value)
	{
	}

	parcel(const parcel &) = delete;
	parcel &operator=(const parcel &) = delete;

	~parcel()
	{
		if (boxed_ && from_)
			*from_ = std::move(*boxed_);
		delete boxed_;
	}

	const void *bytes() const noexcept
	{
		return &boxed_;
	}

	void sent() noexcept
	{
		boxed_ = nullptr;
	}

private:
	T *boxed_;
	T *from_ = nullptr;
};

/* Where a value arrives. take() is called once, after a receive. */
template <class T, bool = std::is_trivially_copyable_v<T>> class arrival {
public:
	void *bytes() noexcept
	{
		return bytes_;
	}

	T take() noexcept
	{
		return *std::launder(reinterpret_cast<T *>(bytes_));
	}

private:
	alignas(T) unsigned char bytes_[sizeof(T)];
};

template <class T> class arrival<T, false> {
public:
	void *bytes() noexcept
	{
		return &boxed_;
	}

	T take()
	{
		std::unique_ptr<T> boxed(boxed_);

		return std::move(*boxed);
	}

private:
	T *boxed_;
};

} /* namespace detail */
} /* namespace weft */

#endif

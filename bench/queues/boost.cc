/* SPDX-License-Identifier: MIT */
/*
 * queues/boost.cc - Boost.Lockfree's queues, as loops that C can call
 *
 * Made where there is a C++ compiler and Boost, and loaded by queues/boost.c.
 */
#include <boost/lockfree/queue.hpp>
#include <boost/lockfree/spsc_queue.hpp>
#include <cstddef>
#include <cstdint>

namespace {

const std::size_t capacity = 1024;	/* QUEUE_CAPACITY */

typedef boost::lockfree::capacity<capacity> room;
boost::lockfree::spsc_queue<std::uint64_t, room> spsc;
boost::lockfree::queue<std::uint64_t, room> queue;

template <typename Q>
std::size_t put(Q &q, std::uint64_t first, std::size_t n)
{
	for (std::size_t i = 0; i < n; i++)
		if (!q.push(first + i))
			return i;
	return n;
}

template <typename Q>
std::size_t get(Q &q, std::uint64_t *to, std::size_t n)
{
	for (std::size_t i = 0; i < n; i++)
		if (!q.pop(to[i]))
			return i;
	return n;
}

}

extern "C" {

std::size_t boost_spsc_put(std::uint64_t first, std::size_t n)
{
	return put(spsc, first, n);
}

std::size_t boost_spsc_get(std::uint64_t *to, std::size_t n)
{
	return get(spsc, to, n);
}

std::size_t boost_spsc_put_many(std::uint64_t first, std::size_t n)
{
	std::uint64_t e[64];

	for (std::size_t i = 0; i < n; i++)
		e[i] = first + i;
	return spsc.push(e, n);
}

std::size_t boost_spsc_get_many(std::uint64_t *to, std::size_t n)
{
	return spsc.pop(to, n);
}

std::size_t boost_queue_put(std::uint64_t first, std::size_t n)
{
	return put(queue, first, n);
}

std::size_t boost_queue_get(std::uint64_t *to, std::size_t n)
{
	return get(queue, to, n);
}

}

/* SPDX-License-Identifier: MIT */
/*
 * weft.hpp - weft for C++17 and later, in the manner of the standard library
 *
 * Header only; link with libweft. The names mean what they mean in the standard library:
 * weft::mutex works with std::lock_guard, std::unique_lock and std::scoped_lock. See
 * weft-cxx(7).
 *
 * An error is a std::system_error whose code is of weft::category(). A wait that is
 * cancelled throws weft::canceled; a send on a closed channel throws weft::closed. With
 * -fno-exceptions an error ends the program with a message, except where a call has an
 * overload with a std::error_code.
 */
#ifndef WEFT_HPP
#define WEFT_HPP

#include <weft/cxx/channel.hpp>
#include <weft/cxx/condition.hpp>
#include <weft/cxx/error.hpp>
#include <weft/cxx/group.hpp>
#include <weft/cxx/meet.hpp>
#include <weft/cxx/mutex.hpp>
#include <weft/cxx/runtime.hpp>
#include <weft/cxx/select.hpp>
#include <weft/cxx/thread.hpp>
#include <weft/cxx/time.hpp>
#include <weft/cxx/trace.hpp>

#endif

/* SPDX-License-Identifier: MIT */
/* weft/cxx/trace.hpp - a scope that the recorder shows */
#ifndef WEFT_CXX_TRACE_HPP
#define WEFT_CXX_TRACE_HPP

#include <string>

#include <weft/trace.h>

namespace weft {

/* The recorder shows the life of such an object: weft_trace_begin(3). */
class trace_scope {
public:
	explicit trace_scope(const char *text) noexcept
	{
		weft_trace_begin(text);
	}

	explicit trace_scope(const std::string &text) noexcept
		: trace_scope(text.c_str())
	{
	}

	trace_scope(const trace_scope &) = delete;
	trace_scope &operator=(const trace_scope &) = delete;

	~trace_scope()
	{
		weft_trace_end();
	}
};

/* One moment: weft_trace_mark(3). */
inline void trace_mark(const char *text) noexcept
{
	weft_trace_mark(text);
}

inline void trace_mark(const std::string &text) noexcept
{
	weft_trace_mark(text.c_str());
}

} /* namespace weft */

#endif

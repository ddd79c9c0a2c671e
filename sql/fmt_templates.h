#pragma once

#include <fmt/format.h>

// libfmt has this function compiled. Without the declaration every file that calls fmt::format_to() or logs compiles all of fmt's
// formatting of numbers again: two seconds each. The precompiled headers include this header; no file needs to.
extern template void fmt::detail::vformat_to<char>(fmt::detail::buffer<char>&, fmt::basic_string_view<char>,
                                                   fmt::basic_format_args<fmt::buffer_context<char>>, fmt::detail::locale_ref);

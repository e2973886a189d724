/// @file
/// Where results go.
#pragma once

#include <cstddef>
#include <string_view>

namespace tokenroof::cli {

/// Whether stdout is a terminal that wants styled text (NO_COLOR is not set, TERM is not "dumb").
[[nodiscard]] bool stdout_is_styled();

[[nodiscard]] bool stdout_is_terminal();
[[nodiscard]] bool stderr_is_terminal();

/// Columns of the terminal that stdout is; 80 where it is none.
[[nodiscard]] std::size_t stdout_width();

/// Writes to stdout. Throws std::system_error when it cannot: a result cut short must not look like success.
void write(std::string_view text);

/// Empties the buffer of stdout. Throws as `write`.
void flush();

/// "tokenroof: …" on stderr.
void complain(std::string_view message);

} // namespace tokenroof::cli

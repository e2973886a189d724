/// @file
/// A text as a field of CSV.
#pragma once

#include <string>
#include <string_view>

namespace tokenroof::report {

/// Appends it, quoted where it holds what CSV gives a meaning to (RFC 4180): names of networks come from files.
void append_csv_text(std::string& out, std::string_view text);

} // namespace tokenroof::report

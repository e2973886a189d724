/// @file
/// What files say, fit to be shown on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace tokenroof::readers {

/// Whether a terminal would obey a byte of ASCII instead of showing it.
[[nodiscard]] constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }

/// The text with a question mark for every control character but those in `kept`: ASCII's, and in UTF-8 those of Latin 1,
/// C2 80 to C2 9F, which some terminals obey too.
[[nodiscard]] inline std::string printable(std::string_view text, std::string_view kept = {}) {
  constexpr unsigned char lead = 0xC2;
  constexpr unsigned char last = 0x9F;
  std::string result(text);
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (is_control(result[i]) && kept.find(result[i]) == std::string_view::npos) {
      result[i] = '?';
    } else if (static_cast<unsigned char>(result[i]) == lead && i + 1 < result.size() &&
               static_cast<unsigned char>(result[i + 1]) <= last) {
      result.replace(i, 2, "?");
    }
  }
  return result;
}

} // namespace tokenroof::readers

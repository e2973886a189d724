/// @file
/// Sizes as people write them: "64GiB", "64 GB", "64".
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "tokenroof/units/quantity.hpp"

namespace tokenroof {

namespace detail {

struct SizeUnit {
  std::string_view name; ///< in lower case
  double bytes;
};

/// A single letter is binary, as memory is counted. No unit means GiB: a memory of "64" is 64 GiB.
inline constexpr std::array<SizeUnit, 14> size_units = {{{"", 1073741824.0},
                                                         {"b", 1.0},
                                                         {"k", 1024.0},
                                                         {"m", 1048576.0},
                                                         {"g", 1073741824.0},
                                                         {"t", 1099511627776.0},
                                                         {"kb", 1e3},
                                                         {"mb", 1e6},
                                                         {"gb", 1e9},
                                                         {"tb", 1e12},
                                                         {"kib", 1024.0},
                                                         {"mib", 1048576.0},
                                                         {"gib", 1073741824.0},
                                                         {"tib", 1099511627776.0}}};

[[nodiscard]] constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

[[nodiscard]] constexpr char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Whether a unit is written as bits are: a small b behind a capital, as in "Gb".
[[nodiscard]] constexpr bool means_bits(std::string_view text) {
  return text.size() >= 2 && text.back() == 'b' && text[text.size() - 2] >= 'A' && text[text.size() - 2] <= 'Z';
}

[[nodiscard]] constexpr bool equal_but_for_case(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) {
    return false;
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (lower_case(text[i]) != lower[i]) {
      return false;
    }
  }
  return true;
}

} // namespace detail

/// The bytes that a text such as "64GiB", "80 GB", "1.5TiB" or "512MiB" means; nothing if it means none.
/// Decimal and binary units mean what they say; a number without a unit is in GiB.
[[nodiscard]] constexpr std::optional<Bytes> parse_bytes(std::string_view text) {
  constexpr std::size_t most_digits = 15; // below 2^53: the digits are exact
  double digits = 0;
  double scale = 1;
  std::size_t count = 0;
  bool after_point = false;
  std::size_t i = 0;
  for (; i < text.size() && (detail::is_digit(text[i]) || (text[i] == '.' && !after_point && count > 0)); ++i) {
    if (text[i] == '.') {
      after_point = true;
      continue;
    }
    digits = digits * 10 + (text[i] - '0');
    scale *= after_point ? 10 : 1;
    ++count;
  }
  if (count == 0 || count > most_digits || text[i - 1] == '.') {
    return std::nullopt;
  }
  while (i < text.size() && text[i] == ' ') {
    ++i;
  }
  for (const detail::SizeUnit& unit : detail::size_units) {
    if (detail::equal_but_for_case(text.substr(i), unit.name)) {
      return Bytes::from_value(digits / scale * unit.bytes);
    }
  }
  return std::nullopt;
}

/// The bandwidth that a text such as "83GB/s", "1.2 TBps" or "50" means; nothing if it means none. A number without a
/// unit is in GB/s, as bandwidths are published. "Gb/s" and "Gbps" are bits, an eighth of what they look like: nothing.
[[nodiscard]] constexpr std::optional<Bandwidth> parse_bandwidth(std::string_view text) {
  const auto per_second = [](const std::optional<Bytes>& bytes) {
    return bytes ? std::optional(*bytes / Seconds::from_value(1)) : std::nullopt;
  };
  if (!text.empty() && (detail::is_digit(text.back()) || text.back() == '.')) {
    const std::optional<Bytes> in_gibibytes = parse_bytes(text);
    return per_second(in_gibibytes ? std::optional(*in_gibibytes * (1e9 / 0x1p30)) : std::nullopt);
  }
  if (text.size() < 3 || detail::lower_case(text.back()) != 's') {
    return std::nullopt;
  }
  const char before = detail::lower_case(text[text.size() - 2]);
  if (before != '/' && before != 'p') {
    return std::nullopt;
  }
  const std::string_view size = text.substr(0, text.size() - 2);
  if (size.empty() || detail::is_digit(size.back()) || detail::means_bits(size)) {
    return std::nullopt;
  }
  return per_second(parse_bytes(size));
}

} // namespace tokenroof

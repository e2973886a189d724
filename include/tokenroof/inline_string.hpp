/// @file
/// A string held inside its owner, so that catalogue entries are constants of the program and copies allocate nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>
#include <string_view>

namespace tokenroof {

/// Up to `Capacity` bytes of text. Longer text throws std::length_error (a compile error in a constant).
template <std::size_t Capacity>
class InlineString {
public:
  constexpr InlineString() = default;
  constexpr InlineString(std::string_view text) : size_(text.size()) { // NOLINT(google-explicit-constructor)
    if (text.size() > Capacity) {
      throw std::length_error("text is longer than an InlineString holds");
    }
    std::copy(text.begin(), text.end(), characters_.begin());
  }
  constexpr InlineString(const char* text) : InlineString(std::string_view(text)) {} // NOLINT(google-explicit-constructor)

  [[nodiscard]] constexpr std::string_view view() const noexcept { return {characters_.data(), size_}; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr operator std::string_view() const noexcept { return view(); } // NOLINT(google-explicit-constructor)

  friend constexpr bool operator==(const InlineString& a, const InlineString& b) noexcept { return a.view() == b.view(); }
  friend constexpr bool operator==(const InlineString& a, std::string_view b) noexcept { return a.view() == b; }
  friend constexpr bool operator==(const InlineString& a, const char* b) noexcept { return a.view() == b; }

private:
  std::array<char, Capacity> characters_{};
  std::size_t size_ = 0;
};

using Id = InlineString<48>;
using Name = InlineString<96>;

} // namespace tokenroof

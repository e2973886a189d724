/// @file
/// What all fuzz targets share: an input is text or bytes, and a reader may refuse it by an error of ours, nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tokenroof/errors.hpp"

namespace tokenroof::fuzz {

[[nodiscard]] inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size}; // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
}

/// Calls `read`. Any other exception than ours leaves it, and the fuzzer counts that as a crash.
template <class Read>
void refuse_or_read(Read&& read) {
  try {
    read();
  } catch (const Error&) { // NOLINT(bugprone-empty-catch): refusing is a right answer
  }
}

} // namespace tokenroof::fuzz

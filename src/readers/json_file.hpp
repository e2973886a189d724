/// @file
/// JSON from files that nobody vouches for: size, nesting and number of values are bounded before a tree is built.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

namespace tokenroof::readers {

/// What a JSON document may be at most, and what it may contain beyond the standard.
struct JsonLimits {
  std::size_t bytes = std::size_t{64} << 20;
  std::size_t depth = 64;         ///< arrays and objects within each other
  std::size_t values = 4'000'000; ///< a value of two bytes costs sixteen and more in the tree
  /// Read bare NaN, Infinity and -Infinity (Python writes them) as texts, which no field for a number takes.
  bool allow_non_finite = false;
};

/// The bytes of a file. Throws ParseError if it cannot be read or is longer than `most_bytes`.
[[nodiscard]] std::string read_text(const std::filesystem::path& path, std::size_t most_bytes);

/// The document in `text`; `name` stands for it in messages. Of duplicate keys the last one counts.
/// Throws ParseError with the byte position of what is wrong.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, std::string_view name, const JsonLimits& limits = {});

/// The document in a file. Throws ParseError.
[[nodiscard]] nlohmann::json read_json(const std::filesystem::path& path, const JsonLimits& limits = {});

} // namespace tokenroof::readers

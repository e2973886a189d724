/// @file
/// Lists and ranges of whole numbers, as a sweep's axes are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tokenroof::cli {

/// Values that one axis may have.
inline constexpr std::size_t most_values = 1'000'000;

/// The values of a list such as "1,2,4..64". Its items, separated by commas:
///
///     N          one value
///     A..B       from A to B in steps of 1; after two values that lead up to A, in their step or by their ratio
///     A..B+S     from A to B in steps of S
///     A..B*R     from A to B, each R times the one before
///
/// B belongs to the range if the steps meet it. Throws InvalidSpec, naming `field`, for anything else, and for more than
/// `most_values`.
[[nodiscard]] std::vector<std::int64_t> parse_values(std::string_view field, std::string_view text);

} // namespace tokenroof::cli

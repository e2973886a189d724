/// @file
/// The container: what the header of a GGUF file states, metadata and tensor table, whatever it is about @cite gguf.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "readers/gguf_types.hpp"
#include "tokenroof/network/network.hpp"

namespace tokenroof::readers {

/// An array of metadata. Whole numbers and flags are kept where they could be one for each layer; of others only how many.
struct GgufArray {
  std::uint64_t count = 0;
  std::vector<std::int64_t> integers{};
  bool flags = false; ///< booleans
};

/// Whole numbers beyond 63 bits are the largest that fits, since nothing here may be that large. Long texts are empty.
using GgufValue = std::variant<std::int64_t, double, bool, std::string, GgufArray>;

/// A tensor of the table. `shape[0]` is the length of a row; absent dimensions are 1.
struct GgufTensor {
  std::string name{};
  std::array<Count, 4> shape{1, 1, 1, 1};
  Format format{};
  Count elements = 0;
  std::uint64_t bytes = 0;
};

/// What a file states, or all parts of a split one together.
struct GgufFile {
  std::string path{};
  std::map<std::string, GgufValue, std::less<>> metadata{};
  std::vector<GgufTensor> tensors{}; ///< in the order of the table
};

/// Reads the header of a file, and those of its siblings where it is a part of a split one. Tensors' data are never read,
/// but must be there. Throws ParseError.
[[nodiscard]] GgufFile read_gguf_file(const std::filesystem::path& path);

/// The same for a whole file in memory; parts of split ones are refused. Throws ParseError.
[[nodiscard]] GgufFile parse_gguf_file(std::span<const std::byte> bytes, std::string_view name);

} // namespace tokenroof::readers

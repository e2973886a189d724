/// @file
/// Headers of safetensors files @cite safetensors and the index that lists the parts of a split one. Tensors' data are
/// never read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokenroof/network/network.hpp"
#include "tokenroof/precision/format.hpp"

namespace tokenroof::readers {

/// One entry of a header's table.
struct SafetensorsTensor {
  std::string name{};
  std::string type{}; ///< as the file calls it: BF16, F8_E4M3, I32, ...
  Format format{};    ///< the type as a format: what an element takes
  Count elements = 0;
  std::uint64_t bytes = 0;
};

/// What the header of one file says.
struct SafetensorsFile {
  std::string path{};
  std::vector<SafetensorsTensor> tensors{};
  std::uint64_t file_bytes = 0;
};

/// Reads a header. Throws ParseError, naming the byte or the tensor, for a header that is cut short or longer than the
/// file, types that are not known, offsets that do not fit the shape, overlap, leave gaps or end elsewhere than the file.
[[nodiscard]] SafetensorsFile read_safetensors(const std::filesystem::path& path);

/// The same for a whole file in memory; `name` stands for it in messages.
[[nodiscard]] SafetensorsFile parse_safetensors(std::span<const std::byte> bytes, std::string_view name);

/// What an index says of a split checkpoint.
struct SafetensorsIndex {
  std::vector<std::string> files{};         ///< names of the parts, sorted
  std::map<std::string, std::string> map{}; ///< the part of each tensor
  std::optional<std::uint64_t> total_bytes{};
};

/// Reads an index (`model.safetensors.index.json`). Throws ParseError for what is none, and for names of parts that lead
/// out of its folder.
[[nodiscard]] SafetensorsIndex read_safetensors_index(const std::filesystem::path& path);

/// The same for a text in memory.
[[nodiscard]] SafetensorsIndex parse_safetensors_index(std::string_view text, std::string_view name);

} // namespace tokenroof::readers

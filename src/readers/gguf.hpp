/// @file
/// Networks from GGUF files, with the format of every tensor.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "tokenroof/readers.hpp"

namespace tokenroof::readers {

/// What GGUF files begin with, in either byte order.
inline constexpr std::string_view gguf_magic = "GGUF";

/// Reads the network that a GGUF file holds; of a split one any part will do. `weight_bytes` of the result is what the
/// file's tensors take, to the byte. Tensors' data are not read, but must be there: a file cut short is refused.
/// Throws ParseError for what cannot be read or is not known, InvalidSpec for values that contradict each other.
[[nodiscard]] NetworkReading read_gguf(const std::filesystem::path& path);

/// The same for a whole file in memory; `name` stands for it in messages. Parts of split files are refused.
[[nodiscard]] NetworkReading parse_gguf(std::span<const std::byte> bytes, std::string_view name);

} // namespace tokenroof::readers

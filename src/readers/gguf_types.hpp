/// @file
/// The numbers by which GGUF files name types of tensors and mixtures of them (models/gguf_types.json).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tokenroof/precision/format.hpp"

namespace tokenroof::readers {

/// A type of tensors as ggml numbers it.
struct GgmlType {
  std::uint32_t id = 0;
  std::string name{};
  std::optional<Format> format{}; ///< none where nothing reads it any more
};

/// The type of that number, or null.
[[nodiscard]] const GgmlType* find_ggml_type(std::uint32_t id);

/// The mixture that `general.file_type` names, or an empty text.
[[nodiscard]] std::string_view gguf_file_type(std::uint64_t id);

} // namespace tokenroof::readers

/// @file
/// What engines know about the architectures of GGUF files beyond what these state (models/gguf_architectures.json).
#pragma once

#include <optional>
#include <string_view>

#include "tokenroof/network/network.hpp"

namespace tokenroof::readers {

/// Which layers of an architecture see a window only.
struct GgufWindowRule {
  Count period = 0;              ///< of so many layers one sees everything
  bool dense_first = false;      ///< it is the first of them, not the last
  bool off = false;              ///< a window that the file states is not applied
  std::optional<Count> tokens{}; ///< the window where the file states none
  std::optional<Count> layers{}; ///< for files of so many layers only
};

/// The rule for files of so many layers, or null.
[[nodiscard]] const GgufWindowRule* find_window_rule(std::string_view architecture, Count layers);

/// Whether layers without a projection to values use their keys for them.
[[nodiscard]] bool values_may_be_keys(std::string_view architecture);

} // namespace tokenroof::readers

/// @file
/// Which layers of a GGUF file's network see a window only: what the file states, and what engines know
/// (models/gguf_architectures.json).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "readers/gguf_metadata.hpp"
#include "tokenroof/units/quantity.hpp"

namespace tokenroof::readers {

/// The window of each layer. Notes what it assumes.
class GgufWindows {
public:
  GgufWindows(const GgufMetadata& metadata, Count layers, std::vector<std::string>& assumptions);

  [[nodiscard]] std::optional<Tokens> of_layer(Count layer) const;

private:
  std::optional<Tokens> window_{};
  std::vector<bool> windowed_{};
};

} // namespace tokenroof::readers

/// @file
/// How a checkpoint's weights are stored, as far as its configuration tells.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "tokenroof/network/weight_scheme.hpp"

namespace tokenroof::readers {

struct StoredWeights {
  std::optional<WeightScheme> scheme{};
  std::string note{}; ///< why there is no scheme, or what it leaves out
};

/// Reads `quantization_config` (or `compression_config`, or MLX's `quantization`) and else `torch_dtype`.
[[nodiscard]] StoredWeights stored_weights(const nlohmann::json& config);

} // namespace tokenroof::readers

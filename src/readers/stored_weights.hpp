/// @file
/// How a checkpoint's weights are stored, as far as its configuration tells.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tokenroof/network/network.hpp"
#include "tokenroof/network/weight_scheme.hpp"

namespace tokenroof::readers {

struct StoredWeights {
  std::optional<WeightScheme> scheme{}; ///< formats by role and layer where the configuration says how they differ
  std::optional<Format> kv{};           ///< of the cache, where it is stated
  std::string source{};                 ///< the key that tells
  std::vector<std::string> notes{};     ///< why there is no scheme, and what had to be assumed
};

/// Reads `quantization_config` (or `compression_config`, or MLX's `quantization`), of the whole document or of the language
/// model's part, and the type of what is not quantised from `torch_dtype`. Throws InvalidSpec for lists of modules that
/// take unreasonably long to apply.
[[nodiscard]] StoredWeights stored_weights(const nlohmann::json& document, const nlohmann::json& language,
                                           const Network& network);

} // namespace tokenroof::readers

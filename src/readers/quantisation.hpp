/// @file
/// What a configuration says of how matrices are quantised, in the words of those who wrote it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "readers/name_pattern.hpp"
#include "readers/quantised_layout.hpp"

namespace tokenroof::readers {

/// Which matrices a plan is for, before its rules.
enum class QuantisationReach : std::uint8_t {
  rules,      ///< those that a rule names
  experts,    ///< matrices of experts, or all in the layers where there are none
  layers,     ///< matrices in the layers, but for routers and convolutions
  everything, ///< tables, head and routers too, where rows consist of whole groups
};

/// Modules by name, and how they are stored: without a layout, as they were.
struct QuantisationRule {
  std::string pattern{};
  std::optional<QuantisedLayout> layout{};
};

struct QuantisationPlan {
  QuantisedLayout layout{}; ///< of matrices within reach that no rule names
  QuantisationReach reach = QuantisationReach::layers;
  std::vector<QuantisationRule> rules{}; ///< the first that names a module decides
  std::vector<std::string> notes{};      ///< what had to be assumed
  std::optional<Format> kv{};            ///< of the cache, where it is stated
};

/// A plan, or why there is none.
struct QuantisationReading {
  std::optional<QuantisationPlan> plan{};
  std::string not_understood{};
};

/// Reads GPTQ, AWQ, FP8, compressed-tensors, bitsandbytes, MXFP4, ModelOpt, Quark and MLX. Never throws for what it does not
/// know: it says so.
[[nodiscard]] QuantisationReading read_quantisation(const nlohmann::json& quantisation);

} // namespace tokenroof::readers

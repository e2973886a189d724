/// @file
/// What is asked of a deployment.
#pragma once

#include <cstdint>

#include "tokenroof/units/quantity.hpp"

namespace tokenroof {

/// A static batch: `batch` sequences start together, each with its own prompt, and generate `output` tokens.
struct Workload {
  std::int64_t batch = 1;                  ///< sequences over all replicas
  Tokens prompt = Tokens::from_value(512); ///< new tokens of each prompt
  Tokens output = Tokens::from_value(128); ///< tokens generated for each sequence
  Tokens context_depth{};                  ///< tokens of each sequence cached before its prompt

  friend bool operator==(const Workload&, const Workload&) = default;
};

/// Tokens of one sequence in the cache when the last one is generated (the last is never fed back).
[[nodiscard]] constexpr Tokens final_context(const Workload& workload) {
  return workload.context_depth + workload.prompt + larger(workload.output - Tokens::from_value(1), Tokens());
}

} // namespace tokenroof

/// @file
/// What is asked of a deployment.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tokenroof/units/quantity.hpp"

namespace tokenroof {

/// When requests come.
enum class Arrival : std::uint8_t {
  together,    ///< a static batch: all start at once
  closed_loop, ///< each of `batch` clients sends its next request when the last one is answered
};

inline constexpr std::array<std::string_view, 2> arrival_names = {"together", "closed_loop"};

[[nodiscard]] constexpr std::string_view name(Arrival arrival) {
  return arrival_names[static_cast<std::size_t>(arrival)];
}

/// `batch` sequences, each with its own prompt, generate `output` tokens.
struct Workload {
  std::int64_t batch = 1;                  ///< sequences, or clients, over all replicas
  Tokens prompt = Tokens::from_value(512); ///< new tokens of each prompt
  Tokens output = Tokens::from_value(128); ///< tokens generated for each sequence
  Tokens context_depth{};                  ///< tokens of each sequence cached before its prompt
  Arrival arrival = Arrival::together;
  double requests_per_client = 0; ///< of a benchmark whose clients start together; zero: steady state
  bool equal_lengths = false;     ///< whether all requests of a closed loop are as long as the mean

  friend bool operator==(const Workload&, const Workload&) = default;
};

/// Tokens of one sequence in the cache when the last one is generated (the last is never fed back).
[[nodiscard]] constexpr Tokens final_context(const Workload& workload) {
  return workload.context_depth + workload.prompt + larger(workload.output - Tokens::from_value(1), Tokens());
}

} // namespace tokenroof

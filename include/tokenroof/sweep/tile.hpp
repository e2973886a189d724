/// @file
/// The sweep's inner loop: a step's time over many contexts.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "tokenroof/roofline/bound_step.hpp"

namespace tokenroof {

/// Contexts per tile: small enough to stay in L1 with the sums, large enough to amortise the operator's loads.
inline constexpr std::size_t tile_size = 256;

using Tile = std::array<double, tile_size>;

namespace detail {

/// Adds an operator's time at each context to `sums`. The constant trip count and the local copy of the operator are
/// what lets compilers vectorise this at -O2.
[[gnu::always_inline]] inline void add_times(const BoundOperator& bound, const Tile& contexts, Tile& sums) {
  const BoundOperator op = bound; // NOLINT(performance-unnecessary-copy-initialization)
  for (std::size_t i = 0; i < tile_size; ++i) {
    sums[i] += time(op, Tokens::from_value(contexts[i])).value();
  }
}

} // namespace detail

/// Writes `step.time(context)` in seconds for each context (tokens): the same sums in the same order as the scalar call.
/// The spans must be equally long; the last tile is computed whole and cut.
[[gnu::always_inline]] inline void step_times_by_tile(const BoundStep& step, std::span<const double> contexts,
                                                      std::span<double> seconds) {
  Tile inputs{};
  Tile sums;
  for (std::size_t first = 0; first < contexts.size(); first += tile_size) {
    const std::size_t count = std::min(tile_size, contexts.size() - first);
    std::copy_n(contexts.data() + first, count, inputs.begin());
    sums.fill(step.constant.value());
    for (std::size_t i = 0; i < step.contextual; ++i) {
      detail::add_times(step.operators[i], inputs, sums);
    }
    std::copy_n(sums.begin(), count, seconds.data() + first);
  }
}

} // namespace tokenroof

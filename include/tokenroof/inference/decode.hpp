/// @file
/// Decode: one new token a sequence and step, the context growing by one each step.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "tokenroof/roofline/bound_step.hpp"

namespace tokenroof {

namespace detail {

/// Contexts beyond which an operator's time in decode leaves the straight line it is on: where its window is full, and
/// where the compute and memory roofs cross.
[[nodiscard]] inline std::array<double, 2> bends(const BoundOperator& op) {
  const double compute_slope = (op.flops_per_context * op.per_flop).value();
  const double memory_slope = (op.bytes_per_context * op.per_byte).value();
  const double gap = (op.bytes * op.per_byte - op.flops * op.per_flop).value();
  return {op.window.value(), gap / (compute_slope - memory_slope)};
}

/// The sum of an operator's times over the contexts `first, first + 1, …, last`. Exact: on each straight piece the sum
/// is the number of terms times the mean of the outer two.
[[nodiscard]] inline Seconds sum_over_contexts(const BoundOperator& op, double first, double last) {
  const std::array<double, 2> bend = bends(op);
  Seconds total;
  while (first <= last) {
    double stop = last;
    for (const double at : bend) {
      if (at >= first && at < stop) { // false for NaN: parallel roofs never cross
        stop = std::floor(at);
      }
    }
    total += (time(op, Tokens::from_value(first)) + time(op, Tokens::from_value(stop))) * (0.5 * (stop - first + 1));
    first = stop + 1;
  }
  return total;
}

} // namespace detail

/// Mean seconds of a decode step over `steps` steps, the first of which finds `context` tokens cached in each sequence:
/// `(1/steps) * sum_{i<steps} time(context + i)`, the exact mean and not the value at the midpoint.
[[nodiscard]] inline Seconds mean_decode_time(const BoundStep& step, Tokens context, double steps) {
  Seconds total = step.constant * steps;
  const double first = context.value();
  for (std::size_t i = 0; i < step.contextual; ++i) {
    total += detail::sum_over_contexts(step.operators[i], first, first + steps - 1);
  }
  return total / steps;
}

} // namespace tokenroof
